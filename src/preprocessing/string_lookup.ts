/** Strings to ids by a vocabulary. */
import { brand } from '../base/per_process.js';
import { readConfig } from './arguments.js';
import { asString, type Cells } from './cells/cells.js';
import { TextPlaces } from './columns/token_places.js';
import { IndexLookup } from './index_lookup.js';
import { INDEX_LOOKUP_KEYS, refuseLookupByPosition, type IndexLookupArgs } from './lookup_arguments.js';
import type { OutputModeInput } from './cells/output_mode.js';

/** Moves surrogates above the rest of the basic plane, where the code points they stand for belong. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit <= 0xdfff ? unit + 0x2000 : unit - 0x800;
}

/** Negative where `a` comes first, positive where `b` does, 0 where they are equal. */
function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export type StringLookupArgs<M = OutputModeInput, I extends boolean = boolean> = IndexLookupArgs<string, M, I>;

/**
 * Turns strings into ids: row 0 for unknown values (with `maskToken`: row 0 for it, then the unknown ones), then the
 * vocabulary by falling frequency, equally frequent values in reverse order of their code points.
 *
 * - `numOovIndices` (1): with more, an unknown value gets the row FarmHash64(UTF-8) mod numOovIndices.
 * - Ids are int32, in the container that the data came in (`apply`).
 * - An empty string is a value like any other. `adapt` skips the mask and unknown tokens.
 * - Errors: TypeError for values that are not strings; ValueError for settings out of range, repeated vocabulary, or an
 *   unknown value with numOovIndices 0; RuntimeError for `apply` before `adapt`, `adapt` with a fixed vocabulary.
 * - Other modes of `outputMode` give vectors with a place for each id, and `invert` gives strings for ids.
 *
 * Source: keras.layers.StringLookup (Keras 3.15).
 *
 * @example
 * const lookup = new emb.preprocessing.StringLookup();
 * lookup.adapt([['a', 'c', 'd'], ['d', 'z', 'b']]);
 * lookup.getVocabulary(); // ['[UNK]', 'd', 'z', 'c', 'b', 'a']
 * lookup.apply([['a', 'd'], ['m']]); // [[5, 1], [0]]
 */
export class StringLookup<M = 'int', I extends boolean = false> extends IndexLookup<string, M, I> {
  static {
    brand(this, 'StringLookup');
  }
  /** @param args - The vocabulary or its limits, and the special ids; see `StringLookupArgs`. */
  constructor(args?: StringLookupArgs<M, I>);
  constructor(...given: [StringLookupArgs?]) {
    refuseLookupByPosition('new emb.preprocessing.StringLookup', given);
    const [args = {}] = given;
    super(args, { name: 'string_lookup', oovToken: '[UNK]' });
  }

  /**
   * Returns a lookup equal to the one whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new lookup.
   */
  static fromConfig(config: object): StringLookup {
    return new StringLookup(readConfig<StringLookupArgs<'int', false>>(config, INDEX_LOOKUP_KEYS));
  }

  protected readTokens({ flat, places }: Cells, argument: string): string[] {
    return Array.from(flat, (value, position) => asString(value, position, places ?? argument));
  }

  protected placesOf(tokens: readonly string[]): TextPlaces {
    return new TextPlaces(tokens);
  }

  protected compare(a: string, b: string): number {
    return compareCodePoints(a, b);
  }

  protected parseToken(line: string): string {
    return line;
  }
}
