/**
 * Products of matrices in graphs. Those of whole numbers `wasm` lacks and `cpu` rounds, `wasm` has no kernel for Einsum, and
 * the fused products of tfjs know fewer activations than TensorFlow fuses.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { batchProduct } from '../../../tfjs/engine/batch_product.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { sizeOf } from '../host_array.js';
import { keepingNaN } from './no_numbers.js';

/** [batch, rows, k] times [batch, k, columns]: whole numbers on the CPU, which wrap as TensorFlow's do. */
function wholeProduct(a: tf.Tensor, b: tf.Tensor): tf.Tensor {
  const [batch, rows, inner] = a.shape as [number, number, number];
  const columns = b.shape[2]!;
  const [x, y] = [a.dataSync(), b.dataSync()];
  const out = new Int32Array(batch * rows * columns);
  for (let row = 0; row < batch * rows; row++) {
    const from = Math.floor(row / rows) * inner * columns;
    for (let k = 0; k < inner; k++) {
      const factor = x[row * inner + k]!;
      for (let column = 0; column < columns; column++) {
        out[row * columns + column]! += Math.imul(factor, y[from + k * columns + column]!);
      }
    }
  }
  return tf.tensor(out, [batch, rows, columns], 'int32');
}

const swapped = (x: tf.Tensor): tf.Tensor =>
  tf.transpose(x, [...Array.from({ length: x.rank - 2 }, (_, axis) => axis), x.rank - 1, x.rank - 2]);

/** Of matrices or of batches of them, which broadcast. */
function product(a: tf.Tensor, b: tf.Tensor, transposeA = false, transposeB = false): tf.Tensor {
  if (a.rank < 2 || b.rank < 2) throw new ValueError('a', 'matrices', described(`ranks ${a.rank} and ${b.rank}`));
  const [rows, inner] = transposeA ? [a.shape.at(-1)!, a.shape.at(-2)!] : [a.shape.at(-2)!, a.shape.at(-1)!];
  const [own, columns] = transposeB ? [b.shape.at(-1)!, b.shape.at(-2)!] : [b.shape.at(-2)!, b.shape.at(-1)!];
  if (inner !== own) throw new ValueError('b', `${inner} rows, as many as the first matrix has columns`, b);
  const batch = tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const shape = [...batch, rows, columns];
  if (sizeOf(shape) === 0 || inner === 0) return tf.zeros(shape, a.dtype);
  if (a.dtype !== 'int32' || tf.getBackend() === 'tensorflow') return batchProduct(a, b, transposeA, transposeB);
  const count = sizeOf(batch);
  const flat = (x: tf.Tensor, isSwapped: boolean, matrix: number[]): tf.Tensor =>
    tf.reshape(tf.broadcastTo(isSwapped ? swapped(x) : x, [...batch, ...matrix]), [count, ...matrix]);
  return tf.reshape(wholeProduct(flat(a, transposeA, [rows, inner]), flat(b, transposeB, [inner, columns])), shape);
}

type Activation = (x: tf.Tensor, slope: tf.Tensor | undefined, node: tf.GraphNode) => tf.Tensor;

/** Of x, where a normal variable is below it: the error function's, or the one that tanh approximates. */
const gelu = (x: tf.Tensor, isExact: boolean): tf.Tensor => {
  const cube = tf.mul(0.044715, tf.mul(x, tf.mul(x, x)));
  const inner = isExact ? tf.erf(tf.mul(Math.SQRT1_2, x)) : tf.tanh(tf.mul(Math.sqrt(2 / Math.PI), tf.add(x, cube)));
  return tf.mul(tf.mul(0.5, x), tf.add(1, inner));
};

