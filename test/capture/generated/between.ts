/** What happens to a model between two steps of a generated training, and training that goes on in a saved model. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';
import { pick } from './models.js';

/** Freezes a layer that has weights, one of those before the last `heads`. */
export function freeze(random: Random, model: tf.LayersModel, heads = 1): void {
  const layers = model.layers.slice(0, -heads).filter(({ trainableWeights }) => trainableWeights.length > 0);
  if (layers.length > 0) pick(random, ...layers).trainable = false;
}

function thaw(model: tf.LayersModel): void {
  for (const layer of model.layers) layer.trainable = true;
}

interface Happening {
  /** In one of so many times something happens. */
  readonly of: number;
  /** Layers at the end that are never frozen. */
  readonly heads?: number;
  /** What may happen beside what may happen to any model. */
  readonly more: (model: tf.LayersModel) => void;
}

/** Sets weights, a rate or the optimizer's state, freezes a layer or thaws all, or leaves the model as it is. */
export async function happen(random: Random, model: tf.LayersModel, { of, heads, more }: Happening): Promise<void> {
  const optimizer = model.optimizer as emb.SparseOptimizer;
  switch (random.whole(0, of)) {
    case 0:
      tf.tidy(() => model.setWeights(model.getWeights().map((weight) => weight.mul(0.95))));
      return;
    case 1:
      optimizer.setLearningRate(0.01);
      return;
    case 2:
      freeze(random, model, heads);
      return;
    case 3:
      thaw(model);
      return;
    case 4: {
      const state = (await optimizer.getWeights()).map(({ name, tensor }) => ({ name, tensor: tensor.clone() }));
      await optimizer.setWeights(state);
      tf.dispose(state.map(({ tensor }) => tensor));
      return;
    }
    case 5:
      more(model);
      return;
    default:
  }
}

/** Ends a model in which training went on; the one it began in belongs to whoever built it. */
function end(model: tf.LayersModel, first: tf.LayersModel): void {
  if (model === first) return;
  model.optimizer.dispose();
  model.dispose();
}

/** The model as it is saved and loaded, with the state of its optimizer; captured or not as it was. */
export async function resumed(from: tf.LayersModel, first: tf.LayersModel): Promise<tf.LayersModel> {
  const isCaptured = !/setCapture/.test(emb.stepInfo(first).reason ?? '');
  let saved: tf.io.ModelArtifacts | undefined;
  const handler = tf.io.withSaveHandler((artifacts) => {
    saved = artifacts;
    return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } });
  });
  await from.save(handler, { includeOptimizer: true });
  const model = await tf.loadLayersModel(tf.io.fromMemory(saved!));
  emb.setCapture(isCaptured, model);
  end(from, first);
  return model;
}

/** Brings the weights of a model in which training went on back to the one in which it began. */
export function broughtBack(model: tf.LayersModel, first: tf.LayersModel): void {
  if (model === first) return;
  // Frozen weights come after the others, and a loaded model may hold its layers in another order.
  [model, first].forEach(thaw);
  for (const layer of first.layers) layer.setWeights(model.getLayer(layer.name).getWeights());
  end(model, first);
}
