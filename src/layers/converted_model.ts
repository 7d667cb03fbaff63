/** Models made again with tables of another storage. */
import * as tf from '@tensorflow/tfjs';
import { settingsOf, tableOf } from '../backends/table.js';
import { ValueError, described } from '../base/errors.js';
import type { Storage } from '../codecs/codec.js';
import { codecOf } from '../codecs/codecs.js';
import { convertedRows, convertingTo } from '../tables/storage.js';

type FromConfig = (cls: unknown, config: object, customObjects: object, fastWeightInit: boolean) => tf.LayersModel;
type ClassMap = Record<string, [unknown, FromConfig] | undefined>;

/** tfjs says of a sequential model that begins with an input that it was not built. */
export function isBuilt({ layers }: tf.LayersModel): boolean {
  return layers.length > 0 && layers.every(({ built }) => built);
}

/** Whether a weight is the table of one of our layers. */
export function isTableWeight(weight: tf.LayerVariable): boolean {
  return settingsOf(weight.read()) !== null;
}

/** The same model with other tables, made from its config. */
function cloneOf(model: tf.LayersModel): tf.LayersModel {
  const { classNameMap } = tf.serialization.SerializationMap.getMap() as unknown as { classNameMap: ClassMap };
  const className = model.getClassName();
  const entry = classNameMap[className];
  if (entry === undefined) {
    const expected = 'a model of a registered class';
    throw new ValueError('model', expected, className, 'tf.serialization.registerClass makes a class known.');
  }
  const [cls, fromConfig] = entry;
  return fromConfig(cls, model.getConfig(), {}, true);
}

/** Weights by the name under which they are saved. Names come once, but for layers that users named alike. */
function namedWeights(model: tf.LayersModel): Map<string, tf.LayerVariable[]> {
  const named = new Map<string, tf.LayerVariable[]>();
  for (const weight of model.weights) {
    const { originalName } = weight as unknown as { originalName: string };
    named.set(originalName, [...(named.get(originalName) ?? []), weight]);
  }
  return named;
}

/** Writes all weights of `model` into `clone`, tables in the form that they have there. */
function copyWeights(model: tf.LayersModel, clone: tf.LayersModel): void {
  const sources = namedWeights(model);
  for (const [name, targets] of namedWeights(clone)) {
    targets.forEach((target, i) => {
      const source = sources.get(name)?.[i];
      if (source === undefined) {
        throw new ValueError('model', 'weights that its config makes again', described(`none for ${name}`));
      }
      const [from, to] = [source.read() as tf.Variable, target.read() as tf.Variable];
      tf.tidy(() => void target.write(convertedRows(from, tableOf(from), tableOf(to), name)));
    });
  }
}

/** Disposes a model that has no other holders; tfjs leaves weights of models within models. */
function disposeWhole(model: tf.LayersModel): void {
  const weights = model.weights.map((weight) => weight.read() as tf.Variable);
  model.dispose();
  for (const weight of weights) if (!weight.isDisposed) weight.dispose();
}

/**
 * The model with all tables in this storage, under the same names and without loss and optimizer. Layers of packed tables
 * are frozen.
 */
export function convertedModel(model: tf.LayersModel, storage: Storage): tf.LayersModel {
  const { built: clone, tables } = convertingTo(storage, () => cloneOf(model));
  try {
    copyWeights(model, clone);
    // Before there were steps of such rows nothing trained them, and models for inference are to stay so.
    if (!codecOf(storage).isPlain) for (const table of tables) table.freeze();
    return clone;
  } catch (error) {
    disposeWhole(clone);
    throw error;
  }
}
