/** The learning rates of a step. */
import type { TPUEmbeddingOptimizer } from './tpu_optimizer.js';

/**
 * The learning rate of each optimizer, in their order. A function that several of them have is asked once, so that all
 * tables with it step at one rate, whatever it counts.
 */
export function learningRates(optimizers: readonly TPUEmbeddingOptimizer[]): number[] {
  const asked = new Map<() => number, number>();
  return optimizers.map((optimizer) => {
    const { learningRate } = optimizer;
    if (typeof learningRate === 'number') return learningRate;
    const known = asked.get(learningRate);
    if (known !== undefined) return known;
    const rate = optimizer.currentLearningRate();
    asked.set(learningRate, rate);
    return rate;
  });
}
