/** Starts the tfjs backend that computes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { InputError } from './input_error.js';
import type { BackendName } from './options.js';

/** The first line of what went wrong. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}

async function load(name: BackendName): Promise<void> {
  // TensorFlow says at start which instructions it uses; only warnings and errors are of interest here.
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  if (name === 'tensorflow') await import('@tensorflow/tfjs-node');
  if (name === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
  await emb.ready();
  if (!(await tf.setBackend(name))) throw new Error(`tfjs could not start it`);
}

/** Starts the named backend, and nothing else in its place; without a name, the best one there is. */
export async function startBackend(name: BackendName | null): Promise<emb.BackendInfo> {
  try {
    await load(name ?? 'tensorflow');
  } catch (error) {
    if (name !== null) {
      throw new InputError(`the backend ${name} is not there: ${reasonOf(error)} (npx tfjs-embeddings setup adds it)`);
    }
    process.stderr.write(`TensorFlow is not there (${reasonOf(error)}): running on cpu\n`);
    await load('cpu');
  }
  return emb.backendInfo();
}
