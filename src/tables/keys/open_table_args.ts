/** What makes an open table. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import type { TableArgs } from '../embedding_table.js';
import type { Evict } from './key_rules.js';
import type { KeyKind } from './read_keys.js';

/** Arguments of a table of open keys. */
export interface OpenTableArgs extends Omit<TableArgs, 'inputDim' | 'weights'> {
  /** Saved with the model: layers that name the same table share it again. Default: open_table, with a number. */
  name?: string | undefined;
  /** Rows that keys can have at a time. */
  capacity: number;
  /** What keys are: 'int64' (default), whole numbers of 64 bits, or 'string'. */
  keys?: KeyKind | undefined;
  /** Which keys get rows: `{after, tracked}`, `{probability}` or null (default): each, in the first step that has it. */
  admit?: { after: number; tracked?: number } | { probability: number } | null | undefined;
  /** Which keys go where the table is full. Default: `{policy: 'lru', keep: 0.98}`; null: a full table is an error. */
  evict?:
    | { policy?: NonNullable<Evict>['policy']; keep?: number; after?: number | null; exponent?: number }
    | null
    | undefined;
  /** What keys without a row give: 'zero' (default), 'drop', or rows that they share, `{shared, hashes}`. */
  unknown?: 'zero' | 'drop' | { shared: number; hashes?: number } | undefined;
  /** A key that stands for nothing; null (default): every key is one. */
  paddingKey?: number | bigint | string | null | undefined;
  /** Keeps the text of each key, so that `keysOf` can tell it. Default: false. */
  keepTexts?: boolean | undefined;
  /** false: the table is never updated, and no key gets a row. Default: true. */
  trainable?: boolean | undefined;
}

export const OPEN_TABLE_ARGUMENTS = [
  'name',
  'outputDim',
  'capacity',
  'keys',
  'embeddingsInitializer',
  'embeddingsRegularizer',
  'embeddingsConstraint',
  'optimizer',
  'storage',
  'seed',
  'admit',
  'evict',
  'unknown',
  'paddingKey',
  'keepTexts',
  'trainable',
] as const satisfies readonly (keyof OpenTableArgs)[];

/** Arguments that only an open table has. */
export const OPEN_TABLE_FIELDS = ['capacity', 'keys', 'admit', 'evict', 'unknown', 'paddingKey', 'keepTexts'] as const;

/** Arguments of the table of rows: those of keys, and the rows that unknown ones share. */
export function tableArgs(args: Partial<OpenTableArgs>, rows: number): TableArgs & { trainable?: boolean } {
  const { outputDim, embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint, optimizer, storage } = args;
  const { trainable, seed } = args;
  return {
    inputDim: rows,
    outputDim: outputDim!,
    embeddingsInitializer,
    embeddingsRegularizer,
    embeddingsConstraint,
    optimizer,
    storage,
    seed: seed ?? 0,
    ...(trainable === undefined ? {} : { trainable }),
  };
}

export function checkKind(kind: unknown): KeyKind {
  if (kind === undefined) return 'int64';
  if (kind === 'int64' || kind === 'string') return kind;
  const expected = "'int64' or 'string'";
  if (typeof kind !== 'string') throw new ArgumentTypeError('keys', expected, kind);
  throw new ValueError('keys', expected, kind);
}

/** The rules of eviction as `evict` takes them. */
export function evictConfig(evict: Evict): object | null {
  if (evict?.policy === 'distanceLfu') return evict;
  if (evict === null) return null;
  const { exponent: _ofDistance, ...fields } = evict;
  return fields;
}
