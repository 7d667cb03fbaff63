/** Settings that come from environment variables, in runtimes that have them. */
import { ValueError } from '../base/errors.js';
import type { KernelChoice } from './kernel_set.js';

/** The value of a variable; undefined where it is not set, or empty. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const text = process?.env?.[name];
  return text === '' ? undefined : text;
}

/** TFJS_EMBEDDINGS_KERNELS: auto, native, wasm or reference. That it is present is checked at first use. */
export function kernelsFromEnvironment(): KernelChoice {
  const name = 'TFJS_EMBEDDINGS_KERNELS';
  const text = environmentVariable(name);
  if (text === undefined) return 'auto';
  if (text === 'auto' || text === 'native' || text === 'wasm' || text === 'reference') return text;
  throw new ValueError(name, 'auto, native, wasm or reference', text);
}

/** TFJS_EMBEDDINGS_THREADS: a whole number from 1 to 64. */
export function threadsFromEnvironment(): number | null {
  const name = 'TFJS_EMBEDDINGS_THREADS';
  const text = environmentVariable(name);
  if (text === undefined) return null;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 1 && threads <= 64) return threads;
  throw new ValueError(name, 'a whole number from 1 to 64', text);
}
