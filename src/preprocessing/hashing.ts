/** Strings or whole numbers to ids by a stable hash: no vocabulary to learn or to keep. */
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkOutputMode, checkWhole, readConfig } from './arguments.js';
import { asString, asWhole, readCells, type CellData, type IdsOf } from './cells.js';
import { fingerprint64 } from './farm_hash.js';
import { sipHash64 } from './sip_hash.js';

export interface HashingArgs {
  /** Name, kept in the config. */
  name?: string | null;
  /** Number of rows that ids may name: the `inputDim` of an embedding. */
  numBins: number;
  /** Value that gets row 0, which no other value then gets; null: none. */
  maskValue?: string | number | null;
  /** One or two whole numbers that key the hash; null: the plain hash. */
  salt?: number | readonly [number, number] | null;
  outputMode?: 'int';
}

const KEYS = ['name', 'numBins', 'maskValue', 'salt', 'outputMode'] as const;

export interface HashingConfig {
  name: string;
  numBins: number;
  maskValue: string | number | null;
  salt: [number, number] | null;
  outputMode: 'int';
}

const encoder = new TextEncoder();

/**
 * Turns strings or whole numbers into ids in [0, numBins) by a hash that is the same on every machine.
 *
 * - Without `salt`: FarmHash64 of the UTF-8 bytes, mod numBins; with it: SipHash64 keyed by it (one number counts
 *   twice). A number is hashed as its decimal text, so 7 and '7' share a row. Ids equal those of Keras.
 * - `maskValue`: gets row 0, all other values rows 1 and above.
 * - Ids are int32, in the container that the data came in: nested arrays stay nested, tensors stay tensors.
 * - `adapt` does nothing: there is nothing to learn.
 * - Errors: TypeError for other values or wrong types of settings; ValueError for numBins below 1, fractions, overflow.
 *
 * Source: keras.layers.Hashing (Keras 3.15).
 *
 * @example
 * const hashing = new emb.preprocessing.Hashing({ numBins: 3 });
 * hashing.apply([['A'], ['B', 'C'], ['D', 'E']]); // [[1], [0, 1], [1, 2]]
 */
export class Hashing {
  static {
    brand(this, 'Hashing');
  }
  readonly name: string;
  readonly numBins: number;
  readonly maskValue: string | number | null;
  readonly salt: readonly [number, number] | null;
  private readonly key: readonly [bigint, bigint] | null;

  /** @param args - The number of bins, and how they are reached; see `HashingArgs`. */
  constructor(args: HashingArgs);
  constructor(...given: [HashingArgs]) {
    refusePositional('new emb.preprocessing.Hashing', ['numBins', 'maskValue', 'salt'], given);
    const [args] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'hashing');
    this.numBins = checkWhole(args.numBins, 'numBins', 1);
    this.maskValue = checkMaskValue(args.maskValue);
    this.salt = checkSalt(args.salt);
    this.key = this.salt === null ? null : [BigInt(this.salt[0]), BigInt(this.salt[1])];
    checkOutputMode(args.outputMode);
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): Hashing {
    return new Hashing(readConfig<HashingArgs>(config, KEYS));
  }

  /**
   * Does nothing and returns this, so that all classes of this folder are used alike.
   *
   * @param _data - Not read.
   * @returns This object.
   */
  adapt(_data?: CellData): this {
    return this;
  }

  /**
   * Returns the ids; see the class.
   *
   * @param data - Strings or whole numbers: one, nested arrays, a tensor or ragged rows.
   * @returns The ids, in the form of the data.
   */
  apply<D extends CellData>(data: D): IdsOf<D> {
    const cells = readCells(data);
    // Features repeat their values: each distinct one is hashed once.
    const known = new Map<unknown, number>();
    const ids = Int32Array.from(cells.flat, (value, position) => {
      let id = known.get(value);
      if (id === undefined) known.set(value, (id = this.idOf(value, position, cells.isFloat32)));
      return id;
    });
    return cells.write(ids) as IdsOf<D>;
  }

  /**
   * Returns the settings as plain JSON values.
   *
   * @returns The settings.
   */
  getConfig(): HashingConfig {
    const { name, numBins, maskValue, salt } = this;
    return { name, numBins, maskValue, salt: salt === null ? null : [...salt], outputMode: 'int' };
  }

  private idOf(value: unknown, position: number, isFloat32: boolean): number {
    const isText = typeof value === 'string';
    const read = isText ? asString(value, position) : asWhole(value, position, isFloat32);
    const isMasking = this.maskValue !== null && this.numBins > 1;
    if (isMasking && read === this.maskValue) return 0;
    const bytes = encoder.encode(String(read));
    const hash = this.key === null ? fingerprint64(bytes) : sipHash64(bytes, this.key);
    return isMasking ? 1 + Number(hash % BigInt(this.numBins - 1)) : Number(hash % BigInt(this.numBins));
  }
}

function checkMaskValue(maskValue: unknown): string | number | null {
  if (maskValue === undefined || maskValue === null) return null;
  if (typeof maskValue === 'string') return maskValue;
  const expected = 'a string, a whole number or null';
  if (typeof maskValue !== 'number') throw new ArgumentTypeError('maskValue', expected, maskValue);
  if (!Number.isSafeInteger(maskValue)) throw new ValueError('maskValue', expected, maskValue);
  return maskValue;
}

function checkSalt(salt: unknown): [number, number] | null {
  if (salt === undefined || salt === null) return null;
  const expected = 'a whole number or two of them';
  const pair: readonly unknown[] = Array.isArray(salt) ? salt : [salt, salt];
  for (const word of pair) {
    if (typeof word !== 'number') throw new ArgumentTypeError('salt', expected, salt);
    if (!Number.isSafeInteger(word)) throw new ValueError('salt', expected, salt);
  }
  if (pair.length !== 2) throw new ValueError('salt', expected, described(`${pair.length} of them`));
  return pair as [number, number];
}
