/** Several features of a row to one id: a hash of all their values. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkWhole, readConfig } from './arguments.js';
import { asWhole, readCells, type CellData, type Cells, type NamedCells } from './cells/cells.js';
import { fingerprint64, joinedFingerprint } from './hashes/farm_hash.js';
import { checkOutputMode, encode, type OutputMode, type OutputModeInput, type OutputOf } from './cells/output_mode.js';
import { rankOf, shapeOf } from './cells/written_cells.js';

export interface HashedCrossingArgs<M = OutputModeInput> {
  /** Name, kept in the config. */
  name?: string | null;
  /** Number of rows that ids may name: the `inputDim` of an embedding. */
  numBins: number;
  /** `int` (default) or `oneHot`. */
  outputMode?: M;
}

const KEYS = ['name', 'numBins', 'outputMode'] as const;
const MODES: readonly OutputMode[] = ['int', 'oneHot'];

export interface HashedCrossingConfig {
  name: string;
  numBins: number;
  outputMode: OutputMode;
}

const encoder = new TextEncoder();
/** What TensorFlow starts with. */
const HASH_KEY = 0xdecafcaffen;

/**
 * Turns two or more features into ids in [0, numBins): row i of the result is a hash of row i of each. With an
 * embedding, that is a table of pairs.
 *
 * - Features are strings or whole numbers, [batch] or [batch, 1], all of one shape. Ids equal those of Keras.
 * - Ids are int32, in the container of the first feature; `oneHot` gives vectors of `numBins` places.
 * - Errors: TypeError for other values; ValueError for fewer than two features, other shapes and settings out of range.
 *
 * Source: keras.layers.HashedCrossing (Keras 3.15).
 *
 * @example
 * const crossing = new emb.preprocessing.HashedCrossing({ numBins: 5 });
 * crossing.apply([['A', 'B', 'A', 'B', 'A'], [101, 101, 101, 102, 102]]); // [1, 4, 1, 1, 3]
 */
export class HashedCrossing<M = 'int'> {
  static {
    brand(this, 'HashedCrossing');
  }
  readonly name: string;
  readonly numBins: number;
  readonly outputMode: OutputMode;

  /** @param args - The number of bins; see `HashedCrossingArgs`. */
  constructor(args: HashedCrossingArgs<M>);
  constructor(...given: [HashedCrossingArgs<M>]) {
    refusePositional('new emb.preprocessing.HashedCrossing', ['numBins', 'outputMode'], given);
    const [args] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'hashed_crossing');
    this.numBins = checkWhole(args.numBins, 'numBins', 1);
    this.outputMode = checkOutputMode(args.outputMode, MODES, 'int');
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): HashedCrossing {
    return new HashedCrossing(readConfig<HashedCrossingArgs<'int'>>(config, KEYS));
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
   * Returns an id for each row, or a vector; see the class.
   *
   * @param features - Two or more features.
   * @returns Ids or vectors, in the container of the first feature.
   */
  apply<D extends CellData>(features: readonly [D, ...CellData[]]): OutputOf<D, M> {
    const expected = 'two or more features';
    if (!Array.isArray(features)) throw new ArgumentTypeError('features', expected, features);
    if (features.length < 2) throw new ValueError('features', expected, described(`${features.length}`));
    return this.applyCells(features.map((feature: unknown, i) => readCells(feature, `features[${i}]`))) as OutputOf<
      D,
      M
    >;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param columns - The data.
   * @returns As `apply`.
   */
  applyCells(columns: readonly Cells[]): unknown {
    const shapes = columns.map((cells, i) => {
      const shape = shapeOf(cells);
      if (shape !== null && (shape.length < 2 || (rankOf(cells.container) === 2 && shape[1] === 1)))
        return `[${shape}]`;
      throw new ValueError(`features[${i}]`, 'values [batch] or [batch, 1]', described('other rows'));
    });
    const other = shapes.findIndex((shape) => shape !== shapes[0]);
    if (other >= 0)
      throw new ValueError(`features[${other}]`, `the shape ${shapes[0]} of features[0]`, described(shapes[other]!));
    const known = columns.map(() => new Map<unknown, bigint>());
    const ids = Int32Array.from({ length: columns[0]!.count }, (_, row) => {
      let hash = HASH_KEY;
      columns.forEach(({ flat, isFloat32, places }, i) => {
        const value = flat[row];
        let own = known[i]!.get(value);
        if (own === undefined)
          known[i]!.set(value, (own = fingerprintOf(value, row, isFloat32, places ?? `features[${i}]`)));
        hash = joinedFingerprint(hash, own);
      });
      return Number(hash % BigInt(this.numBins));
    });
    return encode(columns[0]!, ids, { mode: this.outputMode, depth: this.numBins });
  }

  /** Places of the vectors; null: ids come. */
  get width(): number | null {
    return this.outputMode === 'int' ? null : this.numBins;
  }

  /**
   * Returns the settings as plain JSON values.
   *
   * @returns The settings.
   */
  getConfig(): HashedCrossingConfig {
    const { name, numBins, outputMode } = this;
    return { name, numBins, outputMode };
  }
}

/** A whole number stands for itself. */
function fingerprintOf(value: unknown, position: number, isFloat32: boolean, named: NamedCells): bigint {
  if (typeof value === 'string') return fingerprint64(encoder.encode(value));
  return BigInt.asUintN(64, BigInt(asWhole(value, position, isFloat32, named)));
}
