/** The arguments of StringLookup and IntegerLookup, and what is kept of them. */
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { isAbsent } from './arguments.js';
import type { NumberArray } from './cells/cells.js';
import type { Utf8Column } from './columns/utf8_column.js';
import type { Salt } from './hashes/hash_bucket.js';
import type { OutputMode, OutputModeInput } from './cells/output_mode.js';
import type { VocabularyFile } from './vocabulary_file.js';

export type Token = string | number;

/** Tokens as a list, a column or a file. */
export type VocabularyInput<T extends Token> = readonly T[] | NumberArray | Utf8Column | VocabularyFile;

export interface IndexLookupArgs<T extends Token, M = OutputModeInput, I extends boolean = boolean> {
  /** Name, kept in the config. */
  name?: string | null;
  /** Largest size of the vocabulary, special tokens included; null: no limit. */
  maxTokens?: number | null;
  /** Number of rows for unknown values; 0 makes an unknown value an error. */
  numOovIndices?: number;
  /** Value that gets row 0, before the rows for unknown values; null: none. Other modes than `int` leave it out. */
  maskToken?: T | null;
  /** What `getVocabulary` shows in the rows for unknown values. */
  oovToken?: T;
  /** Known values in the order of their ids, or a file with one in each line; without it, `adapt` finds them. */
  vocabulary?: VocabularyInput<T> | null;
  /** A factor for each value of `vocabulary`, with `tfIdf`. */
  idfWeights?: readonly number[] | NumberArray | null;
  /** Ids to values instead of values to ids; with `int` alone. */
  invert?: I;
  /** `int` (default), `oneHot`, `multiHot`, `count` or `tfIdf`. */
  outputMode?: M;
  /** Whether vectors have `maxTokens` places, also where the vocabulary is smaller. */
  padToMaxTokens?: boolean;
  /** How an unknown whole number finds its row: by its rest (default), or hashed as strings are. */
  oovMethod?: 'floormod' | 'farmhash';
  /** One or two whole numbers that key the hash of unknown values; null: the plain hash. */
  salt?: Salt | null;
}

export const INDEX_LOOKUP_KEYS = [
  'name',
  'maxTokens',
  'numOovIndices',
  'maskToken',
  'oovToken',
  'vocabulary',
  'idfWeights',
  'invert',
  'outputMode',
  'padToMaxTokens',
  'oovMethod',
  'salt',
] as const;

/** Throws for a call such as `StringLookup(['a', 'b'])` or, in the order of Keras, `StringLookup(100, 1)`. */
export function refuseLookupByPosition(call: string, given: readonly unknown[]): void {
  const names = Array.isArray(given[0]) ? ['vocabulary'] : ['maxTokens', 'numOovIndices', 'maskToken', 'oovToken'];
  refusePositional(call, names, given);
}

/** Everything needed to make an equal lookup again, as plain JSON values. */
export interface IndexLookupConfig<T extends Token> {
  name: string;
  maxTokens: number | null;
  numOovIndices: number;
  maskToken: T | null;
  oovToken: T;
  /** Without mask and unknown tokens, but for `tfIdf`; null before `adapt`. */
  vocabulary: T[] | null;
  idfWeights: number[] | null;
  invert: boolean;
  outputMode: OutputMode;
  padToMaxTokens: boolean;
  oovMethod: 'floormod' | 'farmhash';
  salt: [number, number] | null;
}

export function checkOovMethod(oovMethod: unknown): 'floormod' | 'farmhash' {
  if (isAbsent(oovMethod) || oovMethod === 'floormod') return 'floormod';
  if (typeof oovMethod !== 'string') throw new ArgumentTypeError('oovMethod', `'floormod' or 'farmhash'`, oovMethod);
  if (oovMethod !== 'farmhash') throw new ValueError('oovMethod', `'floormod' or 'farmhash'`, oovMethod);
  return oovMethod;
}
