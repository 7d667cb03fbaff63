/** Keys as users give them, in any container, as words of 64 bits. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isSparse, readSparse, type SparseInput } from '../../ids/sparse_values.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { splitsOfLengths } from '../../ids/row_splits.js';
import { asString, asWhole, readCells, type Cells } from '../../preprocessing/cells/cells.js';
import { isWellFormed, utf8ColumnOf, type Utf8Column } from '../../preprocessing/columns/utf8_column.js';
import { fingerprints } from '../../preprocessing/hashes/fingerprints.js';
import type { KeyWords } from './steps/key_search.js';

export type KeyKind = 'int64' | 'string';

/** Where keys lie in what was given. */
export type KeyLayout =
  | { readonly kind: 'dense'; readonly shape: readonly number[] }
  | { readonly kind: 'ragged'; readonly nestedRowSplits: readonly Int32Array[] }
  | { readonly kind: 'sparse'; readonly indices: Int32Array; readonly denseShape: readonly number[] };

/** The keys of a batch. */
export interface KeyBatch {
  readonly words: KeyWords;
  readonly layout: KeyLayout;
  /** The text of each, for tables that keep them; null: keys are numbers. */
  readonly texts: (() => ArrayLike<unknown>) | null;
}

const LEAST = -(2n ** 63n);
const BEYOND = 2n ** 64n;

/** Whether words of 32 bits lie in memory with the low one first. */
const LOW_FIRST = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;

function wordsOfBigints(numbers: BigInt64Array | BigUint64Array): KeyWords {
  if (LOW_FIRST) return new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
  const words = new Int32Array(2 * numbers.length);
  numbers.forEach((key: bigint, i: number) => writeBigint(words, i, key));
  return words;
}

function writeBigint(words: KeyWords, i: number, key: bigint): void {
  words[2 * i] = Number(BigInt.asIntN(32, key));
  words[2 * i + 1] = Number(BigInt.asIntN(32, key >> 32n));
}

/** The words of whole numbers. */
function wordsOfNumbers({ flat, count, isFloat32 }: Cells, argument: string): KeyWords {
  if (flat instanceof BigInt64Array || flat instanceof BigUint64Array) return wordsOfBigints(flat);
  const words = new Int32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const value = flat[i];
    if (typeof value === 'bigint') {
      if (value < LEAST || value >= BEYOND) {
        throw new ValueError(argument, 'keys of 64 bits', described(`${value} at position ${i}`));
      }
      writeBigint(words, i, value);
      continue;
    }
    const whole = asWhole(value, i, isFloat32, argument);
    words[2 * i] = whole;
    words[2 * i + 1] = Math.floor(whole / 2 ** 32);
  }
  return words;
}

/** The fingerprints of strings: FarmHash64 of their UTF-8. */
function wordsOfTexts({ flat, count, utf8 }: Cells, argument: string): KeyWords {
  if (utf8 !== undefined) return fingerprints(utf8);
  const texts = new Array<string>(count);
  for (let i = 0; i < count; i++) {
    const text = asString(flat[i], i, argument);
    if (!isWellFormed(text)) {
      const received = described(`a text with half of a surrogate pair at position ${i}`);
      throw new ValueError(argument, 'texts that have a UTF-8', received);
    }
    texts[i] = text;
  }
  return fingerprints(columnOf(texts, argument));
}

function columnOf(texts: readonly string[], argument: string): Utf8Column {
  const column = utf8ColumnOf(texts);
  if (column === null)
    throw new ValueError(argument, 'texts of fewer than 2^31 bytes in all', described('longer ones'));
  return column;
}

function wordsOf(cells: Cells, kind: KeyKind, argument: string): KeyWords {
  return kind === 'string' ? wordsOfTexts(cells, argument) : wordsOfNumbers(cells, argument);
}

/** The lengths of nested arrays at each depth: one length, or one for each array where they differ. */
function layoutOf({ container, count }: Cells, argument: string): KeyLayout {
  if (container.kind === 'one') return { kind: 'dense', shape: [] };
  if (container.kind === 'flat') return { kind: 'dense', shape: [count] };
  if (container.kind === 'tensor') return { kind: 'dense', shape: container.shape };
  if (container.kind === 'ragged') {
    if (container.innerShape.length === 0) return { kind: 'ragged', nestedRowSplits: container.nestedRowSplits };
    throw new ValueError(
      argument,
      'single keys in ragged rows',
      described(`keys of shape [${container.innerShape.join(', ')}]`),
    );
  }
  const lengths = Array.from({ length: Math.max(1, container.depth) }, (): number[] => []);
  const read = (item: ArrayLike<unknown>, depth: number): void => {
    lengths[depth]!.push(item.length);
    if (depth + 1 < lengths.length)
      for (let i = 0; i < item.length; i++) read(item[i] as ArrayLike<unknown>, depth + 1);
  };
  read(container.data, 0);
  const isEven = lengths.every((each) => each.every((length) => length === each[0]));
  if (isEven) return { kind: 'dense', shape: lengths.map(([length = 0]) => length) };
  return { kind: 'ragged', nestedRowSplits: lengths.slice(1).map((each) => splitsOfLengths(Int32Array.from(each))) };
}

/**
 * Reads keys in any container. Rows of nested arrays that differ in length are ragged.
 *
 * @throws TypeError for what is no container of such keys; ValueError, with the position, for fractions, numbers from
 * 2^53 on, bigints of more than 64 bits, and texts that have no UTF-8.
 */
export function readKeys(data: unknown, kind: KeyKind, argument: string): KeyBatch {
  if (isSparse(data)) {
    const { indices, denseShape, count } = readSparse(data, argument);
    const cells = readCells(data.values, `${argument}.values`);
    if (cells.count !== count) {
      throw new ValueError(`${argument}.values`, `${count} keys, one for each index`, described(`${cells.count}`));
    }
    const words = wordsOf(cells, kind, `${argument}.values`);
    return { words, layout: { kind: 'sparse', indices, denseShape }, texts: textsIn(cells, kind) };
  }
  const cells = readCells(data, argument);
  const isText = cells.utf8 !== undefined || (data instanceof tf.Tensor && data.dtype === 'string');
  if (isText && kind === 'int64') throw new ArgumentTypeError(argument, 'whole numbers', described('texts'));
  return { words: wordsOf(cells, kind, argument), layout: layoutOf(cells, argument), texts: textsIn(cells, kind) };
}

function textsIn(cells: Cells, kind: KeyKind): KeyBatch['texts'] {
  return kind === 'string' ? () => cells.flat : null;
}

/** Keys as users get them: bigints of 64 bits with a sign. */
export function bigintsOf(words: KeyWords): BigInt64Array {
  const copy = words.slice();
  if (LOW_FIRST) return new BigInt64Array(copy.buffer);
  return BigInt64Array.from({ length: copy.length / 2 }, (_, i) => {
    return (BigInt(copy[2 * i + 1]!) << 32n) | BigInt(copy[2 * i]! >>> 0);
  });
}

/** Row numbers, or weights, in the layout of the keys, as lookups take them. */
export function idsInLayout(
  rows: Int32Array | Float32Array,
  layout: KeyLayout,
): tf.Tensor | RaggedTensor | SparseInput {
  if (layout.kind === 'ragged') return RaggedTensor.fromNestedRowSplits(rows, layout.nestedRowSplits as Int32Array[]);
  if (layout.kind === 'sparse') return { indices: layout.indices, values: rows, denseShape: layout.denseShape };
  return tf.tensor(rows, [...layout.shape], rows instanceof Int32Array ? 'int32' : 'float32');
}
