/** The layer `DotInteraction`: the inner products of all pairs of features. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ValueError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import {
  FLOAT_LAYER_FIELDS,
  checkSameShapes,
  readFloatInputs,
  readFloatLayerArgs,
  type FloatLayerArgs,
} from '../float_inputs.js';
import { checkBoolean, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { pairDots } from './pair_dots.js';

/** Which columns to take, each at most once, out of how many. */
interface ColumnChoice {
  readonly columns: Int32Array;
  readonly total: number;
}

/**
 * Returns the chosen columns of [rows, total] as [rows, columns.length]. The gradient of tf.gather is missing on some
 * backends; here it is the other function of this file, a gather too.
 */
function pickColumns(matrix: tf.Tensor2D, choice: ColumnChoice): tf.Tensor2D {
  const op = tf.customGrad((x) => ({
    value: tf.gather(x as tf.Tensor2D, tf.tensor1d(choice.columns, 'int32'), 1),
    gradFunc: (dy: tf.Tensor) => spreadColumns(dy as tf.Tensor2D, choice),
  }));
  return op(matrix) as tf.Tensor2D;
}

/** The reverse: columns put back to their places in [rows, total], zeros elsewhere. */
function spreadColumns(matrix: tf.Tensor2D, choice: ColumnChoice): tf.Tensor2D {
  const { columns, total } = choice;
  const sources = new Int32Array(total).fill(columns.length);
  columns.forEach((column, i) => (sources[column] = i));
  const op = tf.customGrad((x) => {
    const padded = tf.concat([x as tf.Tensor2D, tf.zeros([(x as tf.Tensor2D).shape[0], 1])], 1);
    return {
      value: tf.gather(padded, tf.tensor1d(sources, 'int32'), 1),
      gradFunc: (dy: tf.Tensor) => pickColumns(dy as tf.Tensor2D, choice),
    };
  });
  return op(matrix) as tf.Tensor2D;
}

export interface DotInteractionArgs extends FloatLayerArgs {
  /** Whether each feature is also paired with itself. Default false. */
  selfInteraction?: boolean | undefined;
  /** Whether all n * n places are returned, with zeros at those that are left out. Default false. */
  skipGather?: boolean | undefined;
}

const FIELDS = ['selfInteraction', 'skipGather'] as const;
const EXPECTED = 'a list of float32 tensors [batch, dim] of one shape';

/** The places of the lower triangle of an n x n matrix, row by row, as if it were flat. */
function lowerTriangle(n: number, withDiagonal: boolean): Int32Array {
  const places: number[] = [];
  for (let row = 0; row < n; row++) {
    for (let column = 0; column < (withDiagonal ? row + 1 : row); column++) places.push(row * n + column);
  }
  return Int32Array.from(places);
}

/**
 * A layer that returns the inner products of all pairs among n features, as in DLRM.
 *
 * Takes a list of n float32 tensors [batch, dim]; returns float32 [batch, n (n - 1) / 2]: feature 1 with 0, then 2 with
 * 0 and 1, and so on. With `selfInteraction` each row of pairs ends with the feature and itself: n (n + 1) / 2. With
 * `skipGather` it is [batch, n * n], the flat lower triangle, zeros above it (and, without selfInteraction, on the
 * diagonal). It has no weights; an empty batch gives an empty result.
 * Source: keras_rs.layers.DotInteraction (Keras RS 0.4).
 *
 * @throws TypeError for inputs that are no float32 tensors and for options that are not boolean; ValueError for another
 * rank than 2, shapes that differ, and fewer than 2 features (1 with selfInteraction).
 *
 * @example
 * const layer = emb.layers.dotInteraction();
 * layer.apply([tf.tensor2d([[1, 2]]), tf.tensor2d([[3, 4]]), tf.tensor2d([[5, 6]])]).print(); // [[11, 17, 39]]
 */
export class DotInteraction extends tf.layers.Layer {
  static {
    brand(this, 'DotInteraction');
  }
  static readonly className: string = 'TfjsEmbeddings>DotInteraction';
  readonly selfInteraction: boolean;
  readonly skipGather: boolean;

  /** @param args - See `DotInteractionArgs`. */
  constructor(args?: DotInteractionArgs);
  constructor(...all: [DotInteractionArgs?]) {
    refusePositional('emb.layers.dotInteraction', FIELDS, all);
    const [args = {}] = all;
    const { given, base } = readFloatLayerArgs<DotInteractionArgs>(args, FIELDS, 'dot_interaction');
    super(base as never);
    this.selfInteraction = checkBoolean(given.selfInteraction, 'selfInteraction', false);
    this.skipGather = checkBoolean(given.skipGather, 'skipGather', false);
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    this.#checkShapes(shapes);
    const n = shapes.length;
    const pairs = (n * (this.selfInteraction ? n + 1 : n - 1)) / 2;
    return [shapes[0]![0]!, this.skipGather ? n * n : pairs];
  }

  #checkShapes(shapes: readonly SymbolicShape[]): void {
    shapes.forEach((shape, i) => {
      if (shape.length !== 2) throw new ValueError(`inputs[${i}]`, 'rank 2', described(`rank ${shape.length}`));
    });
    checkSameShapes(shapes);
    const least = this.selfInteraction ? 1 : 2;
    if (shapes.length >= least) return;
    throw new ValueError('inputs', `at least ${least} tensors to pair`, described(`${shapes.length}`));
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor | tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    this.#checkShapes(readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape));
    return super.apply(inputs, kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const features = (Array.isArray(inputs) ? inputs : [inputs]) as tf.Tensor2D[];
      const n = features.length;
      const choice = { columns: lowerTriangle(n, this.selfInteraction), total: n * n };
      const [batch, dim] = features[0]!.shape;
      if (batch === 0 || dim === 0)
        return tf.zeros(this.computeOutputShape(features.map(({ shape }) => shape)) as number[]);
      const own = this.skipGather ? null : (pairDots.now?.(features, this.selfInteraction) ?? null);
      if (own !== null) return own;
      const stacked = tf.stack(features, 1) as tf.Tensor3D;
      const products = tf.matMul(stacked, stacked, false, true).reshape([batch, n * n]) as tf.Tensor2D;
      return this.skipGather ? products.mul(maskOf(choice)) : pickColumns(products, choice);
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), selfInteraction: this.selfInteraction, skipGather: this.skipGather };
  }

  /** Makes the layer from its own config or from one of Keras RS, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}

function maskOf({ columns, total }: ColumnChoice): tf.Tensor1D {
  const mask = new Float32Array(total);
  for (const column of columns) mask[column] = 1;
  return tf.tensor1d(mask);
}
