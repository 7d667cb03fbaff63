/** Random batches of ragged and dense features, and what they do to tables in plain TypeScript terms. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import type { Random } from '../../helpers/random.js';

export const BATCH = 16;

/** Tables a (mean, 6 columns) and b (sum, 8 columns); feature x on a, y on b, z on a again. */
export interface Features<T> {
  readonly x: T;
  readonly y: T;
  readonly z: T;
}
export const FEATURE_NAMES = ['x', 'y', 'z'] as const;
export const TABLES = { a: { rows: 50, dim: 6 }, b: { rows: 33, dim: 8 } } as const;
export const TABLE_OF = { x: 'a', y: 'b', z: 'a' } as const;

export interface Step {
  readonly ids: Features<number[][]>;
  /** What activations are pulled to. */
  readonly targets: Features<Float32Array>;
}

export function randomStep(random: Random): Step {
  const rows = (limit: number, most: number): number[][] =>
    Array.from({ length: BATCH }, () => Array.from({ length: random.whole(0, most) }, () => random.whole(0, limit)));
  const { a, b } = TABLES;
  return {
    ids: { x: rows(a.rows, 5), y: rows(b.rows, 4), z: rows(a.rows, 3) },
    targets: {
      x: random.floats(BATCH * a.dim),
      y: random.floats(BATCH * b.dim),
      z: random.floats(BATCH * a.dim),
    },
  };
}

export function startWeights(random: Random): { a: Float32Array; b: Float32Array } {
  const { a, b } = TABLES;
  return { a: random.floats(a.rows * a.dim), b: random.floats(b.rows * b.dim) };
}

export function featureConfig(change: object = {}): Features<tpu.FeatureConfig> {
  const { a, b } = TABLES;
  const first = new tpu.TableConfig({ vocabularySize: a.rows, dim: a.dim, name: 'a', ...change });
  const second = new tpu.TableConfig({ vocabularySize: b.rows, dim: b.dim, name: 'b', combiner: 'sum', ...change });
  const outputShape = [BATCH];
  return {
    x: new tpu.FeatureConfig({ table: first, outputShape }),
    y: new tpu.FeatureConfig({ table: second, outputShape }),
    z: new tpu.FeatureConfig({ table: first, outputShape }),
  };
}

export function ragged(ids: Features<number[][]>): Features<emb.RaggedTensor> {
  const made = FEATURE_NAMES.map((name) => [name, emb.RaggedTensor.fromRows(ids[name], { dtype: 'int32' })] as const);
  return Object.fromEntries(made) as unknown as Features<emb.RaggedTensor>;
}

/** Gradients of the mean squared distance to the targets; disposes nothing. */
export function gradientsOf(activations: Features<tf.Tensor>, { targets }: Step): Features<tf.Tensor> {
  const made = FEATURE_NAMES.map((name) => {
    const activation = activations[name];
    return [name, tf.tidy(() => activation.sub(tf.tensor(targets[name], activation.shape)).mul(0.5))] as const;
  });
  return Object.fromEntries(made) as unknown as Features<tf.Tensor>;
}

/** Of any structure of features. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any structure
export type AnyV2 = tpu.TPUEmbeddingV2<any>;

/** Trains two plain layers on the same steps; returns their tables. */
export function trainPlain(
  start: { a: Float32Array; b: Float32Array },
  steps: readonly Step[],
  optimizer: tf.Optimizer,
): { a: Float32Array; b: Float32Array } {
  const { a, b } = TABLES;
  const layers = {
    a: emb.layers.embedding({ inputDim: a.rows, outputDim: a.dim, combiner: 'mean' }),
    b: emb.layers.embedding({ inputDim: b.rows, outputDim: b.dim, combiner: 'sum' }),
  };
  for (const name of ['a', 'b'] as const) {
    const { rows, dim } = TABLES[name];
    layers[name].build([null, null]);
    const tensor = tf.tensor2d(start[name], [rows, dim]);
    layers[name].setWeights([tensor]);
    tensor.dispose();
  }
  for (const step of steps) {
    const ids = ragged(step.ids);
    const loss = (): tf.Scalar =>
      tf.addN(
        FEATURE_NAMES.map((name) => {
          const activation = layers[TABLE_OF[name]].apply(ids[name] as never) as unknown as tf.Tensor;
          return activation.sub(tf.tensor(step.targets[name], activation.shape)).square().sum().mul(0.25) as tf.Scalar;
        }),
      );
    optimizer.minimize(loss)?.dispose();
  }
  const result = { a: layers.a.getWeights()[0]!.dataSync(), b: layers.b.getWeights()[0]!.dataSync() };
  optimizer.dispose();
  for (const { weights } of [layers.a, layers.b]) for (const weight of weights) weight.dispose();
  return result as { a: Float32Array; b: Float32Array };
}

/** Trains a TPUEmbeddingV2 on the same steps; returns its tables. */
export function trainV2(
  embedding: AnyV2,
  start: { a: Float32Array; b: Float32Array },
  steps: readonly Step[],
): { a: Float32Array; b: Float32Array } {
  const { a, b } = TABLES;
  const weights = [tf.tensor2d(start.a, [a.rows, a.dim]), tf.tensor2d(start.b, [b.rows, b.dim])];
  embedding.setWeights(weights);
  tf.dispose(weights);
  for (const step of steps) {
    const [found, preserved] = embedding.embeddingLookup(ragged(step.ids));
    const activations = found as unknown as Features<tf.Tensor>;
    const gradients = gradientsOf(activations, step);
    embedding.applyGradients(gradients, preserved);
    tf.dispose([Object.values(activations), Object.values(gradients)] as tf.Tensor[][]);
  }
  return weightsOf(embedding);
}

export function weightsOf(embedding: AnyV2): { a: Float32Array; b: Float32Array } {
  const weights = embedding.getWeights();
  const [a, b] = weights;
  const result = { a: a!.dataSync() as Float32Array, b: b!.dataSync() as Float32Array };
  tf.dispose(weights);
  return result;
}

/** The largest |a - b| / (1 + |b|). */
export function farthest(a: Float32Array, b: Float32Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!) / (1 + Math.abs(b[i]!))), 0);
}
