/**
 * The state of the keys of a table as one matrix of words, [2 + shards + capacity + lines of the tracker, 4]: what a model
 * saves, so that training goes on to the bit. Groups of the index follow from it.
 */
import { ValueError, described } from '../../base/errors.js';
import { COUNT, ENTRY_WORDS, FREE, FREE_ROW, SHARD_WORDS, SIZE, USED, type KeyIndex } from './key_index.js';
import type { KeySteps } from './key_steps.js';

const VERSION = 1;
/** Rows before those of shards. */
const HEAD = 2;
export const STATE_WORDS = 4;

/** Rows of the matrix. */
export function stateRows({ index, tracker }: Pick<KeySteps, 'index' | 'tracker'>): number {
  return HEAD + index.shardCount + index.capacity + (tracker === null ? 0 : tracker.words.length / STATE_WORDS);
}

/** The state as the matrix. */
export function writtenState(steps: KeySteps): Int32Array {
  const { index, tracker, step, admitted, evicted } = steps;
  const state = new Int32Array(stateRows(steps) * STATE_WORDS);
  state.set([VERSION, step, index.capacity, tracker?.words.length ?? 0]);
  // Counts of more than 2^31 lose what is above.
  state.set([admitted, evicted], STATE_WORDS);
  let at = HEAD * STATE_WORDS;
  for (const part of [index.shards, index.entries, tracker?.words]) {
    if (part === undefined) continue;
    state.set(part, at);
    at += part.length;
  }
  return state;
}

function refuse(expected: string, received: string, name: string): never {
  throw new ValueError('weights', `keys of table ${name}: ${expected}`, described(received));
}

/** Takes a state. Throws ValueError for one that `writtenState` does not write; nothing is changed then. */
export function readState(steps: KeySteps, state: Int32Array, name: string): void {
  const { index, tracker } = steps;
  const [version, step, capacity, tracked] = state;
  // A table that never had a key, as it is made.
  if (version === 0 && state.every((word) => word === 0)) return steps.reset();
  if (version !== VERSION) refuse(`version ${VERSION}`, `version ${version}`, name);
  if (capacity !== index.capacity || tracked !== (tracker?.words.length ?? 0) || step! < 0) {
    refuse(`of ${index.capacity} rows, ${tracker?.words.length ?? 0} tracked`, `${capacity} rows, ${tracked}`, name);
  }
  const shards = state.subarray(HEAD * STATE_WORDS, HEAD * STATE_WORDS + index.shards.length);
  const first = HEAD * STATE_WORDS + shards.length;
  const entries = state.subarray(first, first + index.entries.length);
  checkShards(index, shards, entries, name);
  const twice = index.adopt({ shards, entries });
  if (twice !== null) {
    steps.reset();
    refuse('each key once, in a row of its shard', `row ${twice}`, name);
  }
  tracker?.words.set(state.subarray(first + entries.length));
  steps.restore(step!, state[STATE_WORDS]!, state[STATE_WORDS + 1]!);
}

/** Rows in use and free ones are as many as the shards say, and the list of free ones holds each once. */
function checkShards(index: KeyIndex, shards: Int32Array, entries: Int32Array, name: string): void {
  const { shardCount } = index;
  for (let shard = 0; shard < shardCount; shard++) {
    const state = shard * SHARD_WORDS;
    const [size, used] = [shards[state + SIZE]!, shards[state + USED]!];
    if (used < 0 || used > index.quota(shard)) refuse('rows that the shard has', `${used} in shard ${shard}`, name);
    let free = 0;
    for (let local = 0; local < used; local++) {
      const count = entries[(local * shardCount + shard) * ENTRY_WORDS + COUNT]!;
      if (count === FREE) free += 1;
      else if (count < 0) refuse('counts from 0 on', `${count} in row ${local * shardCount + shard}`, name);
    }
    if (size !== used - free) refuse(`${used - free} keys in shard ${shard}`, `${size}`, name);
    let next = shards[state + FREE_ROW]!;
    for (; next > 0 && free >= 0; free--) {
      const row = next - 1;
      const isFree = row % shardCount === shard && (row - shard) / shardCount < used;
      if (!isFree || entries[row * ENTRY_WORDS + COUNT] !== FREE) refuse('free rows', `row ${row}`, name);
      next = entries[row * ENTRY_WORDS]!;
    }
    if (next !== 0 || free !== 0) refuse('each free row once in its list', `shard ${shard}`, name);
  }
}
