/** Ops that `fit` and data sets make batches with: what the host knows of their inputs it knows of what they give. */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../engine/stock_kernel.js';
import { HostCopies } from './host_copies.js';
import { WEBGPU, type WebgpuBackend } from './webgpu_backend.js';

type Make = () => tf.TypedArray | null;
interface Call {
  readonly inputs: Readonly<Record<string, tf.TensorInfo>>;
  readonly attrs: Readonly<Record<string, never>>;
}

/** How the output of a call is made on the host; null where that is not known. */
type Derivation = (call: Call, sourceOf: (tensor: tf.TensorInfo) => Make | null) => Make | null;

function widthOf(shape: readonly number[]): number {
  return tf.util.sizeFromShape(shape.slice(1));
}

function sameKind(values: tf.TypedArray, length: number): tf.TypedArray {
  return new (values.constructor as new (length: number) => tf.TypedArray)(length);
}

/** Rows of x, one after the other. */
const slice: Derivation = ({ inputs, attrs }, sourceOf) => {
  const { x } = inputs;
  const { begin, size } = attrs as unknown as { begin: number | number[]; size?: number | number[] };
  const source = sourceOf(x!);
  if (source === null) return null;
  const parsed = tf.slice_util.parseSliceParams(x as unknown as tf.Tensor, begin, size as never);
  const [from, extent] = parsed as [number[], number[]];
  // Whole rows alone: what is cut out of them is no batch.
  if (from.slice(1).some((start) => start !== 0) || extent.slice(1).some((n, i) => n !== x!.shape[i + 1])) return null;
  const width = widthOf(x!.shape);
  const [first, rows] = [from[0]!, extent[0]!];
  return () => source()?.slice(first * width, (first + rows) * width) ?? null;
};

const gather: Derivation = ({ inputs, attrs }, sourceOf) => {
  const { x, indices } = inputs;
  const { axis, batchDims } = attrs as unknown as { axis: number; batchDims: number };
  const [source, places] = [sourceOf(x!), sourceOf(indices!)];
  if (axis !== 0 || batchDims !== 0 || source === null || places === null) return null;
  const width = widthOf(x!.shape);
  const rows = x!.shape[0]!;
  return () => {
    const [values, which] = [source(), places()];
    if (values === null || which === null || which.some((row) => row < 0 || row >= rows)) return null;
    const taken = sameKind(values, which.length * width);
    which.forEach((row, i) => taken.set(values.subarray(row * width, (row + 1) * width), i * width));
    return taken;
  };
};

const cast: Derivation = ({ inputs, attrs }, sourceOf) => {
  const { dtype } = attrs as unknown as { dtype: tf.DataType };
  const source = sourceOf(inputs['x']!);
  if (source === null) return null;
  if (dtype === 'int32') return () => (source() === null ? null : Int32Array.from(source()!, Math.trunc));
  if (dtype === 'float32') return () => (source() === null ? null : Float32Array.from(source()!));
  return null;
};

/** One after the other along the first axis. */
const joined: Derivation = ({ inputs, attrs }, sourceOf) => {
  const parts = inputs as unknown as tf.TensorInfo[];
  const sources = parts.map(sourceOf);
  if ((attrs as unknown as { axis: number }).axis !== 0 || sources.includes(null)) return null;
  const length = parts.reduce((sum, { shape }) => sum + tf.util.sizeFromShape(shape), 0);
  return () => {
    const values = sources.map((source) => source!());
    if (values.includes(null)) return null;
    const all = sameKind(values[0]!, length);
    let at = 0;
    for (const each of values as tf.TypedArray[]) {
      all.set(each, at);
      at += each.length;
    }
    return all;
  };
};

/** By the names of kernels. */
const DERIVATIONS: Readonly<Record<string, Derivation>> = {
  Slice: slice,
  GatherV2: gather,
  Cast: cast,
  Concat: joined,
  Pack: joined,
};

const isKnown = ({ dtype }: tf.TensorInfo): boolean => dtype === 'int32' || dtype === 'float32';

/** Has these ops tell what their results are made of. May be called again. */
export function followCopies(): void {
  for (const [kernelName, derivation] of Object.entries(DERIVATIONS)) {
    replaceStockKernel(kernelName, WEBGPU, 'derivedCopies', (stock) => (params) => {
      const copies = HostCopies.of(params.backend as WebgpuBackend);
      // Before the op, which may send its inputs up.
      const make = derivation(params as unknown as Call, (tensor) => copies.sourceOf(tensor));
      const output = stock(params) as tf.TensorInfo;
      if (make !== null && isKnown(output)) copies.derive(output, make);
      return output;
    });
  }
}
