/** What a row format is: the words that rows take, how numbers go into them and come out, and whether steps write them. */

/** How the rows of a table are kept, as users ask for it. */
export type Storage = 'float32' | PackedStorage;
/** Those of fewer bits: halves, or codes of 8 bits with a scale and an offset per row. */
export type PackedStorage = 'float16' | 'int8';

/** Rows where they lie: whole numbers of 32 bits, or the floats themselves. */
export type Words = Float32Array | Int32Array;

/** A value that cannot be kept: where it is, and why. */
export interface Unpackable {
  readonly row: number;
  readonly column: number;
  readonly value: number;
  readonly reason: string;
}

export interface Codec {
  readonly name: Storage;
  /** Of te_codec in custom-ops/kernels/embedding.h. A copy of this package that is loaded beside this one has codecs of its own. */
  readonly number: number;
  /** Of variables that hold such rows, [rows, words]. */
  readonly dtype: 'float32' | 'int32';
  /** Whether a row is its numbers as they are, [dim] float32: kernels and tensors read and write them where they lie. */
  readonly isPlain: boolean;
  /** How a step writes rows: to the bit, rounded stochastically by a key of the step, or never. */
  readonly training: 'exact' | 'rounded' | null;
  /** Words of 32 bits of a row of so many columns; te_row_words in custom-ops/kernels/embedding.h. */
  words(dim: number): number;
  /** The first of these whole rows' values that cannot be kept, or null. */
  firstUnpackable(values: Float32Array, dim: number): Unpackable | null;
  /** Writes whole rows, row-major in `values`, into `into` from row `firstRow` on, each number as near as it can be kept. */
  pack(values: Float32Array, dim: number, into: Words, firstRow?: number): void;
  /** The numbers of whole rows, row-major; plain rows where they lie. */
  unpack(rows: Words, dim: number): Float32Array;
  /** Writes one row as a step leaves it; `random`: a word for each column, where steps round. */
  packStep(values: Float32Array, random: Int32Array, into: Words): void;
}
