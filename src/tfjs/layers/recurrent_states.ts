/**
 * The states that a recurrent layer gives beside its result. Where it gives the last step alone, its result and its first
 * state are one tensor in tfjs, which the loop that runs a model frees when the one has been read, though not the other.
 *
 * And the masks of dropout that its cells keep during a sequence. Only the layers that make their own cell free them before
 * the next one: those of the first step stay for ever in `tf.layers.rnn`, in prediction too.
 */
import * as tf from '@tensorflow/tfjs';

const MARK = Symbol.for('tfjs-embeddings.recurrentStates');

type Call = (this: { readonly cell: Cell }, ...args: unknown[]) => tf.Tensor | tf.Tensor[];

interface Cell {
  readonly cells?: readonly Cell[];
  dropoutMask?: tf.Tensor | tf.Tensor[] | null;
  recurrentDropoutMask?: tf.Tensor | tf.Tensor[] | null;
}

function freeMasks(cell: Cell): void {
  for (const field of ['dropoutMask', 'recurrentDropoutMask'] as const) {
    const masks = cell[field] ?? null;
    if (masks === null) continue;
    tf.dispose(masks);
    cell[field] = null;
  }
  cell.cells?.forEach(freeMasks);
}

/** Makes each result a tensor of its own, and masks last one sequence. May be called again. */
export function partStates(): void {
  const prototype = tf.RNN.prototype as unknown as { call: Call; [MARK]?: true };
  if (prototype[MARK] === true) return;
  prototype[MARK] = true;
  const { call } = prototype;
  prototype.call = function (...args) {
    freeMasks(this.cell);
    const results = call.apply(this, args);
    if (!Array.isArray(results)) return results;
    return results.map((each, i) => (results.indexOf(each) < i ? tf.clone(each) : each));
  };
}
