/** The optimizers, one element at a time, in double. */
import type { Hyper } from '../hyper.js';
import type { OptimizerName } from '../../base/types.js';

/** One element of a table: its value and its slots, in the order of SLOT_NAMES. */
export interface Element {
  w: number;
  slot0: number;
  slot1: number;
}

/** One step of one element with gradient g. */
export type ElementUpdate = (element: Element, g: number, hyper: Hyper) => void;

/** g / d; where the divisor is 0, no gradient worth a step has ever reached the element, which keeps still. */
export function stepOf(g: number, d: number): number {
  return d === 0 ? 0 : g / d;
}

function sgd(element: Element, g: number, hyper: Hyper): void {
  element.w -= hyper.learningRate * g;
}

function adagrad(element: Element, g: number, hyper: Hyper): void {
  element.slot0 += g * g;
  element.w -= hyper.learningRate * stepOf(g, Math.sqrt(element.slot0 + hyper.epsilon));
}

function adagradMomentum(element: Element, g: number, hyper: Hyper): void {
  const { beta2, epsilon, exponent, momentum } = hyper;
  element.slot0 = beta2 === 1 ? element.slot0 + g * g : beta2 * element.slot0 + (1 - beta2) * g * g;
  const step = stepOf(g, (element.slot0 + epsilon) ** (1 / exponent));
  element.slot1 = momentum * element.slot1 + step;
  element.w -= hyper.learningRate * (hyper.useNesterov ? momentum * element.slot1 + step : element.slot1);
}

function adam(element: Element, g: number, hyper: Hyper): void {
  const { beta1, beta2, epsilon } = hyper;
  element.slot0 = beta1 * element.slot0 + (1 - beta1) * g;
  element.slot1 = beta2 * element.slot1 + (1 - beta2) * g * g;
  const mean = element.slot0 / hyper.correction1;
  const square = element.slot1 / hyper.correction2;
  const root = hyper.sumInsideSqrt ? Math.sqrt(square + epsilon * epsilon) : Math.sqrt(square) + epsilon;
  element.w -= hyper.learningRate * stepOf(mean, root);
}

function ftrl(element: Element, g: number, hyper: Hyper): void {
  const { learningRate, l1, l2, beta } = hyper;
  // Its state is in units of 1 / rate: a step at rate 0, where warm-ups start, leaves everything as it is.
  if (learningRate === 0) return;
  const power = -hyper.learningRatePower;
  const before = element.slot0 ** power;
  element.slot0 += g * g;
  const after = element.slot0 ** power;
  // Multiplying everything by the learning rate instead of dividing by it keeps rates near 0 safe.
  const multiply = hyper.multiplyLinearByLearningRate !== 0;
  if (multiply) element.slot1 += learningRate * g - (after - before) * element.w;
  else element.slot1 += g - ((after - before) * element.w) / learningRate;
  const bound = multiply ? learningRate * l1 : l1;
  const numerator = Math.min(Math.max(element.slot1, -bound), bound) - element.slot1;
  const denominator = multiply ? after + 2 * learningRate * l2 + beta : (after + beta) / learningRate + 2 * l2;
  // A denominator of 0 means that no gradient has ever reached the element.
  if (denominator !== 0) element.w = numerator / denominator;
}

/** Row-wise Adagrad has one slot value per row and lives in row_update.ts. */
export const ELEMENT_UPDATES: Readonly<Record<Exclude<OptimizerName, 'rowWiseAdagrad'>, ElementUpdate>> = {
  sgd,
  adagrad,
  adagradMomentum,
  adam,
  ftrl,
};
