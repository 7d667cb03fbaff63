/**
 * From columns of text to the int32 inputs of the model. Nothing here knows the data; it is learned from training rows:
 * - numbers become bins: at most 16 that hold equally many rows, and at most 128 over the distinct values, which keep
 *   rare but telling amounts apart;
 * - text becomes its place in a vocabulary;
 * - a column with several values in a cell (`a|b|c`) becomes as many ids, none for an empty cell.
 * Row 0 of each feature stands for values that training did not have.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { cellsOf, type TextTable } from './data.js';

const { Discretization, StringLookup } = emb.preprocessing;

const EQUAL_BINS = 16;
const DISTINCT_BINS = 128;
/** Values seen less often share row 0, which is thereby trained. */
const LEAST_SEEN = 2;
const MISSING = new Set(['', '?', 'NA', 'N/A', 'NaN', 'nan', 'null']);
/** Features with one id per row share inputs, of which there are at most so many. */
const MOST_SHARED = 8;
/** Padding of ragged inputs: the layers take negative ids as absent. */
const ABSENT = -1;

/** A column seen one way: as ids of bins or of a vocabulary. */
interface Feature {
  readonly column: string;
  readonly kind: 'numeric' | 'categorical' | 'ragged';
  readonly separator: string;
  readonly lookup: emb.preprocessing.Discretization | emb.preprocessing.StringLookup;
}

/** Ids of an input of the model, row-major int32 [rows, width]. */
type EncodedInput = Readonly<{ ids: Int32Array; width: number }>;
export type EncodedRows = Readonly<{ count: number; inputs: readonly EncodedInput[] }>;

/** What the model needs to know of an input: ids per row (null: any number), and where the ids end. */
export type InputSchema = Readonly<{ name: string; width: number | null; rows: number }>;

const isNumber = (cell: string): boolean => cell.trim() !== '' && Number.isFinite(Number(cell));

export function kindOf(cells: readonly string[], separator: string): Feature['kind'] {
  const present = cells.filter((cell) => !MISSING.has(cell));
  if (present.length > 0 && present.every(isNumber)) return 'numeric';
  return cells.some((cell) => cell.includes(separator)) ? 'ragged' : 'categorical';
}

