/** Ops of graphs on texts, whose kernels some backends of tfjs lack. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { int32Array, readValues } from '../host_array.js';
import { expressionOf, utf8Of } from '../regular_expressions.js';

interface Long {
  modulo(divisor: number): { toNumber(): number };
}

function hashed([input]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const buckets = Number(node.attrs['num_buckets']);
  if (!(buckets >= 1)) throw new ValueError('num_buckets', 'a number of at least 1', buckets);
  const texts = readValues(tf.backend(), input!, 'input') as Uint8Array[];
  const fingerprint = tf.util.fingerPrint64 as unknown as (text: Uint8Array) => Long;
  const places = texts.map((text) => fingerprint(text).modulo(buckets).toNumber());
  return tf.tensor(int32Array(input!.shape, places, 'num_buckets').values as Int32Array, input!.shape, 'int32');
}

const bytesOf = (texts: tf.Tensor, argument: string): Uint8Array[] =>
  readValues(tf.backend(), texts, argument) as Uint8Array[];

const joinedBy = (separator: Uint8Array, parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part, i) => [...(i > 0 ? separator : []), ...part]));

const bytesOfText = (node: tf.GraphNode, name: string): Uint8Array =>
  Uint8Array.from(textAttribute(node, name), (each) => each.charCodeAt(0));

const stringsOf = (texts: readonly Uint8Array[], shape: number[]): tf.Tensor =>
  tf.engine().makeTensor(texts as unknown as tf.DataValues, shape, 'string') as tf.Tensor;

/** The parts of a text between bytes of a set; of an empty set each byte is a part. */
function partsOf(text: Uint8Array, delimiters: ReadonlySet<number>, skipEmpty: boolean): Uint8Array[] {
  if (text.length === 0) return [];
  if (delimiters.size === 0) return Array.from(text, (byte) => Uint8Array.of(byte));
  const ends = Array.from(text.keys()).filter((at) => delimiters.has(text[at]!));
  const parts = [...ends, text.length].map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1]! + 1, end));
  return skipEmpty ? parts.filter(({ length }) => length > 0) : parts;
}

