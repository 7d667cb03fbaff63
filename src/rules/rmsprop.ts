/** v = rho v + (1 - rho) g^2; w -= lr g / sqrt(v + epsilon): with momentum over the steps, or centered, or both. */
import type * as tf from '@tensorflow/tfjs';
import { POSITIVE, UP_TO_ONE } from './fields.js';
import { elementwise, quotient, stepped, type RowUpdate, type UpdateRule } from './update_rule.js';

const SLOTS = ['slot0', 'slot1', 'slot2'] as const;

/** The running mean of squares, then that of gradients where it is centered, then momentum. */
function rmspropUpdate(isCentered: boolean, hasMomentum: boolean): RowUpdate {
  const [mean, momenta] = [SLOTS[1], SLOTS[isCentered ? 2 : 1]!];
  return {
    slots: ['velocities', ...(isCentered ? ['averageGradients'] : []), ...(hasMomentum ? ['momenta'] : [])],
    movesIdleRows: true,
    stepRow: elementwise((element, g, hyper) => {
      const { beta2: rho } = hyper;
      element.slot0 = rho * element.slot0 + (1 - rho) * g * g;
      let square = element.slot0;
      if (isCentered) {
        element[mean] = rho * element[mean] + (1 - rho) * g;
        square = Math.max(square - element[mean] ** 2, 0);
      }
      const step = hyper.learningRate * quotient(g, Math.sqrt(square + hyper.epsilon));
      if (hasMomentum) element[momenta] = hyper.momentum * element[momenta] + step;
      element.w -= hasMomentum ? element[momenta] : step;
    }),
    stepRows: ({ divNoNan }, { table, slots }, g, hyper) => {
      const { beta2: rho } = hyper;
      const running = (slot: tf.Tensor2D, of: tf.Tensor): tf.Tensor2D => slot.mul(rho).add(of.mul(1 - rho));
      const next = [running(slots[0]!, g.square())];
      let square = next[0]!;
      if (isCentered) {
        next.push(running(slots[1]!, g));
        square = square.sub(next[1]!.square()).maximum(0);
      }
      let step = divNoNan(g, square.add(hyper.epsilon).sqrt()).mul<tf.Tensor2D>(hyper.learningRate);
      if (hasMomentum) next.push((step = slots.at(-1)!.mul(hyper.momentum).add(step)));
      return { table: stepped(table, 1, step), slots: next };
    },
  };
}

export const rmspropMomentum = rmspropUpdate(false, true);
export const rmspropCentered = rmspropUpdate(true, false);
export const rmspropCenteredMomentum = rmspropUpdate(true, true);

export const rmsprop = {
  ...rmspropUpdate(false, false),
  className: 'RMSprop',
  fields: ['rho', 'momentum', 'epsilon', 'centered', 'lazy'],
  learningRate: 0.001,
  limits: { epsilon: POSITIVE, momentum: UP_TO_ONE },
  keras: {
    className: 'RMSprop',
    fields: { rho: 'rho', momentum: 'momentum', epsilon: 'epsilon', centered: 'centered' },
  },
  hyper: ({ rho }) => ({ beta2: rho }),
  update: ({ centered, momentum }) => `rmsprop${centered ? 'Centered' : ''}${momentum > 0 ? 'Momentum' : ''}`,
  dense: () => null,
} as const satisfies UpdateRule;
