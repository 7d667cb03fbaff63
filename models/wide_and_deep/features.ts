/**
 * From columns of text to the int32 inputs of the model, by a pipeline that learns all it knows from training rows:
 * - numbers become bins: at most 16 that hold equally many rows, and at most 128 over the distinct values, which keep
 *   rare but telling amounts apart;
 * - text becomes its place in a vocabulary;
 * - a column with several values in a cell (`a|b|c`) becomes as many ids, none for an empty cell.
 * Row 0 of each feature stands for values that training did not have.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { cellsOf, type TextTable } from './data.js';

const { Discretization, Pipeline } = emb.preprocessing;

const EQUAL_BINS = 16;
const DISTINCT_BINS = 128;
/** The least number that float32 holds, as bins are: what is missing lies below it. */
const LEAST = -(2 - 2 ** -23) * 2 ** 127;
/** Values seen less often share row 0, which is thereby trained. */
const LEAST_SEEN = 2;
const MISSING = new Set(['', '?', 'NA', 'N/A', 'NaN', 'nan', 'null']);
/** Features with one id per row share inputs, of which there are at most so many. */
const MOST_SHARED = 8;
/** Padding of ragged inputs: the layers take negative ids as absent. */
const ABSENT = -1;

/** A column seen one way, as ids of bins or of a vocabulary; plain values, for the metadata of the model. */
export interface Feature {
  /** In the pipeline. */
  readonly name: string;
  readonly column: string;
  readonly kind: 'numeric' | 'categorical' | 'ragged';
  readonly separator: string;
  /** Where its ids end. */
  readonly rows: number;
}

/** The ids of each input of the model, row-major int32 [rows, width]. */
export type EncodedRows = Readonly<{ count: number; inputs: readonly { ids: Int32Array; width: number }[] }>;

/** What the model needs to know of an input: ids per row (null: any number), and where the ids end. */
export type InputSchema = Readonly<{ name: string; width: number | null; rows: number }>;

const isNumber = (cell: string): boolean => cell.trim() !== '' && Number.isFinite(Number(cell));

export function kindOf(cells: readonly string[], separator: string): Feature['kind'] {
  const present = cells.filter((cell) => !MISSING.has(cell));
  if (present.length > 0 && present.every(isNumber)) return 'numeric';
  return cells.some((cell) => cell.includes(separator)) ? 'ragged' : 'categorical';
}

/** Cells as the pipeline takes them; a missing number lies below all others. */
function valuesOf(cells: readonly string[], { kind, separator }: Pick<Feature, 'kind' | 'separator'>) {
  if (kind === 'numeric') return cells.map((cell) => (isNumber(cell) ? Number(cell) : -Infinity));
  if (kind === 'categorical') return cells;
  return cells.map((cell) => cell.split(separator).flatMap((part) => part.trim() || []));
}

/** The values that are seen often enough, as often as they are. */
function frequent(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return values.filter((value) => counts.get(value)! >= LEAST_SEEN);
}

/** A column as features: how the pipeline reads it, and the values that a vocabulary learns. */
function viewsOf(column: string, cells: readonly string[], separator: string) {
  const kind = kindOf(cells, separator);
  const view = (name: string, by: emb.preprocessing.PipelineArgs['columns'][string], seen: unknown[] = []) => {
    return { name: `${column} (${name})`, column, kind, separator, by, seen };
  };
  if (kind !== 'numeric') {
    const seen = frequent((valuesOf(cells, { kind, separator }) as string[]).flat());
    return [kind === 'ragged' ? view('words', { list: 'string' }, [seen]) : view('word', 'string', seen)];
  }
  const bins = (name: string, boundaries: readonly number[]) =>
    view(name, new Discretization({ binBoundaries: [LEAST, ...boundaries] }));
  const numbers = cells.filter(isNumber).map(Number);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const count = Math.min(distinct.length, DISTINCT_BINS);
  // Between neighbours where they are few, else at every n-th.
  const boundaries = Array.from({ length: count - 1 }, (_, i) => {
    const above = Math.round(((i + 1) * distinct.length) / count);
    return (distinct[above - 1]! + distinct[above]!) / 2;
  });
  if (distinct.length <= EQUAL_BINS) return [bins('bins', boundaries)];
  const equal = new Discretization({ numBins: EQUAL_BINS }).adapt(numbers);
  return [bins('equal bins', equal.binBoundaries!), bins('bins', boundaries)];
}

