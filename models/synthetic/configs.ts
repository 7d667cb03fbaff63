/**
 * The synthetic recommender models of NVIDIA distributed-embeddings (config v3): how many tables of which size, and how
 * many ids a sample has in each of their inputs.
 */
import { InputError } from '../input_error.mjs';
import type { MODELS } from './options.mjs';

/** `count` tables of `rows` x `width`; each is looked up once per entry of `hotness`, with that many ids per sample. */
export interface TableGroup {
  readonly count: number;
  readonly rows: number;
  readonly width: number;
  readonly hotness: readonly number[];
}

export interface SyntheticConfig {
  readonly tables: readonly TableGroup[];
  /** Units of the dense layers before the last one. */
  readonly hidden: readonly number[];
  readonly numerical: number;
}

const group = (count: number, rows: number, width: number, hotness: readonly number[] = [1]): TableGroup => {
  return { count, rows, width, hotness };
};

export const CONFIGS: Readonly<Record<(typeof MODELS)[number], SyntheticConfig>> = {
  tiny: {
    tables: [
      group(1, 10_000, 8, [1, 10]),
      group(1, 1_000_000, 16, [1, 10]),
      group(1, 25_000_000, 16, [1, 10]),
      group(1, 25_000_000, 16),
      group(16, 10, 8),
      group(10, 1_000, 8),
      group(4, 10_000, 8),
      group(2, 100_000, 16),
      group(19, 1_000_000, 16),
    ],
    hidden: [256, 128],
    numerical: 10,
  },
  small: {
    tables: [
      group(5, 10_000, 16, [1, 30]),
      group(3, 4_000_000, 32, [1, 30]),
      group(1, 50_000_000, 32, [1, 30]),
      group(1, 50_000_000, 32),
      group(30, 10, 16),
      group(30, 1_000, 16),
      group(5, 10_000, 16),
      group(5, 100_000, 32),
      group(27, 4_000_000, 32),
    ],
    hidden: [512, 256, 128],
    numerical: 10,
  },
  criteo: { tables: [group(26, 100_000, 128)], hidden: [512, 256, 128], numerical: 13 },
};

export interface SyntheticTable {
  readonly name: string;
  readonly inputDim: number;
  readonly outputDim: number;
  readonly combiner: 'sum';
}

/** Tables, and the table and hotness of each input. */
export interface SyntheticTables {
  readonly tables: readonly SyntheticTable[];
  readonly inputTableMap: readonly number[];
  readonly hotness: readonly number[];
}

/** Rows that a float32 table of a config keeps so that tables and slots take at most `bytes`: large ones shrink. */
export function tablesOf({ tables }: SyntheticConfig, bytes: number, slotsPerTable: number): SyntheticTables {
  const result = { tables: [] as SyntheticTable[], inputTableMap: [] as number[], hotness: [] as number[] };
  const all = tables.flatMap(({ count, rows, width, hotness }) =>
    Array.from({ length: count }, () => ({ rows, width, hotness })),
  );
  const bytesWith = (scale: number): number =>
    all.reduce((sum, { rows, width }) => sum + 4 * (1 + slotsPerTable) * width * scaled(rows, scale), 0);
  const least = bytesWith(0);
  if (least > bytes)
    throw new InputError(`--bytes must be at least ${least}, what the small tables of the model need, not "${bytes}"`);
  let scale = 1;
  while (bytesWith(scale) > bytes) scale *= 0.99;
  all.forEach(({ rows, width, hotness }, table) => {
    const inputDim = scaled(rows, scale);
    result.tables.push({ name: `table_${table}`, inputDim, outputDim: width, combiner: 'sum' });
    for (const ids of hotness) {
      result.inputTableMap.push(table);
      result.hotness.push(ids);
    }
  });
  return result;
}

/** Small tables stay as they are: they decide how ids repeat, not how much memory is needed. */
function scaled(rows: number, scale: number): number {
  return rows <= 100_000 ? rows : Math.max(1, Math.floor(rows * scale));
}
