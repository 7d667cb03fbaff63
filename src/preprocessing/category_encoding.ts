/** Ids to vectors with a place for each. */
import { ValueError, described } from '../base/errors.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkWhole, isAbsent, readConfig } from './arguments.js';
import { asNumber, namedValue, readCells, type CellData, type Cells } from './cells/cells.js';
import {
  VECTOR_MODES,
  checkOutputMode,
  encode,
  type OutputModeInput,
  type OutputOf,
  type PlainMode,
} from './cells/output_mode.js';

export interface CategoryEncodingArgs {
  /** Name, kept in the config. */
  name?: string | null;
  /** Number of ids; each is below it. */
  numTokens: number;
  /** `multiHot` (default), `oneHot` or `count`. */
  outputMode?: OutputModeInput;
}

const KEYS = ['name', 'numTokens', 'outputMode'] as const;

export interface CategoryEncodingConfig {
  name: string;
  numTokens: number;
  outputMode: PlainMode;
}

/**
 * Turns ids into float32 vectors of `numTokens` places: with `multiHot` 1 at each id of a row [batch, length], with
 * `count` how often it is there, with `oneHot` a vector for each id.
 *
 * - Tensors and ragged rows give tensors (`oneHot` of ragged rows: a RaggedTensor), arrays nested arrays.
 * - Fractions are cut off. As in Keras, ids from `numTokens` on stand for nothing, and so do negative ones with `oneHot`.
 * - Errors: TypeError for values that are no numbers; ValueError for NaN, negative ids with `multiHot` and `count`, rows
 *   deeper than [batch, length], and settings out of range.
 *
 * Source: keras.layers.CategoryEncoding (Keras 3.15).
 *
 * @example
 * const encoding = new emb.preprocessing.CategoryEncoding({ numTokens: 4, outputMode: 'count' });
 * encoding.apply([[0, 1], [0, 0], [1, 2], [3, 1]]); // [[1, 1, 0, 0], [2, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]]
 */
export class CategoryEncoding {
  static {
    brand(this, 'preprocessing.CategoryEncoding');
  }
  readonly name: string;
  readonly numTokens: number;
  readonly outputMode: PlainMode;

  /** @param args - The number of ids and the mode; see `CategoryEncodingArgs`. */
  constructor(args: CategoryEncodingArgs);
  constructor(...given: [CategoryEncodingArgs]) {
    refusePositional('new emb.preprocessing.CategoryEncoding', ['numTokens', 'outputMode'], given);
    const [args] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'category_encoding');
    this.numTokens = checkWhole(args.numTokens, 'numTokens', 1);
    this.outputMode = checkOutputMode(args.outputMode, VECTOR_MODES, 'multiHot');
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): CategoryEncoding {
    return new CategoryEncoding(readConfig<CategoryEncodingArgs>(config, KEYS));
  }

  /**
   * Does nothing and returns this, so that all classes of this folder are used alike.
   *
   * @param _data - Not read.
   * @returns This object.
   */
  adapt(_data?: unknown): this {
    return this;
  }

  /**
   * Returns the vectors; see the class.
   *
   * @param data - The ids: one, nested arrays, a tensor or ragged rows.
   * @param options - `countWeights`, with `count`: what each id counts, in the container of the ids.
   * @param options.countWeights - What each id counts.
   * @returns The vectors.
   */
  apply<D extends CellData>(data: D, options: { countWeights?: CellData | null } = {}): OutputOf<D, 'count'> {
    return this.applyCells(readCells(data), options) as OutputOf<D, 'count'>;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param cells - The data.
   * @param options - What each id counts.
   * @param options.countWeights - What each id counts.
   * @returns As `apply`.
   */
  applyCells(cells: Cells, options: { countWeights?: CellData | null } = {}): unknown {
    const ids = Int32Array.from(cells.flat, (value, position) => {
      const id = Math.trunc(asNumber(value, position, cells.places));
      if (id >= 0 || this.outputMode === 'oneHot') return id < this.numTokens ? id : -1;
      const [argument, received] = namedValue(String(id), position, cells.places);
      throw new ValueError(argument, `ids of at least 0 in outputMode ${this.outputMode}`, received);
    });
    const weights = this.readWeights(options.countWeights, ids.length);
    return encode(cells, ids, { mode: this.outputMode, depth: this.numTokens }, weights);
  }

  /** Places of the vectors; null: ids come. */
  get width(): number {
    return this.numTokens;
  }

  private readWeights(given: unknown, count: number): Float32Array | null {
    if (isAbsent(given)) return null;
    if (this.outputMode !== 'count') {
      throw new ValueError('countWeights', `none in outputMode ${this.outputMode}`, given);
    }
    const argument = 'countWeights';
    const weights = Float32Array.from(readCells(given, argument).flat, (value, i) => asNumber(value, i, argument));
    if (weights.length === count) return weights;
    throw new ValueError(argument, `${count} numbers, one for each id`, described(`${weights.length}`));
  }

  /**
   * Returns the settings as plain JSON values.
   *
   * @returns The settings.
   */
  getConfig(): CategoryEncodingConfig {
    const { name, numTokens, outputMode } = this;
    return { name, numTokens, outputMode };
  }
}
