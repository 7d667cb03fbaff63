/** Rows as they are: one float32 for each column. */
import type { Codec } from './codec.js';

export const FLOAT32: Codec = {
  name: 'float32',
  number: 0,
  dtype: 'float32',
  isPlain: true,
  training: 'exact',
  words: (dim) => dim,
  firstUnpackable: () => null,
  pack: (values, dim, into, firstRow = 0) => into.set(values, firstRow * dim),
  unpack: (rows) => rows as Float32Array,
  packStep: (values, _random, into) => into.set(values),
};
