/** Runs specs on the `tensorflow` backend with the addon's ops, and puts the former backend back. */
import * as tf from '@tensorflow/tfjs';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import util from 'node:util';
import type { TensorFlowAddon } from '../../../src/backends/tensorflow/backend_part.js';
import { asNodeBackend, type NodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { registerTensorFlowBackend } from '../../../src/backends/tensorflow/register.js';

/** The file that Node and Python load. */
export const ADDON_PATH = fileURLToPath(new URL('../../../custom-ops/build/tfjs_embeddings.node', import.meta.url));

/** Why specs cannot run here; where everything is due (CI) that is a failure, elsewhere they are skipped. */
export function skipOrFail(reason: string): void {
  if (process.env['CI'] === 'true') throw new Error(reason);
  pending(reason);
}

async function prepare(): Promise<string | null> {
  if (!existsSync(ADDON_PATH)) return 'the native addon is not built (node custom-ops/setup.mjs)';
  // Node 23 dropped a function that tfjs-node 4.22 calls.
  const old = util as unknown as Record<string, unknown>;
  old['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
  try {
    await import('@tensorflow/tfjs-node');
  } catch (error) {
    return `@tensorflow/tfjs-node does not load: ${(error as Error).message}`;
  }
  const addon = createRequire(import.meta.url)(ADDON_PATH) as TensorFlowAddon;
  const answer = addon.registerTensorFlow();
  if (answer !== 'registered' && answer !== 'already') return answer;
  registerTensorFlowBackend(addon);
  await tf.setBackend('tensorflow');
  return null;
}

/** A suite on the `tensorflow` backend; every spec must leave the number of tensors as it was. */
export function describeTensorFlow(title: string, define: () => void): void {
  describe(title, () => {
    let previous: string | undefined;
    let missing: string | null;
    let tensors: number;
    beforeAll(async () => {
      previous = tf.getBackend();
      missing = await prepare();
    });
    beforeEach(() => {
      if (missing !== null) skipOrFail(missing);
      tensors = tf.memory().numTensors;
    });
    afterEach(() => {
      if (missing === null) expect(tf.memory().numTensors).withContext('number of tensors').toBe(tensors);
    });
    afterAll(async () => {
      if (previous !== undefined) await tf.setBackend(previous);
    });
    define();
  });
}

export function nodeBackend(): NodeBackend {
  return asNodeBackend(tf.backend());
}
