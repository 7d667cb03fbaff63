/** The tfjs backend that computes in the worker. */
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as emb from 'tfjs-embeddings';
import type { Backend } from '../protocol.js';

/** Whether WebGL 2 draws off the page, which is where a worker can reach it. */
function hasWebgl(): boolean {
  return typeof OffscreenCanvas !== 'undefined' && new OffscreenCanvas(1, 1).getContext('webgl2') !== null;
}

/** Backends of this browser; the first one is the default. */
export function backends(): readonly Backend[] {
  return hasWebgl() ? ['wasm', 'cpu', 'webgl'] : ['wasm', 'cpu'];
}

/** Starts a backend, and nothing else in its place. */
export async function startBackend(name: Backend): Promise<void> {
  setWasmPaths('tfjs-wasm/');
  await emb.ready();
  if (!(await tf.setBackend(name))) throw new Error(`The backend ${name} does not start in this browser.`);
}
