/** Values that TensorFlow's TPU embedding API gave, and how its inputs are written here. */
import { readFileSync } from 'node:fs';
import * as emb from 'tfjs-embeddings';

/** Ids or weights as the golden files have them: nested arrays are dense. */
export type GoldenInput =
  | number
  | string
  | readonly GoldenInput[]
  | { kind: 'sparse'; indices: number[][]; values: number[]; dense_shape: number[] }
  | { kind: 'ragged'; values: number[]; row_splits: number[] };

export interface GoldenError {
  readonly type: 'ValueError' | 'TypeError' | 'RuntimeError';
  readonly message: string;
}

export function readGoldens<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../goldens/${name}.json`, import.meta.url), 'utf8')) as T;
}

/** The same as people write it here; weights are floats. */
export function inputOf(input: GoldenInput | null, isWeights = false): unknown {
  if (input === null || typeof input !== 'object' || !('kind' in input)) return input;
  const values = isWeights ? Float32Array.from(input.values) : input.values;
  if (input.kind === 'sparse') return { indices: input.indices, values, denseShape: input.dense_shape };
  return emb.RaggedTensor.fromRowSplits(values as number[], input.row_splits);
}

/** Arguments in the spelling of Python. */
export function camelCase(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const camel = (key: string): string => key.replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [camel(key), value]));
}
