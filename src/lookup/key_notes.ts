/**
 * Arrays of keys that a captured function is given: which tables look them up is noted in one call, and in those after it
 * their rows are found before the call, once, however it runs then.
 */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../base/per_process.js';
import type { LookupScope } from './lookup.js';

/** An open table that looks keys up, and whether the key 0 is padding. */
interface KeyUse {
  readonly table: object;
  readonly skipZero: boolean;
}

/** What lookups ask while such a function runs. */
export interface KeyNotes {
  /** Told where a table finds the rows of keys itself. `scope`: of the training step, null: it only finds them. */
  note(keys: unknown, use: KeyUse, scope: LookupScope | null): void;
  /** The rows that were found before the call, one list for each lookup of the table; null: none were. */
  found(keys: unknown, use: KeyUse): readonly tf.Tensor1D[] | null;
}

const state = (): { notes: KeyNotes | null } => perProcess('notes of keys', () => ({ notes: null }));

/** Those in force; null: no such function runs. */
export function keyNotes(): KeyNotes | null {
  return state().notes;
}

export function withKeyNotes<T>(notes: KeyNotes, run: () => T): T {
  const shared = state();
  const before = shared.notes;
  shared.notes = notes;
  try {
    return run();
  } finally {
    shared.notes = before;
  }
}
