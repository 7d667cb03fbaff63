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

function embeddingBag(call: Call): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const table = tableOf(call);
  const batch = bags.rowSplits.length - 1;
  const pooled = newFloats('table', 'pooled rows', [batch, table.dim]);
  kernelSet().embeddingBag(table, bags, call.attrs, pooled);
  return [call.backend.makeTensorInfo([batch, table.dim], 'float32', pooled)];
}

function embeddingBagGrad(call: Call): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const dim = inputs['gradient']!.shape[1]!;
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const table = inputs['table'] === undefined ? { data: NONE, rows: attrs.rows!, dim } : tableOf(call);
  const { uniqueIds, rowGradients } = kernelSet().embeddingBagGrad(gradient, bags, table, attrs);
  return [
    backend.makeTensorInfo([uniqueIds.length], 'int32', uniqueIds),
    backend.makeTensorInfo([uniqueIds.length, dim], 'float32', rowGradients),
  ];
}

function embeddingBagWeightsGrad(call: Call): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const out = newFloats('values', 'gradients of weights', [bags.values.length]);
  kernelSet().embeddingBagWeightsGrad(tableOf(call), gradient, bags, call.attrs, out);
  return [call.backend.makeTensorInfo([bags.values.length], 'float32', out)];
}

/** The words of a packed table for reading. Read them last, as those of other tables. */
function packedTableOf({ backend, inputs, attrs }: Call): PackedTable {
  const { dataId, shape } = inputs['table']!;
  const [storage, dim] = [attrs.storage!, attrs.dim!];
  return { words: OwnedTables.of(backend).readWords(dataId, kernelSet()), storage, rows: shape[0]!, dim };
}

function packedBag(call: Call): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const table = packedTableOf(call);
  const batch = bags.rowSplits.length - 1;
  const pooled = newFloats('table', 'pooled rows', [batch, table.dim]);
  kernelSet().packedBag(table, bags, call.attrs, pooled);
  return [call.backend.makeTensorInfo([batch, table.dim], 'float32', pooled)];
}

function packedBagWeightsGrad(call: Call): tf.TensorInfo[] {
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const out = newFloats('values', 'gradients of weights', [bags.values.length]);
  kernelSet().packedBagWeightsGrad(packedTableOf(call), gradient, bags, call.attrs, out);
  return [call.backend.makeTensorInfo([bags.values.length], 'float32', out)];
}

/** A step of rows of float16. */
function packedApply(call: Call): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const ownedTables = OwnedTables.of(backend);
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const { dataId, shape } = inputs['table']!;
  const slots = [inputs['slot0'], inputs['slot1']].filter((slot) => slot !== undefined);
  const words = asWords(ownedTables.write(dataId));
  const slotValues = slots.map((slot) => ownedTables.write(slot.dataId));
  const table: PackedTable = { words, storage: attrs.storage!, rows: shape[0]!, dim: attrs.dim! };
  const hyper = Float32Array.from(attrs.hyper!);
  kernelSet().packedApply(attrs.optimizer!, table, slotValues, gradient, bags, attrs, hyper);
  return [];
}

function sparseApply(optimizer: OptimizerName, call: Call): tf.TensorInfo[] {
  const { attrs, backend, inputs } = call;
  const ownedTables = OwnedTables.of(backend);
  const bags = bagsOf(call);
  const gradient = floats(call, 'gradient');
  const { dataId, shape } = inputs['table']!;
  const slots = [inputs['slot0'], inputs['slot1']].filter((slot) => slot !== undefined);
  const table = { data: ownedTables.write(dataId), rows: shape[0]!, dim: shape[1]! };
  const slotValues = slots.map((slot) => ownedTables.write(slot.dataId));
  kernelSet().sparseApply(optimizer, table, slotValues, gradient, bags, attrs, Float32Array.from(attrs.hyper!));
  return [];
}

/** By kernel name. */
export const KERNEL_FUNCTIONS = kernelTable<Call>({
  embeddingBag,
  embeddingBagGrad,
  embeddingBagWeightsGrad,
  packedBag,
  packedBagWeightsGrad,
  packedApply,
  sparseApply,
});
