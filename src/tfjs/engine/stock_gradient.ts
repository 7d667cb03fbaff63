/** Gradients that tfjs registers and this package replaces: the stock one remains for what ours does not take. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from './own_functions.js';

type Marked = tf.GradConfig & { readonly [mark: symbol]: true | undefined };

/**
 * Registers what `replacement` makes of the stock gradient in its place. Does nothing where tfjs has no such gradient,
 * or where one of this purpose is in place already, of another copy of this package too.
 */
export function replaceStockGradient(
  kernelName: string,
  purpose: string,
  replacement: (stock: tf.GradFunc) => tf.GradFunc,
): void {
  const mark = Symbol.for(`tfjs-embeddings.${purpose}`);
  const stock = tf.getGradient(kernelName) as Marked | undefined;
  if (stock === undefined || stock[mark] === true) return;
  const replaced: Marked = { ...stock, gradFunc: replacement(stock.gradFunc), [mark]: true };
  tf.unregisterGradient(kernelName);
  tf.registerGradient(asOwn(replaced));
}
