/**
 * Tells which tensors each TensorFlow op of tfjs-node is about to take, in any call. Outputs of many ops share the
 * buffer of an input, and tfjs-node counts no references to buffers.
 */
import type * as tf from '@tensorflow/tfjs';
import { asOwn } from './engine/own_functions.js';

type Inputs = readonly { readonly dataId?: object }[];

/** The part of tfjs-node's backend that is wrapped; `Attributes` are those of an op. */
export interface OpBackend<Attributes = unknown> {
  getInputTensorIds(tensors: Inputs): number[];
  executeSingleOutput(name: string, attributes: Attributes, inputs: readonly tf.TensorInfo[]): tf.Tensor;
  executeMultipleOutputs(
    name: string,
    attributes: Attributes,
    inputs: readonly tf.TensorInfo[],
    outputs: number,
  ): tf.Tensor[];
}

/**
 * Calls `listener` with the name of an op, null for those that do not run by name, and the data ids of its inputs.
 * Call it once per backend.
 */
export function beforeOps<Attributes>(
  backend: OpBackend<Attributes>,
  listener: (op: string | null, dataIds: readonly object[]) => void,
): void {
  const { executeSingleOutput, executeMultipleOutputs, getInputTensorIds } = backend;
  let running: string | null = null;
  const during = <T>(op: string, run: () => T): T => {
    const outer = running;
    running = op;
    try {
      return run();
    } finally {
      running = outer;
    }
  };
  backend.executeSingleOutput = asOwn((name, attributes, inputs) =>
    during(name, () => executeSingleOutput.call(backend, name, attributes, inputs)),
  );
  backend.executeMultipleOutputs = asOwn((name, attributes, inputs, outputs) =>
    during(name, () => executeMultipleOutputs.call(backend, name, attributes, inputs, outputs)),
  );
  backend.getInputTensorIds = asOwn((tensors) => {
    // A 64-bit scalar has no data id.
    const dataIds: object[] = [];
    for (const { dataId } of tensors) if (dataId !== undefined) dataIds.push(dataId);
    listener(running, dataIds);
    return getInputTensorIds.call(backend, tensors);
  });
}
