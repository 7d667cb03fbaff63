/** What stock layers of TensorFlow.js take from a config and do not do: refused by name, never computed otherwise. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { adopt } from '../../../src/tfjs/models/own_models.js';

type Json = Record<string, unknown>;

/** One layer behind one input, as Keras 3 writes it. */
function modelOf(className: string, config: Json, shape: readonly (number | null)[]): tf.io.IOHandler {
  const tensor = { class_name: '__keras_tensor__', config: { keras_history: ['x', 0, 0] } };
  const layers = [
    { class_name: 'InputLayer', name: 'x', config: { batch_shape: shape, dtype: 'float32', name: 'x' } },
    { class_name: className, name: 'Named', config, inbound_nodes: [{ args: [tensor], kwargs: {} }] },
  ];
  const ends = { input_layers: [['x', 0, 0]], output_layers: [['Named', 0, 0]] };
  return tf.io.fromMemory({
    modelTopology: { class_name: 'Functional', config: { name: 'model', layers, ...ends } },
  } as never);
}

const CONVOLUTION = { filters: 2, kernel_size: [2, 2], strides: [1, 1], padding: 'valid' };
const VOLUME = { filters: 2, kernel_size: [2, 2, 2], strides: [1, 3, 1], padding: 'same' };
const IMAGE = [null, 6, 6, 2];
const CUBE = [null, 6, 6, 6, 2];

const REFUSED: readonly [className: string, config: Json, shape: readonly (number | null)[], field: string][] = [
  ['BatchNormalization', { axis: 1 }, IMAGE, 'axis'],
  ['BatchNormalization', { axis: [2] }, IMAGE, 'axis'],
  [
    'Conv1D',
    { ...CONVOLUTION, kernel_size: [2], strides: [1], data_format: 'channels_first' },
    [null, 6, 2],
    'data_format',
  ],
  ['Conv3DTranspose', { ...VOLUME, strides: [1, 1, 1], data_format: 'channels_first' }, CUBE, 'data_format'],
  ['Conv2DTranspose', { ...CONVOLUTION, groups: 2 }, IMAGE, 'groups'],
  ['SeparableConv2D', { ...CONVOLUTION, kernel_regularizer: 'l2' }, IMAGE, 'kernel_regularizer'],
  ['Conv3D', VOLUME, CUBE, 'strides'],
  ['Conv3DTranspose', VOLUME, CUBE, 'strides'],
  ['MaxPooling3D', { pool_size: [2, 2, 2], strides: [1, 1, 3], padding: 'same' }, CUBE, 'strides'],
];

const TAKEN: readonly [className: string, config: Json, shape: readonly (number | null)[]][] = [
  ['SeparableConv2D', { ...CONVOLUTION, data_format: 'channels_first' }, IMAGE],
  ['DepthwiseConv2D', { kernel_size: [2, 2], dilation_rate: [2, 2] }, IMAGE],
  ['Conv2DTranspose', { ...CONVOLUTION, dilation_rate: [2, 2] }, IMAGE],
  ['Conv3DTranspose', { ...VOLUME, strides: [1, 1, 1], dilation_rate: [1, 2, 1] }, CUBE],
  ['UpSampling2D', { size: [2, 2], interpolation: 'bilinear' }, IMAGE],
  ['BatchNormalization', { axis: [3] }, IMAGE],
  ['Softmax', { axis: 2 }, [null, 3, 4]],
  ['Conv3D', { ...VOLUME, strides: [2, 2, 2] }, CUBE],
  ['Conv3D', { ...VOLUME, padding: 'valid' }, CUBE],
  ['AveragePooling3D', { pool_size: [2, 2, 3], strides: [1, 1, 3], padding: 'same' }, CUBE],
  ['DepthwiseConv2D', { kernel_size: [2, 2], dilation_rate: 1, groups: 1 }, IMAGE],
  ['UpSampling2D', { size: [2, 2], interpolation: 'nearest' }, IMAGE],
];

