/** Which tensors lie on the devices. */
import type * as tf from '@tensorflow/tfjs';
import type { DeviceTable } from '../machine/device_table.js';

export class DeviceTensors {
  private readonly byDataId = new WeakMap<tf.DataId, DeviceTable>();
  /** A tensor that nobody disposed frees its memory when it is collected. */
  private readonly collected = new FinalizationRegistry<DeviceTable>((table) => {
    this.count--;
    table.free();
  });
  private count = 0;

  /** Number of tables, and of other tensors on the devices. */
  get size(): number {
    return this.count;
  }

  get(dataId: tf.DataId): DeviceTable | undefined {
    return this.byDataId.get(dataId);
  }

  /** A new data id for a table. */
  add(table: DeviceTable): tf.DataId {
    const dataId = {};
    this.byDataId.set(dataId, table);
    this.collected.register(dataId, table, table);
    this.count++;
    return dataId;
  }

  /** One reference less; frees the table with the last one, or at once when `force`. */
  drop(dataId: tf.DataId, force: boolean): boolean {
    const table = this.byDataId.get(dataId);
    if (table === undefined) return true;
    table.refCount--;
    if (!force && table.refCount > 0) return false;
    this.byDataId.delete(dataId);
    this.collected.unregister(table);
    this.count--;
    table.free();
    return true;
  }
}
