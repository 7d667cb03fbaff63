/** The open tables of a model. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../../base/errors.js';
import { isOpenTable, type OpenTable } from './open_table.js';

/**
 * Returns the open tables of the layers of a model by their names, those of models within it too: of one that was loaded,
 * too, which made them anew. An empty object where it has none.
 *
 * @param model - A layers model.
 * @returns The tables, by name.
 * @throws TypeError for anything but a model.
 *
 * @example
 * const served = await tf.loadLayersModel('file://./recommender/model.json');
 * emb.openTables(served).users.size();
 */
export function openTables(model: tf.LayersModel): Record<string, OpenTable> {
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
  return found;
}
