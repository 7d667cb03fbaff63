/** Layers of attention, means and unit vectors: gradients, masks, configs, errors. What they compute is compared with Keras. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { finiteDifferences } from '../../helpers/tensors.js';
import { expectClose, expectError, leakFree, take, useCpu } from '../setup.js';

const { layers } = emb;
type Layer = tf.layers.Layer;
const AT = [0.5, -0.25, 1, 0.75, -0.5, 0.125, 0.25, -1, 0.625, 0.375, -0.75, 0.875];

/** x [2, 3, 2] through the layer, squared and weighed, as one number. */
function weighed(layer: Layer, x: tf.Tensor, takes: number, mask?: tf.Tensor): tf.Scalar {
  const input = x.reshape([2, 3, 2]);
  const kwargs = mask === undefined ? {} : { mask: takes === 1 ? mask : [mask, mask] };
  const inputs = takes === 1 ? input : Array.from({ length: takes }, () => input);
  const [result] = [layer.apply(inputs as tf.Tensor, kwargs)].flat() as tf.Tensor[];
  return result!
    .square()
    .mul(tf.range(1, result!.size + 1).reshape(result!.shape))
    .sum();
}

const LAYERS: readonly (readonly [string, number, () => Layer])[] = [
  ['several heads', 2, () => layers.multiHeadAttention({ numHeads: 2, keyDim: 3, kernelInitializer: 'ones' })],
  [
    'a gate and a window',
    3,
    () => layers.multiHeadAttention({ numHeads: 1, keyDim: 2, useGate: true, slidingWindow: 2 }),
  ],
  ['causal heads', 2, () => layers.multiHeadAttention({ numHeads: 1, keyDim: 2, useCausalMask: true })],
  ['Attention', 2, () => layers.attention({ useScale: true })],
  ['Attention, concat', 3, () => layers.attention({ scoreMode: 'concat', useCausalMask: true })],
  ['AdditiveAttention', 2, () => layers.additiveAttention()],
  ['GlobalAveragePooling1D', 1, () => layers.globalAveragePooling1d({ keepdims: true })],
  ['UnitNormalization', 1, () => layers.unitNormalization({ axis: [1, -1] })],
];

