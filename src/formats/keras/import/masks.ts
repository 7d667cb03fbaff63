/** Which tensors of a graph carry a mask in TensorFlow.js, and where it comes from: files of Keras 3 say it too. */
import type * as tf from '@tensorflow/tfjs';
import { described, type ValueError } from '../../../base/errors.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { WithMask } from '../../../layers/merge/with_mask.js';
import { layerError, type NamedLayer } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { ToldMask, anyOf, concatenatedMask, notEqual } from './told_masks.js';

type Symbolic = tf.SymbolicTensor;

/** How Keras 3 tells the masks made with a tensor, in all models; of ids, where they are not 0. */
const told = new WeakMap<Symbolic, ToldMask>();

/** A layer, and what a file says of it. */
export interface MaskedLayer {
  readonly json: NamedLayer & { readonly config: Readonly<Record<string, unknown>> };
  readonly layer: tf.layers.Layer;
}

export const LOOPS = ['SimpleRNN', 'LSTM', 'GRU', 'Bidirectional'];
/** Layers of TensorFlow.js that take no mask, where those of Keras do. */
const IGNORED_HERE = ['GlobalAveragePooling1D', 'Softmax'];
/** Layers that take the masks of all their inputs. */
export const ATTENTION = ['MultiHeadAttention', 'Attention', 'AdditiveAttention'];
/** Layers that leave masked numbers out of what they compute; those of TensorFlow.js and Keras 2 take them all. */
export const LEAVE_OUT = ['Multiply', 'Maximum', 'Minimum'];
/** Layers whose result a mask changes. */
const READERS = [...LOOPS, ...ATTENTION, 'GlobalAveragePooling1D'];

/** Layers that end a mask. */
const ENDERS = ['Dot', 'GlobalAveragePooling1D'];
/** Layers that pass a mask on in Keras, and here end it. */
export const ENDS_HERE = ['ELU', 'LeakyReLU', 'Normalization', 'Rescaling', 'ThresholdedReLU'];

/** Layers that join the masks of their inputs: in Keras 3 in another way than here. */
export const MERGED = ['Add', 'Average', 'Subtract'];

/** Layers that leave each step of a sequence to itself. */
export const STEPWISE = [
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
  readonly #sources = new Map<Symbolic, Symbolic>();
  readonly #held = new Set<Symbolic>();
  readonly #mixed = new Set<Symbolic>();
  readonly #bare = new Set<Symbolic>();

  /** The tensor whose zeros are masked in another one; undefined where none are. */
  sourceOf(tensor: Symbolic): Symbolic | undefined {
    return this.#sources.get(tensor);
  }

  /** Whether a tensor has a mask here, be it another one than in Keras. */
  isMasked(tensor: Symbolic): boolean {
    return this.#sources.has(tensor) || this.#mixed.has(tensor);
  }

  /** Whether a tensor has no mask, whatever masks come into the model. */
  isBare(tensor: Symbolic): boolean {
    return this.#bare.has(tensor);
  }

  /** The mask of a tensor; null where it has none. */
  maskOf(tensor: Symbolic): ToldMask | null {
    const source = this.#sources.get(tensor);
    return source === undefined ? null : (told.get(source) ?? notEqual(source, 0));
  }

  /** Whether a tensor has this mask in Keras and here. */
  has(tensor: Symbolic, mask: ToldMask | null): boolean {
    return !this.#mixed.has(tensor) && this.maskOf(tensor)?.text === mask?.text;
  }

  /** Notes that a tensor is another one with this mask; null: without one. */
  set(tensor: Symbolic, from: Symbolic, mask: ToldMask | null): void {
    if (this.#held.has(from)) this.#held.add(tensor);
    this.#mixed.delete(tensor);
    if (mask === null) {
      this.#bare.add(tensor);
      return;
    }
    this.#sources.set(tensor, tensor);
    told.set(tensor, mask);
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

  /** Throws where a call would give another result than in Keras because of a mask. */
  check({ json, layer }: MaskedLayer, inputs: readonly Symbolic[]): void {
    const { className } = json;
    if (IGNORED_HERE.includes(layer.getClassName()) && this.isMasked(inputs[0]!)) {
      const expected = `nothing that is masked: ${className} of TensorFlow.js takes no masks`;
      throw layerError(json, 'mask', expected, described('the mask of an embedding or of Masking'));
    }
    const skips = READERS.includes(className) && this.#sources.has(inputs[0]!);
    if (!skips && !STEPWISE.includes(className)) for (const input of inputs) this.checkWhole(input, json);
  }

  /** Throws for a layer whose result the mask changes, to which Keras passes another mask. */
  checkPassed({ json }: MaskedLayer, inputs: readonly Symbolic[]): void {
    const takesAll = [...ATTENTION, ...LEAVE_OUT].includes(json.className);
    const all = takesAll ? inputs : inputs.slice(0, 1);
    if (!(takesAll || READERS.includes(json.className)) || !all.some((input) => this.#mixed.has(input))) return;
    const expected = 'the mask that Keras passes on, which joins masks in another way and ends them elsewhere';
    throw layerError(json, 'mask', expected, described('another one'));
  }

  /** Throws where the masked steps of a sequence are told, which are zeros in Keras and here are not. */
  checkWhole(tensor: Symbolic, json: NamedLayer): void {
    if (this.#held.has(tensor)) throw heldError(json);
  }

  #passWithMask({ mask }: WithMask, [x, given]: readonly Symbolic[], output: Symbolic): void {
    if (mask === 'own') this.carry(output, this.carriedBy(x!));
    else this.set(output, x!, mask === 'none' ? null : new ToldMask('Cast', [given!], { dtype: 'bool' }));
  }

  /** Notes the masks of what a call gives. */
  pass({ json, layer }: MaskedLayer, inputs: readonly Symbolic[], outputs: readonly Symbolic[]): void {
    if (layer instanceof WithMask) return this.#passWithMask(layer, inputs, outputs[0]!);
    const isAttention = ATTENTION.includes(json.className);
    const givers = isAttention ? inputs.slice(0, 1) : inputs;
    const before = givers.map((input) => this.#sources.get(input)).find((each) => each !== undefined);
    const passesMask =
      (layer.supportsMasking && !ENDERS.includes(json.className)) || ENDS_HERE.includes(json.className);
    let source = layer.supportsMasking && passesMask ? before : undefined;
    if (layer instanceof Embedding) source = layer.maskZero && layer.combiner === null ? inputs[0] : undefined;
    else if (json.className === 'Embedding') {
      source = (layer as unknown as { maskZero: boolean }).maskZero ? inputs[0] : undefined;
    } else if (json.className === 'Masking') {
      source = outputs[0]!;
      const { maskValue } = layer as unknown as { maskValue: number };
      told.set(source, anyOf(notEqual(inputs[0]!, maskValue)));
    } else if (layer instanceof Concatenate && before !== undefined) {
      source = outputs[0]!;
      const masks = inputs.map((input) => this.maskOf(input));
      told.set(source, concatenatedMask(inputs, masks, layer.axis));
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
    const wasMixed = givers.some((input) => this.#mixed.has(input));
    const isLast = LOOPS.includes(json.className) && !returnsSequences(layer);
    const endsHere = before !== undefined && ENDS_HERE.includes(json.className);
    if (joinsOtherwise || endsHere || (wasMixed && passesMask && !isLast)) this.#mixed.add(outputs[0]!);
  }
}
