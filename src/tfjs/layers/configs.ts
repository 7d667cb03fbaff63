/** What configs of stock layers leave out, or give names that tfjs does not find again: saved models did not load. */
import * as tf from '@tensorflow/tfjs';
import { override } from '../models/own_models.js';

type GetConfig = (this: Record<string, unknown>) => tf.serialization.ConfigDict;

function written(value: unknown): tf.serialization.ConfigDictValue {
  if (!(value instanceof tf.serialization.Serializable)) return (value ?? null) as tf.serialization.ConfigDictValue;
  return { className: value.getClassName(), config: value.getConfig() };
}

/** Writes a field of a layer into its config. */
function addField(sample: tf.layers.Layer, field: string): void {
  const whole = (getConfig: GetConfig): GetConfig =>
    function () {
      return { ...getConfig.call(this), [field]: written(this[field]) };
    };
  override(Object.getPrototypeOf(sample) as object, 'getConfig', whole, 'mend');
}

/** Makes configs whole. */
export function completeConfigs(): void {
  // Names, as default names are counted.
  addField(tf.layers.separableConv2d({ filters: 1, kernelSize: 1, name: 'separable' }), 'depthMultiplier');
  addField(tf.layers.conv1d({ filters: 1, kernelSize: 1, name: 'conv1d' }), 'dataFormat');
  // tfjs writes the regularizer there.
  addField(tf.layers.depthwiseConv2d({ kernelSize: 1, name: 'depthwise' }), 'depthwiseConstraint');
  // Words of a saved config come back in camel case.
  const { classNameMap } = tf.serialization.SerializationMap.getMap() as unknown as {
    classNameMap: Record<string, unknown>;
  };
  classNameMap['geluNew'] ??= classNameMap['gelu_new'];
}
