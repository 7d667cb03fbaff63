/** The model: videos that were watched and liked, and friends of a user. After the one that TensorFlow tests its API with. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const { FeatureConfig, RowIdInitializer, SparseCoreEmbeddingConfig, TableConfig } = emb.tpu;

const NAMES = ['watched', 'favorited', 'friends'] as const;
/** By feature, in the structure of the config. */
export type Activations = Readonly<Record<(typeof NAMES)[number], tf.Tensor>>;

const SAMPLES = 4;

/** Ids of each sample. */
const ROWS = {
  watched: [[0], [0, 1], [0, 1], [1]],
  favorited: [[0, 1], [1], [0], [0, 1]],
  friends: [[3], [0, 1, 2], [3], [0, 1, 2]],
};

/** Both tables, the features that share them, and limits that a batch of four needs. */
export function configs() {
  const initializer = new RowIdInitializer();
  const video = new TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', name: 'video', initializer });
  const user = new TableConfig({ vocabularySize: 16, dim: 2, combiner: 'mean', name: 'user', initializer });
  const outputShape = [SAMPLES];
  const featureConfig = {
    watched: new FeatureConfig({ table: video, outputShape }),
    favorited: new FeatureConfig({ table: video, outputShape }),
    friends: new FeatureConfig({ table: user, outputShape }),
  };
  // Tables of one padded width and one optimizer are stacked.
  const limits = Object.fromEntries(['video', 'user', 'video_user', 'user_video'].map((stack) => [stack, 16]));
  const sparseCoreEmbeddingConfig = new SparseCoreEmbeddingConfig({
    maxIdsPerTable: limits,
    maxUniqueIdsPerTable: limits,
  });
  return {
    video,
    user,
    featureConfig,
    sparseCoreEmbeddingConfig,
    optimizer: new emb.tpu.Adagrad({ learningRate: 0.1 }),
  };
}

export function batch() {
  const { fromRows } = emb.RaggedTensor;
  return { watched: fromRows(ROWS.watched), favorited: fromRows(ROWS.favorited), friends: fromRows(ROWS.friends) };
}

/** The dense part: the sum, over features, of the mean of squared activations, and its gradients. */
export function lossOf(activations: Activations): { loss: number; gradients: Activations } {
  const inputs = NAMES.map((name) => activations[name]);
  const sum = (...parts: tf.Tensor[]): tf.Scalar => tf.addN(parts.map((part) => part.square().mean())) as tf.Scalar;
  const { value, grads } = tf.valueAndGrads(sum)(inputs);
  const [watched, favorited, friends] = grads as [tf.Tensor, tf.Tensor, tf.Tensor];
  const loss = value.dataSync()[0]!;
  value.dispose();
  return { loss, gradients: { watched, favorited, friends } };
}

/** `watched [4, 4], …` */
export function shapesOf(activations: Activations): string {
  return NAMES.map((name) => `${name} [${activations[name].shape.join(', ')}]`).join(', ');
}
