/** Configs of Keras's own layers as arguments of the layers of TensorFlow.js. */
import * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings/node';
import {
  activityRegularizer,
  classOf,
  stockArguments,
  type Reading,
} from '../../../../src/formats/keras/import/stock_config.js';
import { readLayer, type LayerJson } from '../../../../src/formats/keras/import/topology.js';
import { adopt } from '../../../../src/tfjs/models/own_models.js';
import { expectError } from '../../../helpers/errors.js';

type Json = Record<string, unknown>;

const READING: Reading = { version: 3, strict: true, sizes: null, customObjects: new Map() };

function layerOf(className: string, config: Json): LayerJson {
  return readLayer({ class_name: className, config: { name: 'here', ...config } }, 'it');
}

function argumentsOf(className: string, config: Json, reading: Partial<Reading> = {}): Json {
  return stockArguments(layerOf(className, config), { ...READING, ...reading });
}

/** Made by TensorFlow.js of the arguments. */
function made(className: string, config: Json): tf.layers.Layer {
  const layer = layerOf(className, config);
  const json = { className: classOf(layer), config: stockArguments(layer, READING) };
  return deserialized(json);
}

function deserialized({ className, config }: { className: string; config: Json }): tf.layers.Layer {
  const [cls, fromConfig] = tf.serialization.SerializationMap.getMap().classNameMap[className]!;
  // As in a model of this package, whose configs hold all fields.
  return adopt(fromConfig(cls, config as tf.serialization.ConfigDict) as tf.layers.Layer);
}

