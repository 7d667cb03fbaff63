/** Keys of open tables among the arguments of captured functions. */
import * as tf from '@tensorflow/tfjs';
import { withKeyNotes, type KeyNotes } from '../../lookup/key_notes.js';
import type { LookupScope } from '../../lookup/lookup.js';
import { isSameUse, type KeyUse } from '../../tables/keys/key_input.js';
import type { OpenTable } from '../../tables/keys/open_table.js';
import { readKeys } from '../../tables/keys/read_keys.js';
import { inStepsOf } from '../found_keys.js';

/** What keys are given as: other arrays are told apart by what they hold. */
export type GivenKeys = BigInt64Array | BigUint64Array;

export function isGivenKeys(value: unknown): value is GivenKeys {
  return value instanceof BigInt64Array || value instanceof BigUint64Array;
}

/** A lookup of one of the arrays. */
interface NotedUse extends KeyUse {
  /** Which of the arrays. */
  readonly place: number;
  /** Whether it was one of a training step. */
  readonly trains: boolean;
}

/** Who looks up which of the arrays that a kind of calls is given. */
export class NotedKeys {
  readonly #uses: NotedUse[] = [];
  readonly #steps = new Map<OpenTable, LookupScope>();
  readonly #trainable = new Map<OpenTable, boolean>();
  /** Why such calls cannot be captured; null: nothing speaks against it. */
  problem: string | null = null;

  /** Runs a call op by op, and notes. */
  during<T>(given: readonly GivenKeys[], call: () => T): T {
    const note: KeyNotes['note'] = (keys, use, scope) => this.#note(given, keys, use as KeyUse, scope);
    const result = withKeyNotes({ found: () => null, note }, call);
    if (given.some((_, place) => !this.#uses.some((use) => use.place === place))) {
      this.problem ??= 'holds an array of 64-bit numbers that no open table looks up: its contents may change';
    }
    return result;
  }

  #note(given: readonly GivenKeys[], keys: unknown, use: KeyUse, scope: LookupScope | null): void {
    const { table } = use;
    const place = given.indexOf(keys as GivenKeys);
    // A call that finds rows of other keys is not recorded.
    if (place < 0) return;
    if (given.indexOf(keys as GivenKeys, place + 1) >= 0) this.problem = 'holds the same array of keys twice';
    const before = this.#steps.get(table) ?? scope;
    if (scope !== null && before !== scope) this.problem = `has keys for several training steps of table ${table.name}`;
    if (scope !== null) this.#steps.set(table, scope);
    this.#trainable.set(table, table.variable!.trainable);
    const known = this.#uses.find((each) => each.place === place && isSameUse(each, use));
    if (known === undefined) this.#uses.push({ ...use, place, trains: scope !== null });
    else if (known.trains !== (scope !== null)) {
      this.problem = `has keys that table ${table.name} looks up within a training step and beside it`;
    }
  }

  /** Whether tables are as they were when lookups were noted. */
  get isCurrent(): boolean {
    return [...this.#trainable].every(([{ variable }, trainable]) => variable?.trainable === trainable);
  }

  /** Runs a call with the rows of its keys, found before it; what they count holds where it goes well. */
  withRows<T>(given: readonly GivenKeys[], call: (rows: readonly tf.Tensor1D[]) => T): T {
    const trained = new Set(this.#uses.flatMap(({ table, trains }) => (trains ? [table] : [])));
    const made: tf.Tensor1D[] = [];
    try {
      return inStepsOf(trained, () => {
        for (const { table, skipZero, place, trains } of this.#uses) {
          const batch = readKeys(given[place], table.keyKind, 'keys');
          const rows = trains ? table.trainedRowsOf(batch, skipZero) : table.foundRowsOf(batch, skipZero);
          made.push(...rows.map((each) => tf.tensor1d(each, 'int32')));
        }
        return call(made);
      });
    } finally {
      tf.dispose(made);
    }
  }

  /** Runs a function whose lookups of these arrays take such rows. */
  asFound<T>(given: readonly GivenKeys[], rows: readonly tf.Tensor1D[], run: () => T): T {
    let next = 0;
    const all = this.#uses.map((use) => ({ use, rows: rows.slice(next, (next += use.table.lookups)) }));
    const found: KeyNotes['found'] = (keys, asked) => {
      const known = all.find(({ use }) => given[use.place] === keys && isSameUse(use, asked as KeyUse));
      return known?.rows ?? null;
    };
    return withKeyNotes({ found, note: () => undefined }, run);
  }
}
