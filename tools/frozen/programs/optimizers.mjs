/** Every optimizer, as it is and with each of its fields set. */
const rate = { learningRate: 0.1 };

/** Of `emb.train`: name of the variant, name of the optimizer, config. */
export const TRAIN = [
  ['sgd', 'sgd', rate],
  ['sgd, clipValue', 'sgd', { ...rate, clipValue: [-0.3, 0.2] }],
  ['sgd, clipNorm', 'sgd', { ...rate, clipNorm: 0.5 }],
  ['sgd, globalClipNorm', 'sgd', { ...rate, globalClipNorm: 0.5 }],
  ['sgd, clipWeight', 'sgd', { ...rate, clipWeightMin: -0.4, clipWeightMax: 0.5 }],
  ['sgd, weightDecay', 'sgd', { ...rate, weightDecay: 0.01 }],
  ['sgd, schedule', 'sgd', { learningRate: (step) => 0.1 / (1 + step) }],
  ['adagrad', 'adagrad', rate],
  ['adagrad, fields', 'adagrad', { ...rate, initialAccumulatorValue: 0.2, epsilon: 1e-3, weightDecay: 0.02 }],
  ['rowWiseAdagrad', 'rowWiseAdagrad', rate],
  ['rowWiseAdagrad, fields', 'rowWiseAdagrad', { ...rate, initialAccumulatorValue: 0.3, epsilon: 1e-3, clipNorm: 1 }],
  ['adagradMomentum', 'adagradMomentum', rate],
  ['adagradMomentum, momentum', 'adagradMomentum', { ...rate, momentum: 0.7, beta2: 0.9, epsilon: 1e-3 }],
  ['adagradMomentum, nesterov', 'adagradMomentum', { ...rate, momentum: 0.7, useNesterov: true }],
  ['adagradMomentum, exponent', 'adagradMomentum', { ...rate, exponent: 3, initialAccumulatorValue: 0.1 }],
  ['adagradMomentum, not lazy', 'adagradMomentum', { ...rate, momentum: 0.7, lazy: false }],
  ['adam', 'adam', rate],
  ['adam, fields', 'adam', { ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-3 }],
  ['adam, biasCorrection', 'adam', { ...rate, biasCorrection: false }],
  ['adam, sumInsideSqrt', 'adam', { ...rate, sumInsideSqrt: true, epsilon: 1e-3 }],
  ['adam, not lazy', 'adam', { ...rate, lazy: false }],
  ['adam, decoupled decay', 'adam', { ...rate, weightDecay: 0.1, multiplyWeightDecayByLearningRate: true }],
  ['ftrl', 'ftrl', rate],
  ['ftrl, penalties', 'ftrl', { ...rate, l1: 0.01, l2: 0.02, beta: 0.3 }],
  ['ftrl, learningRatePower', 'ftrl', { ...rate, learningRatePower: -0.3, initialAccumulatorValue: 0.2 }],
  ['ftrl, linears', 'ftrl', { ...rate, l1: 0.01, multiplyLinearByLearningRate: true }],
];

/** One variant of each optimizer. */
export const PLAIN_TRAIN = TRAIN.filter(([variant, name]) => variant === name);

/** Of `emb.tpu`: name of the variant, class, arguments. */
export const TPU = [
  ['SGD', 'SGD', rate],
  ['SGD, limits', 'SGD', { ...rate, clipvalue: 0.3, clipWeightMin: -0.5, clipWeightMax: 0.6, weightDecayFactor: 0.01 }],
  ['Adagrad', 'Adagrad', { ...rate, initialAccumulatorValue: 0.2 }],
  ['AdagradMomentum', 'AdagradMomentum', { ...rate, momentum: 0.7, beta2: 0.9, epsilon: 1e-3 }],
  ['AdagradMomentum, nesterov', 'AdagradMomentum', { ...rate, momentum: 0.7, useNesterov: true, epsilon: 1e-3 }],
  ['Adam', 'Adam', { ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-3 }],
  ['Adam, not lazy', 'Adam', { ...rate, lazyAdam: false }],
  ['Adam, sum outside', 'Adam', { ...rate, sumInsideSqrt: false }],
  ['FTRL', 'FTRL', { ...rate, l1RegularizationStrength: 0.01, l2RegularizationStrength: 0.02, beta: 0.3 }],
  ['FTRL, linears', 'FTRL', { ...rate, multiplyLinearByLearningRate: true }],
];
