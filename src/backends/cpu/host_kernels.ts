/** The kernels that tfjs's engine runs where tables lie on the host: the implementation in force, on arrays. */
import type * as tf from '@tensorflow/tfjs';
import type { UpdateName } from '../../rules/rules.js';
import { kernelTable, slotsAmong } from '../bag_tensors.js';
import { type BagOptions, type HostTable, newFloats, type PackedForm, type PackedTable } from '../kernel_set.js';
import { kernelSet } from '../registry.js';
import { bagsIn, type HostMemory } from './host_memory.js';
import { asWords } from './owned_tables.js';

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
    readonly optimizer?: UpdateName;
  } & Partial<PackedForm>;
}

type TableOf = (call: Call) => HostTable | PackedTable;

const NONE = new Float32Array(0);

function sizeOf({ inputs, attrs }: Call): { rows: number; dim: number } {
  const [rows, columns] = inputs['table']!.shape as [number, number];
  return { rows, dim: attrs.dim ?? columns };
}

/** By kernel name. */
export function hostKernels(memory: HostMemory): Readonly<Record<string, tf.KernelFunc>> {
  /** Read it last: its view lasts until the next allocation in a WebAssembly memory. */
  const tableOf = (call: Call): HostTable => {
    const table = call.inputs['table']!;
    return { data: memory.owned(table).read(table.dataId, kernelSet()), ...sizeOf(call) };
  };

  const packedTableOf = (call: Call): PackedTable => {
    const table = call.inputs['table']!;
    const words = memory.owned(table).readWords(table.dataId, kernelSet());
    return { words, storage: call.attrs.storage!, ...sizeOf(call) };
  };

  function lookUp(call: Call, read: TableOf): tf.TensorInfo[] {
    const { rows, dim } = sizeOf(call);
    const bags = bagsIn(memory, call.inputs, rows);
    const shape = [bags.rowSplits.length - 1, dim];
    const pooled = newFloats('table', 'pooled rows', shape);
    kernelSet().lookUp([{ table: read(call), bags, options: call.attrs, pooled }]);
    return [memory.make(shape, 'float32', pooled)];
  }

  function embeddingBagGrad(call: Call): tf.TensorInfo[] {
    const { attrs, inputs } = call;
    const dim = inputs['gradient']!.shape[1]!;
    const bags = bagsIn(memory, inputs, attrs.rows!);
    const gradient = memory.floats(inputs['gradient']!, 'gradient');
    const table = inputs['table'] === undefined ? { data: NONE, rows: attrs.rows!, dim } : tableOf(call);
    const { uniqueIds, rowGradients } = kernelSet().rowGradients(gradient, bags, table, attrs);
    return [
      memory.make([uniqueIds.length], 'int32', uniqueIds),
      memory.make([uniqueIds.length, dim], 'float32', rowGradients),
    ];
  }

  function weightsGradient(call: Call, read: TableOf): tf.TensorInfo[] {
    const bags = bagsIn(memory, call.inputs, sizeOf(call).rows);
    const gradient = memory.floats(call.inputs['gradient']!, 'gradient');
    const out = newFloats('values', 'gradients of weights', [bags.values.length]);
    kernelSet().weightsGradient(read(call), gradient, bags, call.attrs, out);
    return [memory.make([bags.values.length], 'float32', out)];
  }

  /** A step in place; `asTable`: how the values that are written are read. */
  function step(optimizer: UpdateName, call: Call, asTable: (values: Float32Array) => HostTable | PackedTable): [] {
    const { attrs, inputs } = call;
    const owned = memory.owned(inputs['table']);
    const bags = bagsIn(memory, inputs, sizeOf(call).rows);
    const gradient = memory.floats(inputs['gradient']!, 'gradient');
    const table = asTable(owned.write(inputs['table']!.dataId));
    const slots = slotsAmong(optimizer, inputs).map((slot) => owned.write(slot.dataId));
    const hyper = Float32Array.from(attrs.hyper!);
    kernelSet().step(optimizer, [{ table, slots, gradient, bags, options: attrs, hyper, useStarts: null }]);
    return [];
  }

  return kernelTable<Call>({
    embeddingBag: (call) => lookUp(call, tableOf),
    embeddingBagGrad,
    embeddingBagWeightsGrad: (call) => weightsGradient(call, tableOf),
    packedBag: (call) => lookUp(call, packedTableOf),
    packedBagWeightsGrad: (call) => weightsGradient(call, packedTableOf),
    packedApply: (call) => {
      const { optimizer, storage } = call.attrs;
      const asTable = (values: Float32Array) => ({ words: asWords(values), storage: storage!, ...sizeOf(call) });
      return step(optimizer!, call, asTable);
    },
    sparseApply: (optimizer, call) => step(optimizer, call, (data) => ({ data, ...sizeOf(call) })),
  });
}
