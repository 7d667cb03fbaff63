/** The two-table model that TensorFlow tests its TPU embedding API with, and how it is run here. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const { tpu } = emb;

export type Optimizer = emb.tpu.TPUEmbeddingOptimizer;

/** Values 0, 1, 2, … row by row. */
export function counted(shape: number[]): tf.Tensor {
  const size = shape.reduce((product, each) => product * each, 1);
  return tf.range(0, size, 1, 'float32').reshape(shape);
}

export interface Fixture {
  readonly video: emb.tpu.TableConfig;
  readonly user: emb.tpu.TableConfig;
  readonly features: [emb.tpu.FeatureConfig, emb.tpu.FeatureConfig, emb.tpu.FeatureConfig];
}

/** Tables video 8 x 4 with sum and user 16 x 2 with mean; features watched, favorited and friends. */
export function fixture(feature: object = {}): Fixture {
  const initializer = counted;
  const video = new tpu.TableConfig({ vocabularySize: 8, dim: 4, initializer, combiner: 'sum', name: 'video' });
  const user = new tpu.TableConfig({ vocabularySize: 16, dim: 2, initializer, combiner: 'mean', name: 'user' });
  const features: Fixture['features'] = [
    new tpu.FeatureConfig({ table: video, name: 'watched', ...feature }),
    new tpu.FeatureConfig({ table: video, name: 'favorited', ...feature }),
    new tpu.FeatureConfig({ table: user, name: 'friends', ...feature }),
  ];
  return { video, user, features };
}

export const WATCHED = [[0], [0, 1], [0, 1], [1]];
export const FAVORITED = [[0, 1], [1], [0], [0, 1]];
export const FRIENDS = [[3], [0, 1, 2], [3], [0, 1, 2]];
export const ROWS = [WATCHED, FAVORITED, FRIENDS];

export const ragged = (rows: number[][]): emb.RaggedTensor => emb.RaggedTensor.fromRows(rows);

/** The same rows as sparse ids, or their weights. */
export function sparse(rows: number[][]): emb.SparseInput {
  return {
    indices: rows.flatMap((row, i) => row.map((_, j) => [i, j])),
    values: rows.flat(),
    denseShape: [rows.length, Math.max(1, ...rows.map(({ length }) => length))],
  };
}

/** Runs a body on an emulator of so many cores; tensors must be as many afterwards as before. */
export async function onCores<T>(cores: number, body: () => T | Promise<T>): Promise<T> {
  return withTpuEmulator({ chips: cores }, async () => {
    const before = tf.memory().numTensors;
    const result = await body();
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
    return result;
  });
}

export function valuesOf(tensors: readonly tf.Tensor[]): number[][] {
  return tensors.map((tensor) => [...tensor.dataSync()]);
}

/** One step with gradients of ones; returns the activations. */
export function stepOfOnes(embedding: emb.tpu.TPUEmbedding, ids: unknown, weights: unknown = null): number[][] {
  embedding.enqueue(ids, weights);
  const activations = embedding.dequeue() as tf.Tensor[];
  const values = valuesOf(activations);
  const gradients = activations.map((each) => tf.onesLike(each));
  embedding.applyGradients(gradients);
  tf.dispose([activations, gradients]);
  return values;
}
