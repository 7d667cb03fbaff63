/** What `fit` and the like of tfjs do, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { hasNone, kernelsOf, leftBy, throwsIn } from './watch.mjs';

const ROWS = 12;

function compiled(options = {}) {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, useBias: false, inputShape: [3] })] });
  model.compile({ optimizer: tf.train.sgd(0.1), loss: 'meanSquaredError', ...options });
  return model;
}

const data = () => [tf.ones([ROWS, 3]), tf.ones([ROWS, 2])];
const fit = (model, args = {}) => model.fit(...data(), { batchSize: 4, epochs: 1, verbose: 0, ...args });

/** Slices of the list of row numbers, which `fit` makes of the numbers of all rows. */
async function slicesOfNumbers() {
  const kernels = await kernelsOf(() => fit(compiled()));
  return kernels.filter(({ name, inputShapes }) => name === 'Slice' && inputShapes.some(([size]) => size === ROWS));
}

export default {
  'training/model_steps': async () => {
    // What a sequential model runs as.
    const sequential = compiled();
    const { model } = sequential;
    const { makeTrainFunction } = model;
    let made = 0;
    model.makeTrainFunction = (...args) => {
      made++;
      return makeTrainFunction.apply(model, args);
    };
    await fit(sequential);
    await fit(sequential);
    return made === 2;
  },
  'training/fit_loop, rows': async () => (await slicesOfNumbers()).length === ROWS / 4,
  'training/ragged_values': () => {
    const model = compiled();
    return throwsIn(() => model.predict({ values: tf.ones([4]), rowSplits: tf.tensor1d([0, 1, 4], 'int32') }));
  },
  'training/sample_weights': async () => {
    const model = compiled();
    const before = await model.getWeights()[0].data();
    const none = { xs: tf.ones([3]), ys: tf.ones([2]), sampleWeight: tf.scalar(0), sampleWeights: tf.scalar(0) };
    try {
      await model.fitDataset(tf.data.array([none, none]).batch(2), { epochs: 1, verbose: 0 });
    } catch {
      return true;
    }
    // Rows that weigh nothing must change nothing.
    return (await model.getWeights()[0].data()).some((value, i) => value !== before[i]);
  },
  'training/uneven_batches': async () => {
    const batches = await tf.data
      .array([[1, 2, 3], [4]])
      .batch(2)
      .toArray();
    return batches[0] instanceof tf.Tensor && batches[0].dataSync().length !== batches[0].size;
  },
  'training/epoch_means': async () => {
    const kernels = await kernelsOf(() => fit(compiled()));
    return kernels.some(({ name, inputShapes }) => name === 'Multiply' && inputShapes.flat().length === 0);
  },
  'training/fit_loop': () =>
    leftBy(async () => {
      const [x, y] = data();
      const model = compiled({
        loss: () => {
          throw new Error('a loss that fails');
        },
      });
      await model.fit(x, y, { batchSize: 4, verbose: 0 }).catch(() => {});
      tf.dispose([x, y, model.getWeights()]);
      model.optimizer.dispose();
    }).then((left) => left > 0),
  uncast_inputs: () => {
    const ids = tf.input({ shape: [1], dtype: 'int32' });
    const rows = tf.layers.embedding({ inputDim: 4, outputDim: 2 }).apply(ids);
    return !throwsIn(() => tf.model({ inputs: ids, outputs: rows }).predict(tf.tensor2d([[1.75]])));
  },
  'uncast_inputs, rows': () => {
    const layer = tf.layers.embedding({ inputDim: 4, outputDim: 2, inputShape: [1] });
    const ids = tf.tensor2d(Array.from({ length: 40 }, (_, i) => [i === 37 ? 9 : 1]));
    try {
      tf.sequential({ layers: [layer] }).predict(ids, { batchSize: 8 });
    } catch (error) {
      return !error.message.includes('37');
    }
    return true;
  },
  'stock_optimizer_state, steps': () => hasNone(tf.Optimizer, /^(on|before|after|add|sub)[A-Z]/),
  stock_optimizer_state: async () => {
    const adam = tf.train.adam(0.1);
    const variable = tf.variable(tf.scalar(1));
    adam.minimize(() => variable.square());
    const powers = (await adam.getWeights()).some(({ name }) => /beta|power/i.test(name));
    const left = await leftBy(() => tf.train.momentum(0.1, 0.9).dispose());
    return !powers && left > 0;
  },
};
