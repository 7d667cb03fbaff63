/** Models in files whose weights are read as they are asked for. */
import * as tf from '@tensorflow/tfjs';
import type { WriteRows } from '../../backends/contract.js';
import { widthOf } from '../../backends/stores/table_rows.js';
import type { Words } from '../../codecs/codec.js';
import type { KerasVersion } from '../../tfjs/models/keras_rules.js';

/** An array in a file. */
export interface StoredArray {
  /** As the model calls it. */
  readonly name: string;
  readonly dtype: tf.DataType;
  readonly shape: readonly number[];
  /** Whether it was frozen when it was saved. */
  readonly isFrozen?: boolean;
  /** The bytes of its numbers, in pieces of whole numbers, each of use until the next is asked for; null: `read` alone. */
  readonly pieces: (() => AsyncIterable<Uint8Array>) | null;
  /** All of it, where its bytes are no numbers: strings, quantized weights. */
  read?(): Promise<tf.Tensor>;
}

/** A model in files. */
export interface StoredModel {
  /** Everything but the weights. */
  readonly artifacts: Pick<tf.io.ModelArtifacts, 'modelTopology' | 'trainingConfig' | 'userDefinedMetadata'>;
  /** The Keras whose rules it follows; null: it follows tfjs. */
  readonly kerasRules: KerasVersion | null;
  readonly weights: readonly StoredArray[];
  /** State of the optimizer. */
  readonly state: readonly StoredArray[];
  /** The error for what does not fit; it names the file. */
  refuse(found: string, note?: string): Error;
}

/** What is read of an array. */
type StoredNumbers = Pick<StoredArray, 'dtype' | 'shape' | 'pieces' | 'read'>;

type Numbers = Float32Array | Int32Array | Uint8Array;
const ARRAYS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

/** Hands the numbers of an array to `write`, some whole rows at a time. */
export async function readRows({ dtype, shape, pieces }: StoredNumbers, write: WriteRows<Words>): Promise<void> {
  const Numbers = ARRAYS[dtype as 'float32' | 'int32'];
  const columns = widthOf(shape);
  let row = 0;
  // Used again for each piece, after the part of a row that the piece before ended with.
  let values: Float32Array | Int32Array = new Numbers(0);
  let rest = 0;
  for await (const piece of pieces!()) {
    const length = rest + piece.length / Numbers.BYTES_PER_ELEMENT;
    if (values.length < length) {
      const larger = new Numbers(Math.max(length, columns));
      larger.set(values.subarray(0, rest));
      values = larger;
    }
    new Uint8Array(values.buffer).set(piece, rest * Numbers.BYTES_PER_ELEMENT);
    const rows = Math.floor(length / columns);
    write(row, values.subarray(0, rows * columns));
    values.copyWithin(0, rows * columns, length);
    rest = length - rows * columns;
    row += rows;
  }
}

/** The numbers of an array, which are read straight into the memory of a tensor. */
export async function readTensor(stored: StoredNumbers): Promise<tf.Tensor> {
  const { dtype, shape, pieces } = stored;
  if (pieces === null) return stored.read!();
  const size = shape.reduce((product, each) => product * each, 1);
  const numbers: Numbers = new ARRAYS[dtype as keyof typeof ARRAYS](size);
  const bytes = new Uint8Array(numbers.buffer);
  let at = 0;
  for await (const piece of pieces()) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return tf.tensor(numbers, [...shape], dtype);
}
