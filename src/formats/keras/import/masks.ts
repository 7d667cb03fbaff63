/** Which tensors of a graph carry a mask in TensorFlow.js, and where it comes from: files of Keras 3 say it too. */
import type * as tf from '@tensorflow/tfjs';
import { described, type ValueError } from '../../../base/errors.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { layerError, type NamedLayer } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { ToldMask, anyOf, concatenatedMask, notEqual } from './told_masks.js';

type Symbolic = tf.SymbolicTensor;

/** A layer, and what a file says of it. */
export interface MaskedLayer {
  readonly json: NamedLayer & { readonly config: Readonly<Record<string, unknown>> };
  readonly layer: tf.layers.Layer;
}

export const LOOPS = ['SimpleRNN', 'LSTM', 'GRU', 'Bidirectional'];
/** Layers of Keras that compute something else where there is a mask, and here do not. */
const IGNORED_HERE = ['GlobalAveragePooling1D', 'Softmax'];
/** Layers that take a mask, and do here what they do in Keras. */
const TAKERS = [...LOOPS, 'TimeDistributed', 'BatchNormalization'];

/** Layers that pass a mask on in Keras, and here end it. */
const ENDS_HERE = ['ELU', 'LeakyReLU', 'Normalization', 'Rescaling', 'ThresholdedReLU'];

/** Layers that leave each step of a sequence to itself. */
const STEPWISE = [
  'Activation',
  'Dense',
  'Dropout',
  'ELU',
  'LayerNormalization',
  'LeakyReLU',
  'ReLU',
  'TimeDistributed',
];

/** What is known of the mask of a tensor; models within models pass it on. */
export interface CarriedMask {
  /** The tensor that the mask is made of or with, ids or steps; undefined where there is none. */
  readonly source: Symbolic | undefined;
  /** Whether masked steps are zeros in Keras, and here the steps before. */
  readonly isHeld: boolean;
  /** Whether it has another mask in Keras, or has one there alone: merging layers join masks otherwise, some end them here. */
  readonly isMixed: boolean;
}

/** The error of masked steps that are told, which are zeros in Keras and here are not. */
export function heldError(json: NamedLayer): ValueError {
  const expected = 'false where masked steps are read: TensorFlow.js repeats the step before';
  return layerError(json, 'zero_output_for_mask', expected, true);
}

function returnsSequences(layer: tf.layers.Layer): boolean {
  return (layer as unknown as { returnSequences: boolean }).returnSequences;
}

/** Whether sequences come one after the other: all join masks of steps alike. */
function joinsSteps(layer: tf.layers.Layer, { rank }: Symbolic): boolean {
  const { axis } = layer as unknown as { axis: unknown };
  return layer.getClassName() === 'Concatenate' && typeof axis === 'number' && axis >= 0 && axis < rank - 1;
}

/** By tensor, the tensor of which its mask is made: ids, or what Masking or Concatenate gives. */
export class Masks {
  /** How Keras 3 tells the masks made with a tensor; of ids, where they are not 0. */
  readonly #told = new Map<Symbolic, ToldMask>();
  readonly #sources = new Map<Symbolic, Symbolic>();
  readonly #held = new Set<Symbolic>();
  readonly #mixed = new Set<Symbolic>();

  /** The tensor whose zeros are masked in another one; undefined where none are. */
  sourceOf(tensor: Symbolic): Symbolic | undefined {
    return this.#sources.get(tensor);
  }

  /** Whether a tensor has a mask here, be it another one than in Keras. */
  isMasked(tensor: Symbolic): boolean {
    return this.#sources.has(tensor) || this.#mixed.has(tensor);
  }

  /** How Keras 3 tells the mask of a tensor; null where it has none. */
  #textOf(tensor: Symbolic): ToldMask | null {
    const source = this.#sources.get(tensor);
    return source === undefined ? null : (this.#told.get(source) ?? notEqual(source, 0));
  }

