/** The same keys in an index of another capacity. */
import { ValueError, described } from '../../base/errors.js';
import type { RowSource } from '../../backends/row_history.js';
import { COUNT, ENTRY_WORDS, KEY_HIGH, KeyIndex, LAST, SHARD_WORDS, SIZE } from './key_index.js';

/** An index, and which row each of its rows was before; -1: no key has it. */
export interface Resized {
  readonly index: KeyIndex;
  readonly source: RowSource;
}

/**
 * An index of so many rows with the keys of another: rows stay where they are if there are as many shards and no fewer
 * rows, free ones included, and are taken anew in their order otherwise.
 *
 * @throws ValueError where a shard has more keys than rows.
 */
export function resized(old: KeyIndex, capacity: number, name: string): Resized {
  const index = new KeyIndex(capacity);
  const source = new Int32Array(capacity).fill(-1);
  if (index.shardCount === old.shardCount && capacity >= old.capacity) {
    index.adopt(old);
    for (const row of index.rows()) source[row] = row;
    return { index, source };
  }
  const { entries } = old;
  for (const row of old.rows()) {
    const [low, high] = [entries[row * ENTRY_WORDS]!, entries[row * ENTRY_WORDS + KEY_HIGH]!];
    index.find(low, high);
    if (index.shards[index.shard * SHARD_WORDS + SIZE]! >= index.quota(index.shard)) {
      const place =
        index.shardCount === 1 ? '' : `, whose shard ${index.shard} has ${index.quota(index.shard)} of them`;
      const note = 'Take keys from the table first: restrict, or remove.';
      const received = described(`${capacity}${place}`);
      throw new ValueError('capacity', `rows for the ${old.size} keys of table ${name}`, received, note);
    }
    const now = index.take(low, high);
    index.entries[now * ENTRY_WORDS + LAST] = entries[row * ENTRY_WORDS + LAST]!;
    index.entries[now * ENTRY_WORDS + COUNT] = entries[row * ENTRY_WORDS + COUNT]!;
    source[now] = row;
  }
  return { index, source };
}
