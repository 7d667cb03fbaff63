/** The layer `Normalization` of Keras models: numbers shifted and scaled by a mean and a variance. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ValueError, described } from '../../base/errors.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import { checkBoolean, type SymbolicShape } from '../../base/layer_arguments.js';
import {
  LEAST_DEVIATION,
  keptAxes,
  nest,
  readAxis,
  readBoth,
  shapeOfGiven,
  type MomentList,
  type Moments,
} from '../../preprocessing/moments.js';
import { raggedRowsOf, standInLike } from '../../tfjs/stand_ins.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { keepRagged, onlyShape, onlyTensor } from './encoded_ids.js';

export interface NormalizationArgs extends FloatLayerArgs {
  /** Axes with a mean and a variance for each place; null or []: one for all. Default: -1. */
  axis?: number | readonly number[] | null | undefined;
  /** Means; without them they are weights, which a file fills. */
  mean?: Moments | null | undefined;
  /** Variances, of the shape of `mean`. */
  variance?: Moments | null | undefined;
  /** Whether numbers are scaled back instead. Default: false. */
  invert?: boolean | undefined;
}

const FIELDS = ['axis', 'mean', 'variance', 'invert'] as const;
/**
 * A layer that returns (x - mean) / max(sqrt(variance), 1e-7), float32 of the shape of x; with `invert` it turns this
 * round.
 *
 * Takes numbers of any shape, of which the axes in `axis` have known sizes. Without `mean` and `variance` these are the
 * weights `mean`, `variance` (of the shape of these axes) and `count`, never trained: a loaded model has those that
 * Keras's `adapt` found.
 * Source: keras.layers.Normalization (Keras 3.15).
 *
 * @throws TypeError and ValueError for other arguments, a mean without a variance, and moments that do not fit the input.
 */
export class Normalization extends tf.layers.Layer {
  static {
    brand(this, 'Normalization');
  }
  static readonly className: string = 'TfjsEmbeddings>Normalization';
  readonly axis: readonly number[];
  readonly invert: boolean;
  readonly #given: { readonly mean: MomentList; readonly variance: MomentList } | null;
  #weights: { readonly mean: tf.Variable; readonly variance: tf.Variable } | null = null;
  #rank: number | null = null;

  constructor(args: NormalizationArgs = {}) {
    const { given, base } = readFloatLayerArgs<NormalizationArgs>(args, FIELDS, 'normalization');
    super(base as never);
    this.supportsMasking = true;
    this.axis = readAxis(given.axis);
    this.invert = checkBoolean(given.invert, 'invert', false);
    this.#given = readBoth(given.mean, given.variance, this.axis);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.built) return;
    const shape = onlyShape(inputShape);
    const kept = keptAxes(this.axis, shape);
    this.meetingShape(shape);
    this.#rank = shape.length;
    this.built = true;
    if (this.#given !== null) return;
    const sizes = kept.map((at) => shape[at]!);
    const add = (name: string, of: number[], dtype: 'float32' | 'int32', start: 'zeros' | 'ones'): tf.Variable => {
      const initializer = tf.initializers[start]();
      return this.addWeight(name, of, dtype, initializer, undefined as never, false).read() as tf.Variable;
    };
    this.#weights = {
      mean: add('mean', sizes, 'float32', 'zeros'),
      variance: add('variance', sizes, 'float32', 'ones'),
    };
    add('count', [], 'int32', 'zeros');
  }

  /** The shape in which the moments meet an input. */
  meetingShape(input: SymbolicShape): number[] {
    const kept = keptAxes(this.axis, input);
    // Over the last axis or none, Keras broadcasts alike for every rank.
    const takesAnyRank = this.axis.every((axis) => axis === -1);
    if (this.#rank !== null && this.#rank !== input.length && !takesAnyRank) {
      throw new ValueError('inputs', `rank ${this.#rank}, as in the first call`, described(`rank ${input.length}`));
    }
    if (this.#given !== null) return shapeOfGiven(this.#given.mean, kept, input);
    const sizes = this.#weights?.mean.shape ?? kept.map((at) => input[at]!);
    const isSame = kept.every((at, i) => sizes[i] === input[at]);
    if (!isSame) throw new ValueError('inputs', `[${sizes.join(', ')}] along axis, as in the first call`, input);
    return input.map((size, at) => (kept.includes(at) ? size! : 1));
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shape = onlyShape(inputShape);
    this.meetingShape(shape);
    return shape;
  }

  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    return keepRagged(inputs, super.apply(inputs as tf.Tensor, kwargs as never), 'float32');
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const input = onlyTensor(inputs);
      const rows = raggedRowsOf(input);
      if (rows !== null) {
        // One mean for all numbers: `axis` with places would need rows of one length.
        const values = this.#scaled(rows.values) as tf.Tensor1D;
        return standInLike(input as tf.Tensor2D, { values, rowSplits: rows.rowSplits.clone() }, true);
      }
      return this.#scaled(input);
    });
  }

  #scaled(numbers: tf.Tensor): tf.Tensor {
    return tf.tidy(() => {
      const x = numbers.cast('float32');
      const meeting = this.meetingShape(x.shape);
      const read = (moment: 'mean' | 'variance'): tf.Tensor => {
        if (this.#given === null) return this.#weights![moment].reshape(meeting);
        return tf.tensor([...this.#given[moment].values], meeting, 'float32');
      };
      const deviation = read('variance').sqrt().maximum(LEAST_DEVIATION);
      return this.invert ? x.mul(deviation).add(read('mean')) : x.sub(read('mean')).div(deviation);
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { axis, invert } = this;
    const given = this.#given;
    const [mean, variance] = given === null ? [null, null] : [nest(given.mean), nest(given.variance)];
    return { ...super.getConfig(), axis: [...axis], invert, mean, variance } as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config or from one of Keras. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
