/**
 * The numbers that an update kernel takes, as one Float32Array.
 *
 * The order is part of the contract with the C core (`te_hyper` in custom-ops/kernels/embedding.h); a test compares
 * both. Fields that an optimizer does not use are ignored by its kernel.
 */
export const HYPER_FIELDS = [
  'learningRate',
  'epsilon',
  'momentum',
  'useNesterov', // 0 or 1
  'exponent',
  'beta1',
  'beta2',
  'correction1', // Adam: 1 - beta1^step, or 1 without bias correction
  'correction2', // Adam: 1 - beta2^step, or 1 without bias correction
  'sumInsideSqrt', // 0 or 1
  'lazy', // 0: rows without ids are stepped too, with a zero gradient (adam, adagradMomentum)
  'learningRatePower',
  'l1',
  'l2',
  'beta',
  'multiplyLinearByLearningRate', // 0 or 1
  'clipGradientMin', // -Infinity: off
  'clipGradientMax', // +Infinity: off
  'clipNorm', // L2 norm of the whole sparse gradient of the table; 0: off
  'clipWeightMin',
  'clipWeightMax',
  'weightDecay', // factor f: touched rows lose f * w before the step; 0: off
  'idleDecay', // the same of rows without ids, where those are stepped
  'constraint', // 0 none, 1 non-negative, 2 norm of the row along axis 1
  'constraintMin',
  'constraintMax',
  'constraintRate',
  // The key of stochastic rounding, 16 bits each; steps of packed rows alone use them.
  'roundingKey0',
  'roundingKey1',
  'roundingKey2',
  'roundingKey3',
] as const;

export type HyperField = (typeof HYPER_FIELDS)[number];

/** All numbers of one update, by name. */
export type Hyper = Record<HyperField, number>;

/** Values that change nothing: every optional step is off. */
export const NEUTRAL_HYPER: Readonly<Hyper> = {
  learningRate: 0,
  epsilon: 0,
  momentum: 0,
  useNesterov: 0,
  exponent: 2,
  beta1: 0,
  beta2: 1,
  correction1: 1,
  correction2: 1,
  sumInsideSqrt: 0,
  lazy: 1,
  learningRatePower: -0.5,
  l1: 0,
  l2: 0,
  beta: 0,
  multiplyLinearByLearningRate: 0,
  clipGradientMin: -Infinity,
  clipGradientMax: Infinity,
  clipNorm: 0,
  clipWeightMin: -Infinity,
  clipWeightMax: Infinity,
  weightDecay: 0,
  idleDecay: 0,
  constraint: 0,
  constraintMin: 0,
  constraintMax: 0,
  constraintRate: 1,
  roundingKey0: 0,
  roundingKey1: 0,
  roundingKey2: 0,
  roundingKey3: 0,
};

/** The numbers in contract order. */
export function packHyper(hyper: Hyper): Float32Array {
  const packed = new Float32Array(HYPER_FIELDS.length);
  for (let i = 0; i < packed.length; i++) packed[i] = hyper[HYPER_FIELDS[i]!];
  return packed;
}

/** The same numbers for another step of the same rows: a row decays once, whatever its occurrences. */
export function withoutDecay(hyper: Float32Array): Float32Array {
  return hyper.map((value, i) => (HYPER_FIELDS[i] === 'weightDecay' ? 0 : value));
}

/** Numbers in contract order, by name. */
export function unpackHyper(hyper: ArrayLike<number>): Hyper {
  return Object.fromEntries(HYPER_FIELDS.map((field, i) => [field, hyper[i] ?? NaN])) as Hyper;
}
