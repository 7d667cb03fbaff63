/** What the backend `wasm` does for tables: the C core runs on the tensors of tfjs where they lie. */
import * as tf from '@tensorflow/tfjs';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import { rowAttributes } from '../bag_tensors.js';
import type { Backend, LookedUp, Lookup } from '../contract.js';
import { joinedUpdates, type JoinedUpdate, KERNEL_GRADIENTS, dispatchLookups, stepByKernel } from '../kernel_calls.js';
import type { HostBags } from '../kernel_set.js';
import { tableOf } from '../table.js';
import { SharedIds, unitedGradient, unitedIds, type UnitedIds } from '../united_uses.js';
import { memoryStore } from '../stores/memory_store.js';
import { widthOf } from '../stores/table_rows.js';
import { applyMany, embeddingBags, type LookupAt, type StepAt } from './joint_calls.js';
import type { BagsAt } from './kernels.js';
import { checkLength } from './sizes.js';
import { rowsIn } from '../ranking.js';
import { rankingKernels } from './ranking_calls.js';
import { Staging, type Argument } from './staging.js';
import {
  bagsOf,
  filled,
  forgetPacked,
  gradientAt,
  hostOf,
  slotsAt,
  tableAt,
  tensorKernelInfo,
  type Output,
} from './tensor_kernels.js';
import type { WasmBackend } from './tfjs_heap.js';

const wasm = (): WasmBackend => tf.backend() as WasmBackend;

function idsAt(backend: WasmBackend, { values, rowSplits, weights }: Lookup['bags']): BagsAt {
  return bagsOf(backend, { values, rowSplits, weights: weights ?? undefined });
}

/** The pooled rows of lookups, in one call. */
function lookUpTogether(lookups: readonly Lookup[]): LookedUp[] {
  const backend = wasm();
  const placed = lookups.map(({ table, bags, options }) => {
    return { table: tableAt(backend, table.tensor, rowAttributes(table)), bags: idsAt(backend, bags), options };
  });
  const outputs = placed.map(({ table, bags }): Output => {
    return { argument: 'table', what: 'pooled rows', shape: [bags.batch, table.dim], dtype: 'float32' };
  });
  const { kernels } = hostOf(backend);
  const made = filled(backend, outputs, (...addresses) => {
    const calls = placed.map((each, i): LookupAt => ({ ...each, pooled: addresses[i]! }));
    embeddingBags(kernels, calls);
  });
  return made.map((info) => {
    return { pooled: tf.engine().makeTensorFromTensorInfo(info, backend) as tf.Tensor2D, handle: null };
  });
}

/** Where a step lies, without the places of what is read. */
type StepOfTable = Pick<StepAt, 'table' | 'slots' | 'options' | 'hyper'>;
type Entry = JoinedUpdate['entries'][number];

/** Ids of the uses of a table side by side: arrays outside the memory, which go there for the call. */
function idsOf(entries: readonly Entry[], shared: SharedIds): UnitedIds {
  const keys = entries.flatMap(({ bags }) => [bags.values.dataId, bags.rowSplits.dataId, bags.weights?.dataId]);
  return shared.of(keys, () => {
    const uses = entries.map(({ bags: { values, rowSplits, weights } }): HostBags => {
      return {
        values: values.dataSync<'int32'>(),
        rowSplits: rowSplits.dataSync<'int32'>(),
        weights: weights?.dataSync<'float32'>() ?? null,
      };
    });
    return unitedIds(uses);
  });
}

const NONE = new Float32Array(0);

/** Runs with the united uses of many tables in the memory. */
class Uses {
  private readonly args: Argument[] = [];
  private readonly shared = new SharedIds();
  private readonly united: { first: number; sizes: Pick<BagsAt, 'nnz' | 'batch'>; weighted: boolean; more: number }[] =
    [];

  /** Returns its number. */
  add(entries: readonly Entry[]): number {
    const { values, rowSplits, weights, useStarts } = idsOf(entries, this.shared);
    const gradient = unitedGradient(entries.map((entry) => entry.gradient.dataSync<'float32'>()));
    const sizes = { nnz: values.length, batch: rowSplits.length - 1 };
    const arrays = [values, rowSplits, weights ?? NONE, gradient, useStarts!];
    const more = useStarts!.length;
    this.united.push({ first: this.args.length, sizes, weighted: weights !== null, more });
    this.args.push(...arrays.map((array): Argument => ({ array, direction: 'in' })));
    return this.united.length - 1;
  }

  /** `read` tells where a use of a number lies. */
  run(
    heap: ConstructorParameters<typeof Staging>[0],
    then: (read: (use: number) => Omit<StepAt, keyof StepOfTable>) => void,
  ): void {
    const staging = new Staging(heap, this.args);
    try {
      then((use) => {
        const { first, sizes, weighted, more } = this.united[use]!;
        const [values, rowSplits, weights, gradient, useStarts] = staging.addresses.slice(first, first + 5) as [
          number,
          number,
          number,
          number,
          number,
        ];
        const bags = { values, rowSplits, weights: weighted ? weights : 0, ...sizes };
        return { bags, gradient, useStarts, moreUses: more };
      });
    } finally {
      staging.release();
    }
  }
}

