/** What the specs of `DistributedEmbedding` share. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { ramp } from '../setup.js';

/** Rows, columns and combiner of a table. */
export type Size = readonly [rows: number, columns: number, combiner: emb.Combiner | null];

export const SIZES: readonly Size[] = [
  [11, 7, 'sum'],
  [5, 8, 'mean'],
  [3, 8, 'sqrtn'],
  [12, 25, 'sum'],
];

export const items = (sizes: readonly Size[] = SIZES): emb.DistributedItemArgs[] =>
  sizes.map(([inputDim, outputDim, combiner]) => ({ inputDim, outputDim, combiner }));

/** A different ramp for each table. */
export const tablesOf = (sizes: readonly Size[] = SIZES): Float32Array[] =>
  sizes.map(([rows, columns], table) => ramp(rows, columns).map((value) => value - table));

/** Ids of two columns within the table. */
export const idsOf = (rows: number, batch = 5): number[][] =>
  Array.from({ length: batch }, (_, sample) => [(7 * sample + 1) % rows, (3 * sample + 2) % rows]);

export const idTensors = (sizes: readonly Size[] = SIZES, batch = 5): tf.Tensor2D[] =>
  sizes.map(([rows]) => tf.tensor2d(idsOf(rows, batch), [batch, 2], 'int32'));

/** Values of all tensors, which are disposed. */
export function takeAll(tensors: unknown): number[][] {
  return (tensors as tf.Tensor[]).map((tensor) => {
    const values = Array.from(tensor.dataSync());
    tensor.dispose();
    return values;
  });
}

export const valuesOf = (tensors: readonly tf.Tensor[]): number[][] =>
  tensors.map((tensor) => Array.from(tensor.dataSync()));

/** What single `Embedding` layers with the same tables give. */
export function alone(sizes: readonly Size[], tables: readonly Float32Array[], ids: readonly unknown[]): number[][] {
  return sizes.map(([inputDim, outputDim, combiner], i) => {
    const layer = emb.layers.embedding({ inputDim, outputDim, combiner, weights: [tables[i]!] });
    const [values] = takeAll([layer.apply(ids[i] as tf.Tensor)]);
    layer.dispose();
    return values!;
  });
}

/** A model with a distributed layer and a dense one on top, with weights that do not depend on chance. */
export function modelOf(layer: emb.DistributedEmbedding, features: number, length = 2): tf.LayersModel {
  const inputs = Array.from({ length: features }, () => tf.input({ shape: [length], dtype: 'int32' }));
  const outputs = layer.apply(inputs) as tf.SymbolicTensor[];
  const joined = features === 1 ? outputs[0]! : (tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor);
  const kernelInitializer = tf.initializers.constant({ value: 0.01 });
  const top = tf.layers.dense({ units: 1, kernelInitializer, name: 'top' });
  return tf.model({ inputs, outputs: top.apply(joined) as tf.SymbolicTensor });
}

export async function losses(model: tf.LayersModel, x: tf.Tensor[], y: tf.Tensor, epochs = 3): Promise<number[]> {
  const { history } = await model.fit(x, y, { epochs, shuffle: false, verbose: 0, batchSize: 3 });
  return history['loss'] as number[];
}
