/** What specs of disk tables share: a folder, files of every kind, and memory tables of the same numbers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { npyHeaderBytes } from '../../../src/io/npy_writer.js';
import { safetensorsStart } from '../../../src/io/weights/safetensors.js';
import { formatOf, type RowDtype } from '../../../src/tables/disk/row_format.js';

/** Runs `body` with a folder that is removed afterwards. */
export function inFolder(body: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'disk-table-'));
    try {
      await body(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** Numbers that every format but int8 keeps as they are. */
export function shortNumbers(rows: number, dim: number): Float32Array {
  return Float32Array.from({ length: rows * dim }, (_, i) => (((i * 37) % 251) - 125) / 64);
}

export function writeRows(path: string, dtype: RowDtype, values: Float32Array, dim: number, before = 0): void {
  const format = formatOf(dtype)!;
  const bytes = format.narrow(values, dim);
  const rows = values.length / dim;
  const others = [{ name: 'before', dtype: 'U8', shape: [before], bytes: before }];
  const table = { name: 'table', dtype: format.safetensors, shape: [rows, dim], bytes: bytes.length };
  writeFileSync(path, Buffer.concat([safetensorsStart([...others, table]), new Uint8Array(before), bytes]));
}

export function writeNpy(path: string, descr: '<f4' | '<f2', values: Float32Array, dim: number): void {
  const bytes = formatOf(descr === '<f4' ? 'float32' : 'float16')!.narrow(values, dim);
  writeFileSync(path, Buffer.concat([npyHeaderBytes([values.length / dim, dim], descr), bytes]));
}

/** A disk table of float32 rows, and the tensor of the same. */
export async function opened(
  folder: string,
  { rows = 300, dim = 5, ...args }: { rows?: number; dim?: number } & Partial<emb.DiskTableArgs> = {},
): Promise<{ table: emb.DiskTable; memory: tf.Tensor2D; file: string }> {
  const file = join(folder, 'rows.safetensors');
  const values = shortNumbers(rows, dim);
  writeRows(file, 'float32', values, dim);
  const table = await emb.diskTable({ file, cacheBytes: 40 * dim * 4, ...args });
  return { table, memory: tf.tensor2d(values, [rows, dim]), file };
}

/** Values of a result, which is disposed. */
export function numbers(result: tf.Tensor | emb.RaggedTensor): number[] {
  if (!(result instanceof tf.Tensor)) return [...result.values, ...result.rowSplits];
  const values = Array.from(result.dataSync());
  result.dispose();
  return values;
}

export async function rejects(
  promise: Promise<unknown>,
  type: 'ValueError' | 'TypeError' | 'RuntimeError',
  argument: string,
  text: RegExp,
): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown as Error & { argument?: string },
  );
  expect(error?.name).withContext(`${argument}: ${error?.message}`).toBe(type);
  expect(error?.argument)
    .withContext(error?.message ?? '')
    .toBe(argument);
  expect(error?.message).toMatch(text);
}
