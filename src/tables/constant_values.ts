/** The initializer `ConstantValues`: Keras's Constant of an array. That of TensorFlow.js takes one number. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';

interface Constant {
  readonly value: unknown;
  apply(shape: tf.Shape, dtype?: tf.DataType): tf.Tensor;
}

// tfjs exports no classes of initializers.
const Stock = tf.initializers.constant({ value: 0 }).constructor as unknown as { new (args: object): Constant };

type Nested = readonly (number | Nested)[];

/** The shape of evenly nested numbers. */
function shapeOf(value: unknown): number[] {
  const expected = 'numbers, nested evenly';
  if (!Array.isArray(value)) throw new ArgumentTypeError('value', expected, value);
  const inner = value.map((each: unknown) => (typeof each === 'number' ? [] : shapeOf(each)));
  const uneven = inner.find((shape) => !tf.util.arraysEqual(shape, inner[0]!));
  if (uneven === undefined) return [value.length, ...(inner[0] ?? [])];
  throw new ValueError('value', expected, described(`shapes [${inner[0]!.join(', ')}] and [${uneven.join(', ')}]`));
}

/**
 * A weight begins as given numbers, which are repeated along axes that they do not have.
 * `value`: evenly nested arrays. Throws TypeError for other values; ValueError for uneven ones, and for a weight of a
 * shape to which they do not broadcast.
 * Source: keras.initializers.Constant (Keras 3).
 */
export class ConstantValues extends Stock {
  static readonly className: string = 'TfjsEmbeddings>ConstantValues';
  readonly #shape: readonly number[];

  constructor(args: { value: Nested }) {
    super(args);
    this.#shape = shapeOf(args.value);
  }

  override apply(shape: tf.Shape, dtype: tf.DataType = 'float32'): tf.Tensor {
    const own = this.#shape;
    const wanted = shape as number[];
    const fits = own.length <= wanted.length && own.every((size, i) => [1, wanted.at(i - own.length)].includes(size));
    if (!fits) {
      const expected = `numbers of a shape that broadcasts to [${wanted.join(', ')}]`;
      throw new ValueError('value', expected, described(`shape [${own.join(', ')}]`));
    }
    return tf.tidy(() => tf.broadcastTo(tf.tensor(this.value as number[], [...own], dtype), wanted));
  }
}