/**
 * Gives the variable memory with no other holders. Every tensor that shares memory on this backend shares the data id
 * too (tfjs copies typed arrays in and out, and all kernels but Reshape write new memory), so the reference count tells.
 */
function own(backend: WasmBackend, variable: tf.Variable): void {
  // `get` brings the data here when another backend has it.
  const { memoryOffset } = backend.dataIdMap.get(variable.dataId);
  if (backend.refCount(variable.dataId) === 1) return;
  const info = backend.makeOutput(variable.shape, variable.dtype);
  const copy = tf.engine().makeTensorFromTensorInfo(info, backend);
  const target = backend.dataIdMap.get(info.dataId).memoryOffset;
  backend.wasm.HEAPU8.copyWithin(target, memoryOffset, memoryOffset + 4 * variable.size);
  variable.assign(copy);
  copy.dispose();
}

/** Reading what is being written would mix old and new rows. */
function apart(written: ReadonlySet<tf.DataId>, { gradient, bags }: Entry): Entry {
  const copied = <T extends tf.Tensor>(tensor: T): T => (written.has(tensor.dataId) ? tf.clone(tensor) : tensor);
  return { gradient: copied(gradient), bags: { ...bags, weights: bags.weights && copied(bags.weights) } };
}

/** Steps tables of one optimizer in place. */
function stepGroup(updates: readonly JoinedUpdate[]): void {
  const backend = wasm();
  const variables = updates.flatMap(({ table, slots }) => [table.variable, ...slots]);
  for (const variable of variables) own(backend, variable);
  const written = new Set(variables.map(({ dataId }) => dataId));
  const [only] = updates;
  if (updates.length > 1 || only!.entries.length > 1) stepTogether(backend, updates, written);
  else stepByKernel({ ...only!, entries: [apart(written, only!.entries[0]!)] });
}

/** Steps tables in one call. */
function stepTogether(backend: WasmBackend, updates: readonly JoinedUpdate[], written: ReadonlySet<tf.DataId>): void {
  const { heap, kernels } = hostOf(backend);
  const uses = new Uses();
  const found = updates.map(({ optimizer, table, slots, entries, options, hyper }) => {
    checkLength('hyper', hyper.length, HYPER_FIELDS.length);
    const at = tableAt(backend, table.tensor, rowAttributes(table));
    const inputs = Object.fromEntries(slots.map((slot, i) => [`slot${i}`, slot]));
    const ofTable: StepOfTable = {
      table: at,
      slots: slotsAt(backend, optimizer, inputs, at),
      options,
      hyper,
    };
    const single = entries.length === 1 ? apart(written, entries[0]!) : null;
    if (single === null) return { ofTable, single, use: uses.add(entries) };
    return { ofTable, single, use: null };
  });
  uses.run(heap, (read) => {
    const steps = found.map(({ ofTable, single, use }): StepAt => {
      if (use !== null) return { ...ofTable, ...read(use) };
      const bags = idsAt(backend, single!.bags);
      const gradient = gradientAt(backend, single!.gradient, bags, ofTable.table.dim);
      return { ...ofTable, bags, gradient, useStarts: 0, moreUses: 0 };
    });
    applyMany(kernels, updates[0]!.optimizer, steps);
  });
  for (const { table, slots } of updates) for (const each of [table.variable, ...slots]) forgetPacked(backend, each);
}

/** A view of rows of a table, from the first that is asked for to the end; good until the memory grows. */
function rowsFrom({ dataId, shape, size }: tf.Tensor, firstRow: number): Float32Array {
  const backend = wasm();
  const { memoryOffset } = backend.dataIdMap.get(dataId);
  const { buffer } = backend.wasm.HEAPU8;
  return new Float32Array(buffer, memoryOffset, size).subarray(firstRow * widthOf(shape));
}

const STORE = memoryStore({
  zeros(shape) {
    const backend = wasm();
    const bytes = shape.reduce((product, each) => product * each, Float32Array.BYTES_PER_ELEMENT);
    const request: Output = { argument: 'shape', what: 'values', shape: [...shape], dtype: 'float32' };
    const [info] = filled(backend, [request], (address) => void backend.wasm.HEAPU8.fill(0, address, address + bytes));
    return tf.engine().makeTensorFromTensorInfo(info!, backend);
  },
  isWritable(table) {
    const backend = wasm();
    // Brings the data here where another backend has it.
    backend.dataIdMap.get(table.dataId);
    return table.dtype === 'float32' && backend.refCount(table.dataId) === 1;
  },
  write: (table, firstRow, values) => rowsFrom(table, firstRow).set(values),
  place: () => undefined,
  read(table, firstRow, into) {
    into.set(rowsFrom(table, firstRow).subarray(0, into.length));
    return true;
  },
  view(table) {
    const backend = wasm();
    const kernels = rankingKernels(hostOf(backend).kernels);
    // Making the instance may have grown the memory.
    const data = rowsFrom(table, 0);
    return { rows: rowsIn(tableOf(table), data), kernels };
  },
});

export const wasmTables: Backend = {
  lookUp: (lookups) => dispatchLookups(lookUpTogether, lookups),
  step: (updates) => {
    tf.tidy(() => joinedUpdates(updates, KERNEL_GRADIENTS).forEach(stepGroup));
  },
  gradient: KERNEL_GRADIENTS,
  store: STORE,
  ops: null,
  info: () => tensorKernelInfo(),
};
