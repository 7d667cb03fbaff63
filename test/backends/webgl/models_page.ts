/** Runs in a page: generated layers, trained on webgl and on cpu. */
import * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings';
import { distributedCase } from '../../layers/distributed_embedding/generated_case.js';
import { runCase } from '../../layers/distributed_embedding/run.js';
import { differences } from '../cluster/differences.js';

async function trained(backend: string, seed: number) {
  await tf.setBackend(backend);
  // The stock Adagrad adds this number, which is 1e-4 on webgl, whatever textures hold.
  tf.backend().epsilon = () => 1e-7;
  const before = tf.memory().numTensors;
  const moments = await runCase(distributedCase(seed));
  return { moments, left: tf.memory().numTensors - before };
}

/** Where cases of seeds from `first` on, less than `end`, differ. */
export async function compareModels(first: number, end: number, tolerance: number): Promise<string[]> {
  const found: string[] = [];
  for (let seed = first; seed < end; seed++) {
    try {
      const expected = await trained('cpu', seed);
      const actual = await trained('webgl', seed);
      const far = differences(actual.moments, expected.moments, tolerance).slice(0, 3);
      found.push(...far.map((difference) => `seed ${seed}: ${difference}`));
      if (actual.left !== 0) found.push(`seed ${seed}: ${actual.left} tensors are left`);
    } catch (error) {
      found.push(`seed ${seed}: ${(error as Error).stack}`);
    }
  }
  return found;
}

Object.assign(globalThis, { compareModels });
