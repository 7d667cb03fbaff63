/** The open tables of a model. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import type { OpenTable } from './open_table.js';
import { isOpenTable } from './is_open_table.js';

/**
 * Returns the open tables of the layers of a model by their names, those of models within it too: of one that was loaded,
 * too, which made them anew. An empty object where it has none.
 *
 * @param model - A layers model.
 * @param names - Those that are wanted; all by default.
 * @returns The tables, by name.
 * @throws TypeError for anything but a model; ValueError for a name that none of its tables has.
 *
 * @example
 * const served = await tf.loadLayersModel('file://./recommender/model.json');
 * emb.openTables(served, ['users']).users.size();
 */
export function openTables<const Name extends string>(
  model: tf.LayersModel,
  names: readonly Name[],
): Record<Name, OpenTable>;
export function openTables(model: tf.LayersModel): Record<string, OpenTable>;
export function openTables(model: tf.LayersModel, names?: readonly string[]): Record<string, OpenTable> {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a tf.LayersModel', model);
  const found: Record<string, OpenTable> = {};
  const visit = (layers: readonly tf.layers.Layer[]): void => {
    for (const layer of layers) {
      if (layer instanceof tf.LayersModel) visit(layer.layers);
      const { table } = layer as { table?: unknown };
      if (isOpenTable(table)) found[table.name] = table;
    }
  };
  visit(model.layers);
  if (names === undefined) return found;
  if (!Array.isArray(names)) throw new ArgumentTypeError('names', 'a list of names', names);
  const there = Object.keys(found).join(', ') || 'none';
  return Object.fromEntries(
    names.map((name) => {
      const table = Object.hasOwn(found, name) ? found[name] : undefined;
      if (table === undefined) throw new ValueError('names', `names of open tables of the model (${there})`, name);
      return [name, table];
    }),
  );
}
