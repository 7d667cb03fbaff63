/**
 * Override of the dropout of recurrent cells of tfjs: one mask for all steps of a sequence, which tfjs draws in JavaScript,
 * and keeps until the layer is called again.
 */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';
import { droppedByOp, isDropping, tidied } from './random_numbers.js';

type Masks = tf.Tensor | tf.Tensor[] | null;

/** The fields of a cell; a layer frees its masks before each sequence. */
interface Cell extends tf.layers.Layer {
  readonly dropout: number;
  readonly recurrentDropout: number;
  /** Of users; null or undefined: the dropout of tfjs. */
  readonly dropoutFunc?: unknown;
  dropoutMask: Masks;
  recurrentDropoutMask: Masks;
}

type Call = (this: Cell, inputs: tf.Tensor[], kwargs: Record<string, unknown>) => tf.Tensor[];

/** Makes `count` masks for a tensor, or one that is no list; null: tfjs makes them. */
export type MasksBy = (like: tf.Tensor, rate: () => number, count: number | null) => Masks;

const masks = new Substitute<MasksBy>('recurrent dropout');

/** Installs the hooks into tfjs. */
function installMasks(): void {
  const named = { name: 'stock', units: 1 };
  const ofImages = tf.layers.convLstm2dCell({ name: 'stock', filters: 1, kernelSize: 1 });
  // Those of sequences of vectors draw one for each gate, and take the first.
  const cells: readonly (readonly [object, number | null])[] = [
    [tf.layers.simpleRNNCell(named), null],
    [tf.layers.gruCell(named), 1],
    [tf.layers.lstmCell(named), 1],
    [ofImages, 4],
  ];
  for (const [cell, count] of cells) {
    masks.open<Call>(cell, 'call', (stock, byNow) => {
      return function (this: Cell, inputs, kwargs): tf.Tensor[] {
        const by = byNow();
        const isAsked = by !== null && kwargs['training'] === true && (this.dropoutFunc ?? null) === null;
        const [input, state] = inputs;
        if (isAsked && input !== undefined && state !== undefined) {
          if (isDropping(this.dropout)) this.dropoutMask ??= by(input, () => this.dropout, count);
          if (isDropping(this.recurrentDropout)) {
            this.recurrentDropoutMask ??= by(state, () => this.recurrentDropout, count);
          }
        }
        return stock.call(this, inputs, kwargs);
      };
    });
  }
}

/** Masks that are kept; null where the backend has no such op. */
export function nativeMasks(like: tf.Tensor, rate: () => number, count: number | null): Masks {
  const one = (): tf.Tensor | null => tidied(() => droppedByOp(tf.ones(like.shape), rate));
  if (count === null) {
    const mask = one();
    return mask === null ? null : tf.keep(mask);
  }
  const all = Array.from({ length: count }, one);
  return all.includes(null) ? null : all.map((mask) => tf.keep(mask!));
}

/** Each mask is an op. */
export const RECURRENT_DROPOUT = masks.as(nativeMasks, installMasks);
