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

/** What the model needs to know of its inputs. */
export interface InputSchema {
  /** Features with one id per row; they share one table, each with rows of its own. */
  readonly singles: { readonly count: number; readonly rows: number };
  readonly ragged: readonly { readonly column: string; readonly rows: number }[];
}

/** Id of padding in ragged inputs: the layer takes negative ids as absent. */
const ABSENT = -1;

export class Encoder {
  private readonly singles: readonly Feature[];
  private readonly ragged: readonly Feature[];

  constructor(readonly features: readonly Feature[]) {
    this.singles = features.filter(({ kind }) => kind !== 'ragged');
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

  schema(): InputSchema {
    const rows = this.singles.reduce((sum, feature) => sum + feature.rows, 0);
    return {
      singles: { count: this.singles.length, rows },
      ragged: this.ragged.map(({ column, rows }) => ({ column, rows })),
    };
  }

  encode(table: TextTable): EncodedRows {
    const inputs = this.ragged.map((feature) => padded(feature.encode(cellsOf(table, feature.column))));
    if (this.singles.length > 0) inputs.unshift(this.encodeSingles(table));
    return { count: table.rows.length, inputs };
  }

  /** Each feature's ids are moved behind those of the features before it. */
  private encodeSingles(table: TextTable): EncodedInput {
    const width = this.singles.length;
    const ids = new Int32Array(table.rows.length * width);
    let offset = 0;
    this.singles.forEach((feature, at) => {
      const own = feature.encode(cellsOf(table, feature.column));
      own.forEach(([id], row) => (ids[row * width + at] = offset + id!));
      offset += feature.rows;
    });
    return { ids, width };
  }
}

function padded(bags: readonly (readonly number[])[]): EncodedInput {
  const width = bags.reduce((longest, bag) => Math.max(longest, bag.length), 1);
  const ids = new Int32Array(bags.length * width).fill(ABSENT);
  bags.forEach((bag, row) => ids.set(bag, row * width));
  return { ids, width };
}

/** The given rows as tensors, one per input. */
export function batchOf(encoded: EncodedRows, rows: Int32Array): tf.Tensor[] {
  return encoded.inputs.map(({ ids, width }) => {
    const picked = new Int32Array(rows.length * width);
    rows.forEach((row, i) => picked.set(ids.subarray(row * width, (row + 1) * width), i * width));
    return tf.tensor2d(picked, [rows.length, width], 'int32');
  });
}
