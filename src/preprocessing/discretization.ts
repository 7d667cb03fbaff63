/** Numbers to ids by bins. */
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkWhole, isAbsent, readConfig } from './arguments.js';
import { learn, type AdaptOptions, type AsyncBatches, type Learner, type SyncBatches } from './cells/batches.js';
import { asNumber, namedValue, readCells, type CellData, type Cells } from './cells/cells.js';
import {
  PLAIN_MODES,
  checkOutputMode,
  encode,
  type OutputMode,
  type OutputModeInput,
  type OutputOf,
} from './cells/output_mode.js';
import { Quantiles } from './quantiles.js';

export interface DiscretizationArgs<M = OutputModeInput> {
  /** Name, kept in the config. */
  name?: string | null;
  /** Inner boundaries, ascending; a value on a boundary belongs to the bin above it. */
  binBoundaries?: readonly number[] | null;
  /** Number of bins that `adapt` fills about equally; in place of `binBoundaries`. */
  numBins?: number | null;
  /** Share of the data by which `adapt` may miss a quantile. */
  epsilon?: number;
  /** `int` (default), `oneHot`, `multiHot` or `count`. */
  outputMode?: M;
}

const KEYS = ['name', 'binBoundaries', 'numBins', 'epsilon', 'outputMode'] as const;

export interface DiscretizationConfig {
  name: string;
  binBoundaries: number[] | null;
  numBins: number | null;
  epsilon: number;
  outputMode: OutputMode;
}

/**
 * Turns numbers into the ids of bins: 0 below the first boundary, `binBoundaries.length` from the last one on.
 *
 * - `binBoundaries`, or `numBins` and then `adapt(data)`, which sets `binBoundaries` to quantiles: fewer where there are
 *   fewer values than bins, repeated where one value fills several bins (the bins between stay empty).
 * - Ids are int32, in the container that the data came in: nested arrays stay nested, tensors stay tensors.
 * - Other modes of `outputMode` give vectors with a place for each bin.
 * - Values and boundaries are compared as float32, as Keras does.
 * - Infinite values fall into the outer bins. There is no row for unknown values; NaN is refused.
 * - Errors: TypeError for other types; ValueError for NaN, boundaries that fall, both or neither of `binBoundaries` and
 *   `numBins`, epsilon outside (0, 1), `adapt` without values; RuntimeError for `apply` before `adapt` and for `adapt`
 *   with fixed boundaries.
 *
 * Source: keras.layers.Discretization (Keras 3.15).
 *
 * @example
 * const bins = new emb.preprocessing.Discretization({ numBins: 4 });
 * bins.adapt([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]]);
 * bins.apply([[-1.5, 1.0], [3.4]]); // [[0, 2], [3]]
 */
export class Discretization<M = 'int'> {
  static {
    brand(this, 'Discretization');
  }
  readonly name: string;
  readonly numBins: number | null;
  readonly epsilon: number;
  readonly outputMode: OutputMode;
  private boundaries: number[] | null = null;