  carriedBy(tensor: Symbolic): CarriedMask {
    const [isHeld, isMixed] = [this.#held.has(tensor), this.#mixed.has(tensor)];
    return { source: this.#sources.get(tensor), isHeld, isMixed };
  }

  /** Notes the mask of a tensor that comes from elsewhere. */
  carry(tensor: Symbolic, { source, isHeld, isMixed }: CarriedMask): void {
    if (source !== undefined) this.#sources.set(tensor, source);
    if (isHeld) this.#held.add(tensor);
    if (isMixed) this.#mixed.add(tensor);
  }

  /** Throws where a call would give another result than in Keras because of a mask; `given`: what the file says of it. */
  check({ json }: MaskedLayer, inputs: readonly Symbolic[], given: unknown): void {
    const source = this.#sources.get(inputs[0]!);
    const { className } = json;
    const isMasked = source !== undefined || this.#mixed.has(inputs[0]!);
    if (isMasked && IGNORED_HERE.includes(className)) {
      const expected = `nothing that is masked: ${className} of TensorFlow.js takes no masks`;
      throw layerError(json, 'mask', expected, described('the mask of an embedding or of Masking'));
    }
    const skips = LOOPS.includes(className) && source !== undefined;
    if (!skips && !STEPWISE.includes(className)) for (const input of inputs) this.checkWhole(input, json);
    if (given === undefined || given === null) return;
    const own = this.#mixed.has(inputs[0]!) ? null : this.#textOf(inputs[0]!);
    if (given instanceof ToldMask && given.text === own?.text && TAKERS.includes(className)) return;
    const expected = 'the mask that an embedding with mask_zero, Masking or Concatenate passes on';
    throw layerError(json, 'mask', expected, described('another mask'));
  }

  /** Throws for a recurrent layer to which Keras 3 passes another mask. */
  checkPassed({ json }: MaskedLayer, [first]: readonly Symbolic[]): void {
    if (!LOOPS.includes(json.className) || !this.#mixed.has(first!)) return;
    const expected = 'the mask that Keras passes on, which joins masks in another way and ends them elsewhere';
    throw layerError(json, 'mask', expected, described('another one'));
  }

  /** Throws where the masked steps of a sequence are told, which are zeros in Keras and here are not. */
  checkWhole(tensor: Symbolic, json: NamedLayer): void {
    if (this.#held.has(tensor)) throw heldError(json);
  }

  /** Notes the masks of what a call gives. */
  pass({ json, layer }: MaskedLayer, inputs: readonly Symbolic[], outputs: readonly Symbolic[]): void {
    const before = inputs.map((input) => this.#sources.get(input)).find((each) => each !== undefined);
    let source = layer.supportsMasking ? before : undefined;
    if (layer instanceof Embedding) source = layer.maskZero && layer.combiner === null ? inputs[0] : undefined;
    else if (json.className === 'Embedding') {
      source = (layer as unknown as { maskZero: boolean }).maskZero ? inputs[0] : undefined;
    } else if (json.className === 'Masking') {
      source = outputs[0]!;
      const { maskValue } = layer as unknown as { maskValue: number };
      this.#told.set(source, anyOf(notEqual(inputs[0]!, maskValue)));
    } else if (layer instanceof Concatenate && before !== undefined) {
      source = outputs[0]!;
      const masks = inputs.map((input) => this.#textOf(input));
      this.#told.set(source, concatenatedMask(inputs, masks, layer.axis));
    } else if (LOOPS.includes(json.className)) {
      source = returnsSequences(layer) ? before : undefined;
    }
    if (source !== undefined) this.#sources.set(outputs[0]!, source);
    const zeroes = json.config['zero_output_for_mask'] === true || json.className === 'Bidirectional';
    const holds = LOOPS.includes(json.className) && zeroes && source !== undefined;
    const passesOn = STEPWISE.includes(json.className) && this.#held.has(inputs[0]!);
    if (holds || passesOn) this.#held.add(outputs[0]!);
    const merges = STOCK_LAYERS.get(json.className)?.merges === true && !joinsSteps(layer, inputs[0]!);
    const sources = new Set(inputs.map((input) => this.#sources.get(input)));
    const joinsOtherwise = merges && !(layer instanceof Concatenate) && sources.size > 1 && source !== undefined;
    const passesMask = layer.supportsMasking || ENDS_HERE.includes(json.className);
    const wasMixed = inputs.some((input) => this.#mixed.has(input));
    const isLast = LOOPS.includes(json.className) && !returnsSequences(layer);
    const endsHere = before !== undefined && ENDS_HERE.includes(json.className);
    if (joinsOtherwise || endsHere || (wasMixed && passesMask && !isLast)) this.#mixed.add(outputs[0]!);
  }
}
