/** The same training twice: op by op, and captured where that is possible. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../helpers/random.js';

export interface Twin {
  readonly losses: number[];
  readonly weights: Float32Array[];
  readonly info: emb.StepInfo;
}

export interface Twins {
  readonly eager: Twin;
  readonly captured: Twin;
}

/** Runs `f` with random numbers of its own, which are the same each time. */
export async function withRandom<T>(seed: number, f: () => Promise<T>): Promise<T> {
  const random = new Random(seed);
  const { random: stock } = Math;
  Math.random = () => random.next();
  try {
    return await f();
  } finally {
    Math.random = stock;
  }
}

/** The losses of a step as numbers: of trainOnBatch, or of the epochs of fit. */
export function numbersOf(result: unknown): number[] {
  if (typeof result === 'number') return [result];
  if (Array.isArray(result)) return result as number[];
  return Object.values((result as tf.History).history).flat() as number[];
}

/**
 * Builds a model twice with the same weights and trains both with `train`, which returns its losses. Everything that
 * `build` makes beside the model and `train` leaves is theirs to dispose; models and optimizers end here.
 */
export async function twins(
  build: () => tf.LayersModel,
  train: (model: tf.LayersModel) => Promise<number[]>,
  seed = 1,
): Promise<Twins> {
  const start = build();
  const weights = start.getWeights().map((weight) => weight.clone());
  start.dispose();
  const one = async (isCaptured: boolean): Promise<Twin> => {
    const model = build();
    model.setWeights(weights);
    emb.setCapture(isCaptured, model);
    const losses = await withRandom(seed, () => train(model));
    const info = emb.stepInfo(model);
    const values = model.getWeights().map((weight) => Float32Array.from(weight.dataSync()));
    model.optimizer?.dispose();
    model.dispose();
    return { losses, weights: values, info };
  };
  const eager = await one(false);
  const captured = await one(true);
  tf.dispose(weights);
  return { eager, captured };
}

export function largest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i]! - b[i]!));
  return most;
}

/** The largest difference between losses and between weights. */
export function largestDifference({ eager, captured }: Twins): number {
  const weights = captured.weights.map((weight, i) => largest(weight, eager.weights[i]!));
  return Math.max(largest(eager.losses, captured.losses), ...weights);
}

/**
 * Weights may be so many times as far apart as losses: captured products and those of TensorFlow round differently on
 * some processors, and Adam divides small gradients by their size.
 */
const WEIGHTS = 10;

/** Where losses or weights do not agree, in words. */
export function differences({ eager, captured }: Twins, tolerance = 1e-6): string[] {
  const found: string[] = [];
  const compare = (what: string, a: ArrayLike<number>, b: ArrayLike<number>, most: number): void => {
    if (a.length !== b.length) found.push(`${what}: ${a.length} numbers, op by op ${b.length}`);
    else if (!Array.from(a).every(Number.isFinite)) found.push(`${what}: not all numbers are finite`);
    else if (!(largest(a, b) <= most)) found.push(`${what}: ${largest(a, b)} apart, at most ${most}`);
  };
  compare('losses', captured.losses, eager.losses, tolerance);
  if (captured.weights.length !== eager.weights.length) {
    found.push(`${captured.weights.length} weights, op by op ${eager.weights.length}`);
  }
  captured.weights.forEach((weight, i) => compare(`weight ${i}`, weight, eager.weights[i] ?? [], WEIGHTS * tolerance));
  return found;
}

/** Losses and weights agree, step by step. */
export function expectEqual(found: Twins, tolerance?: number): void {
  expect(differences(found, tolerance)).toEqual([]);
}

/** Ids in [0, rows), int32 [batch, width]. */
export function drawIds(random: Random, batch: number, width: number, rows: number): tf.Tensor2D {
  const ids = Int32Array.from({ length: batch * width }, () => random.whole(0, rows));
  return tf.tensor2d(ids, [batch, width], 'int32');
}
