/** Models that are saved refer to the files of their disk tables, which are then as the model is. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
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

/** Copies of the files are left to the caller, who knows where there is room. */
function refuseCopies(config: object | undefined): void {
  const { copyTables = false } = (config ?? {}) as { copyTables?: unknown };
  if (copyTables === false) return;
  const note = 'After a checkpoint the file of a table can be copied as any other.';
  throw new ValueError('copyTables', 'false: a saved model refers to the files of its disk tables', copyTables, note);
}

/** Has models make checkpoints of their disk tables before they are saved. */
export function saveWithDiskTables(): void {
  addOnce('checkpoints of disk tables', () => {
    override(MODELS.graphs, 'save', (save: tf.LayersModel['save']): tf.LayersModel['save'] => {
      return async function (this: tf.LayersModel, target, config) {
        const tables = diskTablesOf(this);
        if (tables.size > 0) refuseCopies(config);
        for (const table of tables) table.checkpoint();
        return save.call(this, target, config);
      };
    });
  });
}
