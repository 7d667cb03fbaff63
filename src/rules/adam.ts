/** Adam, and AMSGrad, which divides by the largest second moment so far. */
import type * as tf from '@tensorflow/tfjs';
import type { RuleSettings } from './fields.js';
import type { Hyper } from './hyper.js';
import { POSITIVE } from './fields.js';
import { elementwise, quotient, stepped, type Ops, type RowUpdate, type Rows, type UpdateRule } from './update_rule.js';

/** The same for all rows, or one number for each, [n, 1]. */
type OfRows = number | tf.Tensor2D;
type Corrections = 'correction1' | 'correction2' | 'epsilon';
/** The numbers of a step on matrices, where rows may have corrections of their own. */
export type AdamNumbers = Omit<Hyper, Corrections> & Record<Corrections, OfRows>;

export interface AdamUpdate extends RowUpdate {
  stepRows(ops: Ops, rows: Rows, gradient: tf.Tensor2D, hyper: AdamNumbers): Rows;
}

function adamUpdate(isAmsgrad: boolean): AdamUpdate {
  return {
    slots: ['momenta', 'velocities', ...(isAmsgrad ? ['velocityMaxima'] : [])],
    movesIdleRows: true,
    stepRow: elementwise((element, g, hyper) => {
      const { beta1, beta2, epsilon } = hyper;
      element.slot0 = beta1 * element.slot0 + (1 - beta1) * g;
      element.slot1 = beta2 * element.slot1 + (1 - beta2) * g * g;
      if (isAmsgrad) element.slot2 = Math.max(element.slot2, element.slot1);
      const mean = element.slot0 / hyper.correction1;
      const square = (isAmsgrad ? element.slot2 : element.slot1) / hyper.correction2;
      const root = hyper.sumInsideSqrt ? Math.sqrt(square + epsilon * epsilon) : Math.sqrt(square) + epsilon;
      element.w -= hyper.learningRate * quotient(mean, root);
    }),
    stepRows: ({ add, divNoNan, mul, where }, { table, slots }, g, hyper) => {
      const { beta1, beta2, epsilon } = hyper;
      const momenta = slots[0]!.mul(beta1).add<tf.Tensor2D>(g.mul(1 - beta1));
      const velocities = slots[1]!.mul(beta2).add<tf.Tensor2D>(g.square().mul(1 - beta2));
      const next = [
        momenta,
        velocities,
        ...(isAmsgrad ? [where(velocities.lessEqual(slots[2]!), slots[2]!, velocities)] : []),
      ];
      const square = next.at(-1)!.div<tf.Tensor2D>(hyper.correction2);
      const root = hyper.sumInsideSqrt !== 0 ? add(square, mul(epsilon, epsilon)).sqrt() : add(square.sqrt(), epsilon);
      const step = divNoNan(momenta.div(hyper.correction1), root);
      return { table: stepped(table, hyper.learningRate, step), slots: next };
    },
  };
}

export const amsgrad = adamUpdate(true);

/** The corrections of a step; `epsilon`, where it is that of Keras: it stands beside the root before its correction. */
export function corrected(settings: RuleSettings, step: number | null, asKeras: boolean): Partial<Hyper> {
  const { biasCorrection, beta1, beta2, epsilon } = settings;
  if (!biasCorrection || step === null) return {};
  const [correction1, correction2] = [1 - beta1 ** step, 1 - beta2 ** step];
  return { correction1, correction2, ...(asKeras ? { epsilon: epsilon / Math.sqrt(correction2) } : {}) };
}

export const adam = {
  ...adamUpdate(false),
  className: 'Adam',
  fields: ['beta1', 'beta2', 'epsilon', 'biasCorrection', 'amsgrad', 'sumInsideSqrt', 'lazy'],
  learningRate: 0.001,
  limits: { epsilon: POSITIVE },
  keras: {
    className: 'Adam',
    fields: { beta1: 'beta1', beta2: 'beta2', epsilon: 'epsilon', amsgrad: 'amsgrad' },
  },
  hyper: (settings, step) => corrected(settings, step, settings.amsgrad),
  update: ({ amsgrad, biasCorrection }, byRow) => {
    return `${amsgrad ? 'amsgrad' : 'adam'}${byRow && biasCorrection ? 'ByRow' : ''}`;
  },
  dense: (train, settings, learningRate) => {
    const { beta1, beta2, epsilon, amsgrad, biasCorrection, sumInsideSqrt } = settings;
    // The stock one knows none of these.
    const isStock = !amsgrad && biasCorrection && !sumInsideSqrt;
    return isStock ? train.adam(learningRate, beta1, beta2, epsilon) : null;
  },
} as const satisfies UpdateRule;
