/** Whole numbers to ids by a vocabulary. */
import { brand } from '../base/per_process.js';
import { readConfig } from './arguments.js';
import { asWhole, type Cells } from './cells.js';
import { INDEX_LOOKUP_KEYS, IndexLookup, refuseLookupByPosition, type IndexLookupArgs } from './index_lookup.js';

export type IntegerLookupArgs = IndexLookupArgs<number>;

/**
 * Turns whole numbers into ids: row 0 for unknown values (with `maskToken`: row 0 for it, then the unknown ones), then
 * the vocabulary by falling frequency, equally frequent values from the largest down.
 *
 * - `numOovIndices` (1): with more, an unknown value v gets the row v mod numOovIndices (never negative).
 * - `oovToken` (-1) stands for unknown values in `getVocabulary`; `adapt` skips it and the mask token.
 * - Takes whole numbers below 2^53 in magnitude, in float32 up to 2^24; BigInt64Array too. Ids are int32.
 * - Errors: TypeError for values that are not numbers; ValueError for fractions, NaN, overflow, settings out of range,
 *   repeated vocabulary, or an unknown value with numOovIndices 0; RuntimeError for `apply` before `adapt`, `adapt` with
 *   a fixed vocabulary.
 *
 * Source: keras.layers.IntegerLookup (Keras 3.15).
 *
 * @example
 * const lookup = new emb.preprocessing.IntegerLookup();
 * lookup.adapt(Int32Array.of(12, 1138, 42, 42, 1000, 36));
 * lookup.getVocabulary(); // [-1, 42, 1138, 1000, 36, 12]
 * lookup.apply([[42, 7], [12]]); // [[1, 0], [5]]
 */
export class IntegerLookup extends IndexLookup<number> {
  static {
    brand(this, 'IntegerLookup');
  }
  /** @param args - The vocabulary or its limits, and the special ids; see `IntegerLookupArgs`. */
  constructor(args?: IntegerLookupArgs);
  constructor(...given: [IntegerLookupArgs?]) {
    refuseLookupByPosition('new emb.preprocessing.IntegerLookup', given);
    const [args = {}] = given;
    super(args, { name: 'integer_lookup', oovToken: -1 });
  }

  /**
   * Returns a lookup equal to the one whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new lookup.
   */
  static fromConfig(config: object): IntegerLookup {
    return new IntegerLookup(readConfig<IntegerLookupArgs>(config, INDEX_LOOKUP_KEYS));
  }

  protected readTokens({ flat, isFloat32 }: Cells, argument: string): number[] {
    return Array.from(flat, (value, position) => asWhole(value, position, isFloat32, argument));
  }

  protected compare(a: number, b: number): number {
    return a - b;
  }

  protected oovBucket(token: number): number {
    const rest = token % this.numOovIndices;
    return rest < 0 ? rest + this.numOovIndices : rest;
  }
}
