/** Gradients by variable name, as `computeGradients` gives and `applyGradients` takes them. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkWhole } from '../base/live_tensor.js';
import { isRecord } from '../base/options.js';
import { IndexedSlices, checkLive } from './indexed_slices.js';

/** The gradient of a table as `IndexedSlices`; of anything else, or of a whole table, as a tensor of its shape. */
export type Gradient = tf.Tensor | IndexedSlices;

/**
 * Gradients by variable name: `IndexedSlices` for tables, tensors for all else. Loose, because `tf.Optimizer` fixes the
 * type of this result as a map of tensors.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type GradientMap = Record<string, any>;

/** A gradient with the name of its variable. */
export interface NamedGradient {
  readonly name: string;
  readonly tensor: Gradient | null | undefined;
}

/** Gradients by name, or as a list; null stands for none. */
export type Gradients = Readonly<Record<string, Gradient | null | undefined>> | readonly NamedGradient[];

const EXPECTED = 'gradients by variable name, as computeGradients gives them';

function listOf(gradients: unknown): unknown[] {
  if (Array.isArray(gradients)) return gradients as unknown[];
  if (!isRecord(gradients)) throw new ArgumentTypeError('grads', EXPECTED, gradients);
  return Object.keys(gradients).map((name) => ({ name, tensor: gradients[name] }));
}

/** The gradients that are there, by variable name. */
export function readGradients(gradients: unknown): { name: string; gradient: Gradient }[] {
  const found: { name: string; gradient: Gradient }[] = [];
  const names = new Set<string>();
  for (const each of listOf(gradients)) {
    const { name, tensor } = (each ?? {}) as { name?: unknown; tensor?: unknown };
    if (typeof name !== 'string')
      throw new ArgumentTypeError('grads', `${EXPECTED}, or a list of {name, tensor}`, each);
    if (tensor === null || tensor === undefined) continue;
    const argument = `grads[${JSON.stringify(name)}]`;
    const isSlices = tensor instanceof IndexedSlices;
    if (isSlices) checkLive(tensor, argument);
    else if (!(tensor instanceof tf.Tensor)) throw new ArgumentTypeError(argument, 'a tensor or IndexedSlices', tensor);
    else checkWhole(tensor, argument);
    if (names.has(name)) throw new ValueError(argument, 'one gradient per variable', described('several'));
    names.add(name);
    found.push({ name, gradient: tensor });
  }
  return found;
}
