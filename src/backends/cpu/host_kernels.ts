/** The kernels that tfjs's engine runs where tables lie on the host: the implementation in force, on arrays. */
import type * as tf from '@tensorflow/tfjs';
import type { UpdateName } from '../../rules/rules.js';
import { kernelTable, slotsAmong, type RowAttributes } from '../bag_tensors.js';
import { codecOf } from '../../codecs/codecs.js';
import { type BagOptions, floatTable, type HostTable, newFloats } from '../kernel_set.js';
import { kernelSet } from '../registry.js';
import { bagsIn, type HostMemory } from './host_memory.js';

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
  } & RowAttributes;
}

const NONE = new Float32Array(0);

type Size = Omit<HostTable, 'data'>;

function sizeOf({ inputs, attrs }: Call): Size {
  const [rows, columns] = inputs['table']!.shape as [number, number];
  return { codec: codecOf(attrs.storage), rows, dim: attrs.dim ?? columns };
}

/** By kernel name. */
export function hostKernels(memory: HostMemory): Readonly<Record<string, tf.KernelFunc>> {
  /** Read it last: its view lasts until the next allocation in a WebAssembly memory. */
  const tableOf = ({ inputs }: Call, { codec, rows, dim }: Size): HostTable => {
    const table = inputs['table']!;
    return { codec, data: memory.owned(table).read(table, kernelSet()), rows, dim };
  };

  function embeddingBag(call: Call): tf.TensorInfo[] {
    const size = sizeOf(call);
    const bags = bagsIn(memory, call.inputs, size.rows);
    const shape = [bags.rowSplits.length - 1, size.dim];
    const pooled = newFloats('table', 'pooled rows', shape);
    kernelSet().lookUp([{ table: tableOf(call, size), bags, options: call.attrs, pooled }]);
    return [memory.make(shape, 'float32', pooled)];
  }

  function embeddingBagGrad(call: Call): tf.TensorInfo[] {
    const { attrs, inputs } = call;
    const dim = inputs['gradient']!.shape[1]!;
    const bags = bagsIn(memory, inputs, attrs.rows!);
    const gradient = memory.floats(inputs['gradient']!, 'gradient');
    const read = inputs['table'];
    const data = read === undefined ? NONE : (memory.owned(read).read(read, kernelSet()) as Float32Array);
    const table = floatTable(data, attrs.rows!, dim);
    const { uniqueIds, rowGradients } = kernelSet().rowGradients(gradient, bags, table, attrs);
    return [
      memory.make([uniqueIds.length], 'int32', uniqueIds),
      memory.make([uniqueIds.length, dim], 'float32', rowGradients),
    ];
  }

  function embeddingBagWeightsGrad(call: Call): tf.TensorInfo[] {
    const size = sizeOf(call);
    const bags = bagsIn(memory, call.inputs, size.rows);
    const gradient = memory.floats(call.inputs['gradient']!, 'gradient');
    const out = newFloats('values', 'gradients of weights', [bags.values.length]);
    kernelSet().weightsGradient(tableOf(call, size), gradient, bags, call.attrs, out);
    return [memory.make([bags.values.length], 'float32', out)];
  }

  function sparseApply(optimizer: UpdateName, call: Call): [] {
    const { attrs, inputs } = call;
    const owned = memory.owned(inputs['table']);
    const size = sizeOf(call);
    const bags = bagsIn(memory, inputs, size.rows);
    const gradient = memory.floats(inputs['gradient']!, 'gradient');
    const table = { ...size, data: owned.write(inputs['table']!) };
    const slots = slotsAmong(optimizer, inputs).map((slot) => owned.write(slot) as Float32Array);
    const hyper = Float32Array.from(attrs.hyper!);
    kernelSet().step(optimizer, [{ table, slots, gradient, bags, options: attrs, hyper, useStarts: null }]);
    return [];
  }

  return kernelTable<Call>({ embeddingBag, embeddingBagGrad, embeddingBagWeightsGrad, sparseApply });
}
