/** What the backend `cpu` does for tables: the implementation in force runs on the arrays that tensors hold. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import type { Backend, LookedUp, Lookup, Tables, TableUpdate } from '../contract.js';
import { joinedUpdates, type JoinedUpdate } from '../joined_updates.js';
import { KERNEL_GRADIENTS, lookUpsBy, stepByKernel } from '../kernel_calls.js';
import type { HostBags, HostLookup, HostStep } from '../kernel_set.js';
import { newFloats } from '../memory.js';
import { kernelSet } from '../registry.js';
import { SharedIds, unitedGradient, unitedIds } from '../united_uses.js';
import { filledSlot } from '../written_table.js';
import { floatsOf, intsOf, type CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';

const cpu = (): CpuBackend => tf.backend() as CpuBackend;
const owned = (): OwnedTables => OwnedTables.of(cpu());
const widthOf = (shape: readonly number[]): number => shape.slice(1).reduce((product, size) => product * size, 1);

function hostBags(backend: CpuBackend, { values, rowSplits, weights }: BagTensors): HostBags {
  return {
    values: intsOf(backend, values.dataId, 'values'),
    rowSplits: intsOf(backend, rowSplits.dataId, 'rowSplits'),
    weights: weights === null ? null : floatsOf(backend, weights.dataId, 'weights'),
  };
}

/** The pooled rows of lookups of float32 rows, in one call. */
function lookUpTogether(lookups: readonly Lookup[]): LookedUp[] {
  const backend = cpu();
  const set = kernelSet();
  // The first read of a table may grow the memory of an implementation, which detaches the views of others.
  for (const { table } of lookups) owned().read(table.dataId, set);
  const calls = lookups.map(({ table, bags, options }): HostLookup => {
    const ids = hostBags(backend, bags);
    const [rows, dim] = table.shape as [number, number];
    const pooled = newFloats('table', 'pooled rows', [ids.rowSplits.length - 1, dim]);
    return { table: { data: owned().read(table.dataId, set), rows, dim }, bags: ids, options, pooled };
  });
  set.lookUp(calls);
  return calls.map(({ table, pooled, bags }) => {
    const info = backend.makeTensorInfo([bags.rowSplits.length - 1, table.dim], 'float32', pooled);
    return { pooled: tf.engine().makeTensorFromTensorInfo(info, backend) as tf.Tensor2D, handle: null };
  });
}

/** Gives a table and its slots values that nobody else can see. */
function own({ table, slots }: Pick<TableUpdate, 'table' | 'slots'>): void {
  owned().own(table, kernelSet());
  slots.forEach((slot, i) => owned().own(slot, kernelSet(), `slots[${i}]`));
}

/** Steps tables of float32 in one call. */
function stepTogether(updates: readonly JoinedUpdate[]): void {
  const backend = cpu();
  const shared = new SharedIds();
  const steps = updates.map(({ table, slots, entries, options, hyper }): HostStep => {
    const [rows, dim] = table.shape as [number, number];
    const uses = entries.map(({ bags }) => hostBags(backend, bags));
    const keys = uses.flatMap(({ values, rowSplits, weights }) => [values, rowSplits, weights]);
    const { useStarts, ...bags } = shared.of(keys, () => unitedIds(uses));
    const gradient = unitedGradient(entries.map((entry) => floatsOf(backend, entry.gradient.dataId, 'gradient')));
    const data = owned().write(table.dataId);
    const state = slots.map((slot) => owned().write(slot.dataId));
    return { table: { data, rows, dim }, slots: state, gradient, bags, options, hyper, useStarts };
  });
  kernelSet().step(updates[0]!.optimizer, steps);
}

const TABLES: Tables = {
  trains: () => true,
  devices: null,
  begin(shape) {
    const backend = cpu();
    const table = tf.engine().makeTensorFromTensorInfo(owned().make([...shape], kernelSet()), backend);
    const width = widthOf(shape);
    return {
      write: (firstRow, values) =>
        owned()
          .write(table.dataId)
          .set(values, firstRow * width),
      finish: () => table,
      cancel: () => table.dispose(),
    };
  },
  createSlot: (_table, _name, shape, value) => filledSlot(TABLES, shape, value),
  rewrite({ dataId, shape }) {
    if (!owned().isWritable(dataId)) return null;
    return (firstRow, values) =>
      owned()
        .write(dataId)
        .set(values, firstRow * widthOf(shape));
  },
  place(table) {
    owned().own(table, kernelSet());
  },
  read({ dataId, shape }, firstRow, into) {
    return owned().copyInto(dataId, firstRow * widthOf(shape), into);
  },
};

export const cpuTables: Backend = {
  lookUp: (lookups) => lookUpsBy(lookUpTogether, lookups),
  step(updates) {
    tf.tidy(() => {
      for (const group of joinedUpdates(updates, KERNEL_GRADIENTS)) {
        const [only] = group;
        group.forEach(own);
        if (group.length > 1 || only!.entries.length > 1) stepTogether(group);
        else stepByKernel(only!);
      }
    });
  },
  gradient: KERNEL_GRADIENTS,
  tables: TABLES,
  ops: null,
  info: () => kernelSet().info(),
};
