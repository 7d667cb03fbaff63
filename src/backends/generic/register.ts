/** Kernels composed of stock ops, for backends without kernels of their own. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { warnOnce } from '../../base/warn_once.js';
import { UPDATE_NAMES, type UpdateName } from '../../rules/rules.js';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  KERNEL_NAMES,
  rowAttributes,
  SPARSE_APPLY,
  slotsAmong,
  type RowAttributes,
} from '../bag_tensors.js';
import type { Backend } from '../contract.js';
import { unitedUpdate, KERNEL_GRADIENTS, lookUpByKernel } from '../kernel_calls.js';
import { addBackend, setAdoption } from '../registry.js';
import { STOCK_STORE } from '../stores/memory_store.js';
import { embeddingBag, type EmbeddingBagInputs } from './embedding_bag.js';
import { embeddingBagGrad, type EmbeddingBagGradInputs } from './embedding_bag_grad.js';
import { embeddingBagWeightsGrad, type EmbeddingBagWeightsGradInputs } from './embedding_bag_weights_grad.js';
import { checkSteps, onPlainRows } from './plain_rows.js';
import type { BagAttributes } from './host_ids.js';
import { sparseApply } from './sparse_apply.js';

interface SparseApplyInputs extends EmbeddingBagGradInputs {
  readonly table: tf.Tensor2D;
}

/** Stock ops cannot write into a tensor, so what is stepped must be a variable, which takes over new tensors. */
function asVariable(tensor: tf.Tensor | undefined, argument: string): tf.Variable {
  if (tensor instanceof tf.Variable) return tensor;
  throw new RuntimeError(
    argument,
    'a tf.Variable on this backend',
    described('a tensor, which stock ops cannot write'),
  );
}

function applyKernel(optimizer: UpdateName): tf.KernelFunc {
  return ({ inputs, attrs }) => {
    const all = inputs as unknown as SparseApplyInputs;
    const { hyper, ...options } = attrs as unknown as BagAttributes & RowAttributes & { hyper: readonly number[] };
    checkSteps(options);
    const table = asVariable(all.table, 'table');
    const slots = slotsAmong(optimizer, inputs).map((slot, i) => asVariable(slot as tf.Tensor, `slot${i}`));
    const bags = { values: all.values, rowSplits: all.rowSplits, weights: all.weights ?? null };
    sparseApply(optimizer, table, slots, all.gradient, bags, options, hyper);
    return [];
  };
}

/*
 * The engine accepts tensors as results of a kernel; they belong to the scope that called it, and what a kernel makes
 * on the way is freed by its own tidy.
 */
const KERNELS: ReadonlyMap<string, tf.KernelFunc> = new Map<string, tf.KernelFunc>([
  [
    EMBEDDING_BAG,
    ({ inputs, attrs }) => onPlainRows(inputs as never as EmbeddingBagInputs, attrs as never, embeddingBag),
  ],
  [
    EMBEDDING_BAG_GRAD,
    ({ inputs, attrs }) => embeddingBagGrad(inputs as never as EmbeddingBagGradInputs, attrs as never),
  ],
  [
    EMBEDDING_BAG_WEIGHTS_GRAD,
    ({ inputs, attrs }) =>
      onPlainRows(inputs as never as EmbeddingBagWeightsGradInputs, attrs as never, embeddingBagWeightsGrad),
  ],
  ...UPDATE_NAMES.map((name): [string, tf.KernelFunc] => [SPARSE_APPLY[name], applyKernel(name)]),
]);

/** The composed kernel of a name; runs on whatever backend is in use. */
export function genericKernel(kernelName: string): tf.KernelFunc {
  const kernel = KERNELS.get(kernelName);
  if (kernel === undefined) throw new RuntimeError('kernelName', `one of ${KERNEL_NAMES.join(', ')}`, kernelName);
  return kernel;
}

/** What backends do for tables with the composed kernels. */
export const genericTables: Backend = {
  lookUp: (lookups) => lookups.map(lookUpByKernel),
  step(updates) {
    for (const update of updates) {
      checkSteps(rowAttributes(update.table));
      tf.tidy(() => {
        const { optimizer, table, slots, entries, options, hyper } = unitedUpdate(update, KERNEL_GRADIENTS);
        sparseApply(optimizer, table.variable, slots, entries[0]!.gradient, entries[0]!.bags, options, hyper);
      });
    }
  },
  gradient: KERNEL_GRADIENTS,
  store: STOCK_STORE,
  ops: null,
  info: () => ({ implementation: 'generic', instructionSet: `stock ops of ${tf.getBackend()}`, threads: 1 }),
};

/** Registers the composed kernels for a tfjs backend. May be called again. */
export function registerGenericBackend(backendName: string): void {
  for (const [kernelName, kernelFunc] of KERNELS) {
    if (tf.getKernel(kernelName, backendName) === undefined) {
      tf.registerKernel({ kernelName, backendName, kernelFunc });
    }
  }
  addBackend(backendName, genericTables);
}

/** Registers them for a backend that is used without kernels of its own; says where there would have been some. */
export function adoptBackend(backendName: string): void {
  if (backendName === 'webgpu') {
    const text =
      "on webgpu stock ops run, whose training steps cost what a table holds: import 'tfjs-embeddings/webgpu', which " +
      'brings kernels.';
    warnOnce(text, 'stock ops on webgpu');
  }
  registerGenericBackend(backendName);
}

/** Registers the composed kernels for any backend without others when it is first used. */
export function registerGenericBackends(): void {
  setAdoption(adoptBackend);
}
