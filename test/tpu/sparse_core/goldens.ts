/** What TensorFlow's SparseCore code gave, with the names that this package uses. */
import { readFileSync } from 'node:fs';
import type { PreprocessFeaturesArgs } from 'tfjs-embeddings/tpu';
import { toCamelCase } from '../../../src/base/camel_case.js';

interface Csr {
  row_pointers: number[];
  sorted_sample_ids: number[];
  sorted_token_ids: number[];
  sorted_gains: number[];
  row_pointers_full_size: number;
  ids_full_size: number;
  row_pointers_unpadded_size: number;
  ids_unpadded_size: number;
  sample_count: number;
  num_minibatches_per_physical_sparse_core: number;
}

type Pipeline = Record<string, unknown> & { case: string; csr: Record<string, Csr> };

export interface PreprocessGoldens {
  convert_to_coo: (Record<string, unknown> & { case: string; row_ids: number[]; col_ids: number[]; gains: number[] })[];
  pipelines: Pipeline[];
  stack_gradients: { gradient_0: number[][]; gradient_1: number[][][]; stacked: { a_b: number[][] } };
  stats: { rows: number[][]; max_ids: { a: number }; max_unique_ids: { a: number } };
}

interface UnshuffleGolden {
  t: number[][];
  num_sparse_cores: number;
  offset_in_shard: number;
  size_in_shard: number;
  shard_rotation: number;
  out: number[][];
}

export interface LayoutGoldens {
  layouts: {
    case: string;
    tables: [string, number, number, string, number][];
    num_partitions: number;
    sparse_cores_per_partition: number;
    options: { act?: number; var?: number };
    layouts: Record<string, unknown>[];
  }[];
  sharding: {
    shard_table: { num_sparse_cores: number; table: number[][]; sharded: number[][] };
    unshuffle: UnshuffleGolden[];
    map_indices_in_shard: {
      num_sparse_cores: number;
      offset_in_shard: number;
      shard_rotation: number;
      rows: number[];
      shard_index: number[];
      position_in_shard: number[];
    }[];
  };
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../goldens/${name}.json`, import.meta.url), 'utf8'));
}

export const preprocessGoldens = read('sparsecore_preprocess') as PreprocessGoldens;
export const layoutGoldens = read('sparsecore_layout') as LayoutGoldens;

/** A record under camel-case names, one level deep. */
export function camel(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [toCamelCase(key), value]));
}

const camelItems = (items: unknown): unknown =>
  (items as unknown[]).map((item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item) ? camel(item as Record<string, unknown>) : item,
  );

const RESULTS = ['case', 'csr', 'coo_lists', 'sorted'];

/** The arguments of one pipeline. */
export function pipelineArgs(pipeline: Pipeline): PreprocessFeaturesArgs {
  const args = camel(Object.fromEntries(Object.entries(pipeline).filter(([key]) => !RESULTS.includes(key))));
  for (const field of ['tables', 'features', 'inputs', 'weights']) args[field] = camelItems(args[field]);
  return args as unknown as PreprocessFeaturesArgs;
}

/** A pipeline by its title. */
export function pipeline(title: string): Pipeline {
  const found = preprocessGoldens.pipelines.find(({ case: name }) => name === title);
  if (found === undefined) throw new Error(`no pipeline ${title}`);
  return found;
}
