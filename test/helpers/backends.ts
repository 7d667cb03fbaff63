/** Runs one suite on every implementation that there is. */
import * as tf from '@tensorflow/tfjs';
import util from 'node:util';
import type * as emb from '../../src/node.js';

/** tfjs backend, and for `cpu` the kernels that it is told to use. */
export interface BackendChoice {
  readonly name: string;
  readonly backend: 'cpu' | 'wasm' | 'tensorflow';
  readonly kernels?: 'native' | 'wasm' | 'reference';
  /** What `backendInfo()` must say: another implementation means that the real one did not run. */
  readonly implementation: string;
}

export const BACKEND_CHOICES: readonly BackendChoice[] = [
  { name: 'cpu native', backend: 'cpu', kernels: 'native', implementation: 'native' },
  { name: 'cpu wasm', backend: 'cpu', kernels: 'wasm', implementation: 'wasm' },
  { name: 'cpu reference', backend: 'cpu', kernels: 'reference', implementation: 'reference' },
  { name: 'wasm', backend: 'wasm', implementation: 'wasm' },
  { name: 'tensorflow', backend: 'tensorflow', implementation: 'tensorflow' },
];

/** Skips the running spec with a reason; under CI=true, where everything is due, fails it. */
export function skipOrFail(reason: string): void {
  if (process.env['CI'] === 'true') throw new Error(reason);
  pending(reason);
}

async function loadHost(backend: BackendChoice['backend']): Promise<void> {
  // Node 23 dropped a function that tfjs-node calls; the /node entry mends it, but may be imported later.
  const old = util as unknown as Record<string, unknown>;
  old['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
  if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
}

/** Puts a choice in force; returns why that cannot be, or null. */
async function use(choice: BackendChoice): Promise<string | null> {
  try {
    await loadHost(choice.backend);
    const { backendInfo, ready, setKernels } = (await import('../../src/node.js')) as typeof emb;
    await ready();
    if (!(await tf.setBackend(choice.backend))) return `the tfjs backend ${choice.backend} does not start`;
    if (choice.kernels !== undefined) setKernels(choice.kernels);
    for (const [kernel, info] of Object.entries(backendInfo().kernels)) {
      if (info.implementation !== choice.implementation) return `${kernel} runs as ${info.implementation}`;
    }
    return null;
  } catch (error) {
    return `${choice.name} is not there: ${(error as Error).message}`;
  }
}

/**
 * Defines a suite once per implementation. Each sets backend and kernels and puts back what was there before;
 * what is missing is skipped with its reason, and fails under CI=true.
 */
export function describeForBackends(
  title: string,
  define: (choice: BackendChoice) => void,
  names: readonly string[] = BACKEND_CHOICES.map(({ name }) => name),
): void {
  for (const choice of BACKEND_CHOICES.filter(({ name }) => names.includes(name))) {
    describe(`${title} [${choice.name}]`, () => {
      let before: string;
      let missing: string | null = null;
      beforeAll(async () => {
        await tf.ready();
        before = tf.getBackend();
        missing = await use(choice);
      });
      beforeEach(() => {
        if (missing !== null) skipOrFail(missing);
      });
      afterAll(async () => {
        const { setKernels } = (await import('../../src/node.js')) as typeof emb;
        setKernels('auto');
        await tf.setBackend(before);
      });
      define(choice);
    });
  }
}
