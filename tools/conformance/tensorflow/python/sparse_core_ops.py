"""Host ops of SparseCores, each by what the package makes of a whole batch.

The package has one function where TensorFlow has a chain of ops: `preprocessFeatures` from ids to buckets. An op of the
chain gets its part of the answer to the ids that reach it.
"""
import numpy as np
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.framework import tensor_shape

# Slots for ids where nothing limits them.
_MANY = 1 << 16


class SparseCoreOps:
  """The ops, for `Kernels.register`."""

  def __init__(self, kernels, embeddings, package):
    self._embeddings = embeddings
    self._package = package
    kernels.register('ConvertToListOfSparseCoreCooTensors', self._convert)
    kernels.register('SortListOfSparseCoreCooTensors', self._sort)
    kernels.register('GetStatsFromListOfSparseCoreCooTensors', self._stats)
    kernels.register('ConvertToSparseCoreCsrWrappedCooTensor', self._wrap)

  def _convert(self, node, given):
    """Triples in the order of their ids, each where its sample and its id lie in the stack."""
    indices, values, weights = given
    attr = node.attr
    samples, cores, shards = attr['sample_count'].i, attr['num_sc_per_chip'].i, attr['num_sc_shards'].i
    coo = self._embeddings.plain('convertToCoo', {
        'indicesOrRowSplits': indices, 'values': values, 'weights': weights, 'sampleCount': samples,
        'combiner': attr['combiner'].s.decode()})
    ids = np.stack([coo['rowIds'], coo['colIds']], axis=1)
    # Triples of one sample and id lie in one place: the gain of each pair tells which one came to lie there.
    pairs, places = np.unique(ids, axis=0, return_inverse=True)
    csr = self._csr(
        pairs[:, 0], pairs[:, 1], np.arange(1, len(pairs) + 1), samples=samples, cores=cores, shards=shards,
        rows=_up(int(ids[:, 1].max(initial=0)) + 1, shards), column_offset=attr['col_offset'].i,
        rotation=attr['col_shift'].i, sample_offset=attr['row_offset'].i,
        stack_samples=max(attr['stacked_table_sample_count'].i, attr['row_offset'].i + samples))
    rows, columns, found = np.zeros(len(pairs), int), np.zeros(len(pairs), int), np.zeros(len(pairs), int)
    for core, shard, bucket in _buckets(csr, cores, shards):
      pair = csr['sortedGains'][bucket].astype(int) - 1
      rows[pair] = csr['sortedSampleIds'][bucket] + core * (attr['stacked_table_sample_count'].i // cores)
      columns[pair] = csr['sortedTokenIds'][bucket] * shards + shard
      found[pair] = core
    of_core = [found[places.ravel()] == core for core in range(cores)]
    lists = (rows[places.ravel()], columns[places.ravel()], coo['gains'])
    return [each[mask] for each in lists for mask in of_core]

  def _sort(self, node, given):
    """The ids of one core in buckets, one behind the other."""
    attr = node.attr
    rows, columns, gains = given
    cores, per_core = attr['num_sc_per_chip'].i, attr['sample_count_list'].list.i[0]
    shards = cores * attr['num_replica'].i
    csr = self._csr(
        rows, columns, gains, samples=cores * per_core, cores=cores, shards=shards,
        rows=attr['table_vocab_size'].i, limits={
            'maxIdsPerTable': {'t': attr['max_ids_per_sparse_core'].i},
            'maxUniqueIdsPerTable': {'t': attr['max_unique_ids_per_sparse_core'].i}})
    own = int(rows[0]) // per_core if len(rows) > 0 else 0
    buckets = [bucket for core, _, bucket in _buckets(csr, cores, shards) if core == own]
    every, counts = np.concatenate(buckets), np.int32([len(bucket) for bucket in buckets])
    return [csr['sortedSampleIds'][every], csr['sortedTokenIds'][every], csr['sortedGains'][every], counts]

  def _stats(self, node, given):
    """What a core with these ids asks for, in a batch whose other samples have none."""
    attr = node.attr
    rows, columns, _ = given
    shards = attr['num_replica'].i * attr['num_sc_per_chip'].i
    samples = shards * attr['sample_count_list'].list.i[0]
    stats = self._embeddings.sparse_core_stats(
        attr['table_vocab_size'].i, attr['feature_width'].i, attr['num_replica'].i, attr['num_sc_per_chip'].i,
        _sparse(rows, columns, samples))
    return [np.int32(max(stats[name].values())) for name in ('maxIds', 'maxUniqueIds')]

  def _wrap(self, node, given):
    """The batch of a chip, from the sorted ids of its cores."""
    attr = node.attr
    cores, per_core = attr['num_sc_per_chip'].i, attr['sample_count_per_sc'].i
    shards = cores * attr['num_replica'].i
    rows, tokens, gains, counts = (given[cores * i:cores * (i + 1)] for i in range(4))
    if np.any(given[-1]):
      raise self._package.refuse('more than one minibatch')
    columns = [
        token * shards + np.repeat(np.arange(shards), count) for token, count in zip(tokens, counts)]
    samples = np.concatenate([row + core * per_core for core, row in enumerate(rows)])
    order = np.argsort(samples, kind='stable')
    csr = self._csr(
        samples[order], np.concatenate(columns)[order], np.concatenate(gains)[order], samples=cores * per_core,
        cores=cores, shards=shards, rows=attr['table_vocab_size'].i, limits={
            'maxIdsPerChipPerSample': attr['max_ids_per_chip_per_sample'].i,
            'maxMinibatchesPerSc': attr['max_minibatches_per_sc'].i,
            'allowIdDropping': attr['allow_id_dropping'].b})
    names = ('rowPointers', 'sortedSampleIds', 'sortedTokenIds', 'sortedGains', 'rowPointersUnpaddedSize',
             'idsUnpaddedSize', 'numMinibatchesPerPhysicalSparseCore')
    return [np.asarray(csr[name]) for name in names]

  def _csr(self, row_ids, column_ids, gains, *, samples, cores, shards, rows, column_offset=0, rotation=0,
           sample_offset=0, stack_samples=None, limits=None):
    """The buckets of triples, which are in the order of their samples."""
    inputs = {**_sparse(row_ids, column_ids, samples), 'kind': 'sparse'}
    return self._embeddings.plain('preprocessFeatures', {
        'numChips': shards // cores, 'numScPerChip': cores, 'maxIdsPerChipPerSample': _MANY,
        'tables': [{'name': 't', 'paddedVocab': rows, 'paddedDim': 8, 'combiner': 'sum'}],
        'stackedTableToTables': {'t': ['t']}, 'tableToStackedTableOffset': {'t': ['t', column_offset, rotation]},
        'featureToSampleOffset': {'0': sample_offset}, 'tableToSampleCount': {'t': stack_samples or samples},
        'features': [{'table': 't', 'outputShape': [samples]}], 'inputs': [inputs],
        'weights': [{**inputs, 'values': np.float32(gains)}], **(limits or {}),
    })['t']


class _Array(np.ndarray):
  """An array with the shape that a tensor has, and its `numpy`."""

  @property
  def shape(self):
    return tensor_shape.TensorShape(np.ndarray.shape.__get__(self))

  def numpy(self):
    return self.view(np.ndarray)


def _array_of(value):
  return np.asarray(value.numpy()).view(_Array) if isinstance(value, tensor_lib.Tensor) else value


def expect_with_arrays(module):
  """Functions that say what tests expect go from id to id, which takes minutes with a tensor for each."""
  for name in ('convert_input_to_coo_tensor', '_convert_coo_tensor_to_csr_with_physical_replica',
               '_compute_sparse_core_stats'):
    expect = getattr(module, name, None)
    if expect is not None:
      setattr(module, name, _on_arrays(expect))


def _on_arrays(expect):

  def on_arrays(*args, **kwargs):
    return expect(*map(_array_of, args), **{key: _array_of(each) for key, each in kwargs.items()})

  return on_arrays


def _up(number, by):
  return -(-number // by) * by


def _sparse(rows, columns, samples):
  """Ids in the order of their samples as sparse ones, whose places in a sample do not matter."""
  rows = np.asarray(rows, np.int32)
  places = np.arange(len(rows), dtype=np.int32) - np.searchsorted(rows, rows).astype(np.int32)
  width = int(places.max(initial=0)) + 1
  return {'indices': np.stack([rows, places], axis=1), 'values': np.int32(columns), 'denseShape': [samples, width]}


def _buckets(csr, cores, shards):
  """The core, the shard and the places of the ids of each bucket."""
  end = 0
  for core in range(cores):
    for shard in range(shards):
      start = _up(end, 8)
      end = int(csr['rowPointers'][core * _up(shards, 8) + shard])
      yield core, shard, np.arange(start, end)
