/** Which keys get rows, and which lose them: the arguments `admit`, `evict` and `unknown` of an open table. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import { MOST_COUNTED } from './steps/key_tracker.js';

/**
 * When a key gets a row: in the step in which it has come `after` times, where `tracked` keys without one are counted at
 * a time; with a `probability` in each step that has it; null: in the first step that has it.
 */
export type Admit = { readonly after: number; readonly tracked: number } | { readonly probability: number } | null;

/** What scores rows: see `Evict`. */
export type EvictionPolicy = 'lru' | 'lfu' | 'distanceLfu' | 'l2';
const POLICIES: readonly EvictionPolicy[] = ['lru', 'lfu', 'distanceLfu', 'l2'];

/**
 * Which keys go where a table is full: those seen longest ago (`lru`), least often (`lfu`), by count over the age to the
 * power of `exponent` (`distanceLfu`), or of the shortest rows (`l2`), until `keep` of the rows are left. `after`: keys
 * that no step has seen for more than so many steps go too; null: none do. null: a full table is an error.
 */
export type Evict = {
  readonly policy: EvictionPolicy;
  readonly keep: number;
  readonly after: number | null;
  readonly exponent: number;
} | null;

/**
 * What a key without a row gives: zeros that count in the divisor of a mean; nothing, as padding; or the sum of `hashes`
 * of `shared` rows that such keys share, which train.
 */
export type Unknown = 'zero' | 'drop' | { readonly shared: number; readonly hashes: number };

function number(value: unknown, path: string, from: number, to: number, isWhole: boolean): number {
  const range = to === Infinity ? `of ${from} or more` : `from ${from} to ${to}`;
  const expected = `a ${isWhole ? 'whole number' : 'number'} ${range}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(path, expected, value);
  if (!(value >= from && value <= to) || (isWhole && !Number.isSafeInteger(value))) {
    throw new ValueError(path, expected, value);
  }
  return value;
}

const MOST_STEPS = 2 ** 31 - 1;

/** Throws TypeError for other types and missing fields, ValueError for numbers out of range. `capacity`: rows. */
export function readAdmit(value: unknown, capacity: number): Admit {
  if (value === undefined || value === null) return null;
  const given = readOptions<{ after: number; tracked: number; probability: number }>(
    value,
    ['after', 'tracked', 'probability'],
    'admit',
  );
  if ((given.after === undefined) === (given.probability === undefined)) {
    throw new ArgumentTypeError('admit', '{after, tracked}, {probability} or null', value);
  }
  if (given.after === undefined) {
    if (given.tracked !== undefined)
      throw new ArgumentTypeError('admit.tracked', 'nothing beside `probability`', given.tracked);
    const probability = number(given.probability, 'admit.probability', 0, 1, false);
    if (probability === 0) throw new ValueError('admit.probability', 'a number above 0', 0);
    return { probability };
  }
  return {
    after: number(given.after, 'admit.after', 1, MOST_COUNTED, true),
    tracked: number(given.tracked ?? capacity, 'admit.tracked', 1, 2 ** 31 - 16, true),
  };
}

/** Throws TypeError for other types, ValueError for unknown policies and numbers out of range. */
export function readEvict(value: unknown): Evict {
  if (value === null) return null;
  const given =
    value === undefined ? {} : readOptions<NonNullable<Evict>>(value, ['policy', 'keep', 'after', 'exponent'], 'evict');
  const policy: unknown = given.policy ?? 'lru';
  const expected = POLICIES.map((each) => `'${each}'`).join(', ');
  if (typeof policy !== 'string') throw new ArgumentTypeError('evict.policy', expected, policy);
  if (!(POLICIES as readonly string[]).includes(policy)) throw new ValueError('evict.policy', expected, policy);
  if (given.exponent !== undefined && policy !== 'distanceLfu') {
    throw new ValueError('evict.exponent', "nothing, unless the policy is 'distanceLfu'", given.exponent);
  }
  const { after = null } = given;
  return {
    policy: policy as EvictionPolicy,
    keep: number(given.keep ?? 0.98, 'evict.keep', 0, 1, false),
    after: after === null ? null : number(after, 'evict.after', 1, MOST_STEPS, true),
    exponent: number(given.exponent ?? 1, 'evict.exponent', 0, 1024, false),
  };
}

/** Throws TypeError for other types, ValueError for other words and numbers out of range. */
export function readUnknown(value: unknown): Unknown {
  if (value === undefined) return 'zero';
  const expected = "'zero', 'drop' or {shared, hashes}";
  if (value === 'zero' || value === 'drop') return value;
  if (typeof value === 'string') throw new ValueError('unknown', expected, value);
  if (!isRecord(value)) throw new ArgumentTypeError('unknown', expected, value);
  const given = readOptions<{ shared: number; hashes: number }>(value, ['shared', 'hashes'], 'unknown');
  if (given.shared === undefined) throw new ArgumentTypeError('unknown.shared', 'a number of rows', given.shared);
  return {
    shared: number(given.shared, 'unknown.shared', 1, MOST_STEPS, true),
    hashes: number(given.hashes ?? 2, 'unknown.hashes', 1, 8, true),
  };
}
