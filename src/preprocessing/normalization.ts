/** Numbers shifted and scaled to mean 0 and variance 1. */
import type * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { checkBoolean } from '../base/layer_arguments.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import type { RaggedTensor } from '../ids/ragged_tensor.js';
import { checkKeys, checkName, readConfig } from './arguments.js';
import { learn, type AdaptOptions, type AsyncBatches, type Learner, type SyncBatches } from './cells/batches.js';
import {
  asNumber,
  namedValue,
  readCells,
  type CellData,
  type CellRows,
  type Cells,
  type NamedCells,
  type NumberArray,
} from './cells/cells.js';
import {
  LEAST_DEVIATION,
  keptAxes,
  nest,
  readAxis,
  readBoth,
  shapeOfGiven,
  type MomentList,
  type Moments,
} from './moments.js';
import { shapeOf, writeCells } from './cells/written_cells.js';

export interface NormalizationArgs {
  /** Name, kept in the config. */
  name?: string | null;
  /** Axes with a mean and a variance for each place; null or []: one for all. Default: -1. */
  axis?: number | readonly number[] | null;
  /** Means; without them, `adapt` finds them. */
  mean?: Moments | null;
  /** Variances, of the shape of `mean`. */
  variance?: Moments | null;
  /** Whether numbers are scaled back instead. Default: false. */
  invert?: boolean;
}

const KEYS = ['name', 'axis', 'mean', 'variance', 'invert'] as const;

export interface NormalizationConfig {
  name: string;
  axis: number[];
  mean: Moments | null;
  variance: Moments | null;
  invert: boolean;
}

/** Numbers in the container of `D`. */
export type NumbersOf<D> = D extends tf.Tensor
  ? tf.Tensor
  : D extends RaggedTensor | CellRows
    ? RaggedTensor
    : D extends NumberArray
      ? Float32Array
      : D extends readonly (infer E)[]
        ? NumbersOf<E>[]
        : number;

/** Running moments: for each place the number of values, their mean, and the sum of squared distances from it. */
class RunningMoments {
  #shape: readonly number[] | null = null;
  #mean = new Float64Array(0);
  #squares = new Float64Array(0);
  #count = 0;

  constructor(private readonly axis: readonly number[]) {}

  take(cells: Cells): void {
    const shape = shapeAlong(cells, this.axis);
    const kept = keptAxes(this.axis, shape);
    const sizes = kept.map((at) => shape[at]!);
    if (this.#shape !== null && this.#shape.join() !== sizes.join()) {
      throw new ValueError('data', `[${this.#shape}] along axis, as in the first batch`, described(`[${sizes}]`));
    }
    const places = sizes.reduce((product, size) => product * size, 1);
    if (this.#shape === null) {
      this.#shape = sizes;
      this.#mean = new Float64Array(places);
      this.#squares = new Float64Array(places);
    }
    const count = places === 0 ? 0 : cells.flat.length / places;
    if (count === 0) return;
    const place = placesOf(shape, kept);
    const values = Float64Array.from(cells.flat, (value, position) => finite(value, position, cells.places));
    const sums = new Float64Array(places);
    values.forEach((value, i) => (sums[place(i)]! += value));
    const means = sums.map((sum) => sum / count);
    const squares = new Float64Array(places);
    values.forEach((value, i) => (squares[place(i)]! += (value - means[place(i)]!) ** 2));
    const total = this.#count + count;
    for (let at = 0; at < places; at++) {
      const distance = means[at]! - this.#mean[at]!;
      this.#squares[at]! += squares[at]! + (distance * distance * this.#count * count) / total;
      this.#mean[at]! += (distance * count) / total;
    }
    this.#count = total;
  }

