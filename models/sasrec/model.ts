/**
 * SASRec: items and places of a sequence become vectors, which blocks of causal attention turn into what comes next; its
 * inner products with the vectors of items are the scores. After Kang and McAuley 2018, "Self-Attentive Sequential
 * Recommendation", with the normalization before each part of a block.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Options } from './options.mjs';

export interface SasRec {
  /** The vectors of all items, which scores are made with too. */
  readonly items: emb.RaggedEmbedding<null>;
  /** Takes the items of sequences, [batch, length], of which -1 is none; gives what comes next, [batch, length, dim]. */
  readonly everywhere: tf.LayersModel;
  /** What comes after the whole sequence, [batch, dim]. */
  readonly atTheEnd: tf.LayersModel;
}

export type ModelOptions = Pick<Options, 'length' | 'dim' | 'blocks' | 'heads' | 'dropout' | 'seed'>;

export function buildModel(numItems: number, { length, dim, blocks, heads, dropout, seed }: ModelOptions): SasRec {
  let next = 1 + 1000 * seed; // tfjs takes 0 for no seed
  const drawn = () => tf.initializers.glorotNormal({ seed: next++ });
  const table = (inputDim: number, name: string, stddev: number): emb.RaggedEmbedding<null> => {
    const embeddingsInitializer = tf.initializers.randomNormal({ stddev, seed: next++ });
    return emb.layers.raggedEmbedding({ inputDim, outputDim: dim, embeddingsInitializer, name, combiner: null });
  };
  const apply = (layer: tf.layers.Layer, x: tf.SymbolicTensor | tf.SymbolicTensor[]): tf.SymbolicTensor =>
    layer.apply(x) as tf.SymbolicTensor;
  const dropped = (x: tf.SymbolicTensor): tf.SymbolicTensor =>
    dropout === 0 ? x : apply(tf.layers.dropout({ rate: dropout }), x);
  const normalized = (x: tf.SymbolicTensor): tf.SymbolicTensor => apply(tf.layers.layerNormalization(), x);
  const sum = (a: tf.SymbolicTensor, b: tf.SymbolicTensor): tf.SymbolicTensor => apply(tf.layers.add(), [a, b]);

  const sequence = tf.input({ shape: [length], dtype: 'int32', name: 'sequence' });
  const items = table(numItems, 'items', 0.1);
  // The number of its column is the place of an item.
  const columns = { value: Array.from({ length }, (_, i) => i), dtype: 'int32' };
  const zeros = apply(emb.layers.operation({ operation: 'ZerosLike' }), sequence);
  const places = apply(emb.layers.operation({ operation: 'Add', operands: [{ tensor: 0 }, columns] }), zeros);
  let x = dropped(sum(apply(items, sequence), apply(table(length, 'places', 0.3), places)));
  for (let block = 0; block < blocks; block++) {
    const attention = emb.layers.multiHeadAttention({
      ...{ numHeads: heads, keyDim: dim / heads, useCausalMask: true, kernelInitializer: drawn() },
    });
    const query = normalized(x);
    x = sum(x, dropped(apply(attention, [query, query])));
    const dense = (activation: 'relu' | 'linear'): tf.layers.Layer =>
      tf.layers.dense({ units: dim, activation, kernelInitializer: drawn() });
    x = sum(x, dropped(apply(dense('linear'), dropped(apply(dense('relu'), normalized(x))))));
  }
  const all = normalized(x);
  const last = emb.layers.operation({ operation: 'GetItem', operands: [{ tensor: 0 }, [{}, -1]] });
  return {
    items,
    everywhere: tf.model({ inputs: sequence, outputs: all, name: 'everywhere' }),
    atTheEnd: tf.model({ inputs: sequence, outputs: apply(last, all), name: 'at_the_end' }),
  };
}

/** The last items of each row, the very last one in the last column, with -1 before the first: int32 [rows, length]. */
export function paddedOf(rows: readonly Int32Array[], length: number): tf.Tensor2D {
  const ids = new Int32Array(rows.length * length).fill(-1);
  rows.forEach((row, at) => {
    const own = row.subarray(-length);
    ids.set(own, (at + 1) * length - own.length);
  });
  return tf.tensor2d(ids, [rows.length, length], 'int32');
}
