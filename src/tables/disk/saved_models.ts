/** Models that are saved refer to the files of their disk tables, which are then as the model is. */
import * as tf from '@tensorflow/tfjs';
import { addOnce, MODELS, override } from '../../tfjs/models/own_models.js';
import { DiskTable } from './disk_table.js';

/** The disk tables of a model, those of models within it too. */
function diskTablesOf(model: tf.LayersModel): Set<DiskTable> {
  const found = new Set<DiskTable>();
  for (const layer of model.layers) {
    const { table } = layer as { table?: unknown };
    if (table instanceof DiskTable) found.add(table);
    if (layer instanceof tf.LayersModel) for (const each of diskTablesOf(layer)) found.add(each);
  }
  return found;
}

/** Has models make checkpoints of their disk tables before they are saved. */
export function saveWithDiskTables(): void {
  addOnce('checkpoints of disk tables', () => {
    override(MODELS.graphs, 'save', (save: tf.LayersModel['save']): tf.LayersModel['save'] => {
      return async function (this: tf.LayersModel, target, config) {
        for (const table of diskTablesOf(this)) table.checkpoint();
        return save.call(this, target, config);
      };
    });
  });
}
