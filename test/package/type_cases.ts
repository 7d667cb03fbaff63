/** What must compile under strict, and what must not. Compiled by types.spec.ts; never run. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';

const table = tf.variable(tf.zeros([10, 4]));
const ragged = emb.RaggedTensor.fromRows([[1, 2], [3]]);
const rows = [[1, 2], [3]];
const sparse: emb.SparseInput = { indices: [[0, 0]], values: [1], denseShape: [1, 2] };
const matrix = tf.tensor2d([[1, 2]], [1, 2], 'int32');
const [user, seen] = [tf.input({ shape: [1], dtype: 'int32' }), tf.input({ shape: [10], dtype: 'int32' })];
const combiner = 'mean' as emb.Combiner | null;

export const lookups = {
  dense: emb.embeddingLookup(table, tf.tensor1d([1], 'int32')) satisfies tf.Tensor2D,
  denseMatrix: emb.embeddingLookup(table, matrix) satisfies tf.Tensor,
  denseArray: emb.embeddingLookup(table, Int32Array.of(1, 2)) satisfies tf.Tensor2D,
  ragged: emb.embeddingLookup(table, ragged) satisfies emb.RaggedTensor,
  raggedWithoutCombiner: emb.embeddingLookup(table, ragged, { combiner: null }) satisfies emb.RaggedTensor,
  raggedPooled: emb.embeddingLookup(table, ragged, { combiner: 'sum' }) satisfies tf.Tensor2D,
  rowsPooled: emb.embeddingLookup(table, rows, { combiner: 'mean' }) satisfies tf.Tensor2D,
  matrixPooled: emb.embeddingLookup(table, matrix, { combiner: 'mean', weights: [[1, 2]] }) satisfies tf.Tensor2D,
  sparsePooled: emb.embeddingLookup(table, sparse, { combiner: 'sqrtn' }) satisfies tf.Tensor,
  partitions: emb.embeddingLookup([table, table], ragged, { combiner: 'sum' }) satisfies tf.Tensor2D,
  // Even rows are dense, uneven ones ragged.
  either: emb.embeddingLookup(table, rows) satisfies tf.Tensor | emb.RaggedTensor,
  anything: emb.embeddingLookup(table, ragged as emb.IdsInput, { combiner }) satisfies tf.Tensor | emb.RaggedTensor,
  safe: emb.safeEmbeddingLookup(table, rows, { defaultId: 0 }) satisfies tf.Tensor2D,
  bags: emb.ops.embeddingBag(table, [1, 2], [0, 2], { combiner: 'sum' }) satisfies tf.Tensor2D,
};

export function refusedLookups(): void {
  // @ts-expect-error: one result of several kinds is no RaggedTensor
  const either: emb.RaggedTensor = emb.embeddingLookup(table, rows);
  // @ts-expect-error: dense ids give a tensor
  const dense: emb.RaggedTensor = emb.embeddingLookup(table, matrix);
  // @ts-expect-error: no combiner of this name
  emb.embeddingLookup(table, ragged, { combiner: 'product' });
  // @ts-expect-error: words are no ids
  emb.embeddingLookup(table, [['a']], { combiner: 'sum' });
  // @ts-expect-error: no option of this name
  emb.embeddingLookup(table, ragged, { combiner: 'sum', maxnorm: 1 });
  void [either, dense];
}

const pooling = emb.layers.embedding({ inputDim: 10, outputDim: 4, combiner: 'sum' });
const perId = emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 4 });
const sharedTable = emb.embeddingTable({ inputDim: 10, outputDim: 4 });

export const layers = {
  symbolic: pooling.apply(user) satisfies tf.SymbolicTensor,
  weighted: pooling.apply([seen, seen]) satisfies tf.SymbolicTensor,
  dense: pooling.apply(matrix) satisfies tf.Tensor,
  denseWeighted: pooling.apply([matrix, tf.ones([1, 2])]) satisfies tf.Tensor,
  ragged: pooling.apply(ragged) satisfies tf.Tensor,
  raggedWeighted: pooling.apply([ragged, [[1, 2], [3]]]) satisfies tf.Tensor,
  raggedPerId: perId.apply(ragged) satisfies emb.RaggedTensor,
  padded: perId.apply(matrix) satisfies tf.Tensor,
  shared: emb.layers.embedding({ table: sharedTable, combiner: 'mean' }).apply(rows) satisfies tf.Tensor,
  interaction: emb.layers.dotInteraction().apply([user, seen]) satisfies tf.SymbolicTensor,
  interactionOfTensors: emb.layers.dotInteraction().apply([table, table]) satisfies tf.Tensor,
  cross: emb.layers.featureCross().apply(user) satisfies tf.SymbolicTensor,
  oneHot: emb.layers
    .concatOneHotEmbedding({ featureSizes: [2, 3], embeddingWidth: 4 })
    .apply(user) satisfies tf.SymbolicTensor,
  keys: emb.layers.integerLookup({ maxTokens: 5 }).apply(user) satisfies tf.SymbolicTensor,
  keysOfRows: emb.layers.integerLookup({ maxTokens: 5 }).apply(rows) satisfies number[][],
  asStock: pooling as tf.layers.Layer,
  inSequential: tf.sequential({ layers: [pooling, tf.layers.dense({ units: 1 })] }),
  model: tf.model({ inputs: user, outputs: pooling.apply(user) }),
};

export function refusedLayers(): void {
  // @ts-expect-error: no number of columns
  emb.layers.embedding({ inputDim: 3 });
  // @ts-expect-error: no arguments
  emb.layers.raggedEmbedding();
  // @ts-expect-error: what belongs to the table is given there
  emb.layers.embedding({ table: sharedTable, weights: [table] });
  // @ts-expect-error: positional use
  emb.layers.embedding(10, 4);
  // @ts-expect-error: no field of this name
  emb.layers.embedding({ inputDim: 3, outputDim: 4, input_length: 2 });
  // @ts-expect-error: no combiner of this name
  emb.layers.embedding({ inputDim: 3, outputDim: 4, combiner: 'product' });
  // @ts-expect-error: combined ids give a tensor
  const pooled: emb.RaggedTensor = pooling.apply(ragged);
  // @ts-expect-error: no optimizer of tables
  emb.layers.embedding({ inputDim: 3, outputDim: 4, optimizer: tf.train.adam() });
  void pooled;
}

const list = emb.layers.distributedEmbedding({
  embeddings: [
    { name: 'users', inputDim: 10, outputDim: 4, combiner: 'sum' },
    { name: 'items', inputDim: 10, outputDim: 4, combiner: 'mean' },
  ],
});
const mixed = emb.layers.distributedEmbedding({
  embeddings: [pooling, { inputDim: 10, outputDim: 4 }, tf.layers.embedding({ inputDim: 3, outputDim: 4 })],
});
const mapped = emb.layers.distributedEmbedding({
  embeddings: [{ inputDim: 10, outputDim: 4, combiner: 'sum' }],
  inputTableMap: [0, 0, 0],
});
const movies = new emb.TableConfig({ name: 'movies', vocabularySize: 10, embeddingDim: 4 });
const actors = new emb.TableConfig({ name: 'actors', vocabularySize: 10, embeddingDim: 4, combiner: null });
const feature = (name: string) => ({ name, inputShape: [null, 2], outputShape: [null, 4] });
const nested = emb.layers.distributedEmbedding({
  features: {
    user: { seen: new emb.FeatureConfig({ ...feature('seen'), table: movies }) },
    items: [
      new emb.FeatureConfig({ ...feature('item'), table: movies }),
      new emb.FeatureConfig({ ...feature('cast'), table: actors }),
    ],
  },
  strategy: 'basic',
});
const tables: emb.DistributedItem[] = [pooling];
const ofMany = emb.layers.distributedEmbedding({ embeddings: tables });
const [usersOut, itemsOut] = list.apply([matrix, rows]);
const nestedOut = nested.apply({ user: { seen: ragged }, items: [matrix, ragged] });
const nestedSymbolic = nested.apply({ user: { seen }, items: [user, seen] });

export const distributed = {
  joined: tf.layers.concatenate().apply(list.apply([user, seen])),
  symbolic: list.apply([user, seen])[1] satisfies tf.SymbolicTensor,
  users: usersOut satisfies tf.Tensor,
  items: itemsOut satisfies tf.Tensor,
  weighted: list.apply([rows, rows], { weights: [null, rows] })[0] satisfies tf.Tensor,
  mixed: mixed.apply([ragged, ragged, matrix])[1] satisfies emb.RaggedTensor,
  mapped: mapped.apply([user, user, seen]) satisfies tf.SymbolicTensor[],
  many: ofMany.apply([user]) satisfies tf.SymbolicTensor[],
  seen: nestedOut.user.seen satisfies tf.Tensor,
  item: nestedOut.items[0] satisfies tf.Tensor,
  cast: nestedOut.items[1] satisfies emb.RaggedTensor,
  nestedSymbolic: nestedSymbolic.user.seen satisfies tf.SymbolicTensor,
  single: emb.layers
    .distributedEmbedding({ features: new emb.FeatureConfig({ ...feature('one'), table: movies }) })
    .apply(matrix) satisfies tf.Tensor,
  asClass: nested as emb.DistributedEmbedding,
  asStock: nested as tf.layers.Layer,
  byDevice: emb.layers
    .distributedEmbedding({ embeddings: [{ inputDim: 10, outputDim: 4, combiner: 'sum' }], dpInput: false })
    .apply([[matrix], []]) satisfies tf.Tensor[],
};

export function refusedFeatures(): void {
  // @ts-expect-error: no feature of this name
  nested.apply({ user: { watched: ragged }, items: [matrix, ragged] });
  // @ts-expect-error: an item without the number of columns
  emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 3 }] });
  // @ts-expect-error: an item with a field that is none
  emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 3, outputDim: 4, combine: 'sum' }] });
  // @ts-expect-error: both forms
  emb.layers.distributedEmbedding({ embeddings: [pooling], features: {} });
  // @ts-expect-error: no strategy of this name
  emb.layers.distributedEmbedding({ embeddings: [pooling], strategy: 'fast' });
  // @ts-expect-error: a table config is no feature
  emb.layers.distributedEmbedding({ features: movies });
}

export const training = {
  sgd: emb.train.sgd({ learningRate: 0.1 }) satisfies tf.Optimizer,
  adagradMomentum: emb.train.adagradMomentum({ learningRate: 0.1, momentum: 0.9, useNesterov: true }),
  adam: emb.train.adam({ lazy: false, dense: tf.train.sgd(0.1) }),
  schedule: emb.train.ftrl({ learningRate: (step: number) => 1 / step, l1: 0.1 }),
  none: emb.train.rowWiseAdagrad(),
};

export function refusedTraining(): void {
  // @ts-expect-error: adagrad has no momentum
  emb.train.adagrad({ momentum: 0.9 });
  // @ts-expect-error: adagrad has no beta1
  emb.train.adagrad({ beta1: 0.9 });
  // @ts-expect-error: positional use
  emb.train.adam(0.01);
}

const lookup = new emb.preprocessing.StringLookup({ vocabulary: ['a'] });

export const preprocessing = {
  words: lookup.apply(['a', 'b']) satisfies number[],
  rows: lookup.apply([['a'], ['b', 'c']]) satisfies number[][],
  ragged: new emb.preprocessing.Hashing({ numBins: 3 }).apply(ragged) satisfies emb.RaggedTensor,
  tensor: new emb.preprocessing.IntegerLookup({ vocabulary: [1] }).apply(matrix) satisfies tf.Tensor,
};
