/** Made-up batches: ids by a power law, numbers and labels at random. */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../random.js';
import type { SyntheticTables } from './configs.js';

/** Ids are drawn as in NVIDIA's generator: small ids are frequent. 0 would be uniform. */
const ALPHA = 1.05;

export interface Batch {
  readonly inputs: tf.Tensor[];
  readonly labels: tf.Tensor;
}

function powerLaw(random: Random, rows: number): number {
  const power = 1 - ALPHA;
  const value = (random.next() * ((rows + 1) ** power - 1) + 1) ** (1 / power) - 1;
  return Math.min(rows - 1, Math.floor(value));
}

export function makeBatch(
  { tables, inputTableMap, hotness }: SyntheticTables,
  numerical: number,
  size: number,
  seed: number,
): Batch {
  const random = new Random(seed);
  const ids = inputTableMap.map((table, input) => {
    const { inputDim } = tables[table]!;
    const values = Int32Array.from({ length: size * hotness[input]! }, () => powerLaw(random, inputDim));
    return tf.tensor2d(values, [size, hotness[input]!], 'int32');
  });
  const numbers = tf.tensor2d(
    Float32Array.from({ length: size * numerical }, () => random.next()),
    [size, numerical],
  );
  const labels = tf.tensor2d(
    Float32Array.from({ length: size }, () => (random.next() < 0.5 ? 0 : 1)),
    [size, 1],
  );
  return { inputs: [...ids, numbers], labels };
}
