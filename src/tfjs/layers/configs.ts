/** What configs of stock layers leave out, or give names that tfjs does not find again: saved models did not load. */
import * as tf from '@tensorflow/tfjs';

const MARK = Symbol.for('tfjs-embeddings.layerConfigs');

type Config = tf.serialization.ConfigDict;
type Configured = { getConfig(this: Record<string, unknown>): Config; [MARK]?: true };

function written(value: unknown): tf.serialization.ConfigDictValue {
  if (!(value instanceof tf.serialization.Serializable)) return (value ?? null) as tf.serialization.ConfigDictValue;
  return { className: value.getClassName(), config: value.getConfig() };
}

/** Writes a field of a layer into its config. */
function addField(sample: tf.layers.Layer, field: string): void {
  const prototype = Object.getPrototypeOf(sample) as Configured;
  if (Object.hasOwn(prototype, MARK)) return;
  prototype[MARK] = true;
  const { getConfig } = prototype;
  prototype.getConfig = function () {
    return { ...getConfig.call(this), [field]: written(this[field]) };
  };
}

/** Makes configs whole. May be called again. */
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