function partsOf(cell: string, kind: Feature['kind'], separator: string): string[] {
  if (kind !== 'ragged') return [cell];
  const parts = cell.split(separator).map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** The features of a column; numbers are seen twice where they are many. */
function learnFeatures(column: string, cells: readonly string[], separator: string): Feature[] {
  const kind = kindOf(cells, separator);
  if (kind !== 'numeric') {
    const parts = cells.flatMap((cell) => partsOf(cell, kind, separator));
    const counts = new Map<string, number>();
    for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
    const lookup = new StringLookup().adapt(parts.filter((part) => counts.get(part)! >= LEAST_SEEN));
    return [{ column, kind, separator, lookup }];
  }
  const numbers = cells.filter(isNumber).map(Number);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const count = Math.min(distinct.length, DISTINCT_BINS);
  // Between neighbours where they are few, else at every n-th.
  const binBoundaries = Array.from({ length: count - 1 }, (_, i) => {
    const above = Math.round(((i + 1) * distinct.length) / count);
    return (distinct[above - 1]! + distinct[above]!) / 2;
  });
  const fine = new Discretization({ binBoundaries });
  const coarse = distinct.length > EQUAL_BINS ? [new Discretization({ numBins: EQUAL_BINS }).adapt(numbers)] : [];
  return [...coarse, fine].map((lookup) => ({ column, kind, separator, lookup }));
}

/** Number of ids of features side by side; bins lie behind row 0. */
function rowsOf(features: readonly Feature[]): number {
  const sizes = features.map(({ lookup }) => {
    return lookup instanceof Discretization ? lookup.binBoundaries!.length + 2 : lookup.vocabularySize();
  });
  return sizes.reduce((sum, rows) => sum + rows, 0);
}

/** The ids of each row: one, or any number for a ragged column. */
function idsOf({ column, kind, separator, lookup }: Feature, table: TextTable): number[][] {
  const cells = cellsOf(table, column);
  if (!(lookup instanceof Discretization)) return lookup.apply(cells.map((cell) => partsOf(cell, kind, separator)));
  const bins = lookup.apply(cells.map((cell) => (isNumber(cell) ? Number(cell) : 0)));
  return cells.map((cell, row) => [isNumber(cell) ? 1 + bins[row]! : 0]);
}

/** Rows of ids as an input of the model. */
function padded(bags: readonly (readonly number[])[]): EncodedInput {
  const width = bags.reduce((longest, bag) => Math.max(longest, bag.length), 1);
  const ids = new Int32Array(bags.length * width).fill(ABSENT);
  bags.forEach((bag, row) => ids.set(bag, row * width));
  return { ids, width };
}

export class Encoder {
  /** Features of each input that some share, each with rows of its own; neighbours stay together. */
  private readonly shared: readonly (readonly Feature[])[];
  private readonly ragged: readonly Feature[];

  constructor(readonly features: readonly Feature[]) {
    const singles = features.filter(({ kind }) => kind !== 'ragged');
    const count = Math.min(MOST_SHARED, singles.length);
    const start = (part: number): number => Math.floor((part * singles.length) / count);
    this.shared = Array.from({ length: count }, (_, part) => singles.slice(start(part), start(part + 1)));
    this.ragged = features.filter(({ kind }) => kind === 'ragged');
  }

  static learn(table: TextTable, label: string, separator: string): Encoder {
    const columns = table.columns.filter((column) => column !== label);
    return new Encoder(columns.flatMap((column) => learnFeatures(column, cellsOf(table, column), separator)));
  }

  /** Plain JSON values, for the metadata of the model. */
  getConfig(): object[] {
    return this.features.map(({ lookup, ...feature }) => ({ ...feature, lookup: lookup.getConfig() }));
  }

  static fromConfig(configs: readonly object[]): Encoder {
    return new Encoder(
      (configs as Feature[]).map(({ lookup, ...feature }) => {
        const { fromConfig } = feature.kind === 'numeric' ? Discretization : StringLookup;
        return { ...feature, lookup: fromConfig(lookup) };
      }),
    );
  }

  schema(): InputSchema[] {
    const shared = this.shared.map((features, i) => {
      return { name: `features_${i}`, width: features.length, rows: rowsOf(features) };
    });
    return [...shared, ...this.ragged.map((each, i) => ({ name: `ragged_${i}`, width: null, rows: rowsOf([each]) }))];
  }

  encode(table: TextTable): EncodedRows {
    const shared = this.shared.map((features) => {
      const columns = features.map((feature) => idsOf(feature, table));
      // Each feature's ids are moved behind those of the features before it.
      const offsets = features.map((_, i) => rowsOf(features.slice(0, i)));
      return padded(table.rows.map((_, row) => columns.map((ids, i) => offsets[i]! + ids[row]![0]!)));
    });
    const ragged = this.ragged.map((feature) => padded(idsOf(feature, table)));
    return { count: table.rows.length, inputs: [...shared, ...ragged] };
  }
}

/** Mean number of ids per row of each input. */
export function hotnessOf({ count, inputs }: EncodedRows): number[] {
  return inputs.map(({ ids }) => ids.filter((id) => id !== ABSENT).length / count);
}

/** The given rows as tensors, one per input. */
export function batchOf({ inputs }: EncodedRows, rows: Int32Array): tf.Tensor[] {
  return inputs.map(({ ids, width }) => {
    const picked = new Int32Array(rows.length * width);
    // A view of each row would take longer than a training step on small tables.
    for (let i = 0; i < picked.length; i++) picked[i] = ids[rows[Math.floor(i / width)]! * width + (i % width)]!;
    return tf.tensor2d(picked, [rows.length, width], 'int32');
  });
}
