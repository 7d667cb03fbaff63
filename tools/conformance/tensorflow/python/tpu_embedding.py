"""TensorFlow's TPU embedding classes by those of the package under test, and a TPU that is its emulator.

Configs and optimizers are made twice: as TensorFlow's objects, which tests hold, and in the package, which refuses what
is wrong and says what the fields are. Embeddings are the package's alone. The strategy has one replica, the global
batch, on any number of cores; functions run eagerly.
"""
import inspect
import re
import types

import numpy as np
from tensorflow.python.distribute import one_device_strategy
from tensorflow.python.distribute import tpu_strategy
from tensorflow.python.distribute.cluster_resolver import tpu_cluster_resolver
from tensorflow.python.eager import def_function
from tensorflow.python.eager import remote
from tensorflow.python.framework import composite_tensor
from tensorflow.python.framework import dtypes
from tensorflow.python.framework import errors
from tensorflow.python.framework import ops
from tensorflow.python.framework import sparse_tensor
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.framework import tensor_shape
from tensorflow.python.ops import init_ops_v2
from tensorflow.python.ops import variables as variables_lib
from tensorflow.python.ops.ragged import ragged_tensor
from tensorflow.python.tpu import device_assignment
from tensorflow.python.tpu import tpu_embedding_for_serving
from tensorflow.python.tpu import tpu_embedding_v2
from tensorflow.python.tpu import tpu_embedding_v2_utils
from tensorflow.python.tpu import tpu_embedding_v3
from tensorflow.python.tpu import tpu_embedding_v3_utils
from tensorflow.python.util import nest

import arrays
import package as package_lib

_CONFIGS = ('TableConfig', 'FeatureConfig', 'QuantizationConfig', 'SGD', 'Adagrad', 'AdagradMomentum', 'Adam', 'FTRL')
# Cases that enqueue the part of one core, of which the strategy has one.
_ONE_CORE = re.compile('per_device|_device')


class _Worded:
  """Errors of the package under the classes of Python: text, as other exceptions."""

  def __init__(self, text):
    Exception.__init__(self, text)
    self._text = text

  def __str__(self):
    return self._text


class PackageValueError(_Worded, errors.InvalidArgumentError, ValueError):
  pass


class PackageRuntimeError(_Worded, errors.UnimplementedError, NotImplementedError):
  pass


class PackageTypeError(_Worded, TypeError):
  pass


_CLASSES = {'ValueError': PackageValueError, 'RuntimeError': PackageRuntimeError, 'TypeError': PackageTypeError}


def _camel(name):
  return re.sub('_([a-z0-9])', lambda found: found.group(1).upper(), name)


