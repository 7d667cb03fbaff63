/**
 * What the backend `webgl` does for tables: they lie on the host, in tensors of the backend `cpu`, where the kernels run.
 * Pooled rows go up to the GPU, and gradients come down.
 *
 * A texture holds no more than 16384 x 16384 numbers and cannot be written in part, so that a table in one would be
 * written whole at each step. Stock ops that are given a table move it up, as tfjs does with tensors of other backends;
 * the next lookup brings it back.
 */
import * as tf from '@tensorflow/tfjs';
import { described, RuntimeError, ValueError } from '../../base/errors.js';
import { sayOnce } from '../../base/warn_once.js';
import { checkNotLost } from '../../ids/lost_arrays.js';
import { hostKernels } from '../cpu/host_kernels.js';
import type { HostMemory } from '../cpu/host_memory.js';
import { HostTables } from '../cpu/host_tables.js';
import { type CpuBackend, OwnedTables } from '../cpu/owned_tables.js';
import { newFloats } from '../kernel_set.js';
import { kernelSet } from '../registry.js';
import { knownTable } from '../table.js';
import { widthOf } from '../stores/table_rows.js';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';

/** The part of MathBackendWebGL (tfjs-backend-webgl 4) that is used. */
interface WebglBackend extends tf.KernelBackend {
  readonly texData: { has(dataId: tf.DataId): boolean; get(dataId: tf.DataId): { readonly texture?: unknown } };
  readonly gpgpu: { readonly gl: { isContextLost(): boolean } };
  makeTensorInfo(shape: number[], dtype: tf.DataType, values: tf.TypedArray): tf.TensorInfo;
}

const webgl = (): WebglBackend => tf.backend() as WebglBackend;

/** Of a lost context everything reads as zeros, without an error. */
function checkContext(): void {
  if (!webgl().gpgpu.gl.isContextLost()) return;
  const note = 'Tables and their slots lie on the host and are whole: save them, and reload the page.';
  throw new RuntimeError('backend', 'webgl with its context', described('a context that the browser has lost'), note);
}

/** Where tensors of `webgl` find tables. */
function hostTables(): OwnedTables {
  const cpu = tf.findBackend('cpu') as CpuBackend | null;
  if (cpu === null) {
    throw new RuntimeError('backend', "the backend 'cpu' beside 'webgl', where tables lie", described('none'));
  }
  sayOnce(
    'on webgl, tables and the state of their optimizers lie in host memory, where WebAssembly kernels look them up and ' +
      'step them; the other layers of a model run on the GPU. A model of small dense layers is faster wholly on the ' +
      "host: await tf.setBackend('cpu').",
    'where tables lie on webgl',
  );
  return OwnedTables.of(cpu);
}

/** Whether data are those of a table on the host. Every `clone` and slice asks: it must cost nothing without tables. */
function isOwned(dataId: tf.DataId): boolean {
  return OwnedTables.ifAny(tf.engine().registry['cpu'])?.has(dataId) === true;
}

function isOnGpu(dataId: tf.DataId): boolean {
  const { texData } = webgl();
  return texData.has(dataId) && (texData.get(dataId).texture ?? null) !== null;
}

/** Data of whole numbers that were on the GPU, which holds them as floats. */
const rounded = new WeakSet<tf.DataId>();

/** Up to which whole numbers are exact in textures: those of 32 bits, or of 16 on some phones. */
function exactBelow(): number {
  return tf.env().getBool('WEBGL_RENDER_FLOAT32_ENABLED') ? 2 ** 24 : 2 ** 11;
}

function read(dataId: tf.DataId, argument: string): tf.TypedArray {
  const values = tf.engine().readSync(dataId) as tf.TypedArray;
  checkContext();
  checkNotLost(values, argument);
  return values;
}

const MEMORY: HostMemory = {
  owned(table) {
    checkContext();
    if (table?.dtype === 'int32' && isOnGpu(table.dataId)) {
      const note = 'Textures hold whole numbers as floats. Load the model anew, and give its table to layers alone.';
      throw new ValueError(
        'table',
        'packed rows that stayed on the host',
        described('rows that were on the GPU'),
        note,
      );
    }
    return hostTables();
  },
  floats({ dataId }, argument) {
    const values = read(dataId, argument);
    return values instanceof Float32Array ? values : Float32Array.from(values);
  },
  ints({ dataId }, argument, most) {
    if (isOnGpu(dataId)) rounded.add(dataId);
    const values = read(dataId, argument);
    if (most > exactBelow() && rounded.has(dataId)) {
      const at = values.findIndex((value) => Math.abs(value) >= exactBelow());
      if (at >= 0) {
        const expected = `whole numbers below ${exactBelow()}, up to which textures are exact, or a tensor that was on no GPU`;
        throw new ValueError(argument, expected, described(`${values[at]!} at position ${at}`));
      }
    }
    return values instanceof Int32Array ? values : Int32Array.from(values);
  },
  make: (shape, dtype, values) => webgl().makeTensorInfo(shape, dtype, values),
};

const MARK = Symbol.for('tfjs-embeddings.tablesStayOnTheHost');

/** Lets tensors share a table, as `tf.variable` and `clone` do, without bringing it to the GPU. */
export function keepTablesOnHost(backend: tf.KernelBackend): void {
  const marked = backend as tf.KernelBackend & { [MARK]?: true };
  if (marked[MARK] === true) return;
  marked[MARK] = true;
  const { incRef } = backend;
  backend.incRef = (dataId) => {
    if (isOwned(dataId)) tf.engine().registry['cpu']!.incRef(dataId);
    else incRef.call(backend, dataId);
  };
}

/** A part of a table, or of a slot, from where it lies; null for other tensors, which are left to stock ops. */
function partOfTable({ inputs, attrs }: Parameters<tf.KernelFunc>[0]): tf.TensorInfo | null {
  const x = inputs['x'] as tf.Tensor;
  if (x.rank > 2 || (knownTable(x)?.isPlain !== false && !isOwned(x.dataId))) return null;
  const { begin, size } = attrs as unknown as { begin: number | number[]; size?: number | number[] };
  const [starts, counts] = tf.slice_util.parseSliceParams(x, begin, size ?? -1) as [number[], number[]];
  tf.slice_util.assertParamsValid(x, starts, counts);
  const [firstRow, rows, columns] = [starts[0]!, counts[0]!, widthOf(x.shape)];
  const [first, width] = [starts[1] ?? 0, counts[1] ?? 1];
  const floats = newFloats('begin', 'values', counts);
  const from = MEMORY.owned(x).read(x, kernelSet());
  const into = from instanceof Int32Array ? new Int32Array(floats.buffer) : floats;
  if (width === columns) into.set(from.subarray(firstRow * columns, (firstRow + rows) * columns));
  else {
    for (let row = 0; row < rows; row++) {
      const at = (firstRow + row) * columns + first;
      into.set(from.subarray(at, at + width), row * width);
    }
  }
  return webgl().makeTensorInfo(counts, x.dtype, into);
}

/** Has tfjs take parts of tables, to save and to show them, without bringing a table to the GPU. May be called again. */
export function sliceTablesOnHost(): void {
  replaceStockKernel('Slice', 'webgl', 'partsOfTables', (stock) => (params) => partOfTable(params) ?? stock(params));
}

/** By kernel name. */
export const KERNEL_FUNCTIONS = hostKernels(MEMORY);

export const webglTables = new HostTables(MEMORY, 'host memory');
