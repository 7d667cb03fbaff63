/** Lookups of many tables as one WebAssembly call, and steps of many tables as one. */
import * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../../rules/rules.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import type { HostBags } from '../kernel_set.js';
import type { LookedUp, Lookup, LookupGradient } from '../lookup.js';
import type { JoinedUpdate } from '../registry.js';
import { SharedIds, unitedGradient, unitedIds, type UnitedIds } from '../united_uses.js';
import { applyMany, embeddingBags, type LookupAt, type StepAt } from './joint_calls.js';
import type { BagsAt } from './kernels.js';
import { checkLength } from './sizes.js';
import { own } from './sparse_apply.js';
import { Staging, type Argument } from './staging.js';
import { bagsOf, filled, forgetPacked, gradientAt, hostOf, slotsAt, tableOf, type Output } from './tensor_kernels.js';
import type { WasmBackend } from './tfjs_heap.js';

function wasm(): WasmBackend {
  return tf.backend() as WasmBackend;
}

function idsAt(backend: WasmBackend, { values, rowSplits, weights }: Lookup['bags']): BagsAt {
  return bagsOf(backend, { values, rowSplits, weights: weights ?? undefined });
}

/** The pooled rows of each lookup. */
export function lookUpMany(lookups: readonly Lookup[]): LookedUp[] {
  const backend = wasm();
  const placed = lookups.map(({ table, bags, options }) => {
    return { table: tableOf(backend, table), bags: idsAt(backend, bags), options };
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
type Entry = Pick<LookupGradient, 'gradient' | 'bags'>;

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

/** Reading what is being written would mix old and new rows. */
function apart(written: ReadonlySet<tf.DataId>, { gradient, bags }: Entry): Entry {
  const copied = <T extends tf.Tensor>(tensor: T): T => (written.has(tensor.dataId) ? tf.clone(tensor) : tensor);
  return {
    gradient: copied(gradient),
    bags: { ...bags, weights: bags.weights === null ? null : copied(bags.weights) },
  };
}

/** Steps tables and slots in place. Call inside a tidy. */
export function stepMany(optimizer: OptimizerName, updates: readonly JoinedUpdate[]): void {
  const backend = wasm();
  const { heap, kernels } = hostOf(backend);
  const variables = updates.flatMap(({ table, slots }) => [table, ...slots]);
  for (const variable of variables) own(backend, variable);
  const written = new Set(variables.map(({ dataId }) => dataId));
  const uses = new Uses();
  const found = updates.map(({ table, slots, entries, options, hyper }) => {
    checkLength('hyper', hyper.length, HYPER_FIELDS.length);
    const tableAt = tableOf(backend, table);
    const inputs = Object.fromEntries(slots.map((slot, i) => [`slot${i}`, slot]));
    const ofTable: StepOfTable = {
      table: tableAt,
      slots: slotsAt(backend, optimizer, inputs, tableAt),
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
    applyMany(kernels, optimizer, steps);
  });
  for (const variable of variables) forgetPacked(backend, variable);
}
