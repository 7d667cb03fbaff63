/**
 * The errors that methods of TensorFlow's TPU embedding classes raise, one by one: of the same class here, with the path
 * of the feature, what is expected and what came. Those of constructors, and of the preprocessing, are in golden_errors.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

type Name = 'ValueError' | 'TypeError' | 'RuntimeError';
type Line<T> = readonly [
  what: string,
  feature: object,
  run: (embedding: T) => unknown,
  name: Name,
  argument: string,
  expected: string,
  received: string,
];

const tableOf = (name = 't'): emb.tpu.TableConfig =>
  new tpu.TableConfig({ vocabularySize: 8, dim: 2, name, combiner: 'sum' });
const ragged = (rows: number[][], dtype: 'int32' | 'float32' = 'int32'): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rows, { dtype });
const sparse = (denseShape: number[]): object => ({ indices: [denseShape.map(() => 0)], values: [1], denseShape });
const dense = (shape: number[]): tf.Tensor => tf.zeros(shape, 'int32');

/** The error is as expected, and tells what was expected. */
function check(run: () => unknown, name: Name, argument: string, expected: string, received: string): void {
  let told = '';
  expectError(
    () => {
      try {
        return run();
      } catch (error) {
        told = (error as { expected: string }).expected;
        throw error;
      }
    },
    name,
    argument,
    received,
  );
  expect(told).toContain(expected);
}

type V1 = emb.tpu.TPUEmbedding;
const trained = (embedding: V1): V1 => {
  embedding.enqueue({ a: [1, 2] });
  embedding.dequeue();
  return embedding;
};

const V1_LINES: readonly Line<V1>[] = [
  [
    'a shape of rank 0 for build',
    {},
    (e) => e.build({ a: [] }),
    'ValueError',
    'perReplicaInputShapes.a',
    'rank 1 or more',
    'rank 0',
  ],
  [
    'a shape for build that disagrees with the config',
    { outputShape: [5] },
    (e) => e.build({ a: [6, 3] }),
    'ValueError',
    'features.a',
    '[5]',
    '[6]',
  ],
  [
    'an output shape that is not fully defined',
    { outputShape: [null, 2] },
    (e) => e.build(),
    'ValueError',
    'features.a',
    'all known',
    '[null, 2]',
  ],
  [
    'no batch size, as nobody told it',
    {},
    (e) => e.build(),
    'ValueError',
    'features.a',
    'all known',
    'an unknown shape',
  ],
  [
    'dense ids with a last axis of 2',
    {},
    (e) => e.enqueue({ a: dense([5, 2]) }),
    'ValueError',
    'features.a',
    'size 1',
    '[5, 2]',
  ],
  ['a dense scalar', {}, (e) => e.enqueue({ a: dense([]) }), 'ValueError', 'features.a', '', ''],
  ['sparse ids of rank 1', {}, (e) => e.enqueue({ a: sparse([5]) }), 'ValueError', 'features.a.denseShape', '', ''],
  [
    'sparse ids for another output shape',
    { outputShape: [6] },
    (e) => e.enqueue({ a: sparse([5, 7]) }),
    'ValueError',
    'features.a',
    '[6]',
    '[5]',
  ],
  [
    'sparse ids of rank 4 for an output shape of rank 2',
    { outputShape: [5, 2] },
    (e) => e.enqueue({ a: sparse([5, 2, 3, 7]) }),
    'ValueError',
    'features.a',
    '[5, 2]',
    '[5, 2, 3]',
  ],
  [
    'ragged ids for another output shape of rank 1',
    { outputShape: [8] },
    (e) => e.enqueue({ a: ragged([[1], [2], [3], [4]]) }),
    'ValueError',
    'features.a',
    '[8]',
    '[4]',
  ],
  [
    'ragged ids of rank 3',
    {},
    (e) => e.enqueue({ a: emb.RaggedTensor.fromRows([[[1]]], { dtype: 'int32' }) }),
    'ValueError',
    'features.a',
    'rank 2',
    'rank 3',
  ],
  [
    'weights of dense ids',
    {},
    (e) => e.enqueue({ a: [1, 2] }, { a: [1, 1] }),
    'ValueError',
    'weights.a',
    'no weights for the dense ids features.a',
    'dense',
  ],
  [
    'dense weights of ragged ids',
    {},
    (e) => e.enqueue({ a: ragged([[1], [2]]) }, { a: [1, 1] }),
    'ValueError',
    'weights.a',
    'ragged weights',
    'dense',
  ],
  [
    'ragged weights of sparse ids',
    {},
    (e) => e.enqueue({ a: sparse([2, 2]) }, { a: ragged([[1]], 'float32') }),
    'ValueError',
    'weights.a',
    'sparse weights',
    'ragged',
  ],
  ['features of other keys', {}, (e) => e.enqueue({ b: [1] }), 'ValueError', 'features.a', '', ''],
  ['features in a list', {}, (e) => e.enqueue([[1]]), 'TypeError', 'features', '', ''],
  ['weights of another structure', {}, (e) => e.enqueue({ a: [1] }, [null]), 'TypeError', 'weights', '', ''],
  [
    'a device that is no TPU',
    {},
    (e) => e.enqueue({ a: [1] }, null, { device: '/device:CPU:0' }),
    'ValueError',
    'device',
    '/device:TPU:0',
    '/device:CPU:0',
  ],
  [
    'shapes that change from batch to batch',
    {},
    (e) => (e.enqueue({ a: [1, 2] }), e.enqueue({ a: [1] })),
    'ValueError',
    'features.a',
    '[2]',
    '[1]',
  ],
  ['dequeue before build', {}, (e) => e.dequeue(), 'RuntimeError', 'dequeue', 'built', ''],
  ['applyGradients before build', {}, (e) => e.applyGradients({ a: null }), 'RuntimeError', 'applyGradients', '', ''],
  ['gradients in a list', {}, (e) => trained(e).applyGradients([null]), 'TypeError', 'gradients', '', ''],
  [
    'a gradient that is no tensor',
    {},
    (e) => trained(e).applyGradients({ a: 'x' }),
    'ValueError',
    'gradients.a',
    'float32',
    'x',
  ],
  [
    'a gradient of another shape',
    {},
    (e) => trained(e).applyGradients({ a: tf.zeros([2, 3]) }),
    'ValueError',
    'gradients.a',
    '[2, 2]',
    '[2, 3]',
  ],
];

