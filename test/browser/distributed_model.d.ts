import type * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings';

export function makeModel(
  tensorflow: typeof tf,
  embeddings: typeof emb,
): {
  layer: emb.DistributedEmbedding;
  model: tf.LayersModel;
  x: tf.Tensor2D[];
  y: tf.Tensor2D;
  dispose(): void;
};
export function trainDistributedModel(tensorflow: unknown, embeddings: unknown): Promise<unknown>;
export function startDevices(tensorflow: unknown, embeddings: unknown, settings: object): Promise<void>;
