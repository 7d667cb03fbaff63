/** The tfjs kernels of the backend in use, seen as functions of typed arrays: one set of specs fits all of them. */
import * as tf from '@tensorflow/tfjs';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  type RowAttributes,
} from '../../src/backends/bag_tensors.js';
import type { Backend } from '../../src/backends/contract.js';
import type { HostBags, HostTable, KernelSet } from '../../src/backends/kernel_set.js';
import { currentBackend } from '../../src/backends/registry.js';
import { tableOf } from '../../src/backends/table.js';
import { slotShapes } from '../../src/rules/rules.js';
import { stepVariable } from './kernel_calls.js';

function tensorOf({ codec, data, rows, dim }: HostTable): tf.Tensor2D {
  return tf.tensor2d(data.slice(), [rows, codec.words(dim)], codec.dtype);
}

/** What kernels are told of a table. */
function attributesOf({ codec, dim }: HostTable): RowAttributes {
  return codec.isPlain ? {} : { storage: codec.name, dim };
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
export interface TensorRunner extends Pick<Backend, 'step'> {
  run(kernelName: string, inputs: tf.NamedTensorMap, attrs: object): unknown;
}

/** The kernels that the backend in use has registered. */
const REGISTERED: TensorRunner = {
  run: (kernelName, inputs, attrs) => tf.engine().runKernel(kernelName, inputs, attrs as never),
  step: (updates) => currentBackend().step(updates),
};

export type TensorKernelSet = Omit<KernelSet, 'name' | 'info' | 'setThreads' | 'allocate'>;

/** A KernelSet that goes through tensors, variables and the registered kernels. */
export const tensorKernelSet: TensorKernelSet = tensorKernelSetOf(REGISTERED);

/** The same for other ways to run kernels. */
export function tensorKernelSetOf(runner: TensorRunner): TensorKernelSet {
  const run = <T>(kernelName: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T => {
    const present = Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null));
    return runner.run(kernelName, present as tf.NamedTensorMap, attrs) as T;
  };
  return {
    lookUp(lookups) {
      for (const { table, bags, options, pooled } of lookups) {
        tf.tidy(() => {
          const attrs = { ...options, ...attributesOf(table) };
          const out = run<tf.Tensor2D>(EMBEDDING_BAG, { table: tensorOf(table), ...bagsOf(bags) }, attrs);
          checkShape(out, [bags.rowSplits.length - 1, table.dim]);
          pooled.set(out.dataSync());
        });
      }
    },

    rowGradients(gradient, bags, table, options) {
      const before = tf.memory().numTensors;
      const result = tf.tidy(() => {
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const inputs = {
          gradient: tf.tensor2d(gradient, shape, 'float32'),
          ...bagsOf(bags),
          table: options.maxNorm > 0 ? tensorOf(table) : null,
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

    weightsGradient(table, gradient, bags, options, out) {
      tf.tidy(() => {
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const inputs = { table: tensorOf(table), gradient: tf.tensor2d(gradient, shape, 'float32'), ...bagsOf(bags) };
        const result = run<tf.Tensor1D>(EMBEDDING_BAG_WEIGHTS_GRAD, inputs, { ...options, ...attributesOf(table) });
        checkShape(result, [bags.values.length]);
        out.set(result.dataSync());
      });
    },

    step(optimizer, steps) {
      for (const { table, slots, gradient, bags, options, hyper } of steps) {
        const { codec, rows, dim } = table;
        const variable = tf.tidy(() => tf.variable(tensorOf(table)));
        if (!codec.isPlain) tableOf(variable).setForm({ codec, dim });
        const shapes = slotShapes(optimizer, [rows, dim]);
        const state = slots.map((slot, i) => tf.tidy(() => tf.variable(tf.tensor(slot.slice(), shapes[i], 'float32'))));
        try {
          tf.tidy(() => {
            const pooled = tf.tensor2d(gradient, [bags.rowSplits.length - 1, dim], 'float32');
            stepVariable(runner, optimizer, variable, state, pooled, bagsOf(bags), options, hyper);
          });
          table.data.set(variable.dataSync());
          slots.forEach((slot, i) => slot.set(state[i]!.dataSync() as Float32Array));
        } finally {
          tf.dispose([variable, ...state]);
        }
      }
    },
  };
}
