/**
 * Texts of Arrow as they are in the bytes: apache-arrow takes a byte order mark off the front of each, and puts U+FFFD in
 * place of what is no UTF-8, so that two texts may become one.
 */
import type * as arrow from 'apache-arrow';
import { ValueError, described } from '../base/errors.js';

/** Those of `Type` in apache-arrow. */
export const TEXT = { utf8: 5, largeUtf8: 20, utf8View: 24 } as const;
const DICTIONARY = -1;
/** Bytes of what a view tells of a text, and of texts that lie in it. */
const [VIEW, INLINE] = [16, 12];

type Data = arrow.Data;
type BytesAt = (row: number) => Uint8Array;
/** The text of a row; null: it is missing. */
export type TextAt = (row: number) => string | null;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytesOf(data: Data): BytesAt {
  const values = data.values as Uint8Array;
  if ((data.type as arrow.DataType).typeId !== TEXT.utf8View) {
    // Those of large texts are of 64 bits.
    const offsets = data.valueOffsets as unknown as ArrayLike<number | bigint>;
    return (row) => values.subarray(Number(offsets[row]!), Number(offsets[row + 1]!));
  }
  const views = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const { variadicBuffers } = data as unknown as { variadicBuffers: readonly Uint8Array[] };
  return (row) => {
    const at = row * VIEW;
    const length = views.getInt32(at, true);
    if (length <= INLINE) return values.subarray(at + 4, at + 4 + length);
    const first = views.getInt32(at + 12, true);
    return variadicBuffers[views.getInt32(at + 8, true)]!.subarray(first, first + length);
  };
}

function plainTexts(data: Data, path: string): TextAt {
  const bytesAt = bytesOf(data);
  return (row) => {
    if (!data.getValid(row)) return null;
    const bytes = bytesAt(row);
    try {
      return decoder.decode(bytes);
    } catch {
      throw new ValueError(path, 'texts in UTF-8', described(`the bytes ${bytes.slice(0, 16).join(' ')}`));
    }
  };
}

/** Those of dictionaries, which the batches of a file share. */
const wordsOf = new WeakMap<object, readonly (string | null)[]>();

function wordsIn(dictionary: arrow.Vector, path: string): readonly (string | null)[] {
  const known = wordsOf.get(dictionary);
  if (known !== undefined) return known;
  const words = dictionary.data.flatMap((part) => {
    const textAt = plainTexts(part as Data, path);
    return Array.from({ length: part.length }, (_, row) => textAt(row));
  });
  wordsOf.set(dictionary, words);
  return words;
}

/** The texts of a column, of which errors say `path`; null: it has none. Words of a dictionary are read once. */
export function textsOf(data: Data, path: string): TextAt | null {
  const { typeId, dictionary } = data.type as arrow.Dictionary;
  const isText = (id: number): boolean => (Object.values(TEXT) as number[]).includes(id);
  if (isText(typeId)) return plainTexts(data, path);
  if ((typeId as number) !== DICTIONARY || !isText((dictionary as arrow.DataType).typeId)) return null;
  const words = data.dictionary === undefined ? [] : wordsIn(data.dictionary as arrow.Vector, path);
  const places = data.values as ArrayLike<number | bigint>;
  return (row) => (data.getValid(row) ? (words[Number(places[row]!)] ?? null) : null);
}
