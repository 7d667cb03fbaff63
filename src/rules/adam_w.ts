/** Adam with decoupled weight decay. Its epsilon is that of Keras, which stands beside the root before correction. */
import { adam, corrected } from './adam.js';
import type { UpdateRule } from './update_rule.js';

export const adamW = {
  ...adam,
  className: 'AdamW',
  fields: ['beta1', 'beta2', 'epsilon', 'amsgrad', 'lazy'],
  decaysIdleRows: true,
  defaults: { weightDecay: 0.004, multiplyWeightDecayByLearningRate: true },
  keras: { ...adam.keras, className: 'AdamW' },
  hyper: (settings, step) => corrected(settings, step, true),
  update: (settings, byRow) => (byRow && !settings.amsgrad ? 'adamWByRow' : adam.update(settings, byRow)),
  dense: () => null,
} as const satisfies UpdateRule;
