/** Steps of the default dense optimizers as one op, where the backend has it; their state stays where tfjs keeps it. */
import * as tf from '@tensorflow/tfjs';
import { live } from '../backends/live_values.js';
import { currentBackend } from '../backends/registry.js';
import { DENSE_HYPER_FIELDS, type DenseHyper, type DenseOptimizerName } from '../backends/step_ops.js';
import { runningPowers, stateFor } from '../tfjs/stock_optimizer_state.js';

const NAMES: Readonly<Record<string, DenseOptimizerName>> = {
  SGD: 'sgd',
  Momentum: 'momentum',
  Adagrad: 'adagrad',
  Adam: 'adam',
};

interface Entry {
  readonly name: string;
  readonly tensor: tf.Tensor | null;
}

/** What a step needs of the fields of stock optimizers. */
interface StockFields {
  readonly momentum?: number;
  readonly useNesterov?: boolean;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

function hyperOf(stock: StockFields, learningRate: number): Float32Array {
  const { momentum = 0, useNesterov = false, beta1 = 0, beta2 = 0 } = stock;
  const hyper: DenseHyper = {
    learningRate,
    momentum,
    useNesterov: useNesterov ? 1 : 0,
    beta1,
    oneMinusBeta1: 1 - beta1,
    beta2,
    oneMinusBeta2: 1 - beta2,
    // Adagrad has none of its own and takes the backend's.
    epsilon: stock.epsilon ?? tf.backend().epsilon(),
  };
  return Float32Array.from(DENSE_HYPER_FIELDS, (field) => hyper[field]);
}

/** Whether the op may step a variable with this gradient. Loaded state may wait for a variable that is frozen. */
function isPlain(variable: tf.Variable | undefined, gradient: tf.Tensor | null): boolean {
  if (gradient === null) return true;
  if (variable === undefined) return false;
  const areFloats = variable.dtype === 'float32' && gradient.dtype === 'float32';
  return areFloats && tf.util.arraysEqual(variable.shape, gradient.shape);
}

/**
 * Takes the step of a stock optimizer: variables, state and values are those that it would leave. Returns false where
 * nothing was done, because the backend has no such op or the gradients are not what it takes.
 */
export function stepInOneOp(optimizer: tf.Optimizer, list: readonly Entry[], learningRate: () => number): boolean {
  const name = NAMES[optimizer.getClassName()];
  const { ops } = currentBackend();
  if (name === undefined || ops === null) return false;
  const { registeredVariables } = tf.engine();
  const all = list.map((entry) => registeredVariables[entry.name]);
  if (all.some((variable, i) => !isPlain(variable, list[i]!.tensor))) return false;
  const state = stateFor(optimizer, all);
  if (state === null) return false;
  const stepped = list.flatMap(({ tensor }, i) => (tensor === null ? [] : [i]));
  if (stepped.length === 0) return false;
  const powers = runningPowers(optimizer);
  ops.denseApply({
    optimizer: name,
    variables: stepped.map((i) => all[i]!),
    slots: state.map((entries) => stepped.map((i) => entries[i]!.variable)),
    powers: powers === null ? [] : [powers.accBeta1, powers.accBeta2],
    gradients: stepped.map((i) => list[i]!.tensor!),
    hyper: live(() => hyperOf(optimizer as unknown as StockFields, learningRate())),
  });
  return true;
}
