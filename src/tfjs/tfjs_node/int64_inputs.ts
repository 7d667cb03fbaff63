/** Inputs of 64 bits in tfjs-node's runs of SavedModels. */
import { asOwn } from '../engine/own_functions.js';
import type * as tf from '@tensorflow/tfjs';

/** The part of tfjs-node's backend that is wrapped. */
interface SavedModelBackend {
  readonly binding: {
    readonly TF_INT64: number;
    createTensor(shape: readonly number[], dtype: number, data: Int32Array): number;
    deleteTensor(id: number): void;
  };
  getMappedInputTensorIds(
    inputs: readonly tf.Tensor[],
    infos: readonly ({ readonly tfDtype?: string } | null)[],
  ): { readonly tensorIds: number[] };
}

const wrapped = new WeakSet<object>();

/** Pairs of words, the lower one first, as TensorFlow has them on the machines that tfjs-node runs on. */
function int64Words(values: ArrayLike<number>): Int32Array {
  const words = new Int32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    words[2 * i] = values[i]!;
    words[2 * i + 1] = values[i]! < 0 ? -1 : 0;
  }
  return words;
}

/** Lets negative numbers reach inputs of 64 bits; tfjs-node leaves out their upper words, which makes 2^32 - 1 of -1. */
export function keepSignsOfInt64(backend: tf.KernelBackend): void {
  if (wrapped.has(backend)) return;
  wrapped.add(backend);
  const node = backend as unknown as SavedModelBackend;
  const { getMappedInputTensorIds, binding } = node;
  node.getMappedInputTensorIds = asOwn((inputs, infos) => {
    const mapped = getMappedInputTensorIds.call(node, inputs, infos);
    inputs.forEach((input, i) => {
      if (infos[i]?.tfDtype !== 'DT_INT64') return;
      binding.deleteTensor(mapped.tensorIds[i]!);
      mapped.tensorIds[i] = binding.createTensor(input.shape, binding.TF_INT64, int64Words(input.dataSync()));
    });
    return mapped;
  });
}