/** What may come behind a product, by the name in lower case. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  relu: (x) => keepingNaN(tf.relu, ['wasm'])([x]),
  relu6: (x) => keepingNaN(tf.relu6, ['wasm'])([x]),
  elu: tf.elu,
  sigmoid: tf.sigmoid,
  tanh: tf.tanh,
  leakyrelu: (x, _, { attrs }) => tf.leakyRelu(x, Number(attrs['leakyrelu_alpha'] ?? 0.2)),
  prelu: (x, slope) => tf.prelu(x, slope!),
  geluapproximate: (x) => gelu(x, false),
  geluexact: (x) => gelu(x, true),
};

/** What `fused_ops` name, one after the other. */
export function activated(x: tf.Tensor, args: readonly tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const names = ((node.attrs['fused_ops'] as string[] | undefined) ?? []).map((name) => name.toLowerCase());
  return names.reduce((result, name, place) => {
    if (name === 'biasadd' && place === 0) return tf.add(result, args[0]!);
    const activation = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined;
    if (activation !== undefined) return activation(result, args.at(-1), node);
    throw new ValueError('fused_ops', `BiasAdd and one of ${Object.keys(ACTIVATIONS).join(', ')}`, name);
  }, x);
}

function fusedProduct([a, b, ...args]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const { attrs } = node;
  return tf.tidy(() =>
    activated(product(a!, b!, attrs['transpose_a'] === true, attrs['transpose_b'] === true), args, node),
  );
}

/** A tensor and the labels of its axes. */
interface Term {
  readonly x: tf.Tensor;
  readonly labels: readonly string[];
}

/** One label an axis; those of `...` are numbers, counted from the last. */
function labelsOf(term: string, rank: number): string[] {
  const [before, after] = term.split('...') as [string, string | undefined];
  const count = rank - (term.length - 3);
  if (after === undefined ? term.length !== rank : count < 0) {
    throw new ValueError('inputs', `a tensor for "${term}"`, described(`one of rank ${rank}`));
  }
  if (after === undefined) return [...term];
  return [...before, ...Array.from({ length: count }, (_, i) => String(count - i)), ...after];
}

/** The diagonal along axes of one label; sums over labels that no other term has. */
function reducedTerm({ x, labels }: Term, needed: ReadonlySet<string>): Term {
  const own = [...new Set(labels)];
  let diagonal = x;
  if (own.length < labels.length) {
    const sizes = own.map((label) => x.shape[labels.indexOf(label)]!);
    const strides = labels.map((_, axis) => sizeOf(x.shape.slice(axis + 1)));
    const steps = own.map((label) =>
      labels.reduce((sum, each, axis) => sum + (each === label ? strides[axis]! : 0), 0),
    );
    const places = Int32Array.from({ length: sizeOf(sizes) }, (_, at) =>
      sizes.reduce((sum, size, i) => sum + (Math.floor(at / sizeOf(sizes.slice(i + 1))) % size) * steps[i]!, 0),
    );
    const flat = tf.reshape(x, [-1]);
    diagonal = places.length === 0 ? tf.zeros(sizes, x.dtype) : tf.reshape(tf.gather(flat, places), sizes);
  }
  const lost = own.flatMap((label, axis) => (needed.has(label) ? [] : [axis]));
  const kept = own.filter((label) => needed.has(label));
  if (lost.length === 0) return { x: diagonal, labels: kept };
  const shape = diagonal.shape.filter((_, axis) => !lost.includes(axis));
  return { x: diagonal.size === 0 ? tf.zeros(shape, x.dtype) : tf.sum(diagonal, lost), labels: kept };
}

/** The axes in this order. */
function inOrder({ x, labels }: Term, order: readonly string[]): tf.Tensor {
  if (x.size === 0)
    return tf.zeros(
      order.map((label) => x.shape[labels.indexOf(label)]!),
      x.dtype,
    );
  return x.rank < 2
    ? x
    : tf.transpose(
        x,
        order.map((label) => labels.indexOf(label)),
      );
}

