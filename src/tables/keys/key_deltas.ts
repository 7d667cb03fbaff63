/** Deltas of an open table: what is written of it, and what another table is brought up to date with. */
import { sameChecksum, type Checksum } from '../../backends/table_checksum.js';
import { ValueError, described } from '../../base/errors.js';
import type { Storage } from '../../codecs/codec.js';
import { readRowsAt } from '../../lookup/lookup.js';
import type { DeltaCounts, OpenTableMark } from './delta_types.js';
import type { DeltaHeader, OpenDelta } from './delta_file.js';
import { COUNT, ENTRY_WORDS, KEY_HIGH, LAST, SHARD_WORDS, SIZE } from './key_index.js';
import { bitsOf, KeyMarks, rowSum, sharedSum } from './key_marks.js';
import type { KeyWords } from './steps/key_search.js';
import type { OpenRows, OpenTableOfRows } from './open_rows.js';
import type { KeyKind } from './read_keys.js';
import { writeNumbersAt } from './write_numbers.js';

/** What deltas need of their table. */
interface DeltaTable extends OpenTableOfRows {
  readonly keyKind: KeyKind;
  readonly storage: Storage;
}

/** How much a delta holds. */
export function countsOf({ entries, removed }: OpenDelta): DeltaCounts {
  return { rows: entries.length / ENTRY_WORDS, removed: removed.length / 2 };
}

/** Where a table is that follows another. */
interface Position extends Pick<DeltaHeader, 'chain' | 'to'> {
  /** As it was then. */
  readonly mark: OpenTableMark;
}

/** The mark that the delta of a whole table leads from. */
const WHOLE = 0;

export class KeyDeltas {
  readonly marks: KeyMarks;
  #position: Position | null = null;

  /** The weights of the table are there. */
  constructor(
    private readonly table: DeltaTable,
    private readonly rows: OpenRows,
  ) {
    const read = (of: Int32Array): Float32Array => readRowsAt(table.built(), of);
    this.marks = new KeyMarks(table, rows.now.index, read, () => table.table!.changesOthers);
  }

  mark(): OpenTableMark {
    // Keys that went by age are gone here and there, whoever asked for the size of his table in between.
    this.rows.freeOld();
    return this.marks.mark();
  }

  /** What changed since a mark; null: all that there is. */
  collect(since: OpenTableMark | null): { delta: OpenDelta; to: OpenTableMark } {
    const { table, rows } = this;
    rows.freeOld();
    const { index, step, admitted, evicted } = rows.now;
    const {
      from,
      to,
      base,
      result,
      removed,
      rows: changed,
    } = since === null ? this.marks.all() : this.marks.since(since);
    const first = changed.findIndex((row) => row >= table.capacity);
    const own = first < 0 ? changed : changed.subarray(0, first);
    const shared = first < 0 ? new Int32Array(0) : changed.subarray(first);
    const entries = new Int32Array(own.length * ENTRY_WORDS);
    own.forEach((row, i) => {
      entries.set(index.entries.subarray(row * ENTRY_WORDS, (row + 1) * ENTRY_WORDS), i * ENTRY_WORDS);
    });
    const delta: OpenDelta = {
      ...this.#form(),
      chain: this.marks.chain,
      from: from?.number ?? WHOLE,
      to: to.number,
      base,
      result,
      step,
      admitted,
      evicted,
      entries,
      rows: readRowsAt(table.built(), own),
      removed,
      places: shared.map((row) => row - table.capacity),
      sharedRows: readRowsAt(table.built(), shared),
      texts: table.keepTexts ? Array.from(own, (row) => rows.texts.get(row)!) : null,
    };
    return { delta, to };
  }

