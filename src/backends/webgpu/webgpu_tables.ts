/** What the backend `webgpu` does for tables: kernels of this package step them in place on the GPU. */
import * as tf from '@tensorflow/tfjs';
import { webgpuBackend, type WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { Backend, LookupGradient, TableUpdate } from '../contract.js';
import { KERNEL_GRADIENTS, lookUpByKernel, ofRows } from '../kernel_calls.js';
import type { KernelInfo } from '../kernel_set.js';
import { gpuStore } from './gpu_tables.js';
import { groupsOf, type Groups } from './groups.js';
import { checkBackend } from './kernels.js';
import { own } from './own_buffers.js';
import { withScratch, type Scratch } from './programs.js';
import { stepTable } from './steps.js';

/** All uses of a table; a dense gradient is one that touches every row. Call inside a tidy. */
function usesOf({ table, entries, dense }: TableUpdate): LookupGradient[] {
  if (dense === null) return [...entries];
  const every = tf.tensor1d(
    Int32Array.from({ length: table.rows }, (_, row) => row),
    'int32',
  );
  return [...entries, ofRows(every, dense)];
}

/** The groups of tables that are used with the same ids, made once. */
class SharedGroups {
  readonly #known: { readonly keys: readonly unknown[]; readonly groups: Groups }[] = [];

  constructor(
    private readonly backend: WebgpuBackend,
    private readonly scratch: Scratch,
  ) {}

  of(uses: readonly LookupGradient[], rows: number): Groups {
    const keys = [rows, ...uses.flatMap(({ bags, options }) => [bags.values.dataId, options.outOfRange])];
    const same = this.#known.find(({ keys: known }) => {
      return known.length === keys.length && known.every((key, i) => key === keys[i]);
    });
    if (same !== undefined) return same.groups;
    const ids = uses.map(({ bags, options }) => ({ values: bags.values, options }));
    const groups = groupsOf(this.backend, this.scratch, ids, rows);
    this.#known.push({ keys, groups });
    return groups;
  }
}

function step(updates: readonly TableUpdate[]): void {
  const backend = ready();
  tf.tidy(() => {
    withScratch(backend, (scratch) => {
      const shared = new SharedGroups(backend, scratch);
      // All ids are checked before anything is written.
      const steps = updates.map((update) => {
        const uses = usesOf(update);
        return { update, uses, groups: shared.of(uses, update.table.rows) };
      });
      for (const { update, uses, groups } of steps) {
        const { optimizer, table, slots, hyper } = update;
        for (const each of [table.variable, ...slots]) own(backend, each);
        stepTable(backend, scratch, { optimizer, table, slots, uses, groups, hyper });
      }
    });
  });
}

/** The backend in use, once it is known to be usable. */
function ready(): WebgpuBackend {
  const backend = webgpuBackend();
  checkBackend(backend, tf.version_core);
  return backend;
}

const INFO: KernelInfo = { implementation: 'webgpu', instructionSet: 'WGSL', threads: 1 };

export const webgpuTables: Backend = {
  lookUp(lookups) {
    ready();
    return lookups.map(lookUpByKernel);
  },
  step,
  gradient: KERNEL_GRADIENTS,
  store: gpuStore,
  ops: null,
  info: () => INFO,
};