type V2 = emb.tpu.TPUEmbeddingV2;
const looked = (embedding: V2): never => embedding.embeddingLookup({ a: [1, 2] })[1] as never;

const v2 = (a: emb.tpu.FeatureConfig): V2 =>
  new tpu.TPUEmbeddingV2({ featureConfig: { a }, optimizer: new tpu.SGD() }) as unknown as V2;

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
];

function lines<T extends { dispose(): void }>(
  title: string,
  all: readonly Line<T>[],
  make: (feature: emb.tpu.FeatureConfig) => T,
): void {
  describe(`${title} refuses, with the path, what is expected and what came`, () => {
    for (const [what, change, run, name, argument, expected, received] of all) {
      it(what, () =>
        withTpuEmulator({ chips: 1, coresPerChip: 2 }, () => {
          const before = tf.memory().numTensors;
          const embedding = make(new tpu.FeatureConfig({ table: tableOf(), ...change }));
          tf.tidy(() => check(() => run(embedding), name, argument, expected, received));
          embedding.dispose();
          expect(tf.memory().numTensors).toBe(before);
        }),
      );
    }
  });
}

const optimizer = new tpu.SGD();
lines('TPUEmbedding', V1_LINES, (a) => new tpu.TPUEmbedding({ featureConfig: { a }, optimizer }) as unknown as V1);
lines('TPUEmbeddingV2', V2_LINES, (a) =>
  v2(a.outputShape === null ? new tpu.FeatureConfig({ table: a.table, outputShape: [2] }) : a),
);

describe('Two objects on one machine', () => {
  it('are refused: the second build tells that the TPU is already initialized for embeddings', () =>
    withTpuEmulator({ chips: 1, coresPerChip: 2 }, () => {
      const make = (): V1 => {
        const a = new tpu.FeatureConfig({ table: tableOf(), outputShape: [2] });
        return new tpu.TPUEmbedding({ featureConfig: { a }, optimizer }) as unknown as V1;
      };
      const [first, second] = [make(), make()];
      first.build();
      check(() => second.build(), 'RuntimeError', 'build', 'one TPUEmbedding', 'another one');
      expect(() => second.build()).toThrowError(/already initialized for embeddings/);
      first.dispose();
      second.dispose();
    }));
});
