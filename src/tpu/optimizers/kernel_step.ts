/** TPU optimizers as the row-sparse kernels know them: a name and numbers. */
import type { Hyper } from '../../rules/hyper.js';
import { RuntimeError, described } from '../../base/errors.js';
import { hyperOf, readSettings, type SparseOptimizerConfig } from '../../rules/optimizer_settings.js';
import type { OptimizerName, UpdateName } from '../../rules/rules.js';
import { Adagrad } from './adagrad.js';
import { AdagradMomentum } from './adagrad_momentum.js';
import { Adam } from './adam.js';
import { FTRL } from './ftrl.js';
import { SGD } from './sgd.js';
import type { TPUEmbeddingOptimizer } from './tpu_optimizer.js';

interface KernelSettings {
  readonly name: OptimizerName & UpdateName;
  readonly own: SparseOptimizerConfig;
}

/** The kernel and the fields of this class alone; null for a custom optimizer, which has no kernel. */
function settingsOf(optimizer: TPUEmbeddingOptimizer): KernelSettings | null {
  if (optimizer instanceof SGD) return { name: 'sgd', own: {} };
  if (optimizer instanceof Adagrad) return { name: 'adagrad', own: { epsilon: 0 } };
  if (optimizer instanceof AdagradMomentum) {
    const { momentum, useNesterov, exponent, beta2, epsilon } = optimizer;
    return { name: 'adagradMomentum', own: { momentum, useNesterov, exponent, beta2, epsilon } };
  }
  if (optimizer instanceof Adam) {
    const { beta1, beta2, epsilon, sumInsideSqrt, lazyAdam: lazy } = optimizer;
    return { name: 'adam', own: { beta1, beta2, epsilon, sumInsideSqrt, lazy, biasCorrection: false } };
  }
  if (optimizer instanceof FTRL) {
    const { learningRatePower, beta, multiplyLinearByLearningRate } = optimizer;
    const { l1RegularizationStrength: l1, l2RegularizationStrength: l2 } = optimizer;
    return { name: 'ftrl', own: { learningRatePower, l1, l2, beta, multiplyLinearByLearningRate } };
  }
  return null;
}

/** Whether the optimizer has a kernel: all but CustomOptimizer do. */
export function hasKernel(optimizer: TPUEmbeddingOptimizer): boolean {
  return settingsOf(optimizer) !== null;
}

/**
 * The optimizer of `emb.train` that takes the same steps: its name and fields, `learningRate` among them.
 * Throws RuntimeError for a CustomOptimizer.
 */
export function trainSettings(
  optimizer: TPUEmbeddingOptimizer,
  learningRate: number | (() => number),
): { readonly name: OptimizerName & UpdateName; readonly config: SparseOptimizerConfig } {
  const settings = settingsOf(optimizer);
  if (settings === null) {
    throw new RuntimeError('optimizer', 'an optimizer that has a kernel', described(optimizer.getClassName()));
  }
  const config = {
    ...settings.own,
    learningRate,
    clipValue: optimizer.clipvalue,
    clipWeightMin: optimizer.clipWeightMin,
    clipWeightMax: optimizer.clipWeightMax,
    weightDecay: optimizer.weightDecayFactor,
    multiplyWeightDecayByLearningRate: optimizer.multiplyWeightDecayFactorByLearningRate ?? false,
  };
  return { name: settings.name, config };
}

/** What the update kernels take. */
export interface KernelStep {
  readonly optimizer: UpdateName;
  readonly hyper: Hyper;
}

/**
 * Returns the kernel of an optimizer and its numbers for a step at this learning rate.
 *
 * A step then runs in this order: gradients of a row are summed and clipped, the row decays, the optimizer steps it, the
 * row is clipped. The decay is w -= f w, with f multiplied by the learning rate where the optimizer says so.
 * Slots go to the kernels in the order of `optimizer.slots`.
 * Throws RuntimeError for a CustomOptimizer.
 */
export function kernelStep(optimizer: TPUEmbeddingOptimizer, learningRate: number): KernelStep {
  const { name, config } = trainSettings(optimizer, learningRate);
  return { optimizer: name, hyper: hyperOf(name, readSettings(name, config), 1, null) };
}
