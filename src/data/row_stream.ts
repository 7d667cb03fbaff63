/** Streams of rows, as chunks of any size: cut, chosen, mixed, gathered into batches, read ahead. */
import { randomKey, randomWords } from '../backends/counter_random.js';
import { concatChunks, gatherChunk, sliceChunk, type Chunk } from './chunk.js';

export type Chunks = AsyncIterable<Chunk>;

/** The first `count` rows. */
export async function* takeRows(chunks: Chunks, count: number): AsyncGenerator<Chunk> {
  let left = count;
  // Asked first, so that nothing is read for no row.
  if (left === 0) return;
  for await (const chunk of chunks) {
    const taken = Math.min(left, chunk.count);
    yield sliceChunk(chunk, 0, taken);
    left -= taken;
    if (left === 0) return;
  }
}

/** All rows but the first `count`. */
export async function* skipRows(chunks: Chunks, count: number): AsyncGenerator<Chunk> {
  let left = count;
  for await (const chunk of chunks) {
    const skipped = Math.min(left, chunk.count);
    left -= skipped;
    if (skipped < chunk.count) yield sliceChunk(chunk, skipped, chunk.count);
  }
}

/** The rows whose numbers, counted from 0, are chosen. */
export async function* chooseRows(chunks: Chunks, isChosen: (row: number) => boolean): AsyncGenerator<Chunk> {
  let first = 0;
  for await (const chunk of chunks) {
    const rows = new Int32Array(chunk.count);
    let chosen = 0;
    for (let row = 0; row < chunk.count; row++) if (isChosen(first + row)) rows[chosen++] = row;
    first += chunk.count;
    if (chosen === chunk.count) yield chunk;
    else if (chosen > 0) yield gatherChunk(chunk, rows.subarray(0, chosen));
  }
}

/** Random numbers in [0, 1) by place: those of one seed and stream are the same in each run. */
export function randomAt(seed: number, stream: number): (place: number) => number {
  const key = randomKey(seed);
  const block = 1024;
  const words = new Int32Array(2 * block);
  let loaded = -1;
  return (place) => {
    const wanted = Math.floor(place / block);
    if (wanted !== loaded) {
      const row = wanted % 2 ** 31;
      randomWords(words, key, { firstRow: row, rowStep: 1, rows: 1, firstColumn: stream * block, columns: block });
      loaded = wanted;
    }
    return (words[place % block]! >>> 0) / 2 ** 32;
  };
}

/** Puts the numbers into another order, each order being as likely. */
function permute(numbers: Int32Array, random: () => number): void {
  for (let left = numbers.length; left > 1; left--) {
    const drawn = Math.floor(random() * left);
    const last = numbers[left - 1]!;
    numbers[left - 1] = numbers[drawn]!;
    numbers[drawn] = last;
  }
}

function counted(count: number): Int32Array {
  const numbers = new Int32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i;
  return numbers;
}

/**
 * The rows in a random order. Of a buffer of `size` rows a random half goes out whenever it is full, and the others wait
 * for more: each row is copied twice, and no more than `size` rows and a chunk are held. A buffer for all rows makes
 * each order as likely.
 */
export async function* shuffleRows(chunks: Chunks, size: number, random: () => number): AsyncGenerator<Chunk> {
  let waiting: Chunk[] = [];
  let held = 0;
  const mixed = (): Chunk => {
    const all = concatChunks(waiting);
    const order = counted(all.count);
    permute(order, random);
    return gatherChunk(all, order);
  };
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.count;) {
      if (held === size) {
        const all = mixed();
        const gone = Math.ceil(size / 2);
        yield sliceChunk(all, 0, gone);
        held = size - gone;
        waiting = held === 0 ? [] : [sliceChunk(all, gone, size)];
      }
      const end = Math.min(chunk.count, start + size - held);
      waiting.push(sliceChunk(chunk, start, end));
      held += end - start;
      start = end;
    }
  }
  if (held > 0) yield mixed();
}

/** Chunks of `size` rows; the last has the rest, or is left out. */
export async function* batchRows(chunks: Chunks, size: number, dropsRemainder: boolean): AsyncGenerator<Chunk> {
  let waiting: Chunk[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.count;) {
      const end = Math.min(chunk.count, start + size - held);
      waiting.push(sliceChunk(chunk, start, end));
      held += end - start;
      start = end;
      if (held < size) continue;
      yield concatChunks(waiting);
      waiting = [];
      held = 0;
    }
  }
  if (held > 0 && !dropsRemainder) yield concatChunks(waiting);
}

/** Chunks are asked for before it is known how many there are. */
const MOST_AHEAD = 1024;

/** The same chunks, of which up to `count`, and up to 1,024, are read before they are asked for. */
export async function* readAhead(chunks: Chunks, count: number): AsyncGenerator<Chunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  const coming: Promise<IteratorResult<Chunk>>[] = [];
  const ask = (): void => {
    const next = iterator.next();
    // A failure is told where the chunk is asked for.
    next.catch(() => undefined);
    coming.push(next);
  };
  try {
    for (;;) {
      while (coming.length <= Math.min(count, MOST_AHEAD)) ask();
      const { done, value } = await coming.shift()!;
      if (done === true) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** The first chunks as they are. */
export async function* firstChunks(chunks: Chunks, count: number): AsyncGenerator<Chunk> {
  let left = count;
  if (left === 0) return;
  for await (const chunk of chunks) {
    yield chunk;
    left -= 1;
    if (left === 0) return;
  }
}

/** The chunks after so many. */
export async function* laterChunks(chunks: Chunks, count: number): AsyncGenerator<Chunk> {
  let left = count;
  for await (const chunk of chunks) if (left-- <= 0) yield chunk;
}
