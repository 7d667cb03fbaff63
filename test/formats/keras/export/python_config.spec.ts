/** What Keras reads of the settings of a layer, each with other values than those that it has unsaid. */
import * as tf from '@tensorflow/tfjs';
import { fieldJson } from '../../../../src/formats/keras/export/python_config.js';
import type { NamedLayer } from '../../../../src/formats/keras/layer_error.js';
import { thrown } from '../../../backends/devices/device_script.js';

const LAYER: NamedLayer = { className: 'Dense', name: 'given' };
const serialized = (made: tf.serialization.Serializable): unknown => ({
  className: made.getClassName(),
  config: made.getConfig(),
});
const keras = (module: string, name: string, config: object): object => ({
  module: `keras.${module}`,
  class_name: name,
  config,
  registered_name: null,
});

const WRITTEN: readonly (readonly [field: string, given: unknown, written: unknown])[] = [
  [
    'kernel_constraint',
    serialized(tf.constraints.maxNorm({ maxValue: 3, axis: 1 })),
    keras('constraints', 'MaxNorm', { max_value: 3, axis: 1 }),
  ],
  [
    'kernel_constraint',
    serialized(tf.constraints.unitNorm({ axis: 1 })),
    keras('constraints', 'UnitNorm', { axis: 1 }),
  ],
  ['bias_constraint', serialized(tf.constraints.nonNeg()), keras('constraints', 'NonNeg', {})],
  [
    'bias_constraint',
    serialized(tf.constraints.minMaxNorm({ minValue: 0.25, maxValue: 2, rate: 0.5, axis: 1 })),
    keras('constraints', 'MinMaxNorm', { min_value: 0.25, max_value: 2, rate: 0.5, axis: 1 }),
  ],
  [
    'kernel_regularizer',
    serialized(tf.regularizers.l1l2({ l1: 0.25, l2: 0.5 })),
    keras('regularizers', 'L1L2', { l1: 0.25, l2: 0.5 }),
  ],
  [
    'kernel_initializer',
    serialized(tf.initializers.randomUniform({ minval: -2, maxval: 3, seed: 7 })),
    keras('initializers', 'RandomUniform', { minval: -2, maxval: 3, seed: 7 }),
  ],
  [
    'kernel_initializer',
    serialized(
      tf.initializers.varianceScaling({ scale: 3, mode: 'fanOut', distribution: 'truncatedNormal', seed: 1 } as never),
    ),
    keras('initializers', 'VarianceScaling', { scale: 3, mode: 'fan_out', distribution: 'truncated_normal', seed: 1 }),
  ],
  [
    'kernel_initializer',
    { className: 'LeCunNormal', config: { scale: 1, mode: 'fanIn', distribution: 'normal', seed: 4 } },
    keras('initializers', 'LecunNormal', { seed: 4 }),
  ],
  [
    'kernel_initializer',
    serialized(tf.initializers.identity({ gain: 2 })),
    keras('initializers', 'Identity', { gain: 2 }),
  ],
  ['activation', 'hardSigmoid', undefined],
  ['activation', 'swish', 'silu'],
  ['recurrent_activation', 'logSoftmax', 'log_softmax'],
  ['data_format', 'channelsLast', 'channels_last'],
  ['units', 3, 3],
];

describe('settings of layers in files of Keras', () => {
  for (const [field, given, written] of WRITTEN) {
    it(`are written with their values: ${field} ${JSON.stringify(given)}`, () => {
      if (written !== undefined) expect(fieldJson(given, LAYER, field)).toEqual(written);
      else expect(fieldJson(given, LAYER, field)).not.toBeNull();
    });
  }

  it('are null where there is none, and refused by name where Keras has no such', () => {
    for (const field of ['kernel_constraint', 'kernel_regularizer', 'kernel_initializer', 'activation']) {
      for (const none of [null, undefined])
        expect(fieldJson(none, LAYER, field))
          .withContext(field)
          .toBeNull();
      const error = thrown(() => fieldJson({ className: 'Own', config: {} }, LAYER, field));
      expect(error?.name).withContext(field).toBe('ValueError');
      expect(error?.message).withContext(field).toContain('Own');
    }
  });
});
