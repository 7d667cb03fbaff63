/** The tfjs kernels of the backend in use, seen as functions of typed arrays: one set of specs fits all of them. */
import * as tf from '@tensorflow/tfjs';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  PACKED_BAG,
  PACKED_BAG_WEIGHTS_GRAD,
  type SparseApplyFunction,
} from '../../src/backends/bag_tensors.js';
import type { HostBags, HostTable, KernelSet } from '../../src/backends/kernel_set.js';
import { wordsPerRow, type PackedTable } from '../../src/backends/packed/packed_table.js';
import { backendPart } from '../../src/backends/registry.js';

function tableOf({ data, rows, dim }: HostTable): tf.Tensor2D {
  return tf.tensor2d(data.slice(), [rows, dim], 'float32');
}

function bagsOf({ values, rowSplits, weights }: HostBags) {
  return {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights: weights === null ? null : tf.tensor1d(weights, 'float32'),
  };
}

// Plain errors, as this also runs in pages, where there is no jasmine.
function checkShape(tensor: tf.Tensor, shape: readonly number[]): void {
  if (tensor.shape.join() !== shape.join()) throw new Error(`shape [${tensor.shape}] instead of [${shape}]`);
}

/** How kernels and steps are run. */
export interface TensorRunner {
  run(kernelName: string, inputs: tf.NamedTensorMap, attrs: object): unknown;
  readonly sparseApply: SparseApplyFunction;
}

/** The kernels that the backend in use has registered. */
const REGISTERED: TensorRunner = {
  run: (kernelName, inputs, attrs) => tf.engine().runKernel(kernelName, inputs, attrs as never),
  sparseApply: (...args) => backendPart().sparseApply(...args),
};

export type TensorKernelSet = Omit<KernelSet, 'name' | 'info' | 'setThreads' | 'partitionCsr'>;

/** A KernelSet that goes through tensors, variables and the registered kernels. */
export const tensorKernelSet: TensorKernelSet = tensorKernelSetOf(REGISTERED);

/** The same for other ways to run kernels. */
export function tensorKernelSetOf(runner: TensorRunner): TensorKernelSet {
  const run = <T>(kernelName: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T => {
    const present = Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null));
    return runner.run(kernelName, present as tf.NamedTensorMap, attrs) as T;
  };
  const packed = ({ words, rows, storage, dim }: PackedTable): tf.Tensor2D =>
    tf.tensor2d(words.slice(), [rows, wordsPerRow(storage, dim)], 'int32');
  return {
    packedBag(table, bags, options, pooled) {
      tf.tidy(() => {
        const attrs = { ...options, storage: table.storage, dim: table.dim };
        const out = run<tf.Tensor2D>(PACKED_BAG, { table: packed(table), ...bagsOf(bags) }, attrs);
        checkShape(out, [bags.rowSplits.length - 1, table.dim]);
        pooled.set(out.dataSync());
      });
    },

    packedBagWeightsGrad(table, gradient, bags, options, out) {
      tf.tidy(() => {
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const attrs = { ...options, storage: table.storage, dim: table.dim };
        const inputs = { table: packed(table), gradient: tf.tensor2d(gradient, shape, 'float32'), ...bagsOf(bags) };
        out.set(run<tf.Tensor1D>(PACKED_BAG_WEIGHTS_GRAD, inputs, attrs).dataSync());
      });
    },

    packedApply(optimizer, table, slots, gradient, bags, options, hyper) {
      const { rows, dim, storage } = table;
      const variable = tf.tidy(() => tf.variable(packed(table)));
      const shape = optimizer === 'rowWiseAdagrad' ? [rows] : [rows, dim];
      const slotVariables = slots.map((slot) => tf.tidy(() => tf.variable(tf.tensor(slot.slice(), shape, 'float32'))));
      try {
        tf.tidy(() => {
          const pooled = tf.tensor2d(gradient, [bags.rowSplits.length - 1, dim], 'float32');
          const { apply } = backendPart().packed!;
          apply(optimizer, variable, { storage, dim }, slotVariables, pooled, bagsOf(bags), options, hyper);
        });
        table.words.set(variable.dataSync() as Int32Array);
        slots.forEach((slot, i) => slot.set(slotVariables[i]!.dataSync() as Float32Array));
      } finally {
        tf.dispose([variable, ...slotVariables]);
      }
    },

    embeddingBag(table, bags, options, pooled) {
      tf.tidy(() => {
        const out = run<tf.Tensor2D>(EMBEDDING_BAG, { table: tableOf(table), ...bagsOf(bags) }, options);
        checkShape(out, [bags.rowSplits.length - 1, table.dim]);
        pooled.set(out.dataSync());
      });
    },

    embeddingBagGrad(gradient, bags, table, options) {
      const before = tf.memory().numTensors;
      const result = tf.tidy(() => {
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const inputs = {
          gradient: tf.tensor2d(gradient, shape, 'float32'),
          ...bagsOf(bags),
          table: options.maxNorm > 0 ? tableOf(table) : null,
        };
        const attrs = { ...options, rows: table.rows };
        const [ids, rows] = run<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, attrs);
        if (ids.dtype !== 'int32') throw new Error(`uniqueIds are ${ids.dtype}`);
        checkShape(rows, [ids.size, table.dim]);
        return {
          uniqueIds: ids.dataSync().slice() as Int32Array,
          rowGradients: rows.dataSync().slice() as Float32Array,
        };
      });
      if (tf.memory().numTensors !== before) throw new Error('the gradient kernel left tensors behind');
      return result;
    },

    embeddingBagWeightsGrad(table, gradient, bags, options, out) {
      tf.tidy(() => {
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const inputs = { table: tableOf(table), gradient: tf.tensor2d(gradient, shape, 'float32'), ...bagsOf(bags) };
        const result = run<tf.Tensor1D>(EMBEDDING_BAG_WEIGHTS_GRAD, inputs, options);
        checkShape(result, [bags.values.length]);
        out.set(result.dataSync());
      });
    },

    sparseApply(optimizer, table, slots, gradient, bags, options, hyper) {
      const { rows, dim } = table;
      const variable = tf.tidy(() => tf.variable(tableOf(table)));
      const shape = optimizer === 'rowWiseAdagrad' ? [rows] : [rows, dim];
      const slotVariables = slots.map((slot) => tf.tidy(() => tf.variable(tf.tensor(slot.slice(), shape, 'float32'))));
      try {
        tf.tidy(() => {
          const pooled = tf.tensor2d(gradient, [bags.rowSplits.length - 1, dim], 'float32');
          runner.sparseApply(optimizer, variable, slotVariables, pooled, bagsOf(bags), options, hyper);
        });
        table.data.set(variable.dataSync() as Float32Array);
        slots.forEach((slot, i) => slot.set(slotVariables[i]!.dataSync() as Float32Array));
      } finally {
        tf.dispose([variable, ...slotVariables]);
      }
    },
  };
}
