/** Files through which all peers of a case get the same bags, and give back what they computed. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostBags } from '../../../../src/backends/kernel_set.js';

/** What a peer is asked to open; `optimizer` null: lookups alone. */
export interface TableRequest {
  readonly rows: number;
  readonly dim: number;
  /** File with the values of the table; null: any. */
  readonly table: string | null;
  readonly optimizer: string | null;
  readonly learningRate: number;
}

export interface BagsRequest {
  readonly folder: string;
  readonly batch: number;
  readonly combiner: 'sum' | 'mean';
}

export interface BagBatches {
  readonly batches: readonly HostBags[];
  /** [batch, dim] */
  readonly gradient: Float32Array;
}

export function floatsOf(path: string): Float32Array {
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

function wholeOf(path: string): Int32Array {
  return new Int32Array(floatsOf(path).buffer);
}

export function readBags({ folder, batch }: BagsRequest): BagBatches {
  const splits = wholeOf(join(folder, 'splits.i32'));
  const ids = wholeOf(join(folder, 'ids.i32'));
  const path = join(folder, 'weights.f32');
  const weights = existsSync(path) ? floatsOf(path) : null;
  const batches: HostBags[] = [];
  let first = 0;
  for (let at = 0; at < splits.length; at += batch + 1) {
    const end = first + splits[at + batch]!;
    batches.push({
      values: ids.slice(first, end),
      rowSplits: splits.slice(at, at + batch + 1),
      weights: weights?.slice(first, end) ?? null,
    });
    first = end;
  }
  return { batches, gradient: floatsOf(join(folder, 'gradient.f32')) };
}

export function writeBags(folder: string, { batches, gradient }: BagBatches): void {
  const write = (name: string, parts: readonly (Int32Array | Float32Array)[]): void =>
    writeFileSync(join(folder, name), Buffer.concat(parts.map((part) => new Uint8Array(part.buffer))));
  write(
    'splits.i32',
    batches.map(({ rowSplits }) => rowSplits),
  );
  write(
    'ids.i32',
    batches.map(({ values }) => values),
  );
  if (batches[0]!.weights !== null) {
    write(
      'weights.f32',
      batches.map(({ weights }) => weights!),
    );
  }
  write('gradient.f32', [gradient]);
}

/** What a peer computed; `pooled`: of the first batch. */
export function writeOutputs(folder: string, pooled: Float32Array, table: Float32Array): void {
  writeFileSync(join(folder, 'pooled.f32'), pooled);
  writeFileSync(join(folder, 'table_out.f32'), table);
}

export function readOutputs(folder: string): { pooled: Float32Array; table: Float32Array } {
  return { pooled: floatsOf(join(folder, 'pooled.f32')), table: floatsOf(join(folder, 'table_out.f32')) };
}

/** Ids of every bag where all have as many; else null. */
export function hotnessOf({ batches }: BagBatches): number | null {
  const hot = batches[0]!.rowSplits[1]!;
  const isSame = batches.every(({ rowSplits }) => rowSplits.every((split, b) => split === b * hot));
  return isSame ? hot : null;
}
