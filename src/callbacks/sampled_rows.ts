/** Some rows of a table, the same ones each time: what can be told of a table without reading all of it. */
import * as tf from '@tensorflow/tfjs';
import { SINGLE_ROW } from '../backends/kernel_set.js';
import type { Table } from '../backends/table.js';
import { singleRows } from '../backends/kernel_calls.js';
import { lookUpUnrecorded } from '../lookup/lookup.js';

export class SampledRows {
  /** Numbers of the rows, ascending. */
  readonly ids: Int32Array;
  readonly dim: number;
  /** Of the table when these were chosen. */
  readonly rows: number;
  /** As they were when they were read last. */
  private known: Float32Array | null = null;

  /** At most `most` rows, as far from each other as can be. */
  constructor(
    readonly name: string,
    private readonly table: Table,
    most: number,
  ) {
    const { rows } = table;
    this.rows = rows;
    const count = Math.min(rows, most);
    this.ids = Int32Array.from({ length: count }, (_, i) => Math.floor((i * rows) / count));
    this.dim = table.dim;
  }

  /** Whether this is the same table, with as many rows. */
  isOf(table: Table): boolean {
    return this.table === table && this.rows === table.rows;
  }

  async read(): Promise<Float32Array> {
    const found = tf.tidy(() => {
      const bags = singleRows(tf.tensor1d(this.ids, 'int32'));
      return lookUpUnrecorded([{ table: this.table, bags, options: SINGLE_ROW }])[0]!;
    });
    try {
      return (await found.data()) as Float32Array;
    } finally {
      found.dispose();
    }
  }

  /** Reads the rows; gives the lengths of all, and the numbers of those that changed since they were read last. */
  async look(): Promise<{ readonly norms: Float32Array; readonly changed: Int32Array | null }> {
    const { ids, dim, known } = this;
    const values = await this.read();
    this.known = values;
    const norms = new Float32Array(ids.length);
    const changed: number[] = [];
    for (let row = 0; row < ids.length; row++) {
      let [squares, isChanged] = [0, false];
      for (let at = row * dim; at < (row + 1) * dim; at++) {
        squares += values[at]! * values[at]!;
        if (known !== null && values[at] !== known[at]) isChanged = true;
      }
      norms[row] = Math.sqrt(squares);
      if (isChanged) changed.push(ids[row]!);
    }
    return { norms, changed: known === null ? null : Int32Array.from(changed) };
  }
}