const L2 = { class_name: 'L2', config: { l2: 0.5 } };
const ONES = { module: 'keras.initializers', class_name: 'Ones', config: {}, registered_name: null };
const weights = (...names: string[]): Json =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}_initializer`, ONES],
      [`${name}_regularizer`, L2],
      [`${name}_constraint`, null],
    ]),
  );
const CONVOLUTION: Json = {
  ...{ filters: 3, kernel_size: [2, 3], strides: [2, 2], padding: 'same', data_format: 'channels_last' },
  ...{ dilation_rate: [1, 1], groups: 1, activation: 'relu', use_bias: false, ...weights('kernel', 'bias') },
};
const CELL: Json = {
  ...{ units: 3, activation: 'relu', use_bias: false, dropout: 0.1, recurrent_dropout: 0.2, seed: 4 },
  ...{ return_sequences: true, return_state: true, go_backwards: true, stateful: true, unroll: true },
  ...weights('kernel', 'recurrent', 'bias'),
};
const POOL: Json = { pool_size: [2, 3], strides: [1, 2], padding: 'same', data_format: 'channels_last' };
const cut = (config: Json, count: number): Json =>
  Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      Array.isArray(value) ? [...(value as []), 1].slice(0, count) : value,
    ]),
  );

/** Configs that say something of each field of a class, and what of it the layer of TensorFlow.js has under another name. */
const WHOLE: readonly (readonly [className: string, config: Json, has?: Json])[] = [
  ['Dense', { units: 3, activation: 'tanh', use_bias: false, ...weights('kernel', 'bias') }],
  ['Activation', { activation: 'softplus' }],
  ['Dropout', { rate: 0.3, noise_shape: [null, 1], seed: 5 }],
  ['SpatialDropout1D', { rate: 0.3, seed: 5, noise_shape: null }],
  ['GaussianNoise', { stddev: 0.3, seed: 5 }],
  ['GaussianDropout', { rate: 0.3, seed: 5 }],
  ['AlphaDropout', { rate: 0.3, noise_shape: [null, 1], seed: 5 }],
  ['Flatten', { data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  ['Reshape', { target_shape: [3, -1] }],
  ['Permute', { dims: [2, 1] }],
  ['RepeatVector', { n: 4 }],
  ['Masking', { mask_value: 3 }],
  ['Concatenate', { axis: 1 }],
  ['Dot', { axes: [1, 2], normalize: true }],
  [
    'BatchNormalization',
    {
      ...{ axis: -1, momentum: 0.5, epsilon: 0.1, center: false, scale: false, ...weights('beta', 'gamma') },
      ...{ moving_mean_initializer: ONES, moving_variance_initializer: ONES, synchronized: false, renorm: false },
    },
  ],
  [
    'LayerNormalization',
    { axis: [-1], epsilon: 0.1, center: false, scale: false, ...weights('beta', 'gamma'), rms_scaling: false },
  ],
  ['ReLU', { max_value: 3, negative_slope: 0, threshold: 0 }],
  ['LeakyReLU', { negative_slope: 0.4 }, { alpha: 0.4 }],
  ['LeakyReLU', { alpha: 0.5 }],
  ['PReLU', { ...weights('alpha'), shared_axes: [1] }],
  ['ELU', { alpha: 1 }],
  ['ThresholdedReLU', { theta: 0.5 }],
  ['Softmax', { axis: 1 }],
  ['Conv1D', cut(CONVOLUTION, 1)],
  ['Conv2D', { ...CONVOLUTION, data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  [
    'Conv3D',
    { ...cut(CONVOLUTION, 3), padding: 'valid', data_format: 'channels_first' },
    { dataFormat: 'channelsFirst' },
  ],
  [
    'Conv2DTranspose',
    { ...CONVOLUTION, output_padding: null, data_format: 'channels_first' },
    { dataFormat: 'channelsFirst' },
  ],
  ['Conv3DTranspose', { ...cut(CONVOLUTION, 3), padding: 'valid', output_padding: null }],
  [
    'DepthwiseConv2D',
    {
      ...CONVOLUTION,
      filters: undefined,
      ...weights('kernel'),
      kernel_initializer: undefined,
      kernel_regularizer: undefined,
      depth_multiplier: 2,
      ...weights('depthwise'),
    },
  ],
  [
    'SeparableConv2D',
    { ...CONVOLUTION, kernel_regularizer: null, depth_multiplier: 2, ...weights('depthwise', 'pointwise') },
  ],
  [
    'Cropping2D',
    {
      cropping: [
        [1, 1],
        [2, 1],
      ],
      data_format: 'channels_first',
    },
    { dataFormat: 'channelsFirst' },
  ],
  [
    'UpSampling2D',
    { size: [2, 3], data_format: 'channels_first', interpolation: 'nearest' },
    { dataFormat: 'channelsFirst' },
  ],
  [
    'ZeroPadding2D',
    {
      padding: [
        [1, 1],
        [2, 1],
      ],
      data_format: 'channels_first',
    },
    { dataFormat: 'channelsFirst' },
  ],
  ['MaxPooling1D', cut(POOL, 1)],
  ['AveragePooling1D', cut(POOL, 1)],
  ['MaxPooling2D', { ...POOL, data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  ['AveragePooling2D', { ...POOL, data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  ['MaxPooling3D', { ...cut(POOL, 3), data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  ['AveragePooling3D', { ...cut(POOL, 3), data_format: 'channels_first' }, { dataFormat: 'channelsFirst' }],
  ['GlobalMaxPooling1D', { data_format: 'channels_last', keepdims: false }],
  ['GlobalMaxPooling2D', { data_format: 'channels_first', keepdims: false }, { dataFormat: 'channelsFirst' }],
  ['GlobalAveragePooling2D', { data_format: 'channels_first', keepdims: false }, { dataFormat: 'channelsFirst' }],
  ['SimpleRNN', { ...CELL, time_major: false }],
  ['LSTM', { ...CELL, recurrent_activation: 'relu', unit_forget_bias: false, implementation: 2, use_cudnn: 'auto' }],
  ['GRU', { ...CELL, recurrent_activation: 'relu', reset_after: false }],
  ['Rescaling', { scale: 0.5, offset: 2 }],
];
const LINEAR: Json = { class_name: 'Dense', name: 'inner', config: { name: 'inner', units: 2, activation: 'relu' } };
const camel = (text: string): string => text.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** Fields that are told elsewhere, or are off. */
const UNTOLD = /initializer|regularizer|constraint|activation|seed|data_format|negative_slope|time_major|interpolation|keepdims|groups|output_padding|synchronized|renorm|rms_scaling|threshold$|implementation|use_cudnn|noise_shape|stateful|dilation_rate|depth_multiplier/; // prettier-ignore

describe('stock layers of a config of Keras', () => {
  for (const [className, config, has = {}] of WHOLE) {
    it(`say what it says: ${className} ${Object.keys(config).length}`, () => {
      const layer = made(className, config);
      const own = layer.getConfig() as Json;
      expect(layer.getClassName()).toBe(className);
      expect(own).toEqual(jasmine.objectContaining(has));
      for (const [field, value] of Object.entries(config)) {
        if (UNTOLD.test(field) || value === undefined || value === null) continue;
        const here = own[camel(field)] ?? (layer as unknown as Json)[camel(field)];
        expect(here).withContext(field).toEqual(value);
      }
      for (const field of Object.keys(config).filter((each) => /_initializer$/.test(each) && config[each] === ONES)) {
        if (className !== 'SeparableConv2D' || field !== 'kernel_initializer')
          expect((own[camel(field)] as Json)['className'])
            .withContext(field)
            .toBe('Ones');
      }
      for (const field of Object.keys(config).filter((each) => /_regularizer$/.test(each) && config[each] === L2))
        expect((own[camel(field)] as Json)?.['config'])
          .withContext(field)
          .toEqual({ l1: 0, l2: 0.5 });
      // It is no argument: what a layer gives is penalized where it is made.
      expect(argumentsOf(className, { ...config, activity_regularizer: L2 })).toEqual(argumentsOf(className, config));
      expectError(() => argumentsOf(className, { ...config, unknown: 1 }), 'ValueError', 'here.unknown', 'the field unknown'); // prettier-ignore
      expect(argumentsOf(className, { ...config, unknown: null, batch_shape: [null, 3] })['batchInputShape']).toEqual([null, 3]); // prettier-ignore
    });
  }

  for (const className of ['Add', 'Average', 'Maximum', 'Minimum', 'Multiply']) {
    it(`have no settings: ${className}`, () => {
      expect(made(className, {}).getClassName()).toBe(className);
      expect(argumentsOf(className, { trainable: false, dtype: 'float32' })).toEqual({
        name: 'here',
        trainable: false,
      });
      expectError(() => argumentsOf(className, { axis: 1 }), 'ValueError', 'here.axis', 'the field axis');
    });
  }

  it('have the activations of Keras by their names here', () => {
    const names = ['elu', 'gelu', 'hard_sigmoid', 'linear', 'log_softmax', 'mish', 'relu', 'relu6', 'selu', 'sigmoid'];
    for (const name of [...names, 'silu', 'softmax', 'softplus', 'softsign', 'swish', 'tanh']) {
      const layer = made('Activation', { activation: name });
      const x = tf.tensor2d([[-4, -1.5, -0.1, 0, 0.7, 2, 8]]);
      const values = [...x.dataSync()];
      const total = values.reduce((sum, each) => sum + Math.exp(each), 0);
      const sigmoid = (each: number): number => 1 / (1 + Math.exp(-each));
      const erf = tf.tidy(() => [...tf.erf(tf.div(x, Math.SQRT2)).dataSync()]);
      const [scale, alpha] = [1.0507009873554805, 1.6732632423543772];
      const formulas: Record<string, (each: number, i: number) => number> = {
        elu: (each) => (each > 0 ? each : Math.expm1(each)),
        gelu: (each, i) => 0.5 * each * (1 + erf[i]!),
        hard_sigmoid: (each) => Math.min(1, Math.max(0, each / 6 + 0.5)),
        linear: (each) => each,
        log_softmax: (each) => each - Math.log(total),
        mish: (each) => each * Math.tanh(Math.log1p(Math.exp(each))),
        relu: (each) => Math.max(0, each),
        relu6: (each) => Math.min(6, Math.max(0, each)),
        selu: (each) => scale * (each > 0 ? each : alpha * Math.expm1(each)),
        sigmoid,
        silu: (each) => each * sigmoid(each),
        softmax: (each) => Math.exp(each) / total,
        softplus: (each) => Math.log1p(Math.exp(each)),
        softsign: (each) => each / (1 + Math.abs(each)),
        swish: (each) => each * sigmoid(each),
        tanh: Math.tanh,
      };
      const y = tf.tidy(() => [...(layer.apply(x) as tf.Tensor).dataSync()]);
      y.forEach((each, i) => expect(each).withContext(name).toBeCloseTo(formulas[name]!(values[i]!, i), 4));
      x.dispose();
      layer.dispose();
    }
    expect(argumentsOf('Activation', { activation: 'hard_sigmoid' }, { version: 2 })['activation']).toBe('hardSigmoid');
    expect(argumentsOf('Dense', { units: 1, activation: null })['activation']).toBeNull();
    for (const [activation, received] of [
      ['other', '"other"'],
      ['toString', '"toString"'],
      [{ class_name: 'function', config: 'relu' }, '"the function relu"'],
      [3, '3'],
    ] as const) {
      expectError(() => argumentsOf('Dense', { units: 1, activation }), 'ValueError', 'here.activation', received);
    }
  });

  it('have initializers under every spelling', () => {
    const read = (value: unknown): unknown => argumentsOf('Dense', { units: 1, kernel_initializer: value })['kernelInitializer']; // prettier-ignore
    for (const name of ['glorot_uniform', 'GlorotUniform', 'glorotUniform'])
      expect(read(name)).toEqual({ className: 'GlorotUniform', config: {} });
    expect(read({ class_name: 'IdentityInitializer', config: { gain: 2 } })).toEqual({ className: 'Identity', config: { gain: 2 } }); // prettier-ignore
    expect(read({ class_name: 'OrthogonalInitializer', config: { seed: 3 } })).toEqual({ className: 'Orthogonal', config: { seed: 3 } }); // prettier-ignore
    const scaling = {
      scale: 2,
      mode: 'fan_in',
      distribution: 'truncated_normal',
      seed: { class_name: 'SeedGenerator' },
    };
    expect(
      read({ class_name: 'VarianceScaling', config: { ...scaling, input_axes: null, output_axes: null } }),
    ).toEqual({
      className: 'VarianceScaling',
      config: { scale: 2, mode: 'fanIn', distribution: 'truncatedNormal' },
    });
    expect(read({ class_name: 'Ones' })).toEqual({ className: 'Ones', config: {} });
    expect(read(null)).toBeNull();
    expectError(() => read('other'), 'ValueError', 'here.kernel_initializer', '"other"');
    expectError(() => read({ class_name: 3 }), 'ValueError', 'here.kernel_initializer');
    expectError(() => read(7), 'ValueError', 'here.kernel_initializer', '7');
    for (const axes of ['input_axes', 'output_axes'])
      expectError(
        () => read({ class_name: 'GlorotUniform', config: { [axes]: [0] } }),
        'ValueError',
        `here.kernel_initializer.${camel(axes)}`,
        '[0]',
      );
  });

  it('have penalties under every spelling, and constraints that there are', () => {
    const read = (value: unknown): unknown => argumentsOf('Dense', { units: 1, kernel_regularizer: value })['kernelRegularizer']; // prettier-ignore
    const penalty = (l1: number, l2: number): unknown => ({ className: 'L1L2', config: { l1, l2 } });
    expect(read('l1')).toEqual(penalty(0.01, 0));
    expect(read('L2')).toEqual(penalty(0, 0.01));
    expect(read({ class_name: 'L1', config: { l1: 0.5 } })).toEqual(penalty(0.5, 0));
    expect(read({ class_name: 'L2', config: { l2: 0.5 } })).toEqual(penalty(0, 0.5));
    expect(read({ class_name: 'L1L2', config: { l1: 0.5, l2: 0.25 } })).toEqual(penalty(0.5, 0.25));
    expect(read('l1_l2')).toEqual(penalty(0, 0));
    expect(read(null)).toBeNull();
    expectError(() => read({ class_name: 'OrthogonalRegularizer' }), 'ValueError', 'here.kernel_regularizer', 'Orthogonal'); // prettier-ignore
    expectError(() => read(3), 'ValueError', 'here.kernel_regularizer', '3');
    const constraint = { class_name: 'NonNeg', config: {} };
    const constrained = (value: unknown): unknown => argumentsOf('Dense', { units: 1, bias_constraint: value })['biasConstraint']; // prettier-ignore
    expect(constrained(constraint)).toEqual({ className: 'NonNeg', config: {} });
    expect(constrained({ class_name: 'MaxNorm', config: { max_value: 2, axis: 0 } })).toEqual({ className: 'MaxNorm', config: { maxValue: 2, axis: 0 } }); // prettier-ignore
    expectError(() => constrained({ class_name: 'Other', config: {} }), 'ValueError', 'here.bias_constraint', 'Other');
  });

  it('add to the loss for what they give what the file says', () => {
    const read = (className: string, config: Json): unknown => activityRegularizer(layerOf(className, config), READING);
    const penalty = (l1: number, l2: number): unknown => ({ className: 'L1L2', config: { l1, l2 } });
    expect(read('ActivityRegularization', { l1: 0.5, l2: 0.25 })).toEqual(penalty(0.5, 0.25));
    expect(read('ActivityRegularization', {})).toEqual(penalty(0, 0));
    expect(read('Dense', { units: 1, activity_regularizer: L2 })).toEqual(penalty(0, 0.5));
    expect(read('Dense', { units: 1, l1: 3 })).toBeNull();
    const other = { class_name: 'Other' };
    expectError(
      () => read('Dense', { activity_regularizer: other }),
      'ValueError',
      'here.activity_regularizer',
      'Other',
    );
  });

  it('have one axis, gates that there are, and seeds that are numbers', () => {
    for (const className of ['BatchNormalization', 'Softmax']) {
      expect(argumentsOf(className, { axis: [2] })['axis']).toBe(2);
      expectError(() => argumentsOf(className, { axis: [1, 2] }), 'ValueError', 'here.axis', '[1, 2]');
    }
    expect(argumentsOf('LayerNormalization', { axis: [1, 2] })['axis']).toEqual([1, 2]);
    expect(argumentsOf('Conv1D', { ...cut(CONVOLUTION, 1), padding: 'causal' })['padding']).toBe('causal');
    expectError(() => argumentsOf('GRU', { ...CELL, reset_after: 1 }), 'ValueError', 'here.reset_after', '1');
    expect(argumentsOf('Dropout', { rate: 0.1, seed: 3 })['seed']).toBe(3);
    expect(argumentsOf('Dropout', { rate: 0.1, seed: { class_name: 'SeedGenerator' } })['seed']).toBeNull();
    expect(argumentsOf('Flatten', { data_format: 'channels_first' })['dataFormat']).toBe('channelsFirst');
  });

  it('begin with the shape of the file, and are frozen where it says so', () => {
    const read = (config: Json): Json => argumentsOf('Dense', { units: 1, ...config });
    expect(read({})).toEqual({ name: 'here', units: 1 });
    expect(read({ batch_input_shape: [null, 3] })['batchInputShape']).toEqual([null, 3]);
    expect(read({ batch_shape: [2, 3] })['batchInputShape']).toEqual([2, 3]);
    expect(read({ trainable: false })['trainable']).toBeFalse();
    expect(read({ trainable: true })['trainable']).toBeTrue();
    expect(read({ input_shape: [3], autocast: true, build_config: {}, fused: true, use_cudnn: 'auto' })['units']).toBe(
      1,
    );
  });

  it('tell a field that is nearly right, types of weights, and sizes that the file does not have', () => {
    const wrong = (config: Json, reading = {}): (() => unknown) => () => argumentsOf('Dense', { units: 4, ...config }, reading); // prettier-ignore
    expect(wrong({ use_bais: true })).toThrowError(/here\.use_bais`: expected one of units, .*Did you mean use_bias\?/);
    expect(wrong({ dtype: 'float64' })).toThrowError(/here\.dtype`/);
    expect(wrong({ dtype: 'float32' })).not.toThrow();
    expect(wrong({ quantization_config: {} })).toThrowError(/here\.quantization_config`: expected null/);
    expect(wrong({ lora_rank: 4 })).toThrowError(/here\.lora_rank`: expected null, received 4.*cannot do otherwise/);
    expect(wrong({}, { sizes: new Set([3]) })).toThrowError(/here\.units`: expected a size of a weight in the file, received 4/); // prettier-ignore
    expect(wrong({}, { sizes: new Set([4]) })).not.toThrow();
    const warn = spyOn(console, 'warn');
    expect(argumentsOf('Dense', { units: 4, novelty: 3 }, { strict: false })).toEqual({ name: 'here', units: 4 });
    expect(warn.calls.allArgs().flat().join()).toMatch(/left out because strict is false: `here\.novelty`/);
  });

  it('hold layers within layers', () => {
    const inner = (className: string, config: Json): unknown => argumentsOf(className, config)['layer'];
    expect(inner('TimeDistributed', { layer: LINEAR })).toEqual({
      className: 'Dense',
      config: { name: 'inner', units: 2, activation: 'relu' },
    });
    const gru = { class_name: 'GRU', config: { ...CELL, name: 'g', reset_after: true } };
    expect((inner('Bidirectional', { layer: gru, merge_mode: 'sum' }) as Json)['className']).toMatch(/TfjsEmbeddings>/);
    const none = { class_name: 'Normalization', config: { name: 'inner' } };
    expectError(() => inner('TimeDistributed', { layer: none }), 'ValueError', 'here.layer', 'a Normalization');
    const model = { class_name: 'Functional', config: { name: 'inner', layers: [] } };
    expectError(() => inner('TimeDistributed', { layer: model }), 'ValueError', 'here.layer', 'a Functional');
  });

  it('run backwards as they run forwards', () => {
    const lstm = (name: string, config: Json): Json => ({
      class_name: 'LSTM',
      config: { ...CELL, go_backwards: false, ...config, name, seed: name.length },
      module: `keras.${name}`,
    });
    const both = (backward: unknown): (() => Json) => {
      return () => argumentsOf('Bidirectional', { layer: lstm('forward', {}), backward_layer: backward, merge_mode: 'concat' }); // prettier-ignore
    };
    expect(both(null)()['mergeMode']).toBe('concat');
    expect(both(lstm('back', { go_backwards: true }))()['mergeMode']).toBe('concat');
    for (const other of [lstm('back', {}), lstm('back', { go_backwards: true, units: 4 }), LINEAR])
      expectError(both(other), 'ValueError', 'here.backward_layer', 'another one');
  });
});
