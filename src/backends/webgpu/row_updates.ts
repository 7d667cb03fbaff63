/** What each update does to one element of a table, in WGSL; `rules` says the same in TypeScript. */
import type { UpdateName } from '../../rules/rules.js';

/** The body of `stepped(element, g)`; `e` is written: its value `w` and its slots `s0` to `s3`. `h`: the hyper-parameters. */
const adam = (velocity: 's1' | 's2'): string => `
  e.s0 = h.beta1 * e.s0 + (1.0 - h.beta1) * g;
  e.s1 = h.beta2 * e.s1 + (1.0 - h.beta2) * g * g;
  ${velocity === 's2' ? 'if (!(e.s1 <= e.s2)) { e.s2 = e.s1; }' : ''}
  let square = e.${velocity} / h.correction2;
  var root = sqrt(square) + h.epsilon;
  if (h.sumInsideSqrt != 0.0) { root = sqrt(square + h.epsilon * h.epsilon); }
  e.w -= h.learningRate * quotient(e.s0 / h.correction1, root);`;

/** Adam by the steps of a row, in its slot `count`; see `correctionAt` of the rules. */
const adamByRow = (velocity: 's1' | 's2', count: 's2' | 's3', asKeras: boolean): string => `
  let correction1 = correctionAt(h.beta1, e.${count});
  let correction2 = correctionAt(h.beta2, e.${count});
  let epsilon = h.epsilon${asKeras ? ' / sqrt(correction2)' : ''};
  ${adam(velocity).replaceAll(/h\.(correction[12]|epsilon)/g, '$1')}`;

const rmsprop = (mean: string | null, momenta: string | null): string => `
  e.s0 = h.beta2 * e.s0 + (1.0 - h.beta2) * g * g;
  var square = e.s0;
  ${
    mean === null
      ? ''
      : `e.${mean} = h.beta2 * e.${mean} + (1.0 - h.beta2) * g;
  square = square - e.${mean} * e.${mean};
  if (square < 0.0) { square = 0.0; }`
  }
  let change = h.learningRate * quotient(g, sqrt(square + h.epsilon));
  ${momenta === null ? 'e.w -= change;' : `e.${momenta} = h.momentum * e.${momenta} + change; e.w -= e.${momenta};`}`;

/** By update. Slots of one number per row are read here and stepped before. */
const UPDATES: Readonly<Record<UpdateName, () => string>> = {
  sgd: () => 'e.w -= h.learningRate * g;',
  momentum: () => `
  let change = h.learningRate * g;
  e.s0 = h.momentum * e.s0 - change;
  if (h.useNesterov != 0.0) { e.w += h.momentum * e.s0 - change; } else { e.w += e.s0; }`,
  adagrad: () => `
  e.s0 += g * g;
  e.w -= h.learningRate * quotient(g, sqrt(e.s0 + h.epsilon));`,
  rowWiseAdagrad: () => 'e.w -= quotient(h.learningRate * g, sqrt(e.s0 + h.epsilon));',
  adagradMomentum: () => `
  if (h.beta2 == 1.0) { e.s0 += g * g; } else { e.s0 = h.beta2 * e.s0 + (1.0 - h.beta2) * g * g; }
  let change = quotient(g, power(e.s0 + h.epsilon, 1.0 / h.exponent));
  e.s1 = h.momentum * e.s1 + change;
  var total = e.s1;
  if (h.useNesterov != 0.0) { total = h.momentum * e.s1 + change; }
  e.w -= h.learningRate * total;`,
  adam: () => adam('s1'),
  amsgrad: () => adam('s2'),
  adamByRow: () => adamByRow('s1', 's2', false),
  adamWByRow: () => adamByRow('s1', 's2', true),
  amsgradByRow: () => adamByRow('s2', 's3', true),
  rmsprop: () => rmsprop(null, null),
  rmspropMomentum: () => rmsprop(null, 's1'),
  rmspropCentered: () => rmsprop('s1', null),
  rmspropCenteredMomentum: () => rmsprop('s1', 's2'),
  ftrl: () => `
  if (h.learningRate == 0.0) { return e; }
  let before = power(e.s0, -h.learningRatePower);
  e.s0 += g * g;
  let after = power(e.s0, -h.learningRatePower);
  let isMultiplied = h.multiplyLinearByLearningRate != 0.0;
  var bound = h.l1;
  var divideBy = (after + h.beta) / h.learningRate + 2.0 * h.l2;
  if (isMultiplied) {
    e.s1 += h.learningRate * g - (after - before) * e.w;
    bound = h.learningRate * h.l1;
    divideBy = after + 2.0 * h.learningRate * h.l2 + h.beta;
  } else {
    e.s1 += g - ((after - before) * e.w) / h.learningRate;
  }
  var limited = e.s1;
  if (limited > bound) { limited = bound; }
  if (limited < -bound) { limited = -bound; }
  if (divideBy != 0.0) { e.w = (limited - e.s1) / divideBy; }`,
};

export function updateText(optimizer: UpdateName): string {
  return UPDATES[optimizer]();
}

/** Roots are exact where powers are not; corrections by squarings of what is left of 1. */
export const POWER = `
fn correctionAt(beta : f32, steps : f32) -> f32 {
  var part = 1.0 - beta;
  var found = 0.0;
  for (var left = i32(clamp(steps, 1.0, 16777216.0)); left > 0; left = left >> 1u) {
    if ((left & 1) == 1) { found += part * (1.0 - found); }
    part *= 2.0 - part;
  }
  return found;
}
fn power(base : f32, exponent : f32) -> f32 {
  if (exponent == 0.5) { return sqrt(base); }
  if (exponent == 1.0) { return base; }
  if (base == 0.0) { return select(0.0, 1.0, exponent == 0.0); }
  return pow(base, exponent);
}
`;