  #form(): Pick<DeltaHeader, 'table' | 'keys' | 'outputDim' | 'storage' | 'shared' | 'hashes'> {
    const { name, keyKind, outputDim, storage, inputDim, capacity } = this.table;
    return { table: name, keys: keyKind, outputDim, storage, shared: inputDim - capacity, hashes: this.rows.hashes };
  }

  /** Brings the table up to date, all of it or nothing. Throws ValueError for a delta that does not fit. */
  apply(given: OpenDelta & { readonly name: string }): DeltaCounts {
    this.#checkForm(given);
    const mark = this.mark();
    const isWhole = given.from === WHOLE;
    if (!isWhole) this.#checkOrder(given, mark);
    const delta = isWhole ? { ...given, removed: this.#keysBeside(given.entries) } : given;
    this.#checkResult(delta);
    const taken = this.#checkRoom(delta);
    const { rows, table } = this;
    const { entries, removed } = delta;
    const { index } = rows.now;
    for (let at = 0; at < removed.length; at += 2) {
      const row = index.find(removed[at]!, removed[at + 1]!);
      rows.texts.delete(row);
      index.free(row);
    }
    const fresh: number[] = [];
    const places = new Int32Array(taken.length);
    taken.forEach((known, i) => {
      const at = i * ENTRY_WORDS;
      const row = known >= 0 ? known : index.take(entries[at]!, entries[at + KEY_HIGH]!);
      if (known < 0) fresh.push(row);
      else this.marks.changed(row);
      index.entries[row * ENTRY_WORDS + LAST] = entries[at + LAST]!;
      index.entries[row * ENTRY_WORDS + COUNT] = entries[at + COUNT]!;
      if (table.keepTexts) rows.texts.set(row, delta.texts![i]!);
      places[i] = row;
    });
    this.#write(places, delta);
    table.table!.restartSlots(Int32Array.from(fresh).sort());
    rows.now.restore(delta.step, delta.admitted, delta.evicted);
    rows.changed();
    rows.tell(removed);
    this.#position = { chain: delta.chain, to: delta.to, mark: this.mark() };
    return countsOf(delta);
  }

  #checkForm({ name, ...delta }: OpenDelta & { readonly name: string }): void {
    const form = this.#form();
    for (const field of ['table', 'keys', 'outputDim', 'storage', 'shared', 'hashes'] as const) {
      if (delta[field] === form[field]) continue;
      const text = (of: typeof form): string => `${field} ${JSON.stringify(of[field])}`;
      throw new ValueError('source', `a delta of ${text(form)}`, described(`${name}, of ${text(delta)}`));
    }
    if (!this.table.keepTexts || delta.texts !== null) return;
    const expected = `a delta with texts, which table ${form.table} keeps`;
    throw new ValueError('source', expected, described(`${name}, of a table without keepTexts`));
  }

  /** The keys of the table that are not among these. */
  #keysBeside(entries: Int32Array): KeyWords {
    const { index } = this.rows.now;
    const stay = new Set<number>();
    eachKey(entries, ENTRY_WORDS, (low, high) => stay.add(index.find(low, high)));
    const words: number[] = [];
    for (const row of index.rows()) {
      if (!stay.has(row)) words.push(...index.entries.subarray(row * ENTRY_WORDS, row * ENTRY_WORDS + 2));
    }
    return Int32Array.from(words);
  }

  /** Whether the table is what the delta was made from. */
  #checkOrder(
    { name, chain, from, to, base, result, table }: OpenDelta & { readonly name: string },
    mark: OpenTableMark,
  ): void {
    const position = this.#position?.mark === mark && this.#position.chain === chain ? this.#position : null;
    const received = described(`${name}, which leads from mark ${from} to mark ${to}`);
    if (position !== null && position.to !== from) {
      const note =
        to <= position.to
          ? 'It was applied before.'
          : `What leads from mark ${position.to} to mark ${from} is missing.`;
      throw new ValueError('source', `the delta of table ${table} from mark ${position.to} on`, received, note);
    }
    const { sum } = this.marks;
    if (sameChecksum(sum, base)) return;
    const expected = `the delta of table ${table} that was made from what it is, with checksum ${hexOf(sum)}`;
    const note = sameChecksum(sum, result)
      ? 'It was applied before.'
      : `It was made from checksum ${hexOf(base)}: deltas apply to the table as it was marked, in their order.`;
    throw new ValueError('source', expected, received, note);
  }

  /** Whether the rows lead to what the delta says, before any is written. */
  #checkResult(delta: OpenDelta & { readonly name: string }): void {
    const { name, entries, removed, places, result } = delta;
    const { index } = this.rows.now;
    const { capacity, outputDim, inputDim } = this.table;
    let [a, b] = this.marks.sum as [number, number];
    const swap = ([before0, before1]: readonly [number, number], [now0, now1]: readonly [number, number]): void => {
      a = (a - before0 + now0) | 0;
      b = (b - before1 + now1) | 0;
    };
    const none = [0, 0] as const;
    const damaged = (what: string): never => {
      const expected = `changes that lead to checksum ${hexOf(result)}`;
      throw new ValueError('source', expected, described(`${name}, ${what}`));
    };
    for (let at = 0; at < removed.length; at += 2) {
      const row = index.find(removed[at]!, removed[at + 1]!);
      if (row < 0) damaged('which removes a key that is not there');
      swap(this.marks.sumOf(row), none);
    }
    const bits = bitsOf(delta.rows);
    for (let i = 0, at = 0; at < entries.length; i++, at += ENTRY_WORDS) {
      const [low, high] = [entries[at]!, entries[at + KEY_HIGH]!];
      const row = index.find(low, high);
      swap(row < 0 ? none : this.marks.sumOf(row), rowSum(bits, i * outputDim, outputDim, low, high));
    }
    const shared = bitsOf(delta.sharedRows);
    places.forEach((place, i) => {
      if (place < 0 || place >= inputDim - capacity) damaged(`with shared row ${place}`);
      swap(this.marks.sumOf(capacity + place), sharedSum(shared, i * outputDim, outputDim, place));
    });
    const found = [a >>> 0, b >>> 0] as const;
    if (!sameChecksum(found, result)) damaged(`which leads to ${hexOf(found)}`);
  }

  /** The row of each key of the delta, -1 for new ones. Throws ValueError where a shard has no room for those. */
  #checkRoom({ entries, removed, name }: OpenDelta & { readonly name: string }): Int32Array {
    const { index } = this.rows.now;
    const more = new Int32Array(index.shardCount);
    eachKey(removed, 2, (low, high) => {
      index.find(low, high);
      more[index.shard]! -= 1;
    });
    const taken = new Int32Array(entries.length / ENTRY_WORDS);
    eachKey(entries, ENTRY_WORDS, (low, high, i) => {
      taken[i] = index.find(low, high);
      if (taken[i]! < 0) more[index.shard]! += 1;
    });
    more.forEach((count, shard) => {
      const size = index.shards[shard * SHARD_WORDS + SIZE]! + count;
      if (size <= index.quota(shard)) return;
      const place = index.shardCount === 1 ? 'in all' : `in shard ${shard}`;
      const expected = `a table with room for ${size} keys ${place}, which ${name} leads to`;
      throw new ValueError('capacity', expected, described(`${index.quota(shard)} rows`));
    });
    return taken;
  }

  /** Writes rows of keys and those that unknown keys share, ascending. */
  #write(places: Int32Array, { rows, places: shared, sharedRows }: OpenDelta): void {
    const { outputDim, capacity } = this.table;
    const order = Int32Array.from(places.keys()).sort((a, b) => places[a]! - places[b]!);
    const sorted = new Int32Array(places.length + shared.length);
    const values = new Float32Array(sorted.length * outputDim);
    order.forEach((from, to) => {
      sorted[to] = places[from]!;
      values.set(rows.subarray(from * outputDim, (from + 1) * outputDim), to * outputDim);
    });
    shared.forEach((place, i) => {
      sorted[places.length + i] = capacity + place;
      this.marks.changed(capacity + place);
    });
    values.set(sharedRows, places.length * outputDim);
    writeNumbersAt(this.table, sorted, values);
  }
}

function eachKey(words: KeyWords, width: number, take: (low: number, high: number, i: number) => void): void {
  for (let i = 0, at = 0; at < words.length; i++, at += width) take(words[at]!, words[at + 1]!, i);
}

function hexOf(sum: Checksum): string {
  return sum.map((each) => each.toString(16).padStart(8, '0')).join('');
}
