/** Which of a list of different strings each string of a column is. */
import { platform, type ColumnKernels } from '../../base/platform.js';
import { utf8ColumnOf, type JoinedTexts, type Utf8Column } from './utf8_column.js';

/** Words for a table of `count` entries that is at most half full. */
export function slotWords(count: number, wordsOfOne: number): number {
  return wordsOfOne * 2 ** Math.ceil(Math.log2(Math.max(2 * count, 2)));
}

/** Finds by bytes, whether they are UTF-8 or not. */
export interface TextIndex {
  /** Writes the place of each string in the list, -1 for others; returns how many of these there are. */
  find(queries: Utf8Column | JoinedTexts, found: Int32Array): number;
}

/** An index in C; null where a string has no UTF-8. The strings differ. */
export function nativeTextIndex(texts: readonly string[], kernels: ColumnKernels): TextIndex | null {
  const column = utf8ColumnOf(texts);
  if (column === null) return null;
  const { bytes, offsets } = column;
  const slots = new Int32Array(slotWords(texts.length, 4));
  kernels.indexTexts(bytes, offsets, slots);
  return {
    find: (queries, found) => {
      const gap = 'gap' in queries ? queries.gap : 0;
      return kernels.findTexts(bytes, slots, queries.bytes, queries.offsets, gap, found);
    },
  };
}

/** Byte for byte a character, in all encodings that are called so. */
const bytewise = new TextDecoder('latin1');

/** The same in TypeScript, which the native one is compared with. */
export function plainTextIndex(texts: readonly string[]): TextIndex | null {
  const column = utf8ColumnOf(texts);
  if (column === null) return null;
  const textOf = ({ bytes, offsets }: Utf8Column, i: number, gap: number): string =>
    bytewise.decode(bytes.subarray(offsets[i]!, offsets[i + 1]! - gap));
  const places = new Map(texts.map((_, i) => [textOf(column, i, 0), i]));
  return {
    find: (queries, found) => {
      const gap = 'gap' in queries ? queries.gap : 0;
      let unknown = 0;
      for (let i = 0; i < found.length; i++) {
        const place = places.get(textOf(queries, i, gap));
        found[i] = place ?? -1;
        if (place === undefined) unknown++;
      }
      return unknown;
    },
  };
}

export function textIndex(texts: readonly string[]): TextIndex | null {
  const kernels = platform().columns;
  return kernels === undefined ? plainTextIndex(texts) : nativeTextIndex(texts, kernels);
}
