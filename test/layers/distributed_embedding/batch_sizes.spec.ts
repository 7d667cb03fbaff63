/** Features with different numbers of samples in one call: rows, gradients and steps are those of each alone. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';

const SIZES = [
  [7, 3],
  [9, 2],
  [7, 4],
] as const;
const IDS = [[[1, 2], [3, 6]], [[8], [0], [5], [8]], [[0, 0, 2]]]; // prettier-ignore

const layerOf = (output: 'structure' | 'concat' = 'structure'): emb.DistributedEmbedding => {
  const embeddings = SIZES.map(([inputDim, outputDim], i) => {
    const seed = tf.initializers.randomUniform({ minval: -1, maxval: 1, seed: i });
    return {
      inputDim,
      outputDim,
      combiner: (['sum', 'mean', 'sum'] as const)[i],
      embeddingsInitializer: seed as never,
    };
  });
  return emb.layers.distributedEmbedding({ embeddings, output } as never) as emb.DistributedEmbedding;
};
const inputs = (): tf.Tensor[] => IDS.map((rows) => tf.tensor2d(rows, [rows.length, rows[0]!.length], 'int32'));
const tablesOf = (layer: emb.DistributedEmbedding): number[][] =>
  layer.getWeights().map((table) => Array.from(table.dataSync()));

describeForBackends('features of different batch sizes', () => {
  it('are looked up and stepped as each alone', () => {
    expectNoLeak(() => {
      const [joint, single] = [layerOf(), layerOf()];
      const x = inputs();
      const ragged = emb.RaggedTensor.fromRows(IDS[1]!, { dtype: 'int32' });
      tf.tidy(() => {
        const results = joint.apply([x[0]!, ragged, x[2]!] as never) as tf.Tensor[];
        expect(results.map(({ shape }) => shape)).toEqual([[2, 3], [4, 2], [1, 4]]); // prettier-ignore
        const before = tablesOf(joint);
        results.forEach((result, i) => {
          const [, dim] = SIZES[i]!;
          const scale = i === 1 ? IDS[1]![0]!.length : 1;
          const expected = IDS[i]!.flatMap((row) =>
            Array.from({ length: dim }, (_, c) => row.reduce((sum, id) => sum + before[i]![id * dim + c]!, 0) / scale),
          );
          expectClose(result.dataSync(), expected, 2);
        });
      });
      const step = (layer: emb.DistributedEmbedding, of: (results: tf.Tensor[]) => tf.Tensor[]): void => {
        const optimizer = emb.train.adagrad({ learningRate: 0.5 });
        const loss = (): tf.Scalar =>
          tf.addN(of(layer.apply(x as never) as tf.Tensor[]).map((result) => result.square().sum())) as tf.Scalar;
        optimizer.minimize(loss);
        optimizer.dispose();
      };
      step(joint, (results) => results);
      // Of the second layer one feature alone is stepped, by a loss that knows no other.
      tf.tidy(() => void single.apply(x as never));
      for (const feature of [0, 1, 2]) step(single, (results) => [results[feature]!]);
      const [all, each] = [tablesOf(joint), tablesOf(single)];
      all.forEach((table, i) => expectClose(table, each[i]!, 1));
      tf.dispose([...x]);
      joint.dispose();
      single.dispose();
    });
  });

  it('have no place side by side', () => {
    const layer = layerOf('concat');
    const x = inputs();
    expectError(() => layer.apply(x as never), 'ValueError', 'inputs[1]', '[4, 2]');
    tf.dispose(x);
    layer.dispose();
  });
});
