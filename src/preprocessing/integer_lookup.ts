/** Whole numbers to ids by a vocabulary. */
import { ValueError } from '../base/errors.js';
import { brand } from '../base/per_process.js';
import { readConfig } from './arguments.js';
import { asWhole, type Cells } from './cells/cells.js';
import { NumberPlaces } from './columns/token_places.js';
import { IndexLookup } from './index_lookup.js';
import { INDEX_LOOKUP_KEYS, refuseLookupByPosition, type IndexLookupArgs } from './lookup_arguments.js';
import type { OutputModeInput } from './cells/output_mode.js';

export type IntegerLookupArgs<M = OutputModeInput, I extends boolean = boolean> = IndexLookupArgs<number, M, I>;

/**
 * Turns whole numbers into ids: row 0 for unknown values (with `maskToken`: row 0 for it, then the unknown ones), then
 * the vocabulary by falling frequency, equally frequent values from the largest down.
 *
 * - `numOovIndices` (1): with more, an unknown value v gets the row v mod numOovIndices (never negative).
 * - `oovToken` (-1) stands for unknown values in `getVocabulary`; `adapt` skips it and the mask token.
 * - Takes whole numbers below 2^53 in magnitude, in float32 below 2^24; BigInt64Array too. Ids are int32.
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
export class IntegerLookup<M = 'int', I extends boolean = false> extends IndexLookup<number, M, I> {
  static {
    brand(this, 'IntegerLookup');
  }
  /** @param args - The vocabulary or its limits, and the special ids; see `IntegerLookupArgs`. */
  constructor(args?: IntegerLookupArgs<M, I>);
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
    return new IntegerLookup(readConfig<IntegerLookupArgs<'int', false>>(config, INDEX_LOOKUP_KEYS));
  }

  protected readTokens({ flat, isFloat32, places }: Cells, argument: string): number[] {
    return Array.from(flat, (value, position) => asWhole(value, position, isFloat32, places ?? argument));
  }

  protected placesOf(tokens: readonly number[]): NumberPlaces {
    return new NumberPlaces(tokens);
  }

  protected compare(a: number, b: number): number {
    return a - b;
  }

  protected parseToken(line: string): number {
    if (!/^\s*[+-]?\d+\s*$/.test(line)) throw new ValueError('vocabulary', 'a whole number in each line', line);
    return Number(line);
  }
}