/** Axes of `...` that are 1 in one term are as long as those of the other. */
function widened({ x, labels }: Term, sizes: ReadonlyMap<string, number>): Term {
  const shape = labels.map((label) => sizes.get(label)!);
  return { x: String(shape) === String(x.shape) ? x : tf.broadcastTo(x, shape), labels };
}

function commonSizes(terms: readonly Term[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { x, labels } of terms) {
    labels.forEach((label, axis) => {
      const [known, size] = [sizes.get(label) ?? x.shape[axis]!, x.shape[axis]!];
      const mayWiden = /\d/.test(label) && (known === 1 || size === 1);
      if (known !== size && !mayWiden) throw new ValueError('inputs', `axes "${label}" of ${known}`, x);
      sizes.set(label, known === 1 ? size : known);
    });
  }
  return sizes;
}

/** One term or two, as the op has them. */
function einsum(tensors: readonly tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const equation = textAttribute(node, 'equation').replace(/\s/g, '');
  const [left, output] = equation.split('->') as [string, string | undefined];
  const given = left.split(',');
  if (output === undefined || given.length !== tensors.length || tensors.length > 2) {
    throw new ValueError('equation', `one with -> and ${tensors.length} terms, at most 2`, equation);
  }
  const all = tensors.map((x, i): Term => ({ x, labels: labelsOf(given[i]!, x.rank) }));
  const wide = Math.max(0, ...all.flatMap(({ labels }) => labels.filter((label) => /\d/.test(label)).map(Number)));
  const order = labelsOf(output, output.replace('...', '').length + (output.includes('...') ? wide : 0));
  const sizes = commonSizes(all);
  const stray = order.find((label, i) => !sizes.has(label) || order.indexOf(label) !== i);
  if (stray !== undefined) throw new ValueError('equation', 'outputs that the terms name, each once', equation);
  return tf.tidy(() => {
    const terms = all.map((term, i) => {
      const others = all[1 - i]?.labels ?? [];
      return reducedTerm(term, new Set([...order, ...others]));
    });
    const [a, b] = terms.map((term) => widened(term, sizes)) as [Term, Term | undefined];
    if (b === undefined) return inOrder(a, order).clone();
    const batch = a.labels.filter((label) => b.labels.includes(label) && order.includes(label));
    const inner = a.labels.filter((label) => b.labels.includes(label) && !order.includes(label));
    const rows = a.labels.filter((label) => !b.labels.includes(label));
    const columns = b.labels.filter((label) => !a.labels.includes(label));
    const count = (labels: readonly string[]): number => sizeOf(labels.map((label) => sizes.get(label)!));
    const x = tf.reshape(inOrder(a, [...batch, ...rows, ...inner]), [count(batch), count(rows), count(inner)]);
    const y = tf.reshape(inOrder(b, [...batch, ...inner, ...columns]), [count(batch), count(inner), count(columns)]);
    const labels = [...batch, ...rows, ...columns];
    const joined = tf.reshape(
      product(x, y),
      labels.map((label) => sizes.get(label)!),
    );
    return inOrder({ x: joined, labels }, order);
  });
}

const matrices = (
  op: string,
  out: string,
  [first, second]: readonly [string, string],
  [p, q]: readonly [string, string],
): GraphOp =>
  graphOp(`${op}(${first}: T, ${second}: T) -> ${out}: T`, ([a, b], { attrs }) =>
    tf.tidy(() => product(a!, b!, attrs[p] === true, attrs[q] === true)),
  );

export const PRODUCT_OPS: readonly GraphOp[] = [
  matrices('MatMul', 'product', ['a', 'b'], ['transpose_a', 'transpose_b']),
  matrices('BatchMatMul', 'output', ['x', 'y'], ['adj_x', 'adj_y']),
  matrices('BatchMatMulV2', 'output', ['x', 'y'], ['adj_x', 'adj_y']),
  graphOp('_FusedMatMul(a: T, b: T, args: T * num_args) -> product: T', fusedProduct),
  graphOp('Einsum(inputs: T * N) -> output: T', einsum),
];
