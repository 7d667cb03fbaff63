/** `emb.embeddingLookup` of an open table. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { IdsInput } from '../../ids/parse_ids.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import { embeddingLookup, type EmbeddingLookupOptions } from '../../lookup/embedding_lookup.js';
import { keyNotes } from '../../lookup/key_notes.js';
import { NO_ROW } from './open_rows.js';
import { idsInLayout, readKeys, type KeyBatch, type KeyKind } from './read_keys.js';

/** What it needs of a table. */
interface KeyedRowsTable {
  readonly keyKind: KeyKind;
  /** How many lookups a lookup of keys is. */
  readonly lookups: number;
  /** Whether keys may stand for nothing. */
  readonly pads: boolean;
  readonly variable: tf.Variable | null;
  rowsOf(batch: KeyBatch, skipZero: boolean, keys?: unknown): Int32Array[];
}

/** Row numbers with that of no row where they stand for nothing. */
function withoutPads(rows: tf.Tensor1D): tf.Tensor1D {
  return tf.where(rows.less(0), tf.fill(rows.shape, NO_ROW, 'int32') as tf.Tensor1D, rows);
}

/** The rows of keys, combined where there is a combiner. */
export function lookUpKeys(
  table: KeyedRowsTable,
  keys: unknown,
  options: EmbeddingLookupOptions,
): tf.Tensor | RaggedTensor {
  const { combiner = null, maxNorm, outOfRange, weights } = options;
  if ((outOfRange ?? null) !== null) {
    throw new ValueError('outOfRange', 'nothing: `unknown` of the table says what keys without a row give', outOfRange);
  }
  const ofSeveral = 'where unknown keys are the sum of several rows';
  if (table.lookups > 1 && combiner === 'max') throw new ValueError('combiner', `not 'max' ${ofSeveral}`, combiner);
  if (table.lookups > 1 && (maxNorm ?? null) !== null) throw new ValueError('maxNorm', `null ${ofSeveral}`, maxNorm);
  const batch = readKeys(keys, table.keyKind, 'ids');
  if (table.lookups > 1 && combiner === null && batch.layout.kind !== 'dense') {
    throw new ValueError('combiner', `one for keys that are not dense ${ofSeveral}`, combiner);
  }
  const own: EmbeddingLookupOptions = { ...options, outOfRange: 'zero' };
  const known = keyNotes()?.found(keys, { table, skipZero: false }) ?? null;
  if (known !== null) {
    // Without a combiner, as keys lie in one axis: rows of what stands for nothing are zeros, as those of no row are.
    return tf.tidy((): tf.Tensor => {
      const rows = known.map((each) => embeddingLookup(table.variable!, table.pads ? withoutPads(each) : each, own));
      return rows.length === 1 ? (rows[0] as tf.Tensor) : tf.addN(rows as tf.Tensor[]);
    });
  }
  const found = table.rowsOf(batch, false, keys);
  // What stands for nothing does so in all lookups: zeros of no weight.
  const pads = table.pads && found[0]!.some((row) => row < 0);
  if (pads && combiner !== null) {
    if ((weights ?? null) !== null || combiner === 'max') {
      const expected = "keys that all stand for something, beside weights or with the combiner 'max'";
      throw new ValueError('ids', expected, described('padding, or keys that are dropped'));
    }
    own.weights = idsInLayout(
      Float32Array.from(found[0]!, (row) => (row < 0 ? 0 : 1)),
      batch.layout,
    ) as never;
  }
  const look = (rows: Int32Array): tf.Tensor | RaggedTensor => {
    const numbers = pads ? rows.map((row) => (row < 0 ? NO_ROW : row)) : rows;
    return embeddingLookup(table.variable!, idsInLayout(numbers, batch.layout) as IdsInput, own);
  };
  let result: tf.Tensor | RaggedTensor;
  tf.tidy(() => {
    const [first, ...others] = found.map(look) as [tf.Tensor, ...tf.Tensor[]];
    result = others.length === 0 ? first : tf.addN([first, ...others]);
    return result instanceof tf.Tensor ? result : undefined;
  });
  return result!;
}
