/**
 * Products of matrices on the `cpu` backend by native code: those of tfjs are loops in JavaScript over single numbers.
 * What native code does not take goes to the kernels of tfjs, which stay the reference; so does all that runs outside of
 * models and optimizers of this package.
 */
import * as tf from '@tensorflow/tfjs';
import { isOwnRun } from '../../tfjs/engine/own_runs.js';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { productShape, sizesOf, offers } from '../model_kernels.js';
import { newFloats } from '../kernel_set.js';
import { kernelSet, tellProducts } from '../registry.js';
import { floatsOf, type CpuBackend } from './owned_tables.js';

/** How both sides lie under [outer, inner]: 0 for the same number or row again. */
interface Layout {
  readonly outer: number;
  readonly inner: number;
  /** Distance from row to row, and from number to number. */
  readonly a: readonly [row: number, column: number];
  readonly b: readonly [row: number, column: number];
}

/** Axes that both sides go through alike count as one; null where more than two are left, or nothing is repeated. */
function layoutOf(a: readonly number[], b: readonly number[]): Layout | null {
  const rank = Math.max(a.length, b.length);
  const sizeAt = (shape: readonly number[], axis: number): number => shape[axis - rank + shape.length] ?? 1;
  const axes: { size: number; inA: boolean; inB: boolean }[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const [ofA, ofB] = [sizeAt(a, axis), sizeAt(b, axis)];
    if (ofA !== ofB && ofA !== 1 && ofB !== 1) return null;
    if (ofA === 1 && ofB === 1) continue;
    const [inA, inB] = [ofA !== 1, ofB !== 1];
    const last = axes.at(-1);
    if (last !== undefined && last.inA === inA && last.inB === inB) last.size *= Math.max(ofA, ofB);
    else axes.push({ size: inA ? ofA : ofB, inA, inB });
  }
  if (axes.length === 0 || axes.length > 2 || axes.every(({ inA, inB }) => inA && inB)) return null;
  const [outer, inner] = axes.length === 2 ? [axes[0]!, axes[1]!] : [{ size: 1, inA: false, inB: false }, axes[0]!];
  const distances = (name: 'inA' | 'inB'): [number, number] => {
    const column = inner[name] ? 1 : 0;
    return [outer[name] ? (inner[name] ? inner.size : 1) : 0, column];
  };
  return { outer: outer.size, inner: inner.size, a: distances('inA'), b: distances('inB') };
}

type Run = (a: Float32Array, b: Float32Array, layout: Layout, out: Float32Array) => void;

// A loop for each operation, so that engines compile the arithmetic in place.
const RUNS: Readonly<Record<string, Run>> = {
  Add: (a, b, { outer, inner, a: [rowA, stepA], b: [rowB, stepB] }, out) => {
    for (let i = 0, at = 0; i < outer; i++) {
      for (let j = 0, x = i * rowA, y = i * rowB; j < inner; j++, x += stepA, y += stepB) out[at++] = a[x]! + b[y]!;
    }
  },
  Sub: (a, b, { outer, inner, a: [rowA, stepA], b: [rowB, stepB] }, out) => {
    for (let i = 0, at = 0; i < outer; i++) {
      for (let j = 0, x = i * rowA, y = i * rowB; j < inner; j++, x += stepA, y += stepB) out[at++] = a[x]! - b[y]!;
    }
  },
  Multiply: (a, b, { outer, inner, a: [rowA, stepA], b: [rowB, stepB] }, out) => {
    for (let i = 0, at = 0; i < outer; i++) {
      for (let j = 0, x = i * rowA, y = i * rowB; j < inner; j++, x += stepA, y += stepB) out[at++] = a[x]! * b[y]!;
    }
  },
  RealDiv: (a, b, { outer, inner, a: [rowA, stepA], b: [rowB, stepB] }, out) => {
    for (let i = 0, at = 0; i < outer; i++) {
      for (let j = 0, x = i * rowA, y = i * rowB; j < inner; j++, x += stepA, y += stepB) out[at++] = a[x]! / b[y]!;
    }
  },
};

function broadcast(params: Parameters<tf.KernelFunc>[0], run: Run): tf.TensorInfo | null {
  const { a, b } = params.inputs as { a: tf.TensorInfo; b: tf.TensorInfo };
  const backend = params.backend as CpuBackend;
  if (a.dtype !== 'float32' || b.dtype !== 'float32') return null;
  const layout = layoutOf(a.shape, b.shape);
  if (layout === null) return null;
  const shape = tf.broadcast_util.assertAndGetBroadcastShape(a.shape, b.shape);
  const out = newFloats('a', 'a result', shape);
  run(floatsOf(backend, a.dataId, 'a'), floatsOf(backend, b.dataId, 'b'), layout, out);
  return backend.makeTensorInfo(shape, 'float32', out);
}

/** Puts these loops in the place of those of tfjs, which run where they do not fit. May be called again. */
export function registerBroadcastKernels(): void {
  for (const [kernelName, run] of Object.entries(RUNS)) {
    replaceStockKernel(kernelName, 'cpu', 'broadcastKernels', (stock) => {
      return (params) => (isOwnRun() ? broadcast(params, run) : null) ?? stock(params);
    });
  }
}

interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo | undefined>>;
  readonly backend: CpuBackend;
  readonly attrs: { readonly transposeA: boolean; readonly transposeB: boolean; readonly activation?: string };
}

/** The product, or null where native code does not take it. */
function product({ inputs, backend, attrs }: Call): tf.TensorInfo | null {
  const set = kernelSet();
  const { transposeA, transposeB, activation = 'linear' } = attrs;
  const { a, b, bias } = inputs as { a: tf.TensorInfo; b: tf.TensorInfo; bias?: tf.TensorInfo };
  if (!offers(set, 'matMul') || (activation !== 'linear' && activation !== 'relu')) return null;
  const sizes = sizesOf(a, b, attrs);
  if (sizes === null || sizes.batch === 0) return null;
  const isRow = bias === undefined || (bias.shape.length === 1 && bias.shape[0] === sizes.n);
  if (!isRow || (bias !== undefined && bias.dtype !== 'float32')) return null;
  const shape = productShape(a, b, sizes);
  const out = newFloats('a', 'a product', shape);
  set.matMul({
    a: floatsOf(backend, a.dataId, 'a'),
    b: floatsOf(backend, b.dataId, 'b'),
    bias: bias === undefined ? null : floatsOf(backend, bias.dataId, 'bias'),
    out,
    ...sizes,
    transposeA: transposeA === true,
    transposeB: transposeB === true,
    relu: activation === 'relu',
  });
  return backend.makeTensorInfo(shape, 'float32', out);
}

/** Puts native products in the place of those of tfjs. May be called again. */
export function registerDenseKernels(): void {
  tellProducts('cpu', () => (offers(kernelSet(), 'matMul') ? kernelSet().info() : null));
  for (const kernelName of ['BatchMatMul', '_FusedMatMul']) {
    replaceStockKernel(kernelName, 'cpu', 'denseKernels', (stock) => {
      return (params) => (isOwnRun() ? product(params as unknown as Call) : null) ?? stock(params);
    });
  }
}
