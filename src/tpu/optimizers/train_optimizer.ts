/** TPU optimizers as optimizers of `emb.train`, and back: configs of tables are taken by either API. */
import { ValueError, describe, described } from '../../base/errors.js';
import { fieldsOf, type Settings } from '../../rules/optimizer_settings.js';
import type { SparseOptimizer } from '../../optimizers/sparse_optimizer.js';
import { train } from '../../optimizers/train.js';
import { DEFAULTS } from '../../rules/fields.js';
import type { OptimizerName } from '../../rules/rules.js';
import { sameField } from '../config/fields.js';
import { Adagrad } from './adagrad.js';
import { AdagradMomentum } from './adagrad_momentum.js';
import { Adam } from './adam.js';
import type { CommonArgs } from './common_arguments.js';
import { FTRL } from './ftrl.js';
import { hasKernel, trainSettings } from './kernel_step.js';
import { SGD } from './sgd.js';
import type { TPUEmbeddingOptimizer } from './tpu_optimizer.js';

type MakeTpu = (settings: Readonly<Settings>, common: CommonArgs) => TPUEmbeddingOptimizer;

const MAKERS: Readonly<Partial<Record<OptimizerName, MakeTpu>>> = {
  sgd: (_, common) => new SGD(common),
  adagrad: ({ initialAccumulatorValue }, common) => new Adagrad({ ...common, initialAccumulatorValue }),
  adagradMomentum: ({ momentum, useNesterov, exponent, beta2, epsilon }, common) =>
    new AdagradMomentum({ ...common, momentum, useNesterov, exponent, beta2, epsilon }),
  adam: ({ beta1, beta2, epsilon, sumInsideSqrt, lazy: lazyAdam }, common) =>
    new Adam({ ...common, beta1, beta2, epsilon, sumInsideSqrt, lazyAdam }),
  ftrl: ({ l1: l1RegularizationStrength, l2: l2RegularizationStrength, ...settings }, common) => {
    const { learningRatePower, beta, initialAccumulatorValue, multiplyLinearByLearningRate } = settings;
    const strengths = { l1RegularizationStrength, l2RegularizationStrength };
    const own = { learningRatePower, beta, initialAccumulatorValue, multiplyLinearByLearningRate };
    return new FTRL({ ...common, ...strengths, ...own });
  },
};

/**
 * Returns the TPU optimizer that takes the same steps as one of `emb.train`.
 *
 * The epsilon of adagrad, 1e-7 unless it is given, becomes 0, as where Keras RS makes the optimizer of a SparseCore.
 * Throws ValueError for optimizers and fields that the TPU has not: bias correction, norms that are clipped, rates that
 * depend on the step.
 */
export function asTpuOptimizer(optimizer: SparseOptimizer): TPUEmbeddingOptimizer {
  const { optimizerName: name, settings } = optimizer;
  const make = MAKERS[name];
  if (make === undefined) {
    const expected = `an optimizer that TPU embeddings have: ${Object.keys(MAKERS).join(', ')}`;
    throw new ValueError('optimizer', expected, described(`emb.train.${name}`));
  }
  const { learningRate } = settings;
  // A function without arguments is asked at every step by both.
  const isTaken = typeof learningRate === 'number' || (typeof learningRate === 'function' && learningRate.length === 0);
  if (!isTaken) {
    const expected = 'a number or a function without arguments for TPU embeddings';
    throw new ValueError('optimizer.learningRate', expected, learningRate);
  }
  const made = make(settings, {
    learningRate: learningRate as number | (() => number),
    clipvalue: settings.clipValue as number | null,
    clipWeightMin: settings.clipWeightMin,
    clipWeightMax: settings.clipWeightMax,
    weightDecayFactor: settings.weightDecay,
    multiplyWeightDecayFactorByLearningRate: settings.multiplyWeightDecayByLearningRate,
  });
  refuseOtherFields(name, settings, asTrainOptimizer(made).settings);
  return made;
}

/** What a TPU optimizer cannot be told has to be as it has it. */
function refuseOtherFields(name: OptimizerName, given: Readonly<Settings>, taken: Readonly<Settings>): void {
  for (const field of fieldsOf(name)) {
    const isAsInKerasRs = name === 'adagrad' && field === 'epsilon' && given.epsilon === DEFAULTS.epsilon;
    if (isAsInKerasRs || sameField(given[field], taken[field])) continue;
    throw new ValueError(`optimizer.${field}`, `${describe(taken[field])} for TPU embeddings`, given[field]);
  }
}

/**
 * Returns the optimizer of `emb.train` that takes the same steps as a TPU optimizer.
 * Throws ValueError for a CustomOptimizer, steps by occurrence and functions that make slots.
 */
export function asTrainOptimizer(optimizer: TPUEmbeddingOptimizer): SparseOptimizer {
  const refuse = (field: string, expected: string, value: unknown): never => {
    throw new ValueError(`optimizer${field}`, `${expected} where no TPUEmbedding trains the table`, value);
  };
  if (!hasKernel(optimizer)) refuse('', 'an optimizer of emb.train', described(optimizer.getClassName()));
  if (!optimizer.useGradientAccumulation) refuse('.useGradientAccumulation', 'true', false);
  if (optimizer.slotVariableCreationFn !== null) {
    refuse('.slotVariableCreationFn', 'null', optimizer.slotVariableCreationFn);
  }
  const { name, config } = trainSettings(optimizer, optimizer.learningRate);
  const { initialAccumulatorValue } = optimizer as { initialAccumulatorValue?: number };
  return train[name](initialAccumulatorValue === undefined ? config : { ...config, initialAccumulatorValue });
}
