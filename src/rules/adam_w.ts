/** Adam with decoupled weight decay. Its epsilon is that of Keras, which stands beside the root before correction. */
import { adam } from './adam.js';
import type { UpdateRule } from './update_rule.js';

export const adamW = {
  ...adam,
  className: 'AdamW',
  fields: ['beta1', 'beta2', 'epsilon', 'lazy'],
  decaysIdleRows: true,
  defaults: { weightDecay: 0.004, multiplyWeightDecayByLearningRate: true },
  keras: { ...adam.keras, className: 'AdamW' },
  hyper: (settings, step) => {
    const corrections = adam.hyper(settings, step);
    return { ...corrections, epsilon: settings.epsilon / Math.sqrt(corrections.correction2 ?? 1) };
  },
  update: () => 'adam',
  dense: () => null,
} as const satisfies UpdateRule;
