/**
 * What a backend does for tables that lie on the host: the implementation in force runs on their arrays. `cpu` holds all
 * tensors there; for a GPU pooled rows go up and gradients come down.
 */
import * as tf from '@tensorflow/tfjs';
import type { Backend, LookedUp, Lookup, TableMemory, Tables, TableUpdate } from '../contract.js';
import { joinedUpdates, type JoinedUpdate, KERNEL_GRADIENTS, dispatchLookups, stepByKernel } from '../kernel_calls.js';
import type { Words } from '../../codecs/codec.js';
import { type HostLookup, type HostStep, type HostTable, newFloats } from '../kernel_set.js';
import { rowsIn } from '../ranking.js';
import { kernelSet } from '../registry.js';
import { type Table, tableOf } from '../table.js';
import { SharedIds, unitedGradient, unitedIds } from '../united_uses.js';
import { filledSlot, widthOf } from '../written_table.js';
import { bagsIn, type HostMemory } from './host_memory.js';

export class HostTables implements Backend {
  readonly tables: Tables;
  readonly ahead = null;
  readonly gradient = KERNEL_GRADIENTS;
  readonly ops = null;

  /** `told`: what `backendInfo` says of where tables lie. */
  constructor(
    private readonly memory: HostMemory,
    told?: TableMemory,
  ) {
    this.tables = { ...tablesIn(memory), ...(told !== undefined && { memory: told }) };
  }

  lookUp(lookups: readonly Lookup[]): LookedUp[] {
    return dispatchLookups((several) => this.lookUpTogether(several), lookups);
  }

  step(updates: readonly TableUpdate[]): void {
    tf.tidy(() => {
      for (const group of joinedUpdates(updates, KERNEL_GRADIENTS)) {
        const [only] = group;
        for (const update of group) this.own(update);
        if (group.length > 1 || only!.entries.length > 1) this.stepTogether(group);
        else stepByKernel(only!);
      }
    });
  }

  info() {
    return kernelSet().info();
  }

  /** The pooled rows of lookups, in one call. */
  private lookUpTogether(lookups: readonly Lookup[]): LookedUp[] {
    const { memory } = this;
    const set = kernelSet();
    const read = (table: tf.TensorInfo): Words => memory.owned(table).read(table, set);
    // The first read of a table may grow the memory of an implementation, which detaches the views of others.
    for (const { table } of lookups) read(table.tensor);
    const calls = lookups.map(({ table, bags, options }): HostLookup => {
      const ids = bagsIn(memory, bags, table.rows);
      const pooled = newFloats('table', 'pooled rows', [ids.rowSplits.length - 1, table.dim]);
      return { table: onHost(table, read(table.tensor)), bags: ids, options, pooled };
    });
    set.lookUp(calls);
    return calls.map(({ table, pooled, bags }) => {
      const info = memory.make([bags.rowSplits.length - 1, table.dim], 'float32', pooled);
      return { pooled: tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D, handle: null };
    });
  }

  /** Gives a table and its slots values with no other holders. */
  private own({ table, slots }: Pick<TableUpdate, 'table' | 'slots'>): void {
    const owned = this.memory.owned(table.tensor);
    owned.own(table.variable, kernelSet());
    slots.forEach((slot, i) => owned.own(slot, kernelSet(), `slots[${i}]`));
  }

  /** Steps tables in one call. */
  private stepTogether(updates: readonly JoinedUpdate[]): void {
    const { memory } = this;
    const owned = memory.owned();
    const shared = new SharedIds();
    const steps = updates.map(({ table, slots, entries, options, hyper }): HostStep => {
      const uses = entries.map(({ bags }) => bagsIn(memory, bags, table.rows));
      const keys = uses.flatMap(({ values, rowSplits, weights }) => [values, rowSplits, weights]);
      const { useStarts, ...bags } = shared.of(keys, () => unitedIds(uses));
      const gradient = unitedGradient(entries.map((entry) => memory.floats(entry.gradient, 'gradient')));
      const data = owned.write(table.tensor);
      const state = slots.map((slot) => owned.write(slot) as Float32Array);
      return { table: onHost(table, data), slots: state, gradient, bags, options, hyper, useStarts };
    });
    kernelSet().step(updates[0]!.optimizer, steps);
  }
}

function onHost({ codec, rows, dim }: Table, data: Words): HostTable {
  return { codec, data, rows, dim };
}

function tablesIn(memory: HostMemory): Tables {
  const tables: Tables = {
    trains: () => true,
    devices: null,
    begin(shape) {
      const owned = memory.owned();
      const table = owned.make([...shape], kernelSet());
      const width = widthOf(shape);
      return {
        write: (firstRow, values) => owned.write(table).set(values, firstRow * width),
        finish: () => table,
        cancel: () => table.dispose(),
      };
    },
    createSlot: (_table, _name, shape, value) => filledSlot(tables, shape, value),
    rewrite(table) {
      const owned = memory.owned();
      if (!owned.isWritable(table.dataId)) return null;
      return (firstRow, values) => owned.write(table).set(values, firstRow * widthOf(table.shape));
    },
    place(table) {
      memory.owned(table).own(table, kernelSet());
    },
    read({ dataId, shape }, firstRow, into) {
      return memory.owned().copyInto(dataId, firstRow * widthOf(shape), into);
    },
    view(table) {
      const values = memory.owned(table).read(table, kernelSet());
      return { rows: rowsIn(tableOf(table), values), kernels: null };
    },
  };
  return tables;
}
