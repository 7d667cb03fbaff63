/** The errors of TPUEmbeddingV2, one by one as in method_errors: of its constructor, its methods and the limits of ids. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeLines, ragged, tableOf, type Line } from './error_lines.js';

const { tpu } = emb;

type V2 = emb.tpu.TPUEmbeddingV2;
const looked = (embedding: V2): never => embedding.embeddingLookup({ a: [1, 2] })[1] as never;

const v2 = (a: emb.tpu.NestedFeatureConfigs, change: object = {}): V2 =>
  new tpu.TPUEmbeddingV2({ featureConfig: { a }, optimizer: new tpu.SGD(), ...change }) as unknown as V2;
const limited = (limits: emb.tpu.SparseCoreEmbeddingConfigArgs): V2 => {
  const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig(limits);
  return v2(new tpu.FeatureConfig({ table: tableOf(), outputShape: [2] }), { sparseCoreEmbeddingConfig });
};
/** All on SparseCore 1 of 2. */
const ODD = ragged([[1, 3], [5]]);

const V2_LINES: readonly Line<V2>[] = [
  [
    'samples that the cores do not divide',
    {},
    () => v2(new tpu.FeatureConfig({ table: tableOf(), outputShape: [3] })),
    'ValueError',
    'features.a',
    'a multiple of 2',
    '3',
  ],
  [
    'two tables of one name',
    {},
    () => v2([new tpu.FeatureConfig({ table: tableOf() }), new tpu.FeatureConfig({ table: tableOf() })]),
    'ValueError',
    'name',
    'names of their own',
    'several tables named t',
  ],
  [
    'an optimizer of plain layers',
    {},
    () => v2(new tpu.FeatureConfig({ table: tableOf() }), { optimizer: emb.train.sgd() }),
    'ValueError',
    'optimizer',
    'emb.tpu.SGD',
    'optimizer',
  ],
  [
    'settings of SparseCores that are none',
    {},
    () => v2(new tpu.FeatureConfig({ table: tableOf() }), { sparseCoreEmbeddingConfig: { allowIdDropping: true } }),
    'TypeError',
    'sparseCoreEmbeddingConfig',
    'SparseCoreEmbeddingConfig',
    'allowIdDropping',
  ],
  [
    'a sequence',
    {},
    () => v2(new tpu.FeatureConfig({ table: tableOf(), maxSequenceLength: 2 })).enqueue({ a: ragged([[1], [2]]) }),
    'ValueError',
    'features.a',
    'outputShape',
    'maxSequenceLength',
  ],
  [
    'build while shapes are not known',
    {},
    () => v2(new tpu.FeatureConfig({ table: tableOf() })).build(),
    'ValueError',
    'build',
    'output shapes that are known',
    'unknown',
  ],
  [
    'more ids of one core than the limit',
    {},
    () => limited({ maxIdsPerTable: { t: 1 } }).enqueue({ a: ODD }),
    'ValueError',
    'maxIdsPerTable',
    'at most 1 ids of one SparseCore for the stack t',
    '2, which core 0 asks SparseCore 1 for',
  ],
  [
    'more different ids of one core than the limit',
    {},
    () => limited({ maxUniqueIdsPerTable: { t: 1 } }).enqueue({ a: ODD }),
    'ValueError',
    'maxUniqueIdsPerTable',
    'at most 1 unique ids of one SparseCore for the stack t',
    '2, which core 0 asks SparseCore 1 for',
  ],
  [
    'more ids than the slots of a chip',
    {},
    () => limited({ maxIdsPerChipPerSample: 4 }).enqueue({ a: ragged([[1, 2], [3]]) }),
    'ValueError',
    'maxIdsPerChipPerSample',
    'the 8 slots of a chip',
    'ids more',
  ],
  ['features of another structure', {}, (e) => e.enqueue([[1, 2]]), 'TypeError', 'features', '', ''],
  ['ids of unknown type', {}, (e) => e.enqueue({ a: 'text' }), 'ValueError', 'features.a', '', 'text'],
  [
    'weights of another type',
    {},
    (e) => e.enqueue({ a: ragged([[1], [2]]) }, { a: [1, 1] }),
    'ValueError',
    'weights.a',
    'RaggedTensor',
    'Tensor',
  ],
  [
    'a device that is no TPU',
    {},
    (e) => e.enqueue({ a: [1] }, null, { device: 'cpu' }),
    'ValueError',
    'device',
    '/device:TPU:0',
    'cpu',
  ],
  [
    'dequeue of what is no PartitionedCsrFormatTensor',
    {},
    (e) => (e.build(), e.dequeue({ t: 3 } as never)),
    'ValueError',
    'partitioned.t',
    'PartitionedCsrFormatTensor',
    '3',
  ],
  [
    'applyGradients of an unbuilt one',
    {},
    (e) => e.applyGradients({ a: null }, {}),
    'RuntimeError',
    'applyGradients',
    'built',
    'unbuilt',
  ],
  [
    'a gradient that is no tensor',
    {},
    (e) => e.applyGradients({ a: 'x' }, looked(e)),
    'ValueError',
    'gradients.a',
    '',
    'x',
  ],
  [
    'a gradient of another shape',
    {},
    (e) => e.applyGradients({ a: tf.zeros([2, 3]) }, looked(e)),
    'ValueError',
    'gradients.a',
    '[2, 2]',
    '[2, 3]',
  ],
  ['gradients of another structure', {}, (e) => e.applyGradients([null], looked(e)), 'TypeError', 'gradients', '', ''],
  [
    'applyGradients without what the lookup gave',
    {},
    (e) => (looked(e), e.applyGradients({ a: null }, null as never)),
    'ValueError',
    'preserved',
    'PartitionedCsrFormatTensor',
    'null',
  ],
  [
    'applyGradients without the CSR of a stack',
    {},
    (e) => (looked(e), e.applyGradients({ a: null }, {})),
    'ValueError',
    'preserved.t',
    'PartitionedCsrFormatTensor',
    'undefined',
  ],
];

describeLines('TPUEmbeddingV2', V2_LINES, (a) =>
  v2(a.outputShape === null ? new tpu.FeatureConfig({ table: a.table, outputShape: [2] }) : a),
);
