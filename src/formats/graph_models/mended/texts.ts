/** Ops of graphs on texts, whose kernels some backends of tfjs lack. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
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
  const places = rows.flatMap((parts, row) => parts.flatMap((_, at) => [row, at]));
  const values = rows.flat() as unknown as tf.DataValues;
  return [
    tf.tensor2d(places, [values.length, 2], 'int32'),
    tf.engine().makeTensor(values, [values.length], 'string') as tf.Tensor,
    tf.tensor1d([rows.length, Math.max(0, ...rows.map(({ length }) => length))], 'int32'),
  ];
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
  graphOp('StaticRegexReplace(input: string) -> output: string', replaced),
];
