/**
 * Random words by number: each depends on the seed, its row and its column alone.
 *
 * Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): key is
 * the seed, counter is (row, pair of columns). It needs additions, rotations and exclusive ors only, which every engine
 * has for 32 bits, where Philox needs 64-bit products; it passes the published batteries of tests with rounds to spare.
 */

/** Which part of a table an array holds, row-major. */
export interface FilledPart {
  /** Local row r is global row firstRow + rowStep * r. */
  readonly firstRow: number;
  readonly rowStep: number;
  readonly rows: number;
  readonly firstColumn: number;
  readonly columns: number;
}

/** A seed as two 32-bit words. */
export interface RandomKey {
  readonly low: number;
  readonly high: number;
}

/** The key of a seed, a whole number from 0 to 2^53 - 1. */
export function randomKey(seed: number): RandomKey {
  return { low: (seed % 2 ** 32) | 0, high: Math.floor(seed / 2 ** 32) | 0 };
}

/** Writes the words of a part of a table into `words`, row-major; it needs room for twice as many. */
export function randomWords(words: Int32Array, key: RandomKey, part: FilledPart): void {
  const { firstRow, rowStep, rows, firstColumn, columns } = part;
  // Said to be 32 bits wide, so that no sum below is one of doubles.
  const k0 = key.low | 0;
  const k1 = key.high | 0;
  const k2 = k0 ^ k1 ^ 0x1bd11bda;
  // Two columns share a counter.
  const odd = firstColumn % 2;
  const firstPair = ((firstColumn - odd) / 2 + k1) | 0;
  const pairs = Math.ceil((odd + columns) / 2) | 0;
  for (let r = 0, at = 0; r < rows; r++) {
    const row = (firstRow + rowStep * r + k0) | 0;
    for (let p = 0; p < pairs; p++) {
      const pair = (firstPair + p) | 0;
      let a = (row + pair) | 0;
      let b = ((pair << 13) | (pair >>> 19)) ^ a;
      a = (a + b) | 0;
      b = ((b << 15) | (b >>> 17)) ^ a;
      a = (a + b) | 0;
      b = ((b << 26) | (b >>> 6)) ^ a;
      a = (a + b) | 0;
      b = ((b << 6) | (b >>> 26)) ^ a;
      a = (a + k1) | 0;
      b = (b + k2 + 1) | 0;

      a = (a + b) | 0;
      b = ((b << 17) | (b >>> 15)) ^ a;
      a = (a + b) | 0;
      b = ((b << 29) | (b >>> 3)) ^ a;
      a = (a + b) | 0;
      b = ((b << 16) | (b >>> 16)) ^ a;
      a = (a + b) | 0;
      b = ((b << 24) | (b >>> 8)) ^ a;
      a = (a + k2) | 0;
      b = (b + k0 + 2) | 0;

      a = (a + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ a;
      a = (a + b) | 0;
      b = ((b << 15) | (b >>> 17)) ^ a;
      a = (a + b) | 0;
      b = ((b << 26) | (b >>> 6)) ^ a;
      a = (a + b) | 0;
      b = ((b << 6) | (b >>> 26)) ^ a;
      a = (a + k0) | 0;
      b = (b + k1 + 3) | 0;

      a = (a + b) | 0;
      b = ((b << 17) | (b >>> 15)) ^ a;
      a = (a + b) | 0;
      b = ((b << 29) | (b >>> 3)) ^ a;
      a = (a + b) | 0;
      b = ((b << 16) | (b >>> 16)) ^ a;
      a = (a + b) | 0;
      b = ((b << 24) | (b >>> 8)) ^ a;
      a = (a + k1) | 0;
      b = (b + k2 + 4) | 0;

      a = (a + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ a;
      a = (a + b) | 0;
      b = ((b << 15) | (b >>> 17)) ^ a;
      a = (a + b) | 0;
      b = ((b << 26) | (b >>> 6)) ^ a;
      a = (a + b) | 0;
      b = ((b << 6) | (b >>> 26)) ^ a;

      words[at++] = a + k2;
      words[at++] = b + k0 + 5;
    }
  }
  if (pairs * 2 !== columns) dropOthers(words, rows, columns, pairs * 2, odd);
}

/** Another key, of a key and two numbers of 32 bits. */
export function derivedKey(key: RandomKey, row: number, pair: number): RandomKey {
  const words = new Int32Array(2);
  randomWords(words, key, { firstRow: row, rowStep: 1, rows: 1, firstColumn: 2 * pair, columns: 2 });
  return { low: words[0]!, high: words[1]! };
}

/** Keeps `columns` words of every `stride`, from `first` on, and moves them together. */
function dropOthers(words: Int32Array, rows: number, columns: number, stride: number, first: number): void {
  for (let r = 0, at = 0; r < rows; r++) {
    const from = r * stride + first;
    for (let c = 0; c < columns; c++) words[at++] = words[from + c]!;
  }
}
