/** The ids of all uses of a table in one step, grouped by row: on the host where it knows them, else on the GPU. */
import type * as tf from '@tensorflow/tfjs';
import { HostCopies } from '../../tfjs/webgpu/host_copies.js';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { checkIds, type BagOptions } from '../kernel_set.js';
import { planOnGpu } from './gpu_groups.js';
import { groupOnHost, type HostGroups } from './host_groups.js';
import type { Scratch } from './programs.js';

export interface Groups {
  /**
   * int32: the row of each entry, ascending, negated (`~row`) where the entry stands for nothing; where its places begin;
   * where they end; then the places.
   */
  readonly plan: tf.TensorInfo;
  /** Number of entries. */
  readonly count: number;
}

export interface Use {
  readonly values: tf.TensorInfo;
  readonly options: BagOptions;
}

/** The ids where the host knows them, else null; read from the GPU where `validate` asks for it. */
export function knownIds(backend: WebgpuBackend, { values, options }: Use): Int32Array | null {
  if (values.shape[0] === 0) return new Int32Array(0);
  const known = HostCopies.of(backend).valuesOf(values);
  if (known === null && options.validate === true) return backend.readSync(values.dataId) as Int32Array;
  return known as Int32Array | null;
}

/** Throws IdOutOfRange for ids outside the table that the host knows. */
export function checkKnownIds(backend: WebgpuBackend, use: Use, rows: number): void {
  if (use.options.outOfRange === 'zero') return;
  const known = knownIds(backend, use);
  if (known !== null) checkIds(known, rows, use.options);
}

/**
 * A length for so many entries that is one of a few, at most an eighth above: tfjs keeps each buffer for another tensor of
 * exactly its size, so that those of many sizes would pile up.
 */
export function capacity(count: number): number {
  let unit = 1;
  while (unit * 16 < count) unit *= 2;
  return Math.ceil(count / unit) * unit;
}

/** The plan of groups for `count` entries, those beyond the last one negated. */
export function uploadedPlan(scratch: Scratch, { rows, starts, order }: HostGroups, count: number): Groups {
  const plan = new Int32Array(3 * count + capacity(order.length));
  plan.fill(~0x7fffffff, 0, count);
  plan.set(rows);
  plan.set(starts.subarray(0, rows.length), count);
  plan.set(starts.subarray(1), 2 * count);
  plan.set(order, 3 * count);
  return { plan: scratch.make(plan.length, 'int32', plan), count };
}

/** The ids of these uses by row. Throws IdOutOfRange. */
export function groupsOf(backend: WebgpuBackend, scratch: Scratch, uses: readonly Use[], rows: number): Groups {
  const known = uses.map((use) => knownIds(backend, use));
  known.forEach((values, i) => {
    if (values !== null) checkIds(values, rows, uses[i]!.options);
  });
  if (!known.includes(null)) {
    const groups = groupOnHost(known as Int32Array[], rows);
    return uploadedPlan(scratch, groups, capacity(groups.rows.length));
  }
  return planOnGpu(
    backend,
    scratch,
    uses.map(({ values }) => values),
    rows,
  );
}
