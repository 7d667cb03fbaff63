/**
 * The errors that methods of TensorFlow's TPUEmbedding raise, one by one: of the same class here, with the path of the
 * feature, what is expected and what came. Those of constructors, and of the preprocessing, are in golden_errors.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { check, dense, describeLines, ragged, sparse, tableOf, type Line } from './error_lines.js';

const { tpu } = emb;

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

const optimizer = new tpu.SGD();
describeLines(
  'TPUEmbedding',
  V1_LINES,
  (a) => new tpu.TPUEmbedding({ featureConfig: { a }, optimizer }) as unknown as V1,
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
