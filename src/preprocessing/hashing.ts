/** Strings or whole numbers to ids by a stable hash: no vocabulary to learn or to keep. */
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkWhole, readConfig } from './arguments.js';
import { asWhole, readCells, type CellData, type Cells } from './cells/cells.js';
import { bucketsIn } from './columns/token_places.js';
import { bucketOf, checkSalt, type Salt } from './hashes/hash_bucket.js';
import {
  PLAIN_MODES,
  checkOutputMode,
  encode,
  type OutputMode,
  type OutputModeInput,
  type OutputOf,
} from './cells/output_mode.js';

export interface HashingArgs<M = OutputModeInput> {
  /** Name, kept in the config. */
  name?: string | null;
  /** Number of rows that ids may name: the `inputDim` of an embedding. */
  numBins: number;
  /** Value that gets row 0, which no other value then gets; null: none. */
  maskValue?: string | number | null;
  /** One or two whole numbers that key the hash; null: the plain hash. */
  salt?: Salt | null;
  /** `int` (default), `oneHot`, `multiHot` or `count`. */
  outputMode?: M;
}

const KEYS = ['name', 'numBins', 'maskValue', 'salt', 'outputMode'] as const;

export interface HashingConfig {
  name: string;
  numBins: number;
  maskValue: string | number | null;
  salt: [number, number] | null;
  outputMode: OutputMode;
}

/**
 * Turns strings or whole numbers into ids in [0, numBins) by a hash that is the same on every machine.
 *
 * - Without `salt`: FarmHash64 of the UTF-8 bytes, mod numBins; with it: SipHash64 keyed by it (one number counts
 *   twice). A number is hashed as its decimal text, so 7 and '7' share a row. Ids equal those of Keras.
 * - `maskValue`: gets row 0, all other values rows 1 and above.
 * - Ids are int32, in the container that the data came in: nested arrays stay nested, tensors stay tensors. Other modes
 *   of `outputMode` give vectors of `numBins` places.
 * - `adapt` does nothing: there is nothing to learn.
 * - Errors: TypeError for other values or wrong types of settings; ValueError for numBins below 1, fractions, overflow.
 *
 * Source: keras.layers.Hashing (Keras 3.15).
 *
 * @example
 * const hashing = new emb.preprocessing.Hashing({ numBins: 3 });
 * hashing.apply([['A'], ['B', 'C'], ['D', 'E']]); // [[1], [0, 1], [1, 2]]
 */
export class Hashing<M = 'int'> {
  static {
    brand(this, 'Hashing');
  }
  readonly name: string;
  readonly numBins: number;
  readonly maskValue: string | number | null;
  readonly salt: readonly [number, number] | null;
  readonly outputMode: OutputMode;

  /** @param args - The number of bins, and how they are reached; see `HashingArgs`. */
  constructor(args: HashingArgs<M>);
  constructor(...given: [HashingArgs<M>]) {
    refusePositional('new emb.preprocessing.Hashing', ['numBins', 'maskValue', 'salt'], given);
    const [args] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'hashing');
    this.numBins = checkWhole(args.numBins, 'numBins', 1);
    this.maskValue = checkMaskValue(args.maskValue);
    this.salt = checkSalt(args.salt);
    this.outputMode = checkOutputMode<OutputMode>(args.outputMode, PLAIN_MODES, 'int');
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): Hashing {
    return new Hashing(readConfig<HashingArgs<'int'>>(config, KEYS));
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
   * Returns the ids, or vectors; see the class.
   *
   * @param data - Strings or whole numbers: one, nested arrays, a tensor or ragged rows.
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
    return encode(cells, this.idsOf(cells), { mode: this.outputMode, depth: this.numBins });
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
  getConfig(): HashingConfig {
    const { name, numBins, maskValue, salt, outputMode } = this;
    return { name, numBins, maskValue, salt: salt === null ? null : [...salt], outputMode };
  }

  private idsOf(cells: Cells): Int32Array {
    const { first, of } = this.bins();
    const buckets = bucketsIn(cells, { of, salt: this.salt });
    if (buckets !== null) {
      if (first === 0) return buckets;
      const isMask = maskTest(cells, this.maskValue!);
      for (let i = 0; i < buckets.length; i++) buckets[i] = isMask(i) ? 0 : first + buckets[i]!;
      return buckets;
    }
    // Features repeat their values: each distinct one is hashed once.
    const known = new Map<unknown, number>();
    return Int32Array.from(cells.flat, (value, position) => {
      let id = known.get(value);
      if (id === undefined) known.set(value, (id = this.idOf(value, position, cells)));
      return id;
    });
  }

  /** The row of the first bucket, and how many there are. */
  private bins(): { readonly first: number; readonly of: number } {
    const first = this.maskValue !== null && this.numBins > 1 ? 1 : 0;
    return { first, of: this.numBins - first };
  }

  private idOf(value: unknown, position: number, { isFloat32, places }: Cells): number {
    const read = typeof value === 'string' ? value : asWhole(value, position, isFloat32, places);
    const { first, of } = this.bins();
    if (first === 1 && read === this.maskValue) return 0;
    return first + bucketOf(String(read), of, this.salt);
  }
}

/** Whether the value at a position is the masked one. */
function maskTest(cells: Cells, maskValue: string | number): (i: number) => boolean {
  const { utf8 } = cells;
  if (utf8 === undefined) {
    const { flat } = cells;
    const mask = flat instanceof BigInt64Array && typeof maskValue === 'number' ? BigInt(maskValue) : maskValue;
    return (i) => flat[i] === mask;
  }
  if (typeof maskValue !== 'string') return () => false;
  const mask = new TextEncoder().encode(maskValue);
  const { bytes, offsets } = utf8;
  return (i) => {
    const start = offsets[i]!;
    return offsets[i + 1]! - start === mask.length && mask.every((byte, at) => bytes[start + at] === byte);
  };
}

function checkMaskValue(maskValue: unknown): string | number | null {
  if (maskValue === undefined || maskValue === null) return null;
  if (typeof maskValue === 'string') return maskValue;
  const expected = 'a string, a whole number or null';
  if (typeof maskValue !== 'number') throw new ArgumentTypeError('maskValue', expected, maskValue);
  if (!Number.isSafeInteger(maskValue)) throw new ValueError('maskValue', expected, maskValue);
  return maskValue;
}
