/** Turns tables of text into the int32 inputs of the model, and batches of them into tensors. */
import * as tf from '@tensorflow/tfjs';
import { cellsOf, type TextTable } from './csv.js';
import { featureFromConfig, learnFeatures, type Feature } from './columns.js';

/** One input of the model, row-major int32 [rows, width]. */
interface EncodedInput {
  readonly ids: Int32Array;
  readonly width: number;
}

/** Encoded rows: one entry per input of the model. */
export interface EncodedRows {
  readonly count: number;
  readonly inputs: readonly EncodedInput[];
}

/** What the model needs to know of an input. */
export interface InputSchema {
  readonly name: string;
  /** Ids per row; null: any number, also none. */
  readonly width: number | null;
  /** Ids go from 0 to below this. */
  readonly rows: number;
}

/** Features with one id per row share inputs, of which there are at most so many. */
const MOST_SHARED = 8;

/** Id of padding in ragged inputs: the layer takes negative ids as absent. */
const ABSENT = -1;

export class Encoder {
  /** Features of each shared input, each with rows of its own. */
  private readonly shared: readonly (readonly Feature[])[];
  private readonly ragged: readonly Feature[];

  constructor(readonly features: readonly Feature[]) {
    const singles = features.filter(({ kind }) => kind !== 'ragged');
    this.shared = evenParts(singles, Math.min(MOST_SHARED, singles.length));
    this.ragged = features.filter(({ kind }) => kind === 'ragged');
  }

  static learn(table: TextTable, label: string, separator: string): Encoder {
    return new Encoder(learnFeatures(table, label, separator));
  }

  static fromConfig(configs: readonly object[]): Encoder {
    return new Encoder(configs.map(featureFromConfig));
  }

  /** Plain JSON values, for the metadata of the model. */
  getConfig(): object[] {
    return this.features.map((feature) => feature.getConfig());
  }

  schema(): InputSchema[] {
    const shared = this.shared.map((features, i) => {
      return { name: `features_${i}`, width: features.length, rows: rowsOf(features) };
    });
    return [...shared, ...this.ragged.map(({ rows }, i) => ({ name: `ragged_${i}`, width: null, rows }))];
  }

  encode(table: TextTable): EncodedRows {
    const shared = this.shared.map((features) => sideBySide(features, table));
    const ragged = this.ragged.map((feature) => padded(feature.encode(cellsOf(table, feature.column))));
    return { count: table.rows.length, inputs: [...shared, ...ragged] };
  }
}

/** Neighbours stay together, and no part has two more than another. */
function evenParts<T>(items: readonly T[], count: number): T[][] {
  const start = (part: number): number => Math.floor((part * items.length) / count);
  return Array.from({ length: count }, (_, part) => items.slice(start(part), start(part + 1)));
}

function rowsOf(features: readonly Feature[]): number {
  return features.reduce((sum, { rows }) => sum + rows, 0);
}

/** Each feature's ids are moved behind those of the features before it. */
function sideBySide(features: readonly Feature[], table: TextTable): EncodedInput {
  const width = features.length;
  const ids = new Int32Array(table.rows.length * width);
  features.forEach((feature, at) => {
    const offset = rowsOf(features.slice(0, at));
    const own = feature.encode(cellsOf(table, feature.column));
    own.forEach(([id], row) => (ids[row * width + at] = offset + id!));
  });
  return { ids, width };
}

function padded(bags: readonly (readonly number[])[]): EncodedInput {
  const width = bags.reduce((longest, bag) => Math.max(longest, bag.length), 1);
  const ids = new Int32Array(bags.length * width).fill(ABSENT);
  bags.forEach((bag, row) => ids.set(bag, row * width));
  return { ids, width };
}

/** Mean number of ids per row of each input. */
export function hotnessOf({ count, inputs }: EncodedRows): number[] {
  return inputs.map(({ ids }) => ids.reduce((sum, id) => sum + (id === ABSENT ? 0 : 1), 0) / count);
}

/** The given rows as tensors, one per input. */
export function batchOf(encoded: EncodedRows, rows: Int32Array): tf.Tensor[] {
  return encoded.inputs.map(({ ids, width }) => {
    const picked = new Int32Array(rows.length * width);
    // A view of each row would take longer than a training step on small tables.
    for (let i = 0, at = 0; i < rows.length; i++) {
      const first = rows[i]! * width;
      for (let column = 0; column < width; column++) picked[at++] = ids[first + column]!;
    }
    return tf.tensor2d(picked, [rows.length, width], 'int32');
  });
}