describe('layers of attention', () => {
  beforeAll(useCpu);

  for (const [title, takes, make] of LAYERS) {
    it(
      `have the gradients of what they compute, with masks and without: ${title}`,
      leakFree(() => {
        const layer = make();
        for (const isMasked of [false, true]) {
          const mask = isMasked ? tf.tensor2d([1, 1, 0, 1, 1, 1], [2, 3], 'bool') : undefined;
          const f = (x: tf.Tensor): tf.Scalar => weighed(layer, x, takes, mask);
          const wanted = finiteDifferences((x) => tf.tidy(() => take(f(tf.tensor1d([...x])))[0]!), AT, 1e-2);
          const found = tf.tidy(() => take(tf.grad(f)(tf.tensor1d(AT))));
          found.forEach((each, i) => expect(Math.abs(each - wanted[i]!)).toBeLessThan(2e-2 * (1 + Math.abs(each))));
          tf.dispose(mask ?? []);
        }
        layer.dispose();
      }),
    );

    it(
      `come back from their configs: ${title}`,
      leakFree(() => {
        const layer = make();
        const config = JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict;
        const cls = layer.constructor as tf.serialization.SerializableConstructor<Layer> & {
          fromConfig(cls: unknown, config: tf.serialization.ConfigDict): Layer;
        };
        expect(cls.fromConfig(cls, config).getConfig()).toEqual(layer.getConfig());
      }),
    );
  }

  it(
    'read no masked step: its values have no effect',
    leakFree(() => {
      const mask = tf.tensor2d([1, 1, 0, 1, 0, 0], [2, 3], 'bool');
      const x = tf.randomNormal([2, 3, 2], 0, 1, 'float32', 3);
      const y = tf.tidy(() => x.add(mask.logicalNot().expandDims(2).mul(5)));
      const of = (layer: Layer, query: tf.Tensor, value: tf.Tensor): number[] => {
        return tf.tidy(() => take(layer.apply([query, value], { mask: [null, mask] }) as tf.Tensor));
      };
      for (const layer of [layers.multiHeadAttention({ numHeads: 2, keyDim: 2 }), layers.attention()]) {
        expectClose(of(layer, x, y), of(layer, x, x));
        layer.dispose();
      }
      const mean = layers.globalAveragePooling1d();
      const [a, b] = [x, y].map((each) => tf.tidy(() => take(mean.apply(each, { mask }) as tf.Tensor)));
      expectClose(a!, b!);
      tf.dispose([mask, x, y]);
    }),
  );

  it(
    'take one tensor for all, in models that read it again',
    leakFree(() => {
      const x = tf.input({ shape: [3, 2] });
      const attended = layers.multiHeadAttention({ numHeads: 1, keyDim: 2 }).apply([x, x, x]);
      const sum = tf.layers.add().apply([x, attended]) as tf.SymbolicTensor;
      const model = tf.model({ inputs: x, outputs: [sum, layers.attention().apply([sum, sum])] });
      const given = tf.ones([2, 3, 2]);
      const results = model.predict(given) as tf.Tensor[];
      expect(results.map(({ shape }) => shape)).toEqual([
        [2, 3, 2],
        [2, 3, 2],
      ]);
      tf.dispose([given, results]);
      model.dispose();
    }),
  );

  it(
    'drop weights in training alone',
    leakFree(() => {
      const x = tf.ones([1, 4, 2]);
      for (const layer of [
        layers.attention({ dropout: 0.9 }),
        layers.multiHeadAttention({ numHeads: 1, keyDim: 2, dropout: 0.9 }),
      ]) {
        const of = (training: boolean): string =>
          tf.tidy(() => String(take(layer.apply([x, x], { training }) as tf.Tensor)));
        expect(of(false)).toBe(of(false));
        expect(new Set([1, 2, 3, 4].map(() => of(true))).size).toBeGreaterThan(1);
        layer.dispose();
      }
      x.dispose();
    }),
  );

  const x = (): tf.SymbolicTensor => tf.input({ shape: [3, 2] });
  const heads = (more: object = {}): Layer => layers.multiHeadAttention({ numHeads: 1, keyDim: 2, ...more });
  const errors: readonly (readonly [string, 'TypeError' | 'ValueError', string, () => unknown])[] = [
    ['no heads', 'TypeError', 'numHeads', () => layers.multiHeadAttention({ keyDim: 2 } as never)],
    ['0 heads', 'ValueError', 'numHeads', () => heads({ numHeads: 0 })],
    ['half a size', 'ValueError', 'keyDim', () => heads({ keyDim: 2.5 })],
    ['a size of 0', 'ValueError', 'valueDim', () => heads({ valueDim: 0 })],
    ['a rate of 1', 'ValueError', 'dropout', () => heads({ dropout: 1 })],
    ['a rate as a word', 'TypeError', 'dropout', () => layers.attention({ dropout: '0.1' as never })],
    ['an empty shape', 'ValueError', 'outputShape', () => heads({ outputShape: [] })],
    ['axes as words', 'TypeError', 'attentionAxes', () => heads({ attentionAxes: ['1'] })],
    ['the axis of the batch', 'ValueError', 'attentionAxes', () => heads({ attentionAxes: 0 }).apply([x(), x()])],
    ['a flag as a number', 'TypeError', 'useCausalMask', () => heads({ useCausalMask: 1 })],
    ['one tensor', 'TypeError', 'inputs', () => heads().apply(x())],
    ['one tensor in a list', 'ValueError', 'inputs', () => heads().apply([x()])],
    ['vectors', 'ValueError', 'inputs[0]', () => heads().apply([tf.input({ shape: [2] }), x()])],
    [
      'other lengths of key and value',
      'ValueError',
      'inputs[2]',
      () => heads().apply([x(), x(), tf.input({ shape: [4, 2] })]),
    ],
    [
      'whole numbers',
      'TypeError',
      'inputs[0]',
      () => heads().apply([tf.input({ shape: [3, 2], dtype: 'int32' }), x()]),
    ],
    ['an unknown mode', 'ValueError', 'scoreMode', () => layers.attention({ scoreMode: 'sum' as never })],
    [
      'a key of another size',
      'ValueError',
      'inputs[1]',
      () => layers.attention().apply([x(), tf.input({ shape: [3, 4] })]),
    ],
    ['four tensors', 'ValueError', 'inputs', () => layers.additiveAttention().apply([x(), x(), x(), x()])],
    [
      'an unknown format',
      'ValueError',
      'dataFormat',
      () => layers.globalAveragePooling1d({ dataFormat: 'last' as never }),
    ],
    [
      'the mean of vectors',
      'ValueError',
      'inputs',
      () => layers.globalAveragePooling1d().apply(tf.input({ shape: [2] })),
    ],
    ['half an axis', 'ValueError', 'axis', () => layers.unitNormalization({ axis: 0.5 })],
    ['an axis that is not there', 'ValueError', 'axis', () => layers.unitNormalization({ axis: 3 }).apply(x())],
  ];
  for (const [what, name, argument, make] of errors) {
    it(`refuse ${what}: ${argument}`, () => expectError(make, name, argument));
  }

  it('gives nothing to queries that see no key along several axes, whether scores are returned or not', () => {
    tf.tidy(() => {
      const x = tf.randomUniform([2, 3, 2, 4], -1, 1, 'float32', 3);
      const attentionMask = tf.tensor(
        Array.from({ length: 2 * 36 }, (_, i) => Number(i % 12 > 5)),
        [2, 3, 2, 3, 2],
        'bool',
      );
      const args = { numHeads: 2, keyDim: 3, attentionAxes: [1, 2], useBias: false };
      const [plain, telling] = [args, { ...args, returnAttentionScores: true }].map((each) =>
        emb.layers.multiHeadAttention(each),
      );
      const found = plain!.apply([x, x, x, attentionMask]) as tf.Tensor;
      telling!.build([x.shape, x.shape, x.shape, attentionMask.shape]);
      telling!.setWeights(plain!.getWeights());
      const [wanted] = telling!.apply([x, x, x, attentionMask]) as unknown as tf.Tensor[];
      expect(found.dataSync()).toEqual(wanted!.dataSync());
      expect(found.dataSync()).toContain(0);
    });
  });
});
