/** Which tensors of a graph carry a mask in TensorFlow.js, and where it comes from: files of Keras 3 say it too. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../errors.js';
import { Embedding } from '../../layers/embedding/embedding.js';
import { layerError, type NamedLayer } from '../layer_error.js';

type Symbolic = tf.SymbolicTensor;

/** A layer, and what a file says of it. */
export interface MaskedLayer {
  readonly json: NamedLayer & { readonly config: Readonly<Record<string, unknown>> };
  readonly layer: tf.layers.Layer;
}

/** The mask of ids that are not 0, which Keras 3 writes as an operation on the ids. */
export class IdMask {
  constructor(readonly ids: Symbolic) {}
}

const LOOPS = ['SimpleRNN', 'LSTM', 'GRU', 'Bidirectional'];
/** Layers of Keras that compute something else where there is a mask, and here do not. */
const IGNORED_HERE = ['GlobalAveragePooling1D', 'Softmax'];
/** Layers that take a mask, and do here what they do in Keras. */
const TAKERS = [...LOOPS, 'TimeDistributed', 'BatchNormalization'];

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

/** By tensor, the tensor whose zeros are masked. */
export class Masks {
  readonly #sources = new Map<Symbolic, Symbolic>();
  /** Sequences whose masked steps are zeros in Keras, and here the steps before. */
  readonly #held = new Set<Symbolic>();

  /** The tensor whose zeros are masked in another one; undefined where none are. */
  sourceOf(tensor: Symbolic): Symbolic | undefined {
    return this.#sources.get(tensor);
  }

  /** Throws where a call would give another result than in Keras because of a mask; `given`: what the file says of it. */
  check({ json }: MaskedLayer, inputs: readonly Symbolic[], given: unknown): void {
    const source = this.#sources.get(inputs[0]!);
    const { className } = json;
    if (source !== undefined && IGNORED_HERE.includes(className)) {
      const expected = `nothing that is masked: ${className} of TensorFlow.js takes no masks`;
      throw layerError(json, 'mask', expected, described('the mask of an embedding or of Masking'));
    }
    const skips = LOOPS.includes(className) && source !== undefined;
    if (!skips && !STEPWISE.includes(className)) for (const input of inputs) this.checkWhole(input, json);
    if (given === null && skips) {
      // Keras 3 tells the mask of each call; TensorFlow.js passes its own on.
      throw layerError(json, 'mask', 'a mask where the inputs have one', described('none'));
    }
    if (given === undefined || given === null) return;
    if (given instanceof IdMask && given.ids === source && TAKERS.includes(className)) return;
    const expected = 'the mask that an embedding with mask_zero passes on';
    throw layerError(json, 'mask', expected, described('another mask'));
  }

  /** Throws where the masked steps of a sequence are told, which are zeros in Keras and here are not. */
  checkWhole(tensor: Symbolic, json: NamedLayer): void {
    if (!this.#held.has(tensor)) return;
    const expected = 'false where masked steps are read: TensorFlow.js repeats the step before';
    throw layerError(json, 'zero_output_for_mask', expected, true);
  }

  /** Notes the masks of what a call gives. */
  pass({ json, layer }: MaskedLayer, inputs: readonly Symbolic[], outputs: readonly Symbolic[]): void {
    const before = inputs.map((input) => this.#sources.get(input)).find((each) => each !== undefined);
    let source = layer.supportsMasking ? before : undefined;
    if (layer instanceof Embedding) source = layer.maskZero && layer.combiner === null ? inputs[0] : undefined;
    else if (json.className === 'Embedding') {
      source = (layer as unknown as { maskZero: boolean }).maskZero ? inputs[0] : undefined;
    } else if (json.className === 'Masking') source = outputs[0];
    else if (LOOPS.includes(json.className)) {
      source = (layer as unknown as { returnSequences: boolean }).returnSequences ? before : undefined;
    }
    if (source !== undefined) this.#sources.set(outputs[0]!, source);
    const zeroes = json.config['zero_output_for_mask'] === true || json.className === 'Bidirectional';
    const holds = LOOPS.includes(json.className) && zeroes && source !== undefined;
    const passesOn = STEPWISE.includes(json.className) && this.#held.has(inputs[0]!);
    if (holds || passesOn) this.#held.add(outputs[0]!);
  }
}
