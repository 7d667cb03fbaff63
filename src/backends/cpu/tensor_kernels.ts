/** The tfjs kernels of the `cpu` backend: the implementation in force, on the arrays that tensors hold. */
import type * as tf from '@tensorflow/tfjs';
import type { OptimizerName } from '../../rules/rules.js';
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';
import { kernelTable } from '../kernel_table.js';
import { newFloats } from '../memory.js';
import type { PackedForm, PackedTable } from '../packed/packed_table.js';
import { kernelSet } from '../registry.js';
import { floatsOf, intsOf, type CpuBackend } from './cpu_backend.js';
import { OwnedTables } from './owned_tables.js';
import { asWords } from './words.js';

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly backend: CpuBackend;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
    readonly optimizer?: OptimizerName;
  } & Partial<PackedForm>;
}

const NONE = new Float32Array(0);

function bagsOf({ backend, inputs }: Call): HostBags {
  const { values, rowSplits, weights } = inputs;
  return {
    values: intsOf(backend, values!.dataId, 'values'),
    rowSplits: intsOf(backend, rowSplits!.dataId, 'rowSplits'),
    weights: weights === undefined ? null : floatsOf(backend, weights.dataId, 'weights'),
  };
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
  optimizer: OptimizerName,
  call: Call,
  asTable: (values: Float32Array, size: { rows: number; dim: number }) => HostTable | PackedTable,
): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const owned = OwnedTables.of(backend);
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const { dataId, shape } = inputs['table']!;
  const given = [inputs['slot0'], inputs['slot1']].filter((slot) => slot !== undefined);
  const table = asTable(owned.write(dataId), { rows: shape[0]!, dim: attrs.dim ?? shape[1]! });
  const slots = given.map((slot) => owned.write(slot.dataId));
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
