/** Ids, weights and gradients that neither version takes: the same class and argument from both, and nothing changes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const { tpu } = emb;

type Name = 'ValueError' | 'TypeError';
type Refused = readonly [what: string, make: () => unknown, name: Name, argument: string, received: string];

const disposed = (): tf.Tensor => {
  const tensor = tf.tensor1d([1, 2], 'int32');
  tensor.dispose();
  return tensor;
};
const sparse = (indices: number[][], denseShape: number[]) => (): unknown => ({
  indices,
  values: indices.map(() => 1),
  denseShape,
});

const IDS: readonly Refused[] = [
  ['ids beyond int32', () => [2 ** 40, 1], 'ValueError', 'features.a', '1099511627776'],
  ['ids below 0', () => [1, -1], 'ValueError', 'features.a', '-1'],
  ['ids outside of the table', () => [8, 1], 'ValueError', 'features.a', '8'],
  ['ids that are not whole', () => [0.5, 1], 'ValueError', 'features.a', '0.5'],
  ['NaN as an id', () => Float32Array.from([NaN, 1]), 'ValueError', 'features.a', 'NaN'],
  ['bools', () => tf.tensor1d([true, false], 'bool'), 'TypeError', 'features.a', 'bool'],
  ['text', () => tf.tensor1d(['a', 'b']), 'TypeError', 'features.a', 'string'],
  ['a scalar', () => tf.scalar(1, 'int32'), 'ValueError', 'features.a', ''],
  ['dense ids with a last axis of 2', () => tf.zeros([2, 2], 'int32'), 'ValueError', 'features.a', ''],
  ['null', () => null, 'TypeError', 'features.a', 'null'],
  ['one sample more', () => [1, 2, 3], 'ValueError', 'features.a', '3'],
  ['no samples', () => [], 'ValueError', 'features.a', '0'],
  ['a disposed tensor', disposed, 'ValueError', 'features.a', 'disposed'],
  ['sparse ids of a sample that is not there', sparse([[5, 0]], [2, 3]), 'ValueError', 'features.a.indices', '5'],
  [
    'sparse ids out of order',
    sparse(
      [
        [1, 0],
        [0, 0],
      ],
      [2, 3],
    ),
    'ValueError',
    'features.a.indices',
    'position 1',
  ],
  ['sparse ids of one axis', sparse([[0], [1]], [2]), 'ValueError', 'features.a.denseShape', ''],
];

const ragged = (rows: number[][], dtype: 'int32' | 'float32'): emb.RaggedTensor =>
  emb.RaggedTensor.fromRows(rows, { dtype });

const WEIGHTS: readonly Refused[] = [
  ['NaN as a weight', () => ragged([[NaN], [1]], 'float32'), 'ValueError', 'weights.a', 'NaN'],
  ['text as weights', () => 'text', 'ValueError', 'weights.a', ''],
  ['dense weights', () => [1, 1], 'ValueError', 'weights.a', ''],
  [
    'sparse weights',
    sparse(
      [
        [0, 0],
        [1, 0],
      ],
      [2, 1],
    ),
    'ValueError',
    'weights.a',
    '',
  ],
];

const GRADIENTS: readonly Refused[] = [
  ['numbers', () => 3, 'ValueError', 'gradients.a', '3'],
  ['another shape', () => tf.zeros([2, 3]), 'ValueError', 'gradients.a', '[2, 3]'],
  ['a disposed tensor', () => tf.zeros([2, 2]), 'ValueError', 'gradients.a', ''],
];

for (const version of [1, 2] as const) {
  describe(version === 1 ? 'TPUEmbedding refuses' : 'TPUEmbeddingV2 refuses', () => {
    /** Runs with a built object of one feature; tensors and tables must be the same afterwards. */
    async function within(body: (embedding: emb.tpu.TPUEmbedding | emb.tpu.TPUEmbeddingV2) => void): Promise<void> {
      await withTpuEmulator({ chips: 1, coresPerChip: 2 }, () => {
        const before = tf.memory().numTensors;
        const initializer = new tpu.RowIdInitializer();
        const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2, name: 't', combiner: 'sum', initializer });
        const args = {
          featureConfig: { a: new tpu.FeatureConfig({ table, outputShape: [2] }) },
          optimizer: new tpu.SGD(),
        };
        const embedding = version === 1 ? new tpu.TPUEmbedding(args) : new tpu.TPUEmbeddingV2(args);
        embedding.build();
        tf.tidy(() => body(embedding as emb.tpu.TPUEmbedding | emb.tpu.TPUEmbeddingV2));
        const weights = embedding.getWeights();
        expect(weights[0]!.arraySync()).toEqual(Array.from({ length: 8 }, (_, row) => [row, row]));
        if (version === 2) tf.dispose(weights);
        embedding.dispose();
        expect(tf.memory().numTensors).toBe(before);
      });
    }

    for (const [what, make, name, argument, received] of IDS) {
      it(`ids: ${what}`, () =>
        within((embedding) => {
          expectError(() => embedding.enqueue({ a: make() }), name, argument, received);
          if (embedding instanceof tpu.TPUEmbedding) expect(() => embedding.dequeue()).toThrowError(/no batch/);
        }));
    }

    for (const [what, make, name, argument, received] of WEIGHTS) {
      it(`weights: ${what}`, () =>
        within((embedding) => {
          expectError(
            () => embedding.enqueue({ a: ragged([[1], [2]], 'int32') }, { a: make() }),
            name,
            argument,
            received,
          );
        }));
    }

    it('other structures of ids and weights', () =>
      within((embedding) => {
        expectError(() => embedding.enqueue({ a: [1, 2], b: [1, 2] }), 'ValueError', 'features.b');
        expectError(() => embedding.enqueue({}), 'ValueError', 'features.a');
        expectError(() => embedding.enqueue([[1, 2]]), 'TypeError', 'features');
        expectError(() => embedding.enqueue({ a: [1, 2] }, [null]), 'TypeError', 'weights');
      }));

    for (const [what, make, name, argument, received] of GRADIENTS) {
      it(`gradients: ${what}`, () =>
        within((embedding) => {
          if (embedding instanceof tpu.TPUEmbedding) {
            embedding.enqueue({ a: [1, 2] });
            embedding.dequeue();
            const gradient = make();
            if (what === 'a disposed tensor') (gradient as tf.Tensor).dispose();
            expectError(() => embedding.applyGradients({ a: gradient }), name, argument, received);
          } else {
            const [, preserved] = embedding.embeddingLookup({ a: [1, 2] });
            const gradient = make();
            if (what === 'a disposed tensor') (gradient as tf.Tensor).dispose();
            expectError(() => embedding.applyGradients({ a: gradient }, preserved), name, argument, received);
          }
        }));
    }
  });
}