function split([input, delimiter]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor[] {
  const delimiters = new Set(bytesOf(delimiter!, 'delimiter')[0]!);
  const rows = bytesOf(input!, 'input').map((text) => partsOf(text, delimiters, attrs['skip_empty'] !== false));
  return sparseParts(rows);
}

const SPACES: ReadonlySet<number> = new Set([9, 10, 11, 12, 13, 32]);

/** Where a text stands in another from `start` on, or its end. */
function indexOf(text: Uint8Array, part: Uint8Array, start: number): number {
  for (let at = start; at + part.length <= text.length; at++) {
    if (part.every((byte, i) => text[at + i] === byte)) return at;
  }
  return text.length;
}

/** The parts of a text between separators, at most so many splits; without a separator between blanks. */
function splitAt(text: Uint8Array, separator: Uint8Array, most: number): Uint8Array[] {
  if (most === 0) return [text];
  const isBlank = separator.length === 0;
  const pastBlanks = (from: number): number => {
    let at = from;
    while (isBlank && at < text.length && SPACES.has(text[at]!)) at++;
    return at;
  };
  const parts: Uint8Array[] = [];
  let start = pastBlanks(0);
  while (isBlank ? start < text.length : true) {
    let end = isBlank ? start : indexOf(text, separator, start);
    while (isBlank && end < text.length && !SPACES.has(text[end]!)) end++;
    parts.push(text.slice(start, end));
    if (!isBlank && end === text.length) return parts;
    start = pastBlanks(end + separator.length);
    if (parts.length === most) return [...parts, text.slice(start)];
  }
  return parts;
}

/** Parts of each text as a sparse matrix. */
function sparseParts(rows: readonly Uint8Array[][]): tf.Tensor[] {
  const places = rows.flatMap((parts, row) => parts.flatMap((_, at) => [row, at]));
  const values = rows.flat();
  return [
    tf.tensor2d(places, [values.length, 2], 'int32'),
    stringsOf(values, [values.length]),
    tf.tensor1d([rows.length, Math.max(0, ...rows.map(({ length }) => length))], 'int32'),
  ];
}

function splitV2([input, sep]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor[] {
  if (sep!.size !== 1) throw new ValueError('sep', 'one text', sep!);
  if (input!.rank !== 1) throw new ValueError('input', 'a vector', input!);
  const separator = bytesOf(sep!, 'sep')[0]!;
  return sparseParts(bytesOf(input!, 'input').map((text) => splitAt(text, separator, Number(attrs['maxsplit'] ?? -1))));
}

// A mark of byte order is a character like others.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Letters of ASCII, or of every alphabet where the encoding is told. */
const inCase =
  (ofText: (text: string) => string, first: number, last: number) =>
  ([input]: tf.Tensor[], node: tf.GraphNode): tf.Tensor => {
    const isUnicode = textAttribute(node, 'encoding') !== '';
    const texts = bytesOf(input!, 'input').map((bytes) =>
      isUnicode
        ? new TextEncoder().encode(ofText(utf8.decode(bytes)))
        : bytes.map((byte) => (byte >= first && byte <= last ? byte ^ 32 : byte)),
    );
    return stringsOf(texts, input!.shape);
  };

/** Texts of equal segment ids one after the other; ids may be of the first axes alone. */
function segmentJoin([inputs, ids, count]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const segments = readTensor(count!, 'num_segments')[0]!;
  if (segments < 0) throw new ValueError('num_segments', 'a number of at least 0', segments);
  if (String(inputs!.shape.slice(0, ids!.rank)) !== String(ids!.shape)) {
    throw new ValueError('segment_ids', `the first sizes of [${inputs!.shape.join(', ')}]`, ids!);
  }
  const separator = bytesOfText(node, 'separator');
  const inner = inputs!.shape.slice(ids!.rank);
  const width = tf.util.sizeFromShape(inner);
  const texts = bytesOf(inputs!, 'inputs');
  const rows = Array.from({ length: segments * width }, (): Uint8Array[] => []);
  readTensor(ids!, 'segment_ids').forEach((id, i) => {
    if (id >= segments) throw new ValueError('segment_ids', `ids below ${segments}`, id);
    for (let j = 0; id >= 0 && j < width; j++) rows[id * width + j]!.push(texts[i * width + j]!);
  });
  // TensorFlow separates from what is there so far, if that is not empty.
  const joined = rows.map((parts) =>
    parts.reduce(
      (all, part) => Uint8Array.from([...all, ...(all.length > 0 ? separator : []), ...part]),
      new Uint8Array(0),
    ),
  );
  return stringsOf(joined, [segments, ...inner]);
}

/** Texts one behind the other, place by place; a scalar stands at each place. */
function textJoin(inputs: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const shape = inputs.find(({ rank }) => rank > 0)?.shape ?? [];
  const stray = inputs.find((each) => each.rank > 0 && String(each.shape) !== String(shape));
  if (stray !== undefined) throw new ValueError('inputs', `texts of shape [${shape.join(', ')}], or scalars`, stray);
  const separator = bytesOfText(node, 'separator');
  const all = inputs.map((each) => bytesOf(each, 'inputs'));
  const joined = Array.from({ length: tf.util.sizeFromShape(shape) }, (_, at) =>
    joinedBy(
      separator,
      all.map((texts, i) => texts[inputs[i]!.rank === 0 ? 0 : at]!),
    ),
  );
  return stringsOf(joined, shape);
}

/** Runs of neighbouring texts of a row, of each width, with what is told before the first and behind the last. */
function ngrams([data, dataSplits]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const { attrs } = node;
  const [separator, left, right] = ['separator', 'left_pad', 'right_pad'].map((name) => bytesOfText(node, name)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const widths = (attrs['ngram_widths'] as number[] | undefined) ?? [];
  const given = Number(attrs['pad_width'] ?? 0);
  const texts = bytesOf(data!, 'data');
  const splits = Array.from(readTensor(dataSplits!, 'data_splits'));
  // Of no texts at all TensorFlow makes no runs of what is told to stand around them.
  if (texts.length === 0) {
    return [data!.clone(), tf.tensor1d(new Int32Array(splits.length), 'int32')];
  }
  const isOrdered = splits.every((split, i) => (i === 0 ? split === 0 : split >= splits[i - 1]!));
  if (!isOrdered || splits.at(-1) !== texts.length) {
    throw new ValueError('data_splits', `row splits from 0 to ${texts.length} that never fall`, splits);
  }
  const rows = splits.slice(1).map((end, row) => {
    const own = texts.slice(splits[row], end);
    const of = (width: number, pads: number): Uint8Array[] => {
      const all = [...new Array<Uint8Array>(pads).fill(left), ...own, ...new Array<Uint8Array>(pads).fill(right)];
      const count = Math.max(0, all.length - width + 1);
      return Array.from({ length: count }, (_, at) => joinedBy(separator, all.slice(at, at + width)));
    };
    const found = widths.flatMap((width) => of(width, Math.min(given < 0 ? width - 1 : given, width - 1)));
    const isShort = attrs['preserve_short_sequences'] === true && found.length === 0 && own.length > 0;
    return isShort ? of(own.length + 2 * given, given) : found;
  });
  let end = 0;
  const outSplits = [0, ...rows.map(({ length }) => (end += length))];
  return [stringsOf(rows.flat(), [end]), tf.tensor1d(outSplits, 'int32')];
}

/** `\\1` is a group, `\\0` all that matched, two backslashes are one. */
function rewritten(rewrite: string, groups: readonly (string | undefined)[]): string {
  return rewrite.replace(/\\(\d|\\)/g, (_, what: string) => (what === '\\' ? what : (groups[Number(what)] ?? '')));
}

function replaced([input]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const expression = expressionOf(textAttribute(node, 'pattern'), node.attrs['replace_global'] !== false);
  const rewrite = utf8Of(textAttribute(node, 'rewrite'));
  const texts = bytesOf(input!, 'input').map((bytes) =>
    tf.util.decodeString(bytes).replace(expression, (...found: unknown[]) => {
      // Behind the groups stand the place and the text.
      return rewritten(rewrite, found.slice(0, -2) as (string | undefined)[]);
    }),
  );
  return tf.tensor(texts, input!.shape, 'string');
}

export const TEXT_OPS: readonly GraphOp[] = [
  graphOp('StringToHashBucketFast(input: string) -> output: int64', hashed),
  graphOp('StringSplit(input: string, delimiter: string) -> indices: int64, values: string, shape: int64', split),
  graphOp('StringSplitV2(input: string, sep: string) -> indices: int64, values: string, shape: int64', splitV2),
  graphOp(
    'StringLower(input: string) -> output: string',
    inCase((text) => text.toLowerCase(), 65, 90),
  ),
  graphOp(
    'StringUpper(input: string) -> output: string',
    inCase((text) => text.toUpperCase(), 97, 122),
  ),
  graphOp(
    'UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> output: string',
    segmentJoin,
  ),
  graphOp('StringJoin(inputs: string * N) -> output: string', textJoin),
  graphOp('StringNGrams(data: string, data_splits: Tsplits) -> ngrams: string, ngrams_splits: Tsplits', ngrams),
  graphOp('StaticRegexReplace(input: string) -> output: string', replaced),
];