describe('stock layers of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const [className, config, shape, field] of REFUSED) {
    it(`are refused where TensorFlow.js computes something else: ${className} ${JSON.stringify(config)}`, async () => {
      await expectNoLeakAsync(async () => {
        const loading = emb.loadKerasModel(modelOf(className, config, shape));
        const error = (await loading.then(
          (model) => void model.dispose(),
          (thrown: unknown) => thrown,
        )) as Error & { argument?: string };
        expect(error?.name).toBe('ValueError');
        expect(error?.argument).toBe(`Named.${field}`);
        expect(error?.message).toContain(`The layer "Named" is a ${className}.`);
      });
    });
  }

  for (const [className, config, shape] of TAKEN) {
    it(`are taken where it computes the same: ${className} ${JSON.stringify(config)}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(modelOf(className, config, shape));
        expect(model.outputShape).toBeDefined();
        model.dispose();
      });
    });
  }

  it('that end a mask here, and in Keras pass it on, are refused before a layer that reads it', async () => {
    const layer = (className: string, config: Json): Json => {
      return { class_name: className, config: { name: className.toLowerCase(), ...config } };
    };
    const load = (end: string): Promise<tf.LayersModel> => {
      const layers = [
        layer('InputLayer', { batch_shape: [null, 3, 2], dtype: 'float32' }),
        layer('Masking', { mask_value: 0 }),
        layer(end, {}),
        layer('SimpleRNN', { units: 2 }),
      ];
      const config = { name: 'model', layers };
      return emb.loadKerasModel(tf.io.fromMemory({ modelTopology: { class_name: 'Sequential', config } } as never));
    };
    await expectNoLeakAsync(async () => {
      (await load('ReLU')).dispose();
      const error = await load('LeakyReLU').catch((thrown: Error & { argument?: string }) => thrown);
      expect((error as { argument?: string }).argument).toBe('simplernn.mask');
    });
  });

  it('have the hard_sigmoid of their version of Keras', async () => {
    await expectNoLeakAsync(async () => {
      const model = await emb.loadKerasModel(modelOf('Activation', { activation: 'hard_sigmoid' }, [null, 3]));
      const x = tf.tensor2d([[-2.75, 1, 2.75]]);
      const found = model.predict(x) as tf.Tensor;
      expect(Array.from(found.dataSync()).map((each) => each.toFixed(6))).toEqual(['0.041667', '0.666667', '0.958333']);
      tf.dispose([x, found]);
      model.dispose();
    });
  });

  it('of mixed precision are told to compute in float32, once each', async () => {
    const warn = spyOn(console, 'warn');
    const dtype = { class_name: 'DTypePolicy', config: { name: 'mixed_float16' } };
    for (let i = 0; i < 2; i++) (await emb.loadKerasModel(modelOf('Flatten', { dtype }, IMAGE))).dispose();
    (await emb.loadKerasModel(modelOf('Flatten', { dtype: 'float32' }, IMAGE))).dispose();
    const told = warn.calls.allArgs().flat().join().split('computes in float32 here').length - 1;
    expect(told).toBe(1);
  });
});

describe('masks in models', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('are joined where layers are merged: a step counts where all masks have it', async () => {
    await expectNoLeakAsync(async () => {
      const add = adopt(tf.layers.add({ name: 'merged' }));
      const [a, b] = [tf.tensor2d([[1, 1, 0]], [1, 3], 'bool'), tf.tensor2d([[1, 0, 1]], [1, 3], 'bool')];
      const of = (...masks: (tf.Tensor | null)[]): number[] | null => {
        const mask = tf.tidy(() =>
          add.computeMask(
            masks.map(() => a),
            masks as tf.Tensor[],
          ),
        );
        const values = mask === null ? null : Array.from((mask as tf.Tensor).dataSync());
        if (mask !== a && mask !== b) tf.dispose(mask as tf.Tensor);
        return values;
      };
      expect(of(a, b)).toEqual([1, 0, 0]);
      expect(of(null, b, a)).toEqual([1, 0, 0]);
      expect(of(null, b)).toEqual([1, 0, 1]);
      expect(of(null, null)).toBeNull();
      tf.dispose([a, b]);
    });
  });

  it('that a caller gives to a layer stay with the caller', async () => {
    const rnn = tf.layers.simpleRNN({ units: 1, name: 'rnn' });
    const kwargs = { mask: tf.tensor2d([[1, 0]], [1, 2], 'bool') };
    const x = tf.ones([1, 2, 1]);
    tf.dispose(rnn.apply(x, kwargs) as tf.Tensor);
    expect(kwargs.mask).toBeDefined();
    tf.dispose([kwargs.mask, x]);
    rnn.dispose();
  });
});
