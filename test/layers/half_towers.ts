/** Small models with a table of float16, or of another storage, and their training. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import type { Storage } from '../../src/codecs/codec.js';
import type { OptimizerName } from '../../src/rules/rules.js';
import { ids } from './setup.js';

export const [ROWS, DIM, LENGTH] = [40, 6, 3];

/** The same numbers each time, so that models differ in nothing but what a spec says. */
export function towers(storage: Storage, options: object = {}): tf.LayersModel {
  const layer = emb.layers.embedding({
    ...{ name: 'items', inputDim: ROWS, outputDim: DIM, combiner: 'sum', inputLength: LENGTH, storage, seed: 5 },
    ...options,
  });
  const kernelInitializer = tf.initializers.glorotUniform({ seed: 3 });
  return tf.sequential({ layers: [layer, tf.layers.dense({ name: 'out', units: 1, kernelInitializer })] });
}

/** Without row 0, which no step touches. */
export function batch(): { x: tf.Tensor2D; y: tf.Tensor2D; dispose(): void } {
  const x = ids(Array.from({ length: 32 }, (_, i) => [1 + ((7 * i) % 39), 1 + ((i * i) % 39), 1 + (i % 5)]));
  const y = tf.tensor2d(Array.from({ length: 32 }, (_, i) => [Math.sin(i)]));
  return { x, y, dispose: () => tf.dispose([x, y]) };
}

export function compile(model: tf.LayersModel, name: OptimizerName = 'adagrad', options: object = {}): tf.LayersModel {
  const make = emb.train[name] as (config: object) => tf.Optimizer;
  model.compile({ optimizer: make({ learningRate: 0.05, ...options }), loss: 'meanSquaredError' });
  return model;
}

export async function trained(model: tf.LayersModel, epochs = 3): Promise<number[]> {
  const { x, y, dispose } = batch();
  const { history } = await model.fit(x, y, { epochs, batchSize: 8, shuffle: false, verbose: 0 });
  dispose();
  return history['loss'] as number[];
}

export function wordsOf(model: tf.LayersModel): Int32Array {
  return model.layers[0]!.getWeights()[0]!.dataSync<'int32'>().slice();
}

export function dispose(...models: readonly tf.LayersModel[]): void {
  for (const model of models) {
    (model as { optimizer?: tf.Optimizer }).optimizer?.dispose();
    model.dispose();
  }
}
