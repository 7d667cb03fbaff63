/**
 * Tells of each step of a stock optimizer before it is taken. All of them end in `applyGradients`, whoever asks for
 * them; tfjs has no hook there.
 */
import * as tf from '@tensorflow/tfjs';

type Apply = (gradients: tf.NamedTensorMap | { name: string; tensor: tf.Tensor }[]) => void;

const STOCK = [
  tf.SGDOptimizer,
  tf.MomentumOptimizer,
  tf.RMSPropOptimizer,
  tf.AdamOptimizer,
  tf.AdamaxOptimizer,
  tf.AdagradOptimizer,
  tf.AdadeltaOptimizer,
] as unknown as readonly { readonly prototype: { applyGradients: Apply } }[];

const MARK = Symbol.for('tfjs-embeddings.stockSteps');

/** The variables that a step changes; an entry without a gradient changes nothing. */
function steppedBy(gradients: Parameters<Apply>[0]): tf.Variable[] {
  const list = Array.isArray(gradients)
    ? gradients
    : Object.entries(gradients).map(([name, tensor]) => ({ name, tensor }));
  const { registeredVariables } = tf.engine();
  return list
    .filter(({ tensor }) => tensor !== null && tensor !== undefined)
    .map(({ name }) => registeredVariables[name])
    .filter((variable) => variable !== undefined);
}

/**
 * Calls `check` with each variable that a stock optimizer is about to step; what it throws refuses the step. Once per
 * copy of tfjs: later calls do nothing.
 */
export function beforeStockSteps(check: (variable: tf.Variable) => void): void {
  for (const { prototype } of STOCK) {
    if (Object.hasOwn(prototype, MARK)) continue;
    const apply = prototype.applyGradients;
    prototype.applyGradients = function (this: unknown, gradients): void {
      for (const variable of steppedBy(gradients)) check(variable);
      apply.call(this, gradients);
    };
    Object.defineProperty(prototype, MARK, { value: true });
  }
}
