/**
 * Rows of uneven lengths in `tf.data`: `batch` of tfjs makes a tensor of the shape of the first rows, whatever the others
 * hold. Such a batch is a RaggedTensor, which models take; even ones are tensors as before.
 */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../ids/ragged_tensor.js';

type Zip = (rows: unknown) => { value: unknown; recurse: boolean } | null;

interface Iterator {
  columnMajorBatch(batchSize: number, smallLastBatch: boolean | undefined, zip: Zip): Iterator;
}

interface DatasetMethods {
  batch(this: tf.data.Dataset<tf.TensorContainer>, batchSize: number, smallLastBatch?: boolean): unknown;
}

function isRow(value: unknown): value is ArrayLike<number> {
  const isTyped = ArrayBuffer.isView(value) && !(value instanceof DataView);
  return isTyped || (Array.isArray(value) && value.every((each) => typeof each === 'number'));
}

function isUneven(rows: unknown): rows is ArrayLike<number>[] {
  if (!Array.isArray(rows) || rows.length < 2 || !rows.every(isRow)) return false;
  return rows.some(({ length }) => length !== (rows[0] as ArrayLike<number>).length);
}

/** Makes `tf.data.Dataset.batch` give uneven rows as RaggedTensors. */
export function batchUnevenRows(): void {
  const methods = tf.data.Dataset.prototype as unknown as DatasetMethods;
  const { batch } = methods;
  methods.batch = function (batchSize, smallLastBatch) {
    const iterator = async (): Promise<Iterator> => {
      const inner = (await this.iterator()) as unknown as Iterator;
      const { columnMajorBatch } = inner;
      inner.columnMajorBatch = (size, small, zip) =>
        columnMajorBatch.call(inner, size, small, (rows) => {
          if (!isUneven(rows)) return zip(rows);
          return { value: RaggedTensor.fromRows(rows.map((row) => Array.from(row))), recurse: false };
        });
      return inner;
    };
    const batched = Object.assign(Object.create(this) as typeof this, { iterator });
    return batch.call(batched, batchSize, smallLastBatch);
  };
}
