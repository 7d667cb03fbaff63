/** Memory of results that were disposed, for those of the next batch: fresh memory costs more than the work in it. */

/** Bytes that are kept at most. */
const MOST_KEPT = 2 ** 28;

/** A run of 4-byte words in a buffer. */
export interface CsrMemory {
  readonly buffer: ArrayBuffer;
  readonly byteOffset: number;
  readonly words: number;
}

const kept: CsrMemory[] = [];

/** Lengths are rounded up, so that batches of about the same size have memory of the same. */
export function roundedWords(words: number): number {
  const unit = Math.max(64, 2 ** (Math.floor(Math.log2(Math.max(1, words))) - 4));
  return Math.ceil(words / unit) * unit;
}

/** Memory of exactly so many words, with anything in it; null where none is kept. */
export function takeMemory(words: number): CsrMemory | null {
  const place = kept.findIndex((memory) => memory.words === words);
  return place < 0 ? null : kept.splice(place, 1)[0]!;
}

/** Keeps memory for others. Arrays that were made in it are empty from now on. */
export function giveMemory({ buffer, byteOffset, words }: CsrMemory): void {
  kept.push({ buffer: structuredClone(buffer, { transfer: [buffer] }), byteOffset, words });
  let bytes = kept.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
  // The oldest go: batches of their size no longer come.
  while (bytes > MOST_KEPT) bytes -= kept.shift()!.buffer.byteLength;
}
