/** Embedding objects on emulated cores, for the specs of TPUEmbeddingV2. */
import * as tf from '@tensorflow/tfjs';
import * as tpu from 'tfjs-embeddings/tpu';
import { Random } from '../../helpers/random.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import {
  FEATURE_NAMES,
  featureConfig,
  ragged,
  randomStep,
  startWeights,
  TABLES,
  type AnyV2,
  type Features,
} from './batches.js';

type Activations = Features<tf.Tensor>;

export const FOUR = { chips: 2, coresPerChip: 2 };
export const rate = { learningRate: 0.1 };

/** Runs `body` on an emulator, and sees that no tensor is left behind. */
export async function onCores(
  machine: { chips: number; coresPerChip: number },
  body: () => void | Promise<void>,
): Promise<void> {
  await withTpuEmulator(machine, async () => {
    const before = tf.memory().numTensors;
    await body();
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before);
  });
}

export function make(change: object = {}): AnyV2 {
  return new tpu.TPUEmbeddingV2({ featureConfig: featureConfig(), optimizer: new tpu.SGD(rate), ...change });
}

/** Activations as nested arrays; they are disposed. */
export function arrays(activations: unknown): Record<string, unknown> {
  const found = Object.entries(activations as Record<string, tf.Tensor>);
  const values = found.map(([name, tensor]) => [name, tensor.arraySync()] as const);
  tf.dispose(activations as tf.TensorContainer);
  return Object.fromEntries(values);
}

export function lookUp(embedding: AnyV2, ids: Features<number[][]>): Record<string, unknown> {
  return arrays(embedding.embeddingLookup(ragged(ids))[0]);
}

/** One step with gradients of ones. */
export function stepOnes(embedding: AnyV2, ids: Features<number[][]>): void {
  const [found, preserved] = embedding.embeddingLookup(ragged(ids));
  const activations = found as unknown as Activations;
  const gradients = Object.fromEntries(FEATURE_NAMES.map((name) => [name, tf.onesLike(activations[name])]));
  embedding.applyGradients(gradients, preserved);
  tf.dispose([Object.values(gradients), Object.values(activations)] as tf.Tensor[][]);
}

const random = new Random(17);
export const start = startWeights(random);
export const steps = Array.from({ length: 4 }, () => randomStep(random));

export function setStart(embedding: AnyV2): void {
  const weights = [
    tf.tensor2d(start.a, [TABLES.a.rows, TABLES.a.dim]),
    tf.tensor2d(start.b, [TABLES.b.rows, TABLES.b.dim]),
  ];
  embedding.setWeights(weights);
  tf.dispose(weights);
}
