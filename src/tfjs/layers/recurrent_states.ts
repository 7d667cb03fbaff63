/**
 * The states of recurrent layers. Where a layer gives the last step alone, its result and its first state are one tensor
 * in tfjs, which the loop that runs a model frees when the one has been read, though not the other. And where a layer
 * begins with states, tfjs gives these for masked steps before the first one that counts, where Keras, in both versions,
 * gives zeros: there is no step before to repeat.
 *
 * And the masks of dropout that their cells keep during a sequence. Only the layers that make their own cell free them
 * before the next one: those of the first step stay for ever in `tf.layers.rnn`, in prediction too.
 */
import * as tf from '@tensorflow/tfjs';
import { override } from '../models/own_models.js';

interface Cell {
  readonly cells?: readonly Cell[];
  dropoutMask?: tf.Tensor | tf.Tensor[] | null;
  recurrentDropoutMask?: tf.Tensor | tf.Tensor[] | null;
}

interface Recurrent {
  readonly cell: Cell;
  readonly stateful: boolean;
  readonly goBackwards: boolean;
  readonly returnSequences: boolean;
}

type Call = (this: Recurrent, ...args: unknown[]) => tf.Tensor | tf.Tensor[];

function freeMasks(cell: Cell): void {
  for (const field of ['dropoutMask', 'recurrentDropoutMask'] as const) {
    const masks = cell[field] ?? null;
    if (masks === null) continue;
    tf.dispose(masks);
    cell[field] = null;
  }
  cell.cells?.forEach(freeMasks);
}

/** The mask of a call that begins with states which may not be zero; null for any other. */
function maskBehindStates(layer: Recurrent, kwargs: unknown): tf.Tensor | null {
  const { mask, initialState } = (kwargs ?? {}) as { mask?: unknown; initialState?: unknown };
  if (!layer.stateful && (initialState === undefined || initialState === null)) return null;
  const own: unknown = Array.isArray(mask) ? mask[0] : mask;
  return own instanceof tf.Tensor && own.rank === 2 ? own : null;
}

/** The result, with zeros at each step that no step which counts is before or at, in the order of the loop. */
function withoutEarlySteps(layer: Recurrent, result: tf.Tensor, mask: tf.Tensor): tf.Tensor {
  const counts = mask.cast('bool').cast('float32');
  const isLast = !layer.returnSequences;
  const ordered = layer.goBackwards ? counts.reverse(1) : counts;
  let begun = isLast ? ordered.max(1) : ordered.cumsum(1);
  while (begun.rank < result.rank) begun = begun.expandDims(-1);
  return tf.where(begun.greater(0), result, tf.zerosLike(result));
}

function withOwnStates(call: Call): Call {
  return function (...args) {
    freeMasks(this.cell);
    return tf.tidy(() => {
      const results = call.apply(this, args);
      const mask = maskBehindStates(this, args[1]);
      const list = Array.isArray(results) ? results : [results];
      const own = list.map((each, i) => (list.indexOf(each) < i ? tf.clone(each) : each));
      if (mask !== null) own[0] = withoutEarlySteps(this, own[0]!, mask);
      return Array.isArray(results) ? own : own[0]!;
    });
  };
}

/** Makes each result a tensor of its own, early masked steps zeros, and masks of dropout last one sequence. */
export function copyFinalState(): void {
  override(tf.RNN.prototype, 'call', withOwnStates, 'mend');
}
