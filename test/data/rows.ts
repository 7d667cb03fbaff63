/** Rows of data sets as plain values, to be compared. */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { Random } from '../helpers/random.js';

export type Row = Record<string, unknown>;

/** Typed arrays as arrays. */
export function plain(value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
}

/** Features, label and weight of each row. */
export async function rowsOf(dataset: emb.data.Dataset): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const { features, label, weight } of dataset) {
    const row = Object.fromEntries(Object.entries(features).map(([name, value]) => [name, plain(value)]));
    rows.push({ ...row, ...(label !== undefined && { label: plain(label) }), ...(weight !== undefined && { weight }) });
  }
  return rows;
}

function raggedRows({ values, rowSplits }: emb.RaggedTensor): number[][] {
  const count = rowSplits.length - 1;
  return Array.from({ length: count }, (_, i) => Array.from(values.slice(rowSplits[i], rowSplits[i + 1])));
}

/** The rows of batches, whose tensors are disposed; a column of one value per row is a value. */
export async function rowsOfBatches(dataset: emb.data.Dataset): Promise<Row[][]> {
  const batches: Row[][] = [];
  for await (const { features, label, weight } of dataset) {
    const columns: Record<string, unknown[]> = {};
    for (const [name, value] of Object.entries({ ...features, label, weight })) {
      if (value === undefined) continue;
      const rows =
        value instanceof tf.Tensor ? (value.arraySync() as unknown[]) : raggedRows(value as emb.RaggedTensor);
      const isOne = value instanceof tf.Tensor && value.shape[1] === 1;
      columns[name] = isOne ? rows.map((row) => (row as unknown[])[0]) : (rows as unknown[]);
      if (value instanceof tf.Tensor) value.dispose();
    }
    const count = Object.values(columns)[0]!.length;
    batches.push(
      Array.from({ length: count }, (_, row) =>
        Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]])),
      ),
    );
  }
  return batches;
}

/** Columns of `count` rows: a number of the row, texts, pairs and lists of any length. */
export function drawnColumns(seed: number, count: number): Record<string, unknown[]> {
  const random = new Random(seed);
  const each = <T>(value: (row: number) => T): T[] => Array.from({ length: count }, (_, row) => value(row));
  return {
    row: each((row) => row),
    text: each((row) => `text ${row % 7}`),
    pair: each((row) => [row / 2, random.whole(0, 99) / 4]),
    bag: each((row) => Array.from({ length: row % 5 === 2 ? 0 : random.whole(0, 6) }, () => random.whole(0, 1000))),
    scores: each(() => Array.from({ length: random.whole(1, 3) }, () => random.whole(0, 64) / 8)),
  };
}

/** The rows of such columns. */
export function drawnRows(columns: Readonly<Record<string, readonly unknown[]>>): Row[] {
  return columns['row']!.map((_, row) =>
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]])),
  );
}

export const DRAWN_TYPES = {
  row: 'int',
  text: 'string',
  pair: { list: 'float', length: 2 },
  bag: 'ids',
  scores: { list: 'float' },
} as const;
