/** Kernels that tfjs registers and this package replaces: the stock one remains for what ours does not take. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from './own_functions.js';

type Marked = tf.KernelConfig & { readonly [mark: symbol]: true | undefined };

/**
 * Registers what `replacement` makes of the stock kernel in its place. Does nothing where the backend has no such kernel
 * yet, or where one of this purpose is in place already, of another copy of this package too.
 */
export function replaceStockKernel(
  kernelName: string,
  backendName: string,
  purpose: string,
  replacement: (stock: tf.KernelFunc) => tf.KernelFunc,
): void {
  const mark = Symbol.for(`tfjs-embeddings.${purpose}`);
  const stock = tf.getKernel(kernelName, backendName) as Marked | undefined;
  if (stock === undefined || stock[mark] === true) return;
  const replaced: Marked = { ...stock, kernelFunc: replacement(stock.kernelFunc), [mark]: true };
  tf.unregisterKernel(kernelName, backendName);
  tf.registerKernel(asOwn(replaced));
}
