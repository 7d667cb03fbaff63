import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { readInteractions, tensorsOf, type CrossCase } from './interactions.js';
import { artifactsOf, cloneOf, expectClose, expectError, ids, leakFree, reload, take, useCpu } from '../setup.js';

const CASES = readInteractions().cross;

function fromConfig(config: object): emb.FeatureCross {
  return emb.FeatureCross.fromConfig(emb.FeatureCross as never, config as never) as emb.FeatureCross;
}

/** The layer of a case, built and with its weights. */
function layerOf({ config, inputs, weights }: CrossCase): emb.FeatureCross {
  const layer = fromConfig(config);
  const [x, values] = [tensorsOf(inputs), tensorsOf(weights)];
  tf.dispose(layer.apply(x) as tf.Tensor);
  layer.setWeights(values);
  tf.dispose([...x, ...values]);
  return layer;
}

describe('FeatureCross', () => {
  beforeAll(useCpu);

  describeForBackends('on every backend', () => {
    CASES.forEach((each, i) =>
      it(
        `case ${i} equals Keras RS`,
        leakFree(() => {
          const layer = layerOf(each);
          const inputs = tensorsOf(each.inputs);
          const result = layer.apply(inputs) as tf.Tensor;
          expect(result.shape).toEqual(each.output.shape);
          expect(layer.getWeights().map(({ shape }) => shape)).toEqual(each.weights.map(({ shape }) => shape));
          expectClose(take(result), each.output.values, 1e-5);
          tf.dispose(inputs);
          layer.dispose();
        }),
      ),
    );

    it(
      'a stack trains in a model, and comes back from a file',
      leakFree(async () => {
        const x0 = tf.input({ shape: [3] });
        const kernelInitializer = tf.initializers.glorotNormal({ seed: 5 });
        const args = {
          projectionDim: 2,
          diagScale: 0.5,
          preActivation: 'tanh',
          kernelRegularizer: 'l2',
          kernelInitializer,
        };
        const x1 = emb.layers.featureCross({ ...args, name: 'Cross_A-1' }).apply(x0) as tf.SymbolicTensor;
        const x2 = emb.layers.featureCross({ kernelInitializer }).apply([x0, x1]) as tf.SymbolicTensor;
        const model = tf.model({
          inputs: x0,
          outputs: tf.layers.dense({ units: 1, kernelInitializer }).apply(x2) as tf.SymbolicTensor,
        });
        expect(model.layers[1]!.countParams()).toBe(3 * 2 + 2 * 3 + 3);
        const optimizer = emb.train.adam({ learningRate: 0.05 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const x = tf.tensor2d([
          [1, 2, -1],
          [0.5, -1, 2],
          [3, 0, 1],
          [-2, 1, 1],
        ]);
        const y = x.prod(1, true);
        const { history } = await model.fit(x, y, { epochs: 60, verbose: 0, shuffle: false });
        const losses = history['loss'] as number[];
        expect(losses.at(-1)).toBeLessThan(losses[0]! / 4);
        const again = await cloneOf(model);
        const names = again.getLayer('Cross_A-1').weights.map(({ originalName }) => originalName);
        expect(names).toEqual(['Cross_A-1/projection_kernel', 'Cross_A-1/kernel', 'Cross_A-1/bias']);
        expect(again.getLayer('Cross_A-1').getConfig()).toEqual(model.getLayer('Cross_A-1').getConfig());
        expect(take(again.predict(x))).toEqual(take(model.predict(x)));
        tf.dispose([x, y]);
        optimizer.dispose();
        again.dispose();
        model.dispose();
      }),
    );
  });

  it(
    'penalties are those of Keras RS',
    leakFree(() => {
      for (const each of CASES) {
        const layer = layerOf(each);
        const penalty = tf.tidy(() => layer.calculateLosses().reduce((sum, loss) => sum + take(loss)[0]!, 0));
        expectClose([penalty], [each.penalty]);
        layer.dispose();
      }
      expect(CASES.some(({ penalty }) => penalty > 1)).toBeTrue();
    }),
  );

  it(
    'x0 alone is x too; an empty batch gives an empty result',
    leakFree(() => {
      const layer = emb.layers.featureCross({ diagScale: 2, biasInitializer: 'ones' });
      const x = tf.tensor2d([[1, 2]]);
      expect(take(layer.apply(x))).toEqual(take(layer.apply([x, x])));
      const none = tf.zeros([0, 2]);
      const result = layer.apply(none) as tf.Tensor;
      expect(result.shape).toEqual([0, 2]);
      tf.dispose([x, none, result]);
      layer.dispose();
    }),
  );

  it(
    'passes the mask of x0 on',
    leakFree(() => {
      const input = tf.input({ shape: [null], dtype: 'int32' });
      const rows = emb.layers.embedding({ inputDim: 4, outputDim: 2, maskZero: true }).apply(input);
      const crossed = emb.layers.featureCross().apply(rows as tf.SymbolicTensor) as tf.SymbolicTensor;
      const last = tf.layers.lstm({ units: 2 }).apply(crossed) as tf.SymbolicTensor;
      const model = tf.model({ inputs: input, outputs: last });
      const batches = [
        [1, 2, 0, 0],
        [1, 2],
        [1, 2, 3],
      ].map((row) => ids([row]));
      const [padded, short, other] = batches.map((each) => take(model.predict(each)));
      const layer = model.layers[2] as emb.FeatureCross;
      const mask = tf.tensor2d([[1, 1, 0]], [1, 3], 'bool');
      expect(layer.computeMask([], [mask, mask]) as tf.Tensor).toBe(mask);
      expect(layer.computeMask([], mask) as tf.Tensor).toBe(mask);
      expect(layer.computeMask([])).toBeNull();
      expect(padded).toEqual(short);
      expect(padded).not.toEqual(other);
      tf.dispose([...batches, mask]);
      model.dispose();
    }),
  );

  it(
    'loads a model that names the layer of Keras RS, on request',
    leakFree(async () => {
      const each = CASES[4]!;
      const inputs = each.inputs.map(({ shape }) => tf.input({ shape: shape.slice(1) }));
      const layer = fromConfig({ ...each.config, name: 'crossing' });
      const model = tf.model({ inputs, outputs: layer.apply(inputs) as tf.SymbolicTensor });
      const weights = tensorsOf(each.weights);
      layer.setWeights(weights);
      const artifacts = await artifactsOf(model);
      const text = JSON.stringify(artifacts.modelTopology).replace(
        'TfjsEmbeddings>FeatureCross',
        'kerasRs>FeatureCross',
      );
      const undo = emb.useForKerasEmbedding();
      const again = await reload({ ...artifacts, modelTopology: JSON.parse(text) as object }).finally(undo);
      const x = tensorsOf(each.inputs);
      expectClose(take(again.predict(x)), each.output.values, 1e-5);
      tf.dispose([...weights, ...x]);
      again.dispose();
      model.dispose();
    }),
  );

  it('getConfig makes an equal layer', () => {
    const layer = emb.layers.featureCross({
      name: 'full_X',
      projectionDim: 3,
      diagScale: 0.25,
      useBias: false,
      preActivation: tf.layers.activation({ activation: 'softsign' }),
      kernelInitializer: tf.initializers.truncatedNormal({ stddev: 0.5, seed: 4 }),
      biasInitializer: 'randomNormal',
      kernelRegularizer: tf.regularizers.l1l2({ l1: 0.5, l2: 0.25 }),
      biasRegularizer: 'l1',
      trainable: false,
      inputShape: [7, 5],
    });
    const config = layer.getConfig();
    expect(config['preActivation']).toBe('softsign');
    expect(config['batchInputShape'] as unknown).toEqual([null, 7, 5]);
    expect(fromConfig(JSON.parse(JSON.stringify(config)) as object).getConfig()).toEqual(config);
    expect(layer.computeOutputShape([null, 7, 5])).toEqual([null, 7, 5]);
    const silu = { preActivation: { class_name: 'Activation', config: { activation: 'silu' } } };
    expect(fromConfig(silu).preActivation.getClassName()).toBe('swish');
  });

  it(
    'wrong arguments and inputs are named',
    leakFree(() => {
      const make = emb.layers.featureCross as (args: unknown) => emb.FeatureCross;
      const wrong: [string, unknown, 'TypeError' | 'ValueError'][] = [
        ['projectionDim', 0, 'ValueError'],
        ['projectionDim', 1.5, 'ValueError'],
        ['projectionDim', '4', 'TypeError'],
        ['diagScale', -1, 'ValueError'],
        ['diagScale', NaN, 'ValueError'],
        ['diagScale', '1', 'TypeError'],
        ['useBias', 1, 'TypeError'],
        ['preActivation', 'loud', 'ValueError'],
        ['preActivation', 5, 'TypeError'],
        ['preActivation', 'Dense', 'ValueError'],
        ['preActivation', tf.layers.flatten(), 'ValueError'],
        ['kernelInitializer', 'relu', 'ValueError'],
        ['biasInitializer', 3, 'TypeError'],
        ['kernelRegularizer', 'l3', 'ValueError'],
        ['biasRegularizer', tf.initializers.zeros(), 'ValueError'],
        ['trainable', 'no', 'TypeError'],
        ['kernelConstraint', 'nonNeg', 'ValueError'],
      ];
      for (const [argument, value, kind] of wrong) expectError(() => make({ [argument]: value }), kind, argument);
      for (const args of [null, 5, [1]]) expectError(() => make(args), 'TypeError', 'args');
      const keras = { ...CASES[0]!.config, pre_activation: 'hard_sigmoid' };
      expectError(() => fromConfig(keras), 'ValueError', 'preActivation', /hard_sigmoid/);
      const layer = emb.layers.featureCross();
      const apply = layer.apply.bind(layer) as (inputs: unknown) => unknown;
      const [a, wide, vector, whole] = [tf.ones([2, 3]), tf.ones([2, 4]), tf.ones([2]), tf.ones([2, 3], 'int32')];
      expectError(() => apply(null), 'TypeError', 'inputs');
      expectError(() => apply([[1, 2]]), 'TypeError', 'inputs');
      expectError(() => apply(vector), 'ValueError', 'inputs', /rank 1/);
      expectError(() => apply(whole), 'TypeError', 'inputs', /int32/);
      expectError(() => apply([a, wide]), 'ValueError', 'inputs[1]');
      expectError(() => apply([a, a, a]), 'ValueError', 'inputs', /3/);
      expectError(() => apply(tf.input({ shape: [null] })), 'ValueError', 'inputs', /null/);
      expect(layer.built).toBeFalse();
      tf.dispose(apply(a) as tf.Tensor);
      expectError(() => apply(wide), 'ValueError', 'inputs', '4');
      tf.dispose([a, wide, vector, whole]);
      layer.dispose();
    }),
  );
});
