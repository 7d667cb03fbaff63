/**
 * Tables whose rows are packed into int32 words, as tfjs has no smaller numbers.
 *
 * float16: two columns per word. int8: four codes of 8 bits without sign per word, then two words that hold the float32
 * scale and offset of the row; a column is scale * code + offset. The first column is in the lowest bits, bits behind the
 * last one are 0. On little-endian machines these are the bytes of FBGEMM's fused 8-bit rows.
 */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import type { PackedStorage } from '../../base/types.js';

/** A packed matrix on the host, row-major. */
export interface PackedTable {
  readonly words: Int32Array; // [rows * wordsPerRow(storage, dim)]
  readonly storage: PackedStorage;
  readonly rows: number;
  readonly dim: number;
}

/** What the words of a variable [rows, words] stand for. */
export interface PackedForm {
  readonly storage: PackedStorage;
  /** Columns of the table. */
  readonly dim: number;
}

/** Words of a row. */
export function wordsPerRow(storage: PackedStorage, dim: number): number {
  return storage === 'int8' ? Math.ceil(dim / 4) + 2 : Math.ceil(dim / 2);
}

const forms = (): WeakMap<tf.Tensor, PackedForm> => perProcess('packed tables', () => new WeakMap());

/** Says what the words of a table stand for; whoever makes such a table tells it here. */
export function setPackedForm(table: tf.Variable, form: PackedForm): void {
  forms().set(table, form);
}

/** Rows and columns of a table, whatever its rows are kept in. */
export function numbersShape(table: tf.Tensor): number[] {
  const form = packedForm(table);
  return form === undefined ? table.shape : [table.shape[0]!, form.dim];
}

/** What the words of a table stand for; undefined for tables of float32. */
export function packedForm(table: tf.Tensor): PackedForm | undefined {
  return forms().get(table);
}