  /** @param args - The boundaries, or the number of bins to adapt; see `DiscretizationArgs`. */
  constructor(args: DiscretizationArgs<M>);
  constructor(...given: [DiscretizationArgs<M>]) {
    const names = [Array.isArray(given[0]) ? 'binBoundaries' : 'numBins', 'epsilon'];
    refusePositional('new emb.preprocessing.Discretization', names, given);
    const [args] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'discretization');
    const hasBoundaries = !isAbsent(args.binBoundaries);
    const hasNumBins = !isAbsent(args.numBins);
    if (hasBoundaries === hasNumBins) {
      const received = described(hasBoundaries ? 'both' : 'neither');
      throw new ValueError('numBins', 'either numBins or binBoundaries', received);
    }
    this.numBins = hasNumBins ? checkWhole(args.numBins, 'numBins', 1) : null;
    this.epsilon = checkEpsilon(args.epsilon ?? 0.01);
    this.outputMode = checkOutputMode<OutputMode>(args.outputMode, PLAIN_MODES, 'int');
    if (hasBoundaries) this.boundaries = checkBoundaries(args.binBoundaries);
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): Discretization {
    const args = readConfig<DiscretizationArgs<'int'>>(config, KEYS);
    if (isAbsent(args.numBins) || isAbsent(args.binBoundaries)) return new Discretization(args);
    // An adapted one has both.
    const made = new Discretization({ ...args, binBoundaries: null });
    made.boundaries = checkBoundaries(args.binBoundaries);
    return made;
  }

  /** The inner boundaries, ascending; null before `adapt`. */
  get binBoundaries(): readonly number[] | null {
    return this.boundaries === null ? null : [...this.boundaries];
  }

  /**
   * Sets the boundaries to quantiles of the values (held as float32) and returns this; see the class.
   *
   * @param data - The values whose quantiles become the boundaries, or an iterable of batches of them; of an async one,
   * or of a data set of `tf.data`, a promise comes back.
   * @param options - How many batches are read.
   * @returns This object.
   */
  adapt(data: SyncBatches, options?: AdaptOptions): this;
  adapt(data: AsyncBatches, options?: AdaptOptions): Promise<this>;
  adapt(data: SyncBatches | AsyncBatches, options?: AdaptOptions): this | Promise<this> {
    if (this.numBins === null) {
      const received = described('one made with binBoundaries');
      throw new RuntimeError('adapt', 'a Discretization made with numBins', received);
    }
    return learn(data, options, this.learner()!);
  }

  /**
   * Takes data part by part and learns from all of them; null where there is nothing to learn. For a Pipeline.
   *
   * @returns What takes the parts.
   */
  learner(): Learner<this> | null {
    const { numBins } = this;
    if (numBins === null) return null;
    const quantiles = new Quantiles(this.epsilon);
    return {
      take: (cells) => quantiles.take(finiteNumbers(cells)),
      end: () => {
        if (quantiles.isEmpty) throw new ValueError('data', 'at least one value', described('none'));
        this.boundaries = quantiles.boundaries(numBins);
        return this;
      },
    };
  }

  /**
   * Returns the ids, or vectors; see the class.
   *
   * @param data - The values: a number, nested arrays, a tensor or ragged rows.
   * @returns The ids, in the form of the data.
   */
  apply<D extends CellData>(data: D): OutputOf<D, M> {
    return this.applyCells(readCells(data)) as OutputOf<D, M>;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param cells - The data.
   * @returns As `apply`.
   */
  applyCells(cells: Cells): unknown {
    const { boundaries } = this;
    if (boundaries === null) {
      throw new RuntimeError('apply', 'boundaries from adapt() or at construction', described('none yet'));
    }
    // As TensorFlow compares them, whatever they come in.
    const floats = boundaries.map(Math.fround);
    const ids = Int32Array.from(cells.flat, (value, position) => {
      return binOf(Math.fround(asNumber(value, position, cells.places)), floats);
    });
    return encode(cells, ids, { mode: this.outputMode, depth: boundaries.length + 1 });
  }

  /** Places of the vectors; null: ids come. */
  get width(): number | null {
    if (this.outputMode === 'int') return null;
    return this.boundaries === null ? this.numBins : this.boundaries.length + 1;
  }

  /**
   * Returns settings and boundaries as plain JSON values.
   *
   * @returns Settings and boundaries.
   */
  getConfig(): DiscretizationConfig {
    const { name, boundaries, numBins, epsilon, outputMode } = this;
    const binBoundaries = boundaries === null ? null : writtenBoundaries(boundaries);
    return { name, binBoundaries, numBins, epsilon, outputMode };
  }
}

function finiteNumbers(cells: Cells): Float32Array {
  const values = Float32Array.from(cells.flat, (value, position) => asNumber(value, position, cells.places));
  const infinite = values.findIndex((value) => !Number.isFinite(value));
  if (infinite < 0) return values;
  const [argument, received] = namedValue(String(values[infinite]), infinite, cells.places);
  throw new ValueError(argument, 'finite numbers that fit float32', received);
}

/** How many boundaries are at or below the value. */
export function binOf(value: number, boundaries: readonly number[]): number {
  let low = 0;
  let high = boundaries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boundaries[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function checkEpsilon(epsilon: unknown): number {
  const expected = 'a number between 0 and 1';
  if (typeof epsilon !== 'number') throw new ArgumentTypeError('epsilon', expected, epsilon);
  if (!(epsilon > 0 && epsilon < 1)) throw new ValueError('epsilon', expected, epsilon);
  return epsilon;
}

/** Boundaries as numbers. Throws TypeError for what is none; ValueError where they fall. */
export function checkBoundaries(boundaries: unknown): number[] {
  const expected = 'an array of numbers';
  if (!Array.isArray(boundaries)) throw new ArgumentTypeError('binBoundaries', expected, boundaries);
  const read = boundaries.map((value: unknown, position) => asNumber(value, position, 'binBoundaries'));
  const fall = read.findIndex((value, i) => i > 0 && value < read[i - 1]!);
  if (fall >= 0) {
    const received = described(`${read[fall]} after ${read[fall - 1]}`);
    throw new ValueError('binBoundaries', 'numbers in ascending order', received);
  }
  return read.map((value) => (Number.isFinite(Math.fround(value)) ? value : Math.sign(value) * Infinity));
}

/** Boundaries for a config: JSON has no infinity, and the largest number is one in float32. */
export function writtenBoundaries(boundaries: readonly number[]): number[] {
  return boundaries.map((value) => (Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE));
}