  end(): { mean: MomentList; variance: MomentList } {
    if (this.#count === 0) throw new ValueError('data', 'at least one value', described('none'));
    const shape = this.#shape!;
    const list = (values: Float64Array): MomentList => ({ shape, values: Array.from(values, Math.fround) });
    return { mean: list(this.#mean), variance: list(this.#squares.map((sum) => sum / this.#count)) };
  }
}

function finite(value: unknown, position: number, named: NamedCells): number {
  const number = asNumber(value, position, named);
  if (Number.isFinite(number)) return number;
  const [argument, received] = namedValue(String(number), position, named);
  throw new ValueError(argument, 'finite numbers', received);
}

/** Lengths of the axes; uneven rows are one row of numbers, where no axis is asked for. */
function shapeAlong(cells: Cells, axis: readonly number[]): number[] {
  const shape = shapeOf(cells);
  if (shape !== null) return shape;
  if (axis.length === 0) return [cells.count];
  throw new ValueError('axis', 'null for rows of different lengths', axis);
}

/** By the position of a value, the place of its moments: kept axes row-major. */
function placesOf(shape: readonly number[], kept: readonly number[]): (i: number) => number {
  if (kept.length === 0) return () => 0;
  const after = (axis: number): number => shape.slice(axis + 1).reduce((product, size) => product * size, 1);
  const axes = kept.map((axis, k) => ({
    stride: after(axis),
    size: shape[axis]!,
    step: kept.slice(k + 1).reduce((product, next) => product * shape[next]!, 1),
  }));
  return (i) => axes.reduce((place, { stride, size, step }) => place + (Math.floor(i / stride) % size) * step, 0);
}

/**
 * Returns (x - mean) / max(sqrt(variance), 1e-7) of numbers, as float32; with `invert` it turns this round.
 *
 * - `axis`: which axes have a mean and a variance for each place, by default the last; null: one for all numbers.
 * - Tensors give float32 tensors, arrays nested arrays, typed arrays Float32Array, ragged rows (with `axis: null`) a
 *   RaggedTensor.
 * - Errors: TypeError for values that are no numbers; ValueError for NaN, data that do not fit the moments, infinite
 *   numbers in `adapt`, a mean without a variance; RuntimeError for `apply` before `adapt` and `adapt` with given moments.
 *
 * Source: keras.layers.Normalization (Keras 3.15).
 *
 * @example
 * const normalization = new emb.preprocessing.Normalization({ axis: null });
 * normalization.adapt([1, 2, 3, 4, 5]);
 * normalization.apply([1, 3]); // [-1.4142135, 0]
 */
export class Normalization {
  static {
    brand(this, 'preprocessing.Normalization');
  }
  readonly name: string;
  readonly axis: readonly number[];
  readonly invert: boolean;
  private readonly isFixed: boolean;
  private moments: { readonly mean: MomentList; readonly variance: MomentList } | null;

  /** @param args - The axes, and the moments where they are known; see `NormalizationArgs`. */
  constructor(args?: NormalizationArgs);
  constructor(...given: [NormalizationArgs?]) {
    refusePositional('new emb.preprocessing.Normalization', ['axis', 'mean', 'variance', 'invert'], given);
    const [args = {}] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'normalization');
    this.axis = readAxis(args.axis);
    this.invert = checkBoolean(args.invert, 'invert', false);
    this.moments = readBoth(args.mean, args.variance, this.axis);
    this.isFixed = this.moments !== null;
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): Normalization {
    return new Normalization(readConfig<NormalizationArgs>(config, KEYS));
  }

  /** The means, by the kept axes; null before `adapt`. */
  get mean(): Moments | null {
    return this.moments === null ? null : nest(this.moments.mean);
  }

  /** The variances, by the kept axes; null before `adapt`. */
  get variance(): Moments | null {
    return this.moments === null ? null : nest(this.moments.variance);
  }

  /**
   * Learns mean and variance and returns this. What was learned before is forgotten.
   *
   * @param data - Numbers, or an iterable of batches of them; of an async one, or of a data set of `tf.data`, a promise
   * comes back.
   * @param options - How many batches are read.
   * @returns This object.
   */
  adapt(data: SyncBatches, options?: AdaptOptions): this;
  adapt(data: AsyncBatches, options?: AdaptOptions): Promise<this>;
  adapt(data: SyncBatches | AsyncBatches, options?: AdaptOptions): this | Promise<this> {
    if (this.isFixed) {
      throw new RuntimeError('adapt', 'a Normalization made without mean', described('one made with a mean'));
    }
    return learn(data, options, this.learner()!);
  }

  /**
   * Takes data part by part and learns from all of them; null where there is nothing to learn. For a Pipeline.
   *
   * @returns What takes the parts.
   */
  learner(): Learner<this> | null {
    if (this.isFixed) return null;
    const running = new RunningMoments(this.axis);
    return {
      take: (cells) => running.take(cells),
      end: () => {
        this.moments = running.end();
        return this;
      },
    };
  }

  /**
   * Returns the numbers shifted and scaled; see the class.
   *
   * @param data - The numbers: one, nested arrays, a tensor or ragged rows.
   * @returns Numbers in the form of the data.
   */
  apply<D extends CellData>(data: D): NumbersOf<D> {
    return this.applyCells(readCells(data)) as NumbersOf<D>;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param cells - The data.
   * @returns As `apply`.
   */
  applyCells(cells: Cells): unknown {
    const { moments, invert } = this;
    if (moments === null) {
      throw new RuntimeError('apply', 'mean and variance from adapt() or at construction', described('none yet'));
    }
    const shape = shapeAlong(cells, this.axis);
    const kept = keptAxes(this.axis, shape);
    // Where an axis of the moments has one place, it stands for all places of the input.
    const sizes = shapeOfGiven(moments.mean, kept, shape);
    const means = Float32Array.from(moments.mean.values);
    const deviations = Float32Array.from(moments.variance.values, (each) => Math.max(Math.fround(Math.sqrt(each)), LEAST_DEVIATION)); // prettier-ignore
    const place = broadcastPlaces(shape, sizes);
    const numbers = Float32Array.from(cells.flat, (value, i) => {
      const number = Math.fround(asNumber(value, i, cells.places));
      const at = place(i);
      return invert
        ? Math.fround(number * deviations[at]!) + means[at]!
        : Math.fround(number - means[at]!) / deviations[at]!;
    });
    return writeCells(cells, cells.container.kind === 'nested' ? Array.from(numbers) : numbers);
  }

  /**
   * Returns settings and moments as plain JSON values.
   *
   * @returns Settings and moments.
   */
  getConfig(): NormalizationConfig {
    const { name, axis, mean, variance, invert } = this;
    return { name, axis: [...axis], mean, variance, invert };
  }
}

/** The place of the moments of each value, where axes of length 1 stand for any. */
function broadcastPlaces(shape: readonly number[], sizes: readonly number[]): (i: number) => number {
  const wide = sizes.flatMap((size, axis) => (size === 1 ? [] : [axis]));
  return placesOf(shape, wide);
}
