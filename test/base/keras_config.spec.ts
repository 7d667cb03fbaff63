import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { checkFloat32Policy, readKerasConfig } from '../../src/base/keras_config.js';
import { warningsOf } from '../helpers/warnings.js';
import { expectError } from '../layers/setup.js';

function layerOf(config: object): emb.Embedding {
  return emb.Embedding.fromConfig(emb.Embedding as never, config as never) as emb.Embedding;
}

const uniform = { class_name: 'RandomUniform', config: { minval: -0.2, maxval: 0.2, seed: null } };

/** As Keras and its relatives write them. */
const KERAS_2 = {
  name: 'user_id_embedding',
  trainable: true,
  batch_input_shape: [null, 7],
  dtype: 'float32',
  input_dim: 12,
  output_dim: 5,
  embeddings_initializer: { module: 'keras.initializers', ...uniform, registered_name: null },
  embeddings_regularizer: { class_name: 'L2', config: { l2: 0.5 } },
  activity_regularizer: null,
  embeddings_constraint: { class_name: 'MaxNorm', config: { max_value: 3, axis: 1 } },
  mask_zero: true,
  input_length: 7,
};
const KERAS_3 = {
  name: 'item_id_table',
  trainable: false,
  dtype: { module: 'keras', class_name: 'DTypePolicy', config: { name: 'float32' }, registered_name: null },
  batch_shape: [null, 3],
  input_dim: 12,
  output_dim: 5,
  embeddings_initializer: {
    class_name: 'VarianceScaling',
    config: {
      seed: { class_name: 'SeedGenerator' },
      scale: 2,
      mode: 'fan_out',
      distribution: 'truncated_normal',
      input_axes: null,
    },
    shared_object_id: 1398,
  },
  embeddings_regularizer: null,
  embeddings_constraint: null,
  mask_zero: false,
  quantization_config: null,
};
const KERAS_RS = { ...KERAS_3, combiner: 'mean' };
const NVIDIA = {
  name: 'wide_Table',
  trainable: true,
  dtype: 'float32',
  batch_input_shape: [null, null],
  input_dim: 12,
  output_dim: 5,
  embeddings_initializer: 'uniform',
  embeddings_regularizer: null,
  activity_regularizer: null,
  embeddings_constraint: null,
  combiner: 'sum',
  use_custom_kernel: true,
};

describe('configs of other systems', () => {
  it('Keras 2, mask and length kept', () => {
    const layer = layerOf(KERAS_2);
    expect(layer.name).toBe('user_id_embedding');
    expect([layer.inputDim, layer.outputDim, layer.combiner]).toEqual([12, 5, null]);
    expect([layer.maskZero, layer.inputLength, layer.supportsMasking]).toEqual([true, 7, true]);
    expect(layer.batchInputShape).toEqual([null, 7]);
    expect(layer.dtype).toBe('int32');
    const config = layer.getConfig() as Record<string, unknown>;
    expect(config['embeddingsInitializer']).toEqual({ className: 'RandomUniform', config: uniform.config });
    expect(config['embeddingsRegularizer']).toEqual({ className: 'L1L2', config: { l1: 0, l2: 0.5 } });
    expect(config['embeddingsConstraint']).toEqual({ className: 'MaxNorm', config: { maxValue: 3, axis: 1 } });
  });

  it('Keras 3, policies and shapes', () => {
    const layer = layerOf(KERAS_3);
    expect([layer.name, layer.trainable, layer.combiner]).toEqual(['item_id_table', false, null]);
    expect(layer.batchInputShape).toEqual([null, 3]);
    const { embeddingsInitializer } = layer.getConfig() as {
      embeddingsInitializer: { className: string; config: object };
    };
    expect(embeddingsInitializer.className).toBe('VarianceScaling');
    expect(embeddingsInitializer.config).toEqual(
      jasmine.objectContaining({ scale: 2, mode: 'fanOut', distribution: 'truncatedNormal' }),
    );
  });

  it('Keras RS and NVIDIA, combiners', () => {
    expect(layerOf(KERAS_RS).combiner).toBe('mean');
    const nvidia = layerOf(NVIDIA);
    expect([nvidia.name, nvidia.combiner]).toEqual(['wide_Table', 'sum']);
    expect(nvidia.computeOutputShape([null, 9])).toEqual([null, 5]);
    expect(layerOf({ ...NVIDIA, mask_zero: true, input_length: 4 }).maskZero).toBeTrue();
  });

  it('camel case as tfjs hands configs over', () => {
    const layer = layerOf({ inputDim: 3, outputDim: 2, combiner: 'sqrtn', dtype: 'int32', customObjects: {} });
    expect([layer.inputDim, layer.combiner]).toEqual([3, 'sqrtn']);
  });

  it('every initializer of tfjs, in both spellings', () => {
    const names = [
      'zeros',
      'ones',
      'random_uniform',
      'randomNormal',
      'truncated_normal',
      'glorot_uniform',
      'glorotNormal',
    ];
    names.push('he_normal', 'heUniform', 'lecun_normal', 'leCunUniform', 'RandomUniform', 'normal', 'uniform');
    for (const name of names) {
      const layer = layerOf({ input_dim: 3, output_dim: 2, embeddings_initializer: name });
      const values = layer.table.initializer.apply([3, 2], 'float32');
      expect(values.shape).withContext(name).toEqual([3, 2]);
      values.dispose();
    }
  });

  it('does not change the config that it reads', () => {
    const before = JSON.stringify(KERAS_3);
    layerOf(KERAS_3);
    expect(JSON.stringify(KERAS_3)).toBe(before);
  });

  it('refuses what cannot be honoured, and names it', () => {
    const bad: [object, 'TypeError' | 'ValueError', string][] = [
      [{ ...KERAS_3, quantization_config: { mode: 'int8' } }, 'ValueError', 'quantizationConfig'],
      [{ ...KERAS_3, lora_rank: 4 }, 'ValueError', 'loraRank'],
      [{ ...KERAS_2, sparse: true }, 'ValueError', 'sparse'],
      [{ ...KERAS_3, dtype: { class_name: 'DTypePolicy', config: { name: 'bfloat16' } } }, 'ValueError', 'dtype'],
      [{ ...KERAS_2, dtype: 'float64' }, 'ValueError', 'dtype'],
      [{ ...KERAS_2, activity_regularizer: { class_name: 'L2', config: {} } }, 'ValueError', 'activityRegularizer'],
      [
        { ...KERAS_2, embeddings_initializer: { class_name: 'Mystery', config: {} } },
        'ValueError',
        'embeddingsInitializer',
      ],
      [{ ...NVIDIA, combiner: 'product' }, 'ValueError', 'combiner'],
      [{ ...NVIDIA, input_dim: undefined }, 'TypeError', 'inputDim'],
      [{ ...NVIDIA, table: 'movies' }, 'TypeError', 'table'],
    ];
    for (const [config, type, argument] of bad) expectError(() => layerOf(config), type, argument);
    expectError(() => layerOf(null as unknown as object), 'TypeError', 'config');
    expectError(() => layerOf([] as unknown as object), 'TypeError', 'config');
  });

  it('says which unknown keys have no effect', () => {
    const said = warningsOf(() => layerOf({ ...KERAS_2, some_new_key: 5, other_key: null }));
    expect(said.length).toBe(1);
    expect(said[0]).toContain('the key someNewKey in the config');
  });

  it('a mixed policy keeps its float32 table', () => {
    const layer = layerOf({ ...KERAS_3, dtype: { class_name: 'DTypePolicy', config: { name: 'mixed_float16' } } });
    const input = tf.tensor2d([[1, 2, 3]], [1, 3], 'int32');
    const output = layer.apply(input) as tf.Tensor;
    expect(output.dtype).toBe('float32');
    tf.dispose([input, output]);
    layer.dispose();
  });
});

