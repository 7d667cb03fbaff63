/**
 * What a backend does for tables that lie on the host: the implementation in force runs on their arrays. `cpu` holds all
 * tensors there; for a GPU pooled rows go up and gradients come down.
 */
import * as tf from '@tensorflow/tfjs';
import type { Backend, LookedUp, Lookup, RowStore, TableMemory, TableUpdate } from '../contract.js';
import { joinedUpdates, type JoinedUpdate, KERNEL_GRADIENTS, dispatchLookups, stepByKernel } from '../kernel_calls.js';
import type { Words } from '../../codecs/codec.js';
import { type HostLookup, type HostStep, type HostTable, newFloats } from '../kernel_set.js';
import { rowsIn } from '../ranking.js';
import { kernelSet } from '../registry.js';
import { type Table, tableOf } from '../table.js';
import { SharedIds, unitedGradient, unitedIds } from '../united_uses.js';
import { memoryStore } from '../stores/memory_store.js';
import { widthOf } from '../stores/table_rows.js';
import { bagsIn, type HostMemory } from './host_memory.js';

export class HostTables implements Backend {
  readonly store: RowStore;
  readonly gradient = KERNEL_GRADIENTS;
  readonly ops = null;

  /** `told`: what `backendInfo` says of where tables lie. */
  constructor(
    private readonly memory: HostMemory,
    told?: TableMemory,
  ) {
    this.store = storeIn(memory, told);
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

function storeIn(memory: HostMemory, told?: TableMemory): RowStore {
  return memoryStore({
    ...(told !== undefined && { memory: told }),
    zeros: (shape) => memory.owned().make([...shape], kernelSet()),
    isWritable: ({ dataId }) => memory.owned().isWritable(dataId),
    write: (table, firstRow, values) =>
      memory
        .owned()
        .write(table)
        .set(values, firstRow * widthOf(table.shape)),
    writeAt(table, rows, values) {
      const width = widthOf(table.shape);
      const all = memory.owned().write(table);
      for (let i = 0; i < rows.length; i++) all.set(values.subarray(i * width, (i + 1) * width), rows[i]! * width);
    },
    place: (table) => memory.owned(table).own(table, kernelSet()),
    read: ({ dataId, shape }, firstRow, into) => memory.owned().copyInto(dataId, firstRow * widthOf(shape), into),
    view(table) {
      const values = memory.owned(table).read(table, kernelSet());
      return { rows: rowsIn(tableOf(table), values), kernels: null };
    },
  });
}
