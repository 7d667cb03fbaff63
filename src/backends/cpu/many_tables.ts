/** Lookups of many tables in one call of the kernels, and steps of many tables in one. */
import * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../../rules/rules.js';
import type { BagTensors } from '../bag_tensors.js';
import type { HostBags, HostLookup, HostStep, HostTable, KernelSet } from '../kernel_set.js';
import type { LookedUp, Lookup } from '../lookup.js';
import { newFloats } from '../memory.js';
import type { JoinedUpdate } from '../registry.js';
import { SharedIds, unitedGradient, unitedIds } from '../united_uses.js';
import { floatsOf, intsOf, type CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';
import { placeTable } from './sparse_apply.js';

/** An implementation that has a kernel which not all have. */
export type SetWith<K extends keyof KernelSet> = KernelSet & { readonly [name in K]-?: NonNullable<KernelSet[name]> };

export function hasKernel<K extends keyof KernelSet>(set: KernelSet, name: K): set is SetWith<K> {
  return set[name] !== undefined;
}

function cpu(): CpuBackend {
  return tf.backend() as CpuBackend;
}

function hostBags(backend: CpuBackend, { values, rowSplits, weights }: BagTensors): HostBags {
  return {
    values: intsOf(backend, values.dataId, 'values'),
    rowSplits: intsOf(backend, rowSplits.dataId, 'rowSplits'),
    weights: weights === null ? null : floatsOf(backend, weights.dataId, 'weights'),
  };
}

/** The pooled rows of each lookup, by an implementation that takes many at once. */
export function lookUpMany(set: SetWith<'embeddingBags'>, lookups: readonly Lookup[]): LookedUp[] {
  const backend = cpu();
  const tables = OwnedTables.of(backend);
  const calls = lookups.map(({ table, bags, options }): HostLookup => {
    const ids = hostBags(backend, bags);
    const [rows, dim] = table.shape as [number, number];
    const pooled = newFloats('table', 'pooled rows', [ids.rowSplits.length - 1, dim]);
    return { table: { data: tables.read(table.dataId, set), rows, dim }, bags: ids, options, pooled };
  });
  set.embeddingBags(calls);
  return calls.map(({ table, pooled, bags }) => {
    const info = backend.makeTensorInfo([bags.rowSplits.length - 1, table.dim], 'float32', pooled);
    return { pooled: tf.engine().makeTensorFromTensorInfo(info, backend) as tf.Tensor2D, handle: null };
  });
}

/** Steps tables and slots in place. */
export function stepMany(
  set: SetWith<'sparseApplyMany'>,
  optimizer: OptimizerName,
  updates: readonly JoinedUpdate[],
): void {
  const backend = cpu();
  const tables = OwnedTables.of(backend);
  const shared = new SharedIds();
  const steps = updates.map(({ table, slots, entries, options, hyper }): HostStep => {
    placeTable(table);
    slots.forEach((slot, i) => placeTable(slot, `slots[${i}]`));
    const [rows, dim] = table.shape as [number, number];
    const uses = entries.map(({ bags }) => hostBags(backend, bags));
    const keys = uses.flatMap(({ values, rowSplits, weights }) => [values, rowSplits, weights]);
    const { useStarts, ...bags } = shared.of(keys, () => unitedIds(uses));
    const gradient = unitedGradient(entries.map((entry) => floatsOf(backend, entry.gradient.dataId, 'gradient')));
    const host: HostTable = { data: tables.write(table.dataId), rows, dim };
    const state = slots.map((slot) => tables.write(slot.dataId));
    return { table: host, slots: state, gradient, bags, options, hyper, useStarts };
  });
  set.sparseApplyMany(optimizer, steps);
}
