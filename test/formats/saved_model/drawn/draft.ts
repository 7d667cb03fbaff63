/** A model that is being drawn: its numbers, and what is fed to it. */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../../helpers/random.js';

export type Symbolic = tf.SymbolicTensor;
export type Args = Record<string, unknown>;

/** Rows that a model is run on. */
export const ROWS = 4;

/** What an input is to the layer that reads it. */
export type Form = 'dense' | 'raggedIds' | 'raggedWeights';

export interface Fed {
  readonly symbolic: Symbolic;
  readonly value: tf.Tensor;
  readonly form: Form;
}

/** The stock layers of TensorFlow.js, whose types do not know all of their arguments. */
export const stock = tf.layers as unknown as Readonly<Record<string, (args?: Args) => tf.layers.Layer>>;

const ACTIVATIONS =
  'elu selu relu relu6 linear sigmoid hardSigmoid softplus softsign tanh softmax logSoftmax gelu gelu_new mish swish';
const INITIALIZERS =
  'glorotNormal glorotUniform heNormal heUniform leCunNormal leCunUniform ones randomNormal randomUniform truncatedNormal';
/** Signs that the names of ops and of arguments in Python have not. */
const NAMES_OF_KERAS = ['in-put', 'x.y', 'input'];
const NAMES = [...NAMES_OF_KERAS, ...NAMES_OF_KERAS, ...NAMES_OF_KERAS, 'x/y'];

export class Draft {
  readonly r: Random;
  readonly fed: Fed[] = [];

  /** `forKeras`: whether there is only what Keras has, too. */
  constructor(
    readonly seed: number,
    readonly forKeras: boolean,
  ) {
    this.r = new Random(seed);
  }

  /** Whether to draw what Keras has not. */
  beyondKeras(probability: number): boolean {
    return !this.forKeras && this.r.chance(probability);
  }

  input(value: tf.Tensor, form: Form = 'dense', open: readonly (number | null)[] = value.shape.slice(1)): Symbolic {
    const number = this.fed.length;
    const name = `${this.r.pick(this.forKeras ? NAMES_OF_KERAS : NAMES)}_${number}`;
    const symbolic = tf.input({ shape: [...open], dtype: value.dtype as 'int32', name });
    this.fed.push({ symbolic, value, form });
    return symbolic;
  }

  floats(...shape: number[]): tf.Tensor {
    return tf.tensor(this.r.floats(tf.util.sizeFromShape([ROWS, ...shape]), -2, 2), [ROWS, ...shape]);
  }

  ids(below: number, ...shape: number[]): tf.Tensor {
    const size = tf.util.sizeFromShape([ROWS, ...shape]);
    const values = Int32Array.from({ length: size }, () => this.r.whole(0, below));
    return tf.tensor(values, [ROWS, ...shape], 'int32');
  }

  /** Rows of different lengths, some of them empty, filled with a number. */
  padded(below: number, length: number, padding: number): tf.Tensor {
    const rows = Array.from({ length: ROWS }, () => {
      const end = this.r.whole(0, length + 1);
      return Array.from({ length }, (_, i) => (i < end ? this.r.whole(0, below) : padding));
    });
    return tf.tensor2d(rows, [ROWS, length], 'int32');
  }

  apply(layer: tf.layers.Layer, input: Symbolic | Symbolic[]): Symbolic {
    return layer.apply(input) as Symbolic;
  }

  /** `name`: the argument. */
  activation(name = 'activation'): Args {
    return this.r.chance(0.3) ? {} : { [name]: this.r.pick(ACTIVATIONS.split(' ')) };
  }

  flag(name: string): Args {
    return this.r.chance(0.5) ? {} : { [name]: this.r.chance(0.5) };
  }

  /** What changes no prediction, but must be written and read; regularizers and constraints of tfjs leave tensors. */
  weight(...names: string[]): Args {
    const args: Args = {};
    for (const name of names) {
      if (this.r.chance(0.2)) args[`${name}Initializer`] = this.r.pick(INITIALIZERS.split(' '));
    }
    return args;
  }

  /** One number, or one for each axis. */
  sizes(axes: number, most: number): number | number[] {
    if (this.r.chance(0.5)) return this.r.whole(1, most + 1);
    return Array.from({ length: axes }, () => this.r.whole(1, most + 1));
  }

  padding(): Args {
    return this.r.chance(0.5) ? { padding: 'same' } : {};
  }
}
