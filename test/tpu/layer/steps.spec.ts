/** When the layer steps its tables, and how often. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { releaseFailedTape } from '../../../src/tfjs/failed_tape.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator, type EmulatedMachine } from '../../helpers/tpu_emulator.js';
import { data, fit, headOf, layerOf, modelOf, sgdModel, tablesOf, tpuLayerOf, weightsOf } from './models.js';

const { tpu } = emb;

/** Every kind of optimizer that compile takes. */
const OPTIMIZERS: readonly (readonly [string, () => tf.Optimizer])[] = [
  ['tf sgd', () => tf.train.sgd(0.5)],
  ['tf momentum', () => tf.train.momentum(0.05, 0.5)],
  ['tf adagrad', () => tf.train.adagrad(0.05)],
  ['tf adadelta', () => tf.train.adadelta(0.5)],
  ['tf adam', () => tf.train.adam(0.05)],
  ['tf adamax', () => tf.train.adamax(0.05)],
  ['tf rmsprop', () => tf.train.rmsprop(0.05)],
  ['emb sgd', () => emb.train.sgd({ learningRate: 0.5 })],
  ['emb adagrad', () => emb.train.adagrad({ learningRate: 0.05 })],
  ['emb adam, clipped', () => emb.train.adam({ learningRate: 0.05, globalClipNorm: 0.5 })],
  ['emb ftrl', () => emb.train.ftrl({ learningRate: 0.05 })],
];

async function hasTensorFlow(): Promise<boolean> {
  return import('@tensorflow/tfjs-node').then(
    () => true,
    () => false,
  );
}

/** One step on one row, of a frozen head whose kernel is 0.25: what it must do to the row of the user. */
async function stepsAtOnce(version: number, optimizer: tf.Optimizer): Promise<void> {
  const layer = layerOf(sgdModel(), { version });
  const model = modelOf(layer);
  const before = tablesOf(layer);
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const x = [tf.tensor2d([[1, -1, -1]], undefined, 'int32'), tf.tensor2d([[2]], undefined, 'int32')];
  const y = tf.tensor2d([[1]]);
  const predicted = tf.tidy(() => (model.predict(x) as tf.Tensor).dataSync()[0]!);
  await model.trainOnBatch(x, y);
  // The loss is (p - 1)^2, the kernel of the head 0.25: rows that were read move by -0.5 * 2 (p - 1) * 0.25.
  const by = -0.25 * (predicted - 1);
  const expected = before.map((values, table) => {
    const row = table === 0 ? 1 : 2;
    return values.map((value, i) => (Math.floor(i / 4) === row ? value + by : value));
  });
  tablesOf(layer).forEach((values, i) => expectClose(values, expected[i]!, values, `table ${i}`, 1e-5));
  const { history } = await model.fit(x, y, { epochs: 1, verbose: 0 });
  const evaluated = tf.tidy(() => (model.evaluate(x, y) as tf.Scalar).dataSync()[0]!);
  expect(evaluated).toBeLessThan(history['loss']![0] as number);
  expect(weightsOf(layer).at(-1)).toEqual([0]);
  tf.dispose([x, y]);
  model.dispose();
  optimizer.dispose();
}