/** Number of ids of features side by side. */
const rowsOf = (features: readonly Feature[]): number => features.reduce((sum, { rows }) => sum + rows, 0);

export class Encoder {
  /** The inputs of the model; features that share one have rows of their own, and neighbours stay together. */
  readonly inputs: readonly (InputSchema & { readonly features: readonly Feature[] })[];

  /** `pipeline`: from values of columns to ids of features; it is saved with the model. */
  constructor(
    readonly pipeline: tf.ModelPipeline,
    readonly features: readonly Feature[],
  ) {
    const singles = features.filter(({ kind }) => kind !== 'ragged');
    const count = Math.min(MOST_SHARED, singles.length);
    const start = (part: number): number => Math.floor((part * singles.length) / count);
    const shared = Array.from({ length: count }, (_, i) => {
      const side = singles.slice(start(i), start(i + 1));
      return { name: `features_${i}`, width: side.length, rows: rowsOf(side), features: side };
    });
    const bags = features.filter(({ kind }) => kind === 'ragged');
    const ragged = bags.map((bag, i) => ({ name: `ragged_${i}`, width: null, rows: bag.rows, features: [bag] }));
    this.inputs = [...shared, ...ragged];
  }

  static learn(table: TextTable, label: string, separator: string): Encoder {
    const columns = table.columns.filter((column) => column !== label);
    const views = columns.flatMap((column) => viewsOf(column, cellsOf(table, column), separator));
    const pipeline = new Pipeline({ columns: Object.fromEntries(views.map(({ name, by }) => [name, by])) });
    pipeline.adapt(Object.fromEntries(views.map(({ name, seen }) => [name, seen])));
    const rows = pipeline.inputDims();
    const features = views.map(({ by: _by, seen: _seen, ...view }) => ({ ...view, rows: rows[view.name]! }));
    return new Encoder(pipeline, features);
  }

  encode(table: TextTable): EncodedRows {
    const values = this.features.map((each) => [each.name, valuesOf(cellsOf(table, each.column), each)] as const);
    const inputs: { ids: Int32Array; width: number }[] = [];
    tf.tidy(() => {
      const ids = this.pipeline.apply(Object.fromEntries(values));
      for (const { features } of this.inputs) {
        const parts = features.map(({ name }, i) => {
          const part = ids[name]!;
          if (!(part instanceof tf.Tensor)) return part.toPadded({ defaultValue: ABSENT });
          // Each feature's ids are moved behind those of the features before it.
          return part.add(tf.scalar(rowsOf(features.slice(0, i)), 'int32'));
        });
        const joined = tf.concat(parts, 1);
        inputs.push({ ids: joined.dataSync<'int32'>().slice(), width: joined.shape[1]! });
      }
    });
    return { count: table.rows.length, inputs };
  }
}

/** Mean number of ids per row of each input. */
export const hotnessOf = ({ count, inputs }: EncodedRows): number[] =>
  inputs.map(({ ids }) => ids.filter((id) => id !== ABSENT).length / count);

/** The given rows as tensors, one per input. */
export function batchOf({ inputs }: EncodedRows, rows: Int32Array): tf.Tensor[] {
  return inputs.map(({ ids, width }) => {
    const picked = new Int32Array(rows.length * width);
    // A view of each row would take longer than a training step on small tables.
    for (let i = 0; i < picked.length; i++) picked[i] = ids[rows[Math.floor(i / width)]! * width + (i % width)]!;
    return tf.tensor2d(picked, [rows.length, width], 'int32');
  });
}
