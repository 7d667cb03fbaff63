/** Runs in a page: the same work on `cpu` and on a GPU backend. Bundled by gpu_page.ts, which calls these functions. */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-webgpu';
import * as emb from '../../src/index.js';
import { Random } from '../helpers/random.js';
import { kernelDifferences } from './gpu/kernels.js';
import { drawnModel, outcomeOf, type DrawnModel, type Outcome } from './gpu/models.js';
import { drawnPageModel } from './gpu/page_models.js';
import { fedOutcome, manySteps, readmeModel, type Feeding } from './gpu/training.js';

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

/** Runs with the same random numbers each time: `fit` shuffles by them. */
async function inOneOrder<T>(run: () => Promise<T>): Promise<T> {
  const { random } = Math;
  const seeded = new Random(8);
  Math.random = () => seeded.next();
  try {
    return await run();
  } finally {
    Math.random = random;
  }
}

/** Runs with an error in place of a synchronous read of the GPU, which webgpu does by way of a canvas. */
export async function withoutSyncReads<T>(run: () => Promise<T>): Promise<T> {
  const { OffscreenCanvas: Canvas } = globalThis;
  const refuse = function (): never {
    throw new Error('a synchronous read of the GPU');
  };
  Object.assign(globalThis, { OffscreenCanvas: refuse });
  try {
    return await run();
  } finally {
    Object.assign(globalThis, { OffscreenCanvas: Canvas });
  }
}

export interface Agreement {
  readonly compared: number;
  /** Cases beyond the tolerance. */
  readonly differences: readonly string[];
  readonly largest: number;
  readonly tensorsLeft: number;
}

/** Compares what these seeds train on `cpu` and on the GPU. */
async function agreement(
  drawn: (seed: number) => DrawnModel,
  firstSeed: number,
  count: number,
  tolerance: number,
  onGpu: (run: () => Promise<Outcome>) => Promise<Outcome>,
): Promise<Agreement> {
  const before = tf.memory().numTensors;
  const differences: string[] = [];
  let largest = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const { name } = drawn(seed);
    try {
      const theirs = await on('cpu', () => outcomeOf(drawn(seed)));
      const found = difference(await onGpu(() => outcomeOf(drawn(seed))), theirs);
      largest = Math.max(largest, found.largest);
      if (!(found.largest <= tolerance)) differences.push(`${name}: ${found.where}`);
    } catch (error) {
      differences.push(`${name}: ${String(error)}`);
    }
  }
  return { compared: count, differences, largest, tensorsLeft: tf.memory().numTensors - before };
}

export const PROGRAM = {
  /** Has the page run on a backend; returns what the backend and the lookups of this package say of themselves. */
  async start(backend: string): Promise<{ backend: string; implementation: string }> {
    await emb.ready();
    await tf.setBackend(backend);
    // Otherwise small tensors of a test would stay on the host.
    if (backend === 'webgpu') tf.env().set('WEBGPU_CPU_FORWARD', false);
    await tf.ready();
    gpu = backend;
    // The stock Adagrad adds this number, which is 1e-4 on webgl, whatever textures hold.
    tf.backend().epsilon = () => 1e-7;
    return { backend: tf.getBackend(), implementation: emb.backendInfo().kernels['EmbeddingBag']!.implementation };
  },

  /** Trains the models of these seeds on `cpu` and on the GPU. */
  agree(firstSeed: number, count: number, tolerance: number): Promise<Agreement> {
    return agreement(drawnModel, firstSeed, count, tolerance, withoutSyncReads);
  },

  /** Models of a page, of which layers of tfjs may read the GPU where they stand. */
  agreeInPages(firstSeed: number, count: number, tolerance: number): Promise<Agreement> {
    return agreement(drawnPageModel, firstSeed, count, tolerance, (run) => run());
  },

  /** Kernels on the batches of these seeds against the reference; `onGpu`: the host does not know the ids. */
  async kernels(firstSeed: number, count: number, onGpu: boolean, tolerance: number): Promise<string[]> {
    const differences: string[] = [];
    const before = tf.memory().numTensors;
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      differences.push(...(await kernelDifferences(seed, onGpu, tolerance)));
    }
    const left = tf.memory().numTensors - before;
    return left === 0 ? differences : [...differences, `${left} tensors left`];
  },

  /** Trains a model that is fed in one of these ways on `cpu` and on the GPU; the largest difference of weights. */
  async fed(feeding: Feeding): Promise<number> {
    const theirs = await on('cpu', () => inOneOrder(() => fedOutcome(feeding)));
    return difference(await withoutSyncReads(() => inOneOrder(() => fedOutcome(feeding))), theirs).largest;
  },

  readme: readmeModel,
  manySteps,
};

export type GpuProgram = typeof PROGRAM;
Object.assign(globalThis, { gpu: PROGRAM, tf, emb });
