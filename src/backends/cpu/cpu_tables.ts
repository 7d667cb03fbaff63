/** What the backend `cpu` does for tables: the implementation in force runs on the arrays that tensors hold. */
import * as tf from '@tensorflow/tfjs';
import { type BagTensors, kernelTable, slotsAmong } from '../bag_tensors.js';
import type { Backend, LookedUp, Lookup, Tables, TableUpdate } from '../contract.js';
import { joinedUpdates, type JoinedUpdate, KERNEL_GRADIENTS, lookUpsBy, stepByKernel } from '../kernel_calls.js';
import {
  type HostBags,
  type HostLookup,
  type HostStep,
  newFloats,
  type BagOptions,
  type HostTable,
  type PackedForm,
  type PackedTable,
} from '../kernel_set.js';
import { rowsIn } from '../ranking.js';
import { kernelSet } from '../registry.js';
import { SharedIds, unitedGradient, unitedIds } from '../united_uses.js';
import { filledSlot, widthOf } from '../written_table.js';
import { floatsOf, intsOf, type CpuBackend, OwnedTables, asWords } from './owned_tables.js';
import type { UpdateName } from '../../rules/rules.js';

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly backend: CpuBackend;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
    readonly optimizer?: UpdateName;
  } & Partial<PackedForm>;
}

const NONE = new Float32Array(0);

function hostBags(
  backend: CpuBackend,
  { values, rowSplits, weights = null }: { [name in keyof BagTensors]?: tf.TensorInfo | null | undefined },
): HostBags {
  return {
    values: intsOf(backend, values!.dataId, 'values'),
    rowSplits: intsOf(backend, rowSplits!.dataId, 'rowSplits'),
    weights: weights === null ? null : floatsOf(backend, weights.dataId, 'weights'),
  };
}

function bagsOf({ backend, inputs }: Call): HostBags {
  return hostBags(backend, inputs);
}

function floats({ backend, inputs }: Call, name: string): Float32Array {
  return floatsOf(backend, inputs[name]!.dataId, name);
}

/** The table for reading. Read it last: its view lasts until the next allocation in a WebAssembly memory. */
function tableOf({ backend, inputs }: Call): HostTable {
  const { dataId, shape } = inputs['table']!;
  return { data: OwnedTables.of(backend).read(dataId, kernelSet()), rows: shape[0]!, dim: shape[1]! };
}

function lookUp(call: Call, tableOfCall: (call: Call) => HostTable | PackedTable): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const table = tableOfCall(call);
  const shape = [bags.rowSplits.length - 1, table.dim];
  const pooled = newFloats('table', 'pooled rows', shape);
  kernelSet().lookUp([{ table, bags, options: call.attrs, pooled }]);
  return [call.backend.makeTensorInfo(shape, 'float32', pooled)];
}

function embeddingBagGrad(call: Call): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const dim = inputs['gradient']!.shape[1]!;
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const table = inputs['table'] === undefined ? { data: NONE, rows: attrs.rows!, dim } : tableOf(call);
  const { uniqueIds, rowGradients } = kernelSet().rowGradients(gradient, bags, table, attrs);
  return [
    backend.makeTensorInfo([uniqueIds.length], 'int32', uniqueIds),
    backend.makeTensorInfo([uniqueIds.length, dim], 'float32', rowGradients),
  ];
}

function weightsGradient(call: Call, tableOfCall: (call: Call) => HostTable | PackedTable): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const out = newFloats('values', 'gradients of weights', [bags.values.length]);
  kernelSet().weightsGradient(tableOfCall(call), gradient, bags, call.attrs, out);
  return [call.backend.makeTensorInfo([bags.values.length], 'float32', out)];
}

/** The words of a packed table for reading. Read them last, as those of other tables. */
function packedTableOf({ backend, inputs, attrs }: Call): PackedTable {
  const { dataId, shape } = inputs['table']!;
  const [storage, dim] = [attrs.storage!, attrs.dim!];
  return { words: OwnedTables.of(backend).readWords(dataId, kernelSet()), storage, rows: shape[0]!, dim };
}

/** A step in place; `asTable`: how the values that are written are read. */
function step(
  optimizer: UpdateName,
  call: Call,
  asTable: (values: Float32Array, size: { rows: number; dim: number }) => HostTable | PackedTable,
): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const owned = OwnedTables.of(backend);
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const { dataId, shape } = inputs['table']!;
  const table = asTable(owned.write(dataId), { rows: shape[0]!, dim: attrs.dim ?? shape[1]! });
  const slots = slotsAmong(optimizer, inputs).map((slot) => owned.write(slot.dataId));
  const hyper = Float32Array.from(attrs.hyper!);
  kernelSet().step(optimizer, [{ table, slots, gradient, bags, options: attrs, hyper, useStarts: null }]);
  return [];
}

/** By kernel name. */
export const KERNEL_FUNCTIONS = kernelTable<Call>({
  embeddingBag: (call) => lookUp(call, tableOf),
  embeddingBagGrad,
  embeddingBagWeightsGrad: (call) => weightsGradient(call, tableOf),
  packedBag: (call) => lookUp(call, packedTableOf),
  packedBagWeightsGrad: (call) => weightsGradient(call, packedTableOf),
  packedApply: (call) => {
    const { optimizer, storage } = call.attrs;
    return step(optimizer!, call, (values, size) => ({ words: asWords(values), storage: storage!, ...size }));
  },
  sparseApply: (optimizer, call) => step(optimizer, call, (data, size) => ({ data, ...size })),
});

const cpu = (): CpuBackend => tf.backend() as CpuBackend;
const owned = (): OwnedTables => OwnedTables.of(cpu());

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

/** Gives a table and its slots values with no other holders. */
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
  view(table) {
    const { dataId, dtype } = table;
    const values = dtype === 'int32' ? owned().readWords(dataId, kernelSet()) : owned().read(dataId, kernelSet());
    return { rows: rowsIn(table, values), kernels: null };
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
  ahead: null,
  gradient: KERNEL_GRADIENTS,
  tables: TABLES,
  ops: null,
  info: () => kernelSet().info(),
};