describe('readKerasConfig', () => {
  it('hands on every argument of the layers', () => {
    const names = ['name', 'trainable', 'batch_input_shape', 'input_shape', 'batch_size', 'input_dim', 'output_dim'];
    names.push('embeddings_initializer', 'embeddings_regularizer', 'embeddings_constraint', 'activity_regularizer');
    names.push(
      'mask_zero',
      'input_length',
      'combiner',
      'max_norm',
      'out_of_range',
      'optimizer',
      'table',
      'weights',
      'seed',
    );
    for (const name of names) {
      const said = warningsOf(() => {
        const [[key, value] = []] = Object.entries(readKerasConfig({ [name]: 'as given' }));
        expect(key?.toLowerCase()).toBe(name.replaceAll('_', ''));
        expect(value).toBe('as given');
      });
      expect(said).withContext(name).toEqual([]);
    }
  });

  it('drops without a word what has no effect, and what is not set', () => {
    const config = {
      use_custom_kernel: true,
      custom_objects: {},
      autocast: true,
      lora_enabled: false,
      build_config: {},
      unheard_of: null,
      unseen: undefined,
    };
    expect(warningsOf(() => expect(readKerasConfig(config)).toEqual({}))).toEqual([]);
  });

  it('takes features that are off, and refuses them on', () => {
    for (const [key, name] of [
      ['quantization_config', 'quantizationConfig'],
      ['quantization_mode', 'quantizationMode'],
      ['lora_rank', 'loraRank'],
      ['sparse', 'sparse'],
    ] as const) {
      for (const off of [null, undefined, false]) {
        expect(warningsOf(() => expect(readKerasConfig({ [key]: off })).toEqual({}))).toEqual([]);
      }
      expectError(() => readKerasConfig({ [key]: 4 }), 'ValueError', name, '4');
    }
  });

  it('refuses what is no object', () => {
    for (const config of [undefined, null, 'inputDim', 7, [], () => ({})]) {
      expectError(() => readKerasConfig(config), 'TypeError', 'config');
    }
  });
});

describe('keys of every object', () => {
  it('are unknown as others are', () => {
    const config = { input_dim: 3, toString: 1, constructor: 2 };
    const said = warningsOf(() => expect(readKerasConfig(config)).toEqual({ inputDim: 3 }));
    expect(said.map((text) => /the key (\w+) in/.exec(text)![1])).toEqual(['toString', 'constructor']);
  });
});

describe('checkFloat32Policy', () => {
  it('takes dtypes and policies whose variables are float32, and none', () => {
    for (const name of ['float32', 'int32', 'mixed_float16', 'mixed_bfloat16', 'mixedfloat16', 'Float32']) {
      checkFloat32Policy(name);
      checkFloat32Policy({ config: { name } });
    }
    checkFloat32Policy(null);
    checkFloat32Policy(undefined);
    expect().nothing();
  });

  it('refuses others, and what is neither', () => {
    for (const name of ['float64', 'bfloat16', 'xfloat32', 'float32x', 'mixed float16', '']) {
      expectError(() => checkFloat32Policy(name), 'ValueError', 'dtype', JSON.stringify(name));
      expectError(() => checkFloat32Policy({ config: { name } }), 'ValueError', 'dtype', JSON.stringify(name));
    }
    for (const none of [{}, { config: null }, { config: {} }, { config: { name: 32 } }, 32, true]) {
      expectError(() => checkFloat32Policy(none), 'TypeError', 'dtype');
    }
  });
});
