/** Where the values of data lie in a vocabulary, all at once where there are many. */
import { platform } from '../../base/platform.js';
import type { Cells } from '../cells/cells.js';
import { bucketOf } from '../hashes/hash_bucket.js';
import { numberIndex, wideNumbers, type NumberIndex } from './number_index.js';
import { textIndex, type TextIndex } from './text_index.js';
import { eachPart, type JoinedTexts } from './utf8_column.js';
import { nativeTextBuckets, numberBuckets, textBuckets, type Buckets } from './column_hashes.js';

/** Below this, calls cost more than they save. */
const FEW = 256;

/** Places in the vocabulary, -1 for unknown values, and how many of these there are. */
export interface Found {
  readonly places: Int32Array;
  readonly unknown: number;
}

/** Many strings of JavaScript; null: few, or other values among them. */
function textsIn({ flat, count }: Cells): readonly string[] | null {
  if (count < FEW || !Array.isArray(flat)) return null;
  for (let i = 0; i < count; i++) if (typeof flat[i] !== 'string') return null;
  return flat as readonly string[];
}

/** Numbers as int64; null: few, or such as may be none. */
function numbersIn({ flat, count, utf8 }: Cells): BigInt64Array | null {
  if (utf8 !== undefined) return null;
  if (flat instanceof BigInt64Array) return flat;
  return flat instanceof Int32Array && count >= FEW && platform().columns !== undefined ? wideNumbers(flat) : null;
}

/** Different strings, by place. */
export class TextPlaces {
  #index: TextIndex | null | undefined;

  constructor(private readonly texts: readonly string[]) {}

  /** Null: the values are to be looked up one by one. */
  find(cells: Cells, one: (text: string) => number): Found | null {
    const kernels = platform().columns;
    const texts = cells.utf8 === undefined && kernels !== undefined ? textsIn(cells) : null;
    if (texts === null && cells.utf8 === undefined) return null;
    const index = (this.#index ??= textIndex(this.texts));
    if (index === null) return null;
    const places = new Int32Array(cells.count);
    if (texts === null) return { places, unknown: index.find(cells.utf8!, places) };
    let unknown = 0;
    const natively = (part: JoinedTexts, start: number): void => {
      unknown += index.find(part, places.subarray(start, start + part.offsets.length - 1));
    };
    eachPart(texts, kernels!, natively, (start, end) => {
      for (let i = start; i < end; i++) if ((places[i] = one(texts[i]!)) < 0) unknown++;
    });
    return { places, unknown };
  }
}

/** Different whole numbers, by place. */
export class NumberPlaces {
  #index: NumberIndex | undefined;

  constructor(private readonly numbers: readonly number[]) {}

  /** Null: the values are to be looked up one by one. */
  find(cells: Cells): Found | null {
    const queries = numbersIn(cells);
    if (queries === null) return null;
    this.#index ??= numberIndex(BigInt64Array.from(this.numbers, BigInt));
    const places = new Int32Array(cells.count);
    return { places, unknown: this.#index.find(queries, places) };
  }
}

/** Buckets of all values; null: they are to be hashed one by one. */
export function bucketsIn(cells: Cells, buckets: Buckets): Int32Array | null {
  if (cells.utf8 !== undefined) return textBuckets(cells.utf8, buckets);
  const numbers = numbersIn(cells);
  if (numbers !== null) return numberBuckets(numbers, buckets);
  const kernels = platform().columns;
  const texts = kernels === undefined ? null : textsIn(cells);
  if (texts === null) return null;
  const all = new Int32Array(texts.length);
  const natively = (part: JoinedTexts, start: number): void =>
    all.set(nativeTextBuckets(part, buckets, kernels!), start);
  eachPart(texts, kernels!, natively, (start, end) => {
    for (let i = start; i < end; i++) all[i] = bucketOf(texts[i]!, buckets.of, buckets.salt);
  });
  return all;
}

/** The rest of a division by `of`, never negative; null: the values are to be taken one by one. */
export function restsIn(cells: Cells, of: number): Int32Array | null {
  const numbers = numbersIn(cells);
  if (numbers === null) return null;
  const divisor = BigInt(of);
  return Int32Array.from({ length: numbers.length }, (_, i) => Number(((numbers[i]! % divisor) + divisor) % divisor));
}