describe('a step of tpuEmbedding', () => {
  for (const version of [1, 2]) {
    for (const [name, make] of OPTIMIZERS) {
      it(`is made when the gradients have come, under ${name}: version ${version}`, () =>
        withTpuEmulator({ chips: 2 }, () => stepsAtOnce(version, make())));
    }

    it(`is made on tensorflow as the host, where dense steps are in place: version ${version}`, async () => {
      if (!(await hasTensorFlow())) return skipOrFail('tfjs-node is not there');
      const machine: EmulatedMachine = { chips: 2, host: 'tensorflow' };
      for (const [name, make] of OPTIMIZERS) {
        const run = (): Promise<void> => stepsAtOnce(version, make());
        // tfjs never frees the momentum itself.
        await withTpuEmulator(machine, name === 'tf momentum' ? run : () => expectNoLeakAsync(run));
      }
    });

    it(`looks up once, however many outputs a model uses: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, async () => {
        const layer = layerOf(sgdModel(), { version });
        const model = modelOf(layer);
        const optimizer = tf.train.sgd(0.1);
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const { x, y } = data();
        const called = (): number[] => {
          const { lookUps, updates } = emb.tpuEmulator().counters();
          return [lookUps, updates];
        };
        const before = called();
        await model.trainOnBatch(x, y);
        const trained = called();
        expect([trained[0]! - before[0]!, trained[1]! - before[1]!]).toEqual([1, 1]);
        tf.dispose(model.predict(x, { batchSize: 5 }));
        expect(called()[0]! - trained[0]!).toBe(1);
        tf.dispose([x, y]);
        model.dispose();
        optimizer.dispose();
      }));

    it(`sums the gradients of all uses of a layer, and is one step: version ${version}`, async () => {
      const modelOfTwo = (layer: tf.layers.Layer): tf.LayersModel => {
        const given = [1, 1].map(() => tf.input({ shape: [1], dtype: 'int32' }));
        const rows = given.map((ids) => [layer.apply(ids)].flat()[0] as tf.SymbolicTensor);
        return tf.model({ inputs: given, outputs: headOf(rows) });
      };
      const trained = async (model: tf.LayersModel): Promise<void> => {
        const optimizer = emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.1, epsilon: 0 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const x = [
          [[1], [2], [2]],
          [[2], [5], [1]],
        ].map((ids) => tf.tensor2d(ids, undefined, 'int32'));
        const y = tf.tensor2d([[1], [0], [1]]);
        for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
        tf.dispose([x, y]);
        optimizer.dispose();
      };
      const values = tf.tidy(() => tf.randomUniform([8, 4], -0.5, 0.5, 'float32', 3).arraySync() as number[][]);
      const plain = emb.layers.embedding({ inputDim: 8, outputDim: 4, combiner: 'sum', weights: [values] });
      const plainModel = modelOfTwo(plain);
      await trained(plainModel);
      const expected = [...plain.getWeights()[0]!.dataSync()];
      plainModel.dispose();
      await withTpuEmulator({ chips: 4 }, () =>
        expectNoLeakAsync(async () => {
          const initializer = (): tf.Tensor => tf.tensor2d(values);
          const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', initializer });
          const optimizer = new tpu.Adagrad({ learningRate: 0.5 });
          const layer = emb.layers.tpuEmbedding({
            featureConfig: new tpu.FeatureConfig({ table }),
            optimizer,
            version: version as 1,
          });
          const model = modelOfTwo(layer);
          await trained(model);
          expectClose(tablesOf(layer)[0]!, expected, expected, 'table', 1e-5);
          model.dispose();
          // tfjs counts a layer once for each use, and a model once.
          layer.dispose();
        }),
      );
    });

    it(`is left out where nobody asks for the gradient of the layer, without a trace: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, () =>
        expectNoLeakAsync(async () => {
          const layer = layerOf(sgdModel(), { version });
          const model = modelOf(layer);
          const before = tablesOf(layer);
          const { x, y } = data();
          const [kernel] = model.layers.at(-1)!.getWeights() as [tf.Variable];
          const loss = (): tf.Scalar => (model.apply(x, { training: true }) as tf.Tensor).sub(y).square().mean();
          for (let pass = 0; pass < 2; pass++) tf.dispose(tf.variableGrads(loss, [kernel]) as never);
          // A pass that fails half-way.
          const failing = (): tf.Scalar => {
            loss();
            throw new Error('on purpose');
          };
          expect(() => tf.variableGrads(failing)).toThrowError('on purpose');
          releaseFailedTape();
          expect(tablesOf(layer)).toEqual(before);
          tf.dispose([x, y]);
          model.dispose();
          await Promise.resolve();
        }),
      ));

    it(`of a frozen layer on tensorflow is not captured, and reads its tables: version ${version}`, async () => {
      if (!(await hasTensorFlow())) return skipOrFail('tfjs-node is not there');
      const backend = tf.getBackend();
      await tf.setBackend('tensorflow');
      try {
        const layer = layerOf(sgdModel(), { version });
        const model = modelOf(layer);
        layer.trainable = false;
        const optimizer = emb.train.sgd({ learningRate: 0.1 });
        await fit(model, optimizer);
        const { captured, reason } = emb.stepInfo(model);
        expect(captured).toBeFalse();
        expect(reason).toContain(tpuLayerOf(model).name);
        model.dispose();
        optimizer.dispose();
      } finally {
        await tf.setBackend(backend);
      }
    });
  }
});
