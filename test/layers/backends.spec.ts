import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../helpers/backends.js';
import { artifactsOf, expectClose, ids, leakFree, ramp, reload, take } from './setup.js';

/** Weighted dense ids, ids with padding, ragged ids, and one table in two of them. */
function wideModel(): tf.LayersModel {
  const table = emb.embeddingTable({ name: 'shared_T', inputDim: 12, outputDim: 3, weights: [ramp(12, 3)] });
  const own = { inputDim: 12, outputDim: 3, weights: [ramp(12, 3)] };
  const [dense, padded, ragged] = [3, 4, 4].map((length) => tf.input({ shape: [length], dtype: 'int32' }));
  const perId = tf.input({ shape: [3] });
  const parts = [
    emb.layers.embedding({ table, combiner: 'mean' }).apply([dense!, perId]),
    emb.layers.embedding({ ...own, combiner: 'sqrtn', maskZero: true }).apply(padded!),
    emb.layers.raggedEmbedding({ table, combiner: 'sum' }).apply(ragged!),
    tf.layers
      .flatten()
      .apply(emb.layers.raggedEmbedding({ ...own, embeddingsRegularizer: 'l2' }).apply(ragged!) as never),
  ] as tf.SymbolicTensor[];
  const joined = tf.layers.concatenate().apply(parts) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(joined) as tf.SymbolicTensor;
  return tf.model({ inputs: [dense!, perId, padded!, ragged!], outputs });
}

function batch(): tf.Tensor[] {
  return [
    ids([
      [1, 1, 5],
      [0, 7, 2],
    ]),
    tf.tensor2d([
      [1, 0.5, 2],
      [1, 3, 0.25],
    ]),
    ids([
      [0, 3, 0, 4],
      [0, 0, 0, 0],
    ]),
    ids([
      [5, -1, 11, -1],
      [-1, -1, -1, -1],
    ]),
  ];
}

async function trained(optimizer: tf.Optimizer): Promise<{ model: tf.LayersModel; losses: number[]; x: tf.Tensor[] }> {
  const model = wideModel();
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const [x, y] = [batch(), tf.tensor2d([[1], [-1]])];
  const { history } = await model.fit(x, y, { epochs: 4, shuffle: false, verbose: 0 });
  y.dispose();
  return { model, losses: history['loss'] as number[], x };
}

const MAKERS = {
  sgd: () => emb.train.sgd({ learningRate: 0.001 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.01 }),
  adam: () => emb.train.adam({ learningRate: 0.01, lazy: false }),
};

describe('layers on every backend', () => {
  /** Losses and tables of the reference kernels. */
  const wanted = new Map<string, { losses: number[]; weights: number[][] }>();

  async function run(name: keyof typeof MAKERS): Promise<{ losses: number[]; weights: number[][] }> {
    const optimizer = MAKERS[name]();
    const { model, losses, x } = await trained(optimizer);
    const weights = model.getWeights().map((weight) => Array.from(weight.dataSync()));
    const reloaded = await reload(await artifactsOf(model));
    expect(take(reloaded.predict(x))).toEqual(take(model.predict(x)));
    tf.dispose(x);
    optimizer.dispose();
    reloaded.dispose();
    model.dispose();
    return { losses, weights };
  }

  beforeAll(async () => {
    await tf.setBackend('cpu');
    emb.setKernels('reference');
    for (const name of Object.keys(MAKERS) as (keyof typeof MAKERS)[]) wanted.set(name, await run(name));
    emb.setKernels('auto');
  });

  describeForBackends('train, save and reload', () => {
    for (const name of Object.keys(MAKERS) as (keyof typeof MAKERS)[]) {
      it(
        name,
        leakFree(async () => {
          const { losses, weights } = await run(name);
          expect(losses[3]).toBeLessThan(losses[0]!);
          expectClose(losses, wanted.get(name)!.losses, 1e-5);
          weights.forEach((weight, i) => expectClose(weight, wanted.get(name)!.weights[i]!, 1e-5));
        }),
      );
    }

    it(
      'ids out of range are refused',
      leakFree(() => {
        const layer = emb.layers.embedding({ inputDim: 4, outputDim: 2, combiner: 'sum' });
        const [good, bad] = [ids([[1, 3]]), ids([[1, 4]])];
        tf.dispose(layer.apply(good) as tf.Tensor);
        expect(() => layer.apply(bad)).toThrowMatching((error: Error) => error instanceof emb.ValueError);
        tf.dispose([good, bad]);
        layer.dispose();
      }),
    );
  });
});
