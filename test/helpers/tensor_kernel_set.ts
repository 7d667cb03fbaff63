/** The tfjs kernels of the backend in use, seen as functions of typed arrays: one set of specs fits all of them. */
import * as tf from '@tensorflow/tfjs';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  PACKED_BAG,
  PACKED_BAG_WEIGHTS_GRAD,
} from '../../src/backends/bag_tensors.js';
import type { Backend } from '../../src/backends/contract.js';
import {
  type HostBags,
  type HostTable,
  type KernelSet,
  setPackedForm,
  wordsPerRow,
  type PackedForm,
  type PackedTable,
} from '../../src/backends/kernel_set.js';
import { currentBackend } from '../../src/backends/registry.js';
import { slotShape } from '../../src/rules/rules.js';
import { stepVariable } from './kernel_calls.js';

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
  const formOf = (table: HostTable | PackedTable): PackedForm | null =>
    'words' in table ? { storage: table.storage, dim: table.dim } : null;
  const valuesOf = (table: HostTable | PackedTable): tf.Tensor2D =>
    'words' in table
      ? tf.tensor2d(table.words.slice(), [table.rows, wordsPerRow(table.storage, table.dim)], 'int32')
      : tableOf(table);
  return {
    lookUp(lookups) {
      for (const { table, bags, options, pooled } of lookups) {
        tf.tidy(() => {
          const form = formOf(table);
          const kernel = form === null ? EMBEDDING_BAG : PACKED_BAG;
          const out = run<tf.Tensor2D>(kernel, { table: valuesOf(table), ...bagsOf(bags) }, { ...options, ...form });
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

    weightsGradient(table, gradient, bags, options, out) {
      tf.tidy(() => {
        const form = formOf(table);
        const kernel = form === null ? EMBEDDING_BAG_WEIGHTS_GRAD : PACKED_BAG_WEIGHTS_GRAD;
        const shape: [number, number] = [bags.rowSplits.length - 1, table.dim];
        const inputs = { table: valuesOf(table), gradient: tf.tensor2d(gradient, shape, 'float32'), ...bagsOf(bags) };
        const result = run<tf.Tensor1D>(kernel, inputs, { ...options, ...form });
        checkShape(result, [bags.values.length]);
        out.set(result.dataSync());
      });
    },

    step(optimizer, steps) {
      for (const { table, slots, gradient, bags, options, hyper } of steps) {
        const { rows, dim } = table;
        const variable = tf.tidy(() => tf.variable(valuesOf(table)));
        const form = formOf(table);
        if (form !== null) setPackedForm(variable, form);
        const shape = slotShape(optimizer, [rows, dim]);
        const state = slots.map((slot) => tf.tidy(() => tf.variable(tf.tensor(slot.slice(), [...shape], 'float32'))));
        try {
          tf.tidy(() => {
            const pooled = tf.tensor2d(gradient, [bags.rowSplits.length - 1, dim], 'float32');
            stepVariable(runner, optimizer, variable, state, pooled, bagsOf(bags), options, hyper);
          });
          if ('words' in table) table.words.set(variable.dataSync() as Int32Array);
          else table.data.set(variable.dataSync() as Float32Array);
          slots.forEach((slot, i) => slot.set(state[i]!.dataSync() as Float32Array));
        } finally {
          tf.dispose([variable, ...state]);
        }
      }
    },
  };
}
