/** Which regularizers the losses of layers come from: tfjs keeps them within functions, and layers may be given others. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

const regularizers = (): WeakMap<object, readonly object[]> =>
  perProcess('regularizers of losses', () => new WeakMap());

/** Notes that a loss of a layer does nothing but apply this regularizer to a weight; returns it. */
export function asPenalty<F extends object>(loss: F, regularizer: object): F {
  regularizers().set(loss, [regularizer]);
  return loss;
}

/** The regularizers of which a loss of a layer applies one; null: it is the user's own. */
export function regularizersOf(loss: object): readonly object[] | null {
  return regularizers().get(loss) ?? null;
}

/** What the function says that tfjs makes for a weight with a regularizer. */
const stockText = (): string =>
  perProcess('the text of penalties', () => {
    const kernelRegularizer = tf.regularizers.l2({ l2: 1 });
    const layer = tf.layers.dense({ units: 1, name: 'penalized', kernelRegularizer });
    layer.build([null, 1]);
    const [loss] = (layer as unknown as { readonly _losses: readonly object[] })._losses;
    for (const weight of layer.weights) (weight.read() as tf.Variable).dispose();
    return String(loss);
  });

/** Notes the penalties of a layer that was just put into a model: its weights were made with the regularizers that it has. */
export function notePenalties(layer: object): void {
  const { _losses: losses = [] } = layer as { readonly _losses?: readonly unknown[] };
  for (const loss of losses) {
    if (typeof loss !== 'function' || regularizers().has(loss) || String(loss) !== stockText()) continue;
    const fields = Object.entries(layer as Record<string, unknown>);
    const own = fields.flatMap(([name, value]) =>
      /regularizer$/i.test(name) && value instanceof Object ? [value] : [],
    );
    regularizers().set(loss, own);
  }
}
