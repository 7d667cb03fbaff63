/** Models over `tpuEmbedding`, their data, and the same model of plain layers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const { tpu } = emb;

const IDS = [
  [
    [1, 2, -1],
    [3, -1, -1],
    [1, 1, 5],
    [-1, -1, -1],
    [7, 3, 1],
  ],
  [[0], [4], [2], [4], [1]],
] as const;
const LABELS = [[1], [0], [1], [0], [1]];

const seeded = (seed: number): tf.Tensor => tf.randomUniform([8, 4], -0.5, 0.5, 'float32', seed);

export function layerOf(optimizer: emb.tpu.TPUEmbeddingOptimizer, args: object = {}): emb.tpu.TPUEmbeddingLayer {
  const [movies, users] = ['movies', 'users'].map((name, i) => {
    const initializer = (): tf.Tensor => seeded(i + 1);
    return new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: i === 0 ? 'mean' : 'sum', name, initializer });
  }) as [emb.tpu.TableConfig, emb.tpu.TableConfig];
  const featureConfig = {
    user: new tpu.FeatureConfig({ table: users }),
    seen: new tpu.FeatureConfig({ table: movies }),
  };
  return emb.layers.tpuEmbedding({ featureConfig, optimizer, ...args });
}

export const sgdModel = (): emb.tpu.TPUEmbeddingOptimizer => new tpu.SGD({ learningRate: 0.5 });

export function inputs(): tf.SymbolicTensor[] {
  return [3, 1].map((width) => tf.input({ shape: [width], dtype: 'int32' }));
}

export function headOf(rows: tf.SymbolicTensor[]): tf.SymbolicTensor {
  const joined = tf.layers.concatenate().apply(rows) as tf.SymbolicTensor;
  const kernelInitializer = tf.initializers.constant({ value: 0.25 });
  return tf.layers.dense({ units: 1, kernelInitializer }).apply(joined) as tf.SymbolicTensor;
}

export function modelOf(layer: emb.tpu.TPUEmbeddingLayer): tf.LayersModel {
  const [seen, user] = inputs() as [tf.SymbolicTensor, tf.SymbolicTensor];
  const found = layer.apply({ seen, user }) as { seen: tf.SymbolicTensor; user: tf.SymbolicTensor };
  return tf.model({ inputs: [seen, user], outputs: headOf([found.seen, found.user]) });
}

/** The same model of plain layers, all stepped by one optimizer. */
export function plainModel(): tf.LayersModel {
  const [seen, user] = inputs() as [tf.SymbolicTensor, tf.SymbolicTensor];
  const table = (seed: number, combiner: 'mean' | 'sum', ids: tf.SymbolicTensor): tf.SymbolicTensor => {
    const values = tf.tidy(() => seeded(seed).arraySync() as number[][]);
    const weights = [values];
    const args = { inputDim: 8, outputDim: 4, combiner, weights };
    return emb.layers.raggedEmbedding(args).apply(ids) as tf.SymbolicTensor;
  };
  return tf.model({ inputs: [seen, user], outputs: headOf([table(1, 'mean', seen), table(2, 'sum', user)]) });
}

export function data(): { x: tf.Tensor[]; y: tf.Tensor } {
  return {
    x: IDS.map((rows) =>
      tf.tensor2d(
        rows.map((row) => [...row]),
        undefined,
        'int32',
      ),
    ),
    y: tf.tensor2d(LABELS),
  };
}

export async function fit(model: tf.LayersModel, optimizer: tf.Optimizer): Promise<number> {
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const { x, y } = data();
  const { history } = await model.fit(x, y, { epochs: 5, batchSize: 2, shuffle: false, verbose: 0 });
  tf.dispose([x, y]);
  return history['loss']!.at(-1) as number;
}

export const tablesOf = (layer: emb.tpu.TPUEmbeddingLayer): number[][] =>
  [...layer.embeddingTables.values()].map((table) => [...table.dataSync()]);

/** A model whose activations are single rows, which are the same bits on any machine. */
export function sequenceModel(args: object = {}): { layer: emb.tpu.TPUEmbeddingLayer; model: tf.LayersModel } {
  const [movies, users] = ['movies', 'users'].map((name, i) => {
    return new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', name, initializer: () => seeded(i + 1) });
  }) as [emb.tpu.TableConfig, emb.tpu.TableConfig];
  const featureConfig = {
    user: new tpu.FeatureConfig({ table: users }),
    seen: new tpu.FeatureConfig({ table: movies, maxSequenceLength: 3 }),
  };
  const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer: new tpu.Adagrad({ learningRate: 0.5 }), ...args });
  const [seen, user] = inputs() as [tf.SymbolicTensor, tf.SymbolicTensor];
  const found = layer.apply({ seen, user }) as { seen: tf.SymbolicTensor; user: tf.SymbolicTensor };
  const flat = tf.layers.flatten().apply(found.seen) as tf.SymbolicTensor;
  return { layer, model: tf.model({ inputs: [seen, user], outputs: headOf([flat, found.user]) }) };
}

export function predictions(model: tf.LayersModel): number[] {
  return tf.tidy(() => [...(model.predict(data().x) as tf.Tensor).dataSync()]);
}

export function weightsOf(layer: tf.layers.Layer | tf.LayersModel): number[][] {
  return layer.getWeights().map((weight) => [...weight.dataSync()]);
}

export function tpuLayerOf(model: tf.LayersModel): emb.tpu.TPUEmbeddingLayer {
  return model.layers.find((each) => each instanceof tpu.TPUEmbeddingLayer)!;
}
