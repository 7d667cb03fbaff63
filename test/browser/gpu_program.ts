/** Runs in a page: the same work on `cpu` and on a GPU backend. Bundled by gpu_page.ts, which calls these functions. */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-webgpu';
import * as emb from '../../src/index.js';
import { drawnModel, outcomeOf, type Outcome } from './gpu_models.js';

let gpu = 'cpu';

/** Runs on a backend, and leaves the one of the page set. */
export async function on<T>(backend: string, run: () => Promise<T>): Promise<T> {
  await tf.setBackend(backend);
  try {
    return await run();
  } finally {
    await tf.setBackend(gpu);
  }
}

/** The largest difference, where numbers above 1 are measured by their size; how many numbers there were. */
function difference(ours: Outcome, theirs: Outcome): { largest: number; where: string } {
  let [largest, where] = [0, ''];
  for (const name of Object.keys(theirs)) {
    const [a, b] = [ours[name] ?? [], theirs[name]!];
    if (a.length !== b.length) return { largest: Infinity, where: `${name}: ${a.length} numbers, not ${b.length}` };
    b.forEach((value, i) => {
      const apart = Object.is(a[i], value) ? 0 : Math.abs(a[i]! - value) / Math.max(1, Math.abs(value));
      // NaN is no number that agrees.
      if (!(apart <= largest)) [largest, where] = [apart, `${name}[${i}]: ${a[i]}, not ${value}`];
    });
  }
  return { largest, where };
}

export interface Agreement {
  readonly compared: number;
  /** Cases beyond the tolerance. */
  readonly differences: readonly string[];
  readonly largest: number;
  readonly tensorsLeft: number;
}

export const PROGRAM = {
  /** Has the page run on a backend; returns what the backend and the lookups of this package say of themselves. */
  async start(backend: string): Promise<{ backend: string; implementation: string }> {
    await emb.ready();
    await tf.setBackend(backend);
    await tf.ready();
    gpu = backend;
    // The stock Adagrad adds this number, which is 1e-4 on webgl, whatever textures hold.
    tf.backend().epsilon = () => 1e-7;
    return { backend: tf.getBackend(), implementation: emb.backendInfo().kernels['EmbeddingBag']!.implementation };
  },

  /** Trains the models of these seeds on `cpu` and on the GPU. */
  async agree(firstSeed: number, count: number, tolerance: number): Promise<Agreement> {
    const before = tf.memory().numTensors;
    const differences: string[] = [];
    let largest = 0;
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const { name } = drawnModel(seed);
      try {
        const theirs = await on('cpu', () => outcomeOf(drawnModel(seed)));
        const found = difference(await outcomeOf(drawnModel(seed)), theirs);
        largest = Math.max(largest, found.largest);
        if (!(found.largest <= tolerance)) differences.push(`${name}: ${found.where}`);
      } catch (error) {
        differences.push(`${name}: ${String(error)}`);
      }
    }
    return { compared: count, differences, largest, tensorsLeft: tf.memory().numTensors - before };
  },
};

export type GpuProgram = typeof PROGRAM;
Object.assign(globalThis, { gpu: PROGRAM, tf, emb });
