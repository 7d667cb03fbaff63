/** Strings as Arrow and parquet hold them, and strings of JavaScript in this form. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { ColumnKernels } from '../../base/platform.js';

/** String i is the UTF-8 in bytes[offsets[i] .. offsets[i + 1]). */
export interface Utf8Column {
  readonly bytes: Uint8Array;
  /** One more than there are strings; they never fall. */
  readonly offsets: Int32Array;
}

export function isUtf8Column(data: unknown): data is Utf8Column {
  return isRecord(data) && 'bytes' in data && 'offsets' in data;
}

/** Throws TypeError for other arrays; ValueError for offsets that fall or lie outside of the bytes. */
export function checkUtf8Column({ bytes, offsets }: Utf8Column, argument: string): void {
  if (!(bytes instanceof Uint8Array)) throw new ArgumentTypeError(`${argument}.bytes`, 'a Uint8Array', bytes);
  if (!(offsets instanceof Int32Array)) throw new ArgumentTypeError(`${argument}.offsets`, 'an Int32Array', offsets);
  const expected = `offsets that never fall, from 0 on, within ${bytes.length} bytes`;
  if (offsets.length === 0) throw new ValueError(`${argument}.offsets`, expected, described('none'));
  let before = 0;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!;
    if (offset < before || offset > bytes.length) {
      throw new ValueError(`${argument}.offsets`, expected, described(`${offset} at position ${i}`));
    }
    before = offset;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** The strings of a column; bytes that are no UTF-8 become U+FFFD. */
export function textsOf({ bytes, offsets }: Utf8Column): string[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    decoder.decode(bytes.subarray(offsets[i]!, offsets[i + 1]!)),
  );
}

/** Whether no half of a surrogate pair stands alone: those have no UTF-8. */
export function isWellFormed(text: string): boolean {
  const { isWellFormed: native } = String.prototype as { isWellFormed?: (this: string) => boolean };
  return native === undefined ? !/\p{Surrogate}/u.test(text) : native.call(text);
}

/** A column of these strings; null where one of them has no UTF-8, or all are too long together. */
export function utf8ColumnOf(texts: readonly string[]): Utf8Column | null {
  const offsets = new Int32Array(texts.length + 1);
  let bytes = new Uint8Array(16 * texts.length + 16);
  let at = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    if (!isWellFormed(text)) return null;
    const most = at + 3 * text.length;
    if (most > 2 ** 31 - 1) return null;
    if (most > bytes.length) {
      const wider = new Uint8Array(Math.min(2 * most, 2 ** 31 - 1));
      wider.set(bytes);
      bytes = wider;
    }
    at += encoder.encodeInto(text, bytes.subarray(at)).written;
    offsets[i + 1] = at;
  }
  return { bytes: bytes.subarray(0, at), offsets };
}

/** A part of a column of strings, with a byte between them. */
export interface JoinedTexts extends Utf8Column {
  readonly gap: 1;
}

/** Strings that are encoded at once: what fits the caches together with the table that is looked up. */
const AT_ONCE = 1 << 14;

let scratch = new Uint8Array(0);

/**
 * Hands strings over as columns, part by part: joined by zeros, they are encoded in one go, which takes a tenth of a look
 * into a Map. `plainly`: takes those parts that hold zeros, halves of surrogate pairs, or very long strings. All values
 * must be strings.
 */
export function eachPart(
  texts: readonly string[],
  kernels: ColumnKernels,
  natively: (part: JoinedTexts, start: number) => void,
  plainly: (start: number, end: number) => void,
): void {
  const offsets = new Int32Array(Math.min(texts.length, AT_ONCE) + 1);
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    const end = Math.min(start + AT_ONCE, texts.length);
    const part = start === 0 && end === texts.length ? texts : texts.slice(start, end);
    const joined = part.join('\0') + '\0';
    if (joined.length > 2 ** 26 || !isWellFormed(joined)) {
      plainly(start, end);
      continue;
    }
    if (scratch.length < 3 * joined.length) scratch = new Uint8Array(6 * joined.length);
    const bytes = scratch.subarray(0, encoder.encodeInto(joined, scratch).written);
    const ends = offsets.subarray(0, part.length + 1);
    if (kernels.splitTexts(bytes, 0, ends) === part.length) natively({ bytes, offsets: ends, gap: 1 }, start);
    else plainly(start, end);
  }
}