class Embeddings:
  """Talks with `emb.tpu`, for one case after the other."""

  def __init__(self, package):
    self._package = package
    self._objects = {}
    self._rates = {}
    self._faults = []
    self._case = ''
    self._is_tpu = False
    self._is_started = False
    self._has_started = False

  def begin(self, case):
    """A case begins: what the one before made is freed."""
    if self._has_started:
      self._package.call('tpu.start', {'isTpu': False, 'chips': 1, 'coresPerChip': 1})
    def_function.run_functions_eagerly(False)
    self._case = case
    self._is_tpu = self._is_started = self._has_started = False
    self._objects.clear()
    self._rates.clear()
    self._faults.clear()

  def use_tpu(self):
    self._is_tpu = True
    def_function.run_functions_eagerly(True)

  def start(self, chips, cores):
    """The first embedding of a case tells which devices it needs."""
    if self._is_started:
      return
    self._is_started = self._has_started = True
    if _ONE_CORE.search(self._case) and cores == 1:
      chips = 1
    self._ask('tpu.start', {'isTpu': self._is_tpu, 'chips': chips, 'coresPerChip': cores})

  def make(self, kind, fields, holder):
    buffers = []
    number, _ = self._ask('tpu.make', {'kind': kind, 'fields': self._write(fields, buffers)}, buffers)
    self._objects[number] = holder
    return number

  def fields(self, number, names):
    return self._ask('tpu.fields', {'id': number, 'names': names})[0]

  def config(self, number):
    """The config of an object, as text."""
    return self._ask('tpu.config', {'id': number})[0]

  def call(self, number, method, *args):
    """The result of a method, tensors as those of TensorFlow."""
    buffers = []
    written = [self._write(each, buffers) for each in args]
    rates = [[key, float(rate())] for key, rate in self._rates.items()]
    result, found = self._ask('tpu.call', {'id': number, 'method': method, 'args': written, 'rates': rates}, buffers)
    return self._read(result, found)

  def get(self, number, name):
    result, found = self._ask('tpu.call', {'id': number, 'method': name, 'args': None})
    return self._read(result, found)

  def plain(self, name, *args):
    """What a function of plain data gives, arrays as those of numpy."""
    buffers = []
    written = [self._write(each, buffers) for each in args]
    result, found = self._ask('tpu.plain', {'name': name, 'args': written}, buffers)
    return self._read(result, found, np.asarray)

  def sparse_core_stats(self, rows, dim, chips, cores, ids):
    """The statistics of ids of one table."""
    table = _Handle(self.make('TableConfig', {'record': {'vocabularySize': rows, 'dim': dim}}, None))
    feature = _Handle(self.make('FeatureConfig', {'record': {'table': table}}, None))
    return self.plain('TPUEmbeddingV2.computeSparseCoreStats', {
        'featureConfig': feature, 'numTpuChips': chips, 'numScPerChip': cores, 'features': ids})

  def _ask(self, method, arguments, buffers=()):
    try:
      return self._package.call(method, arguments, buffers)
    except package_lib.PackageError as error:
      raise _CLASSES.get(error.kind, AssertionError)(str(error)) from error

  def initializer(self, function, shape):
    """How a table begins: a constant, or all its values."""
    if isinstance(function, init_ops_v2.Constant) and np.ndim(function.value) == 0:
      return {'constant': float(function.value)}
    try:
      with ops.init_scope():
        values = np.asarray(function(shape, dtype=dtypes.float32), dtype=np.float32)
    except (TypeError, ValueError) as error:
      # TensorFlow asks for values when it makes the table, and many tests end before.
      self._faults.append(error)
      return {'constant': 0}
    return _Values(values)

  def check_initializers(self):
    for error in self._faults:
      raise error

  def rate(self, function):
    self._rates[len(self._rates) + 1] = function
    return {'rate': len(self._rates)}

  def _tensor(self, value, buffers):
    try:
      return arrays.encode(value, buffers)
    except TypeError as error:
      raise self._package.refuse(f'{error}, which tfjs lacks') from error

  def _write(self, value, buffers):
    if value is None or isinstance(value, (bool, int, float, str)):
      return value
    if isinstance(value, np.generic):
      return value.item()
    if isinstance(value, _Values):
      return {'values': self._tensor(value.values, buffers)}
    if hasattr(value, 'package_number'):
      return {'object': value.package_number}
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ('rate', 'constant', 'record'):
      return value if 'record' not in value else {
          'record': {key: self._write(each, buffers) for key, each in value['record'].items()}}
    if isinstance(value, sparse_tensor.SparseTensor):
      return {'sparse': [self._tensor(each.numpy(), buffers) for each in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, ragged_tensor.RaggedTensor):
      parts = [value.flat_values, *value.nested_row_splits]
      return {'ragged': [self._tensor(each.numpy(), buffers) for each in parts]}
    if isinstance(value, (tensor_lib.Tensor, variables_lib.Variable)):
      return {'tensor': self._tensor(value.numpy(), buffers)}
    if isinstance(value, np.ndarray):
      return {'tensor': self._tensor(value, buffers)}
    if isinstance(value, tensor_shape.TensorShape):
      return None if value.rank is None else {'list': value.as_list()}
    if isinstance(value, dtypes.DType):
      return value.name
    if isinstance(value, dict):
      return {'record': {str(key): self._write(each, buffers) for key, each in value.items()}}
    if isinstance(value, (list, tuple)):
      return {'list': [self._write(each, buffers) for each in value]}
    return {'foreign': repr(value)}

  def _read(self, value, found, as_tensor=ops.convert_to_tensor):
    if not isinstance(value, dict):
      return value
    (kind, content), = value.items()
    if kind == 'tensor':
      return as_tensor(arrays.decode(content, found))
    if kind == 'list':
      return [self._read(each, found) for each in content]
    if kind == 'record':
      return {key: self._read(each, found, as_tensor) for key, each in content.items()}
    if kind == 'pairs':
      return {self._read(key, found): self._read(each, found) for key, each in content}
    return self._objects.setdefault(content, _Handle(content))


class _Values:
  """All values of a table."""

  def __init__(self, values):
    self.values = values


class _Handle:
  """An object of the package that no class of TensorFlow stands for."""

  def __init__(self, number):
    self.package_number = number


def _replace_config(embeddings, package, name):
  cls = getattr(tpu_embedding_v2_utils, name)
  make = cls.__init__
  signature = inspect.signature(make)

  def init(self, *args, **kwargs):
    given = dict(signature.bind(self, *args, **kwargs).arguments)
    given.pop('self')
    if given.get('slot_variable_creation_fn') is not None:
      if callable(given['slot_variable_creation_fn']):
        raise package.refuse('slots made by functions of Python')
    if callable(given.get('learning_rate')):
      given['learning_rate'] = embeddings.rate(given['learning_rate'])
    if callable(given.get('initializer')):
      shape = [given.get('vocabulary_size'), given.get('dim')]
      if all(isinstance(size, int) and size > 0 for size in shape):
        given['initializer'] = embeddings.initializer(given['initializer'], shape)
      else:
        given['initializer'] = {'constant': 0}
    if isinstance(given.get('combiner'), tpu_embedding_v2_utils.CustomCombiner):
      raise package.refuse('combiners that are functions of Python')
    if given.get('output_shape') is not None:
      given['output_shape'] = tensor_shape.TensorShape(given['output_shape'])
    fields = {'record': {_camel(key): each for key, each in given.items() if each is not None}}
    self.package_number = embeddings.make(name, fields, self)
    self.package_fields = fields
    make(self, *args, **kwargs)
    names = {_camel(key): key for key in vars(self)}
    for key, each in embeddings.fields(self.package_number, list(names)).items():
      own = getattr(self, names[key])
      # Whole numbers of a float come back as such; equal values stay as they are.
      if not callable(own) and own != each:
        setattr(self, names[key], each)

  cls.__init__ = init


class _Embedding:
  """What the three classes have in common."""

  _class = ''
  _devices = (2, 1)

  def _make(self, embeddings, **fields):
    self._embeddings = embeddings
    self._feature_config = fields['feature_config']
    self._optimizer = fields['optimizer']
    embeddings.start(*self._devices)
    for feature in nest.flatten(self._feature_config):
      # Tests change it on configs that are made.
      length = getattr(feature, 'max_sequence_length', 0)
      if length and length != feature.package_fields['record'].get('maxSequenceLength'):
        feature.package_fields['record']['maxSequenceLength'] = length
        feature.package_number = embeddings.make('FeatureConfig', feature.package_fields, feature)
    given = {_camel(key): each for key, each in fields.items()}
    self.package_number = embeddings.make(self._class, {'record': given}, self)
    embeddings.check_initializers()

  def _call(self, method, *args):
    return self._embeddings.call(self.package_number, method, *args)

  def _packed(self, results):
    return nest.pack_sequence_as(self._feature_config, nest.flatten(results))

  @property
  def embedding_tables(self):
    return self._embeddings.get(self.package_number, 'embeddingTables')

  @property
  def _variables(self):
    """Tables and slots by name; weights are the tables in their order, then their slots."""
    tables = list(self.embedding_tables)
    weights = self._call('getWeights')
    found = {table.name: {'parameters': each} for table, each in zip(tables, weights)}
    slots = iter(weights[len(tables):])
    for table in tables:
      optimizer = table.optimizer or self._optimizer
      for name in optimizer._slot_names() if optimizer is not None else []:
        found[table.name][name] = next(slots)
    return found


def _embedding_classes(embeddings):

  def sparse_core_config(config):
    if config is None:
      return None
    fields = {_camel(key): each for key, each in vars(config).items() if each is not None}
    return _Handle(embeddings.make('SparseCoreEmbeddingConfig', {'record': fields}, None))

  class TPUEmbedding(_Embedding):
    _class = 'TPUEmbedding'

    def __init__(self, feature_config, optimizer, pipeline_execution_with_tensor_core=False):
      self._make(embeddings, feature_config=feature_config, optimizer=optimizer,
                 pipeline_execution_with_tensor_core=pipeline_execution_with_tensor_core)

    def build(self, per_replica_input_shapes=None, per_replica_batch_size=None):
      self._call('build', per_replica_input_shapes, per_replica_batch_size)

    def enqueue(self, features, weights=None, training=True, name=None, device=None):
      self._call('enqueue', features, weights, {'record': {'training': training, 'name': name, 'device': _tpu_device(device)}})

    def dequeue(self, name=None):
      return self._packed(self._call('dequeue', {'record': {'name': name}}))

    def apply_gradients(self, gradients, name=None):
      self._call('applyGradients', gradients, {'record': {'name': name}})

    def _retrieve_variables(self):
      """Variables are read where they lie."""

    def _load_variables(self):
      """Variables are read where they lie."""

  class TPUEmbeddingForServing(_Embedding):
    _class = 'TPUEmbeddingForServing'

    def __init__(self, feature_config, optimizer, experimental_sparsecore_restore_info=None):
      self._make(embeddings, feature_config=feature_config, optimizer=optimizer)

    def build(self):
      self._call('build')

    def __call__(self, features, weights=None):
      results = self._call('call', features, weights)
      return nest.pack_sequence_as(features, nest.flatten(results))

    embedding_lookup = __call__

  class TPUEmbeddingV2(_Embedding):
    _class = 'TPUEmbeddingV2'
    _devices = (1, 4)

    def __init__(self, feature_config, optimizer, pipeline_execution_with_tensor_core=False,
                 sparse_core_embedding_config=None):
      self._make(embeddings, feature_config=feature_config, optimizer=optimizer,
                 pipeline_execution_with_tensor_core=pipeline_execution_with_tensor_core,
                 sparse_core_embedding_config=sparse_core_config(sparse_core_embedding_config))

    def build(self):
      self._call('build')

    def __call__(self, features, weights=None):
      activations, preserved = self._call('embeddingLookup', features, weights)
      return self._packed(activations), preserved

    embedding_lookup = __call__

    def enqueue(self, features, weights=None, device=None):
      # The device of TensorFlow is a chip, of which there is one, that of the package a core.
      return self._call('enqueue', features, weights)

    def dequeue(self, partitioned):
      activations, preserved = self._call('dequeue', partitioned)
      return self._packed(activations), preserved

    def apply_gradients(self, gradients, preserved_outputs):
      self._call('applyGradients', gradients, preserved_outputs)

    def _copy_tensors_to_device(self, partitioned_tensors):
      """What a step keeps for its gradients, as a lookup gives it."""
      return self._call('dequeue', partitioned_tensors)[1]

    @property
    def embedding_tables(self):
      tables = self._embeddings.get(self.package_number, 'embeddingTables')
      return {name: _Stack(table) for name, table in tables.items()}

    @staticmethod
    def compute_sparse_core_stats(features, feature_config, num_tpu_chips, num_sc_per_chip=4, optimizer=None,
                                  sparse_core_embedding_config=None):
      stats = embeddings.plain('TPUEmbeddingV2.computeSparseCoreStats', {
          'features': features, 'featureConfig': feature_config, 'numTpuChips': num_tpu_chips,
          'numScPerChip': num_sc_per_chip, 'optimizer': optimizer,
          'sparseCoreEmbeddingConfig': sparse_core_config(sparse_core_embedding_config)})
      return stats['maxIds'], stats['maxUniqueIds']

  return TPUEmbedding, TPUEmbeddingForServing, TPUEmbeddingV2


class _Stack:
  """Tables in one variable, all shards of it on the one replica."""

  def __init__(self, values):
    self.values = [values]


def _tpu_device(device):
  """The device of a TPU for one of the strategy, whose only worker is the host."""
  return device if device is None or 'TPU' in device else '/device:TPU:0'


class _Resolver:
  """A TPU with one replica."""

  def __init__(self, *args, **kwargs):
    pass

  def get_tpu_system_metadata(self):
    return types.SimpleNamespace(num_cores=1)


class _Results(tuple):
  """The results of the one replica, which some tests take for one."""

  def numpy(self):
    return self[0].numpy()


def _replace_functions(embeddings):
  """Those of the layout of tables on SparseCores."""

  def remove_padding_from_sc(value_in_checkpoint, variable_shape):
    return embeddings.plain('removePadding', value_in_checkpoint, list(variable_shape))

  def unshuffle_from_sc_to_cpu(t, num_sparse_cores, offset_in_shard, size_in_shard, shard_rotation=0):
    return embeddings.plain('unshuffle', {
        't': t, 'numSparseCores': num_sparse_cores, 'offsetInShard': offset_in_shard, 'sizeInShard': size_in_shard,
        'shardRotation': shard_rotation})

  def map_indices_in_shard(num_sparse_cores, offset_in_shard, shard_rotation, row_indices):
    found = embeddings.plain('mapIndicesInShard', {
        'numSparseCores': num_sparse_cores, 'offsetInShard': offset_in_shard, 'shardRotation': shard_rotation,
        'rows': row_indices})
    return found['shardIndex'], found['positionInShard']

  for function in (remove_padding_from_sc, unshuffle_from_sc_to_cpu, map_indices_in_shard):
    setattr(tpu_embedding_v3_utils, function.__name__, function)


def _strategy_class(embeddings):

  class Strategy(one_device_strategy.OneDeviceStrategy):
    """A TPU with one replica, whose dense ops run on the host."""

    def __init__(self, resolver=None, experimental_device_assignment=None, **unused):
      super().__init__('/cpu:0')
      cores = experimental_device_assignment or 1
      self.extended._tpu_devices = np.array([[f'/device:TPU:{core}' for core in range(cores)]])
      self.extended.tpu_hardware_feature = types.SimpleNamespace(num_embedding_devices_per_chip=4)
      embeddings.use_tpu()

    def experimental_local_results(self, value):
      return _Results(super().experimental_local_results(value))

  return Strategy


def install(package):
  """Puts the package in place of TensorFlow's classes."""
  embeddings = Embeddings(package)
  for name in _CONFIGS:
    _replace_config(embeddings, package, name)
  base = tpu_embedding_v2_utils._Optimizer
  base.__eq__ = lambda self, other: isinstance(other, base) and embeddings.call(self.package_number, 'equals', other)
  base.__hash__ = lambda self: hash(embeddings.config(self.package_number))
  v1, serving, v2 = _embedding_classes(embeddings)
  tpu_embedding_v2.TPUEmbedding = v1
  tpu_embedding_for_serving.TPUEmbeddingForServing = serving
  tpu_embedding_v3.TPUEmbeddingV2 = v2
  _replace_functions(embeddings)
  strategy = _strategy_class(embeddings)
  tpu_strategy.TPUStrategy = tpu_strategy.TPUStrategyV2 = strategy
  tpu_cluster_resolver.TPUClusterResolver = _Resolver
  tpu_cluster_resolver.initialize_tpu_system = lambda *args, **kwargs: None
  tpu_cluster_resolver.shutdown_tpu_system = lambda *args, **kwargs: None
  device_assignment.DeviceAssignment.build = staticmethod(lambda *args, **kwargs: None)
  # Of an assignment the strategy needs to know the cores of a replica.
  device_assignment.device_assignment = lambda topology, computation_shape, **kwargs: int(np.prod(computation_shape))
  remote.connect_to_cluster = lambda *args, **kwargs: None
  return embeddings
