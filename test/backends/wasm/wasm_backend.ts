/** Specs on tfjs's wasm backend. */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { registerWasmBackend } from '../../../src/backends/wasm/register.js';
import type { WasmBackend } from '../../../src/backends/wasm/tfjs_heap.js';

registerWasmBackend();

export function wasmBackend(): WasmBackend {
  return tf.backend() as unknown as WasmBackend;
}

/** Specs with the wasm backend set; each must leave as many tensors as it found. */
export function describeWasm(what: string, specs: () => void): void {
  describe(what, () => {
    let before: string | undefined;
    let tensors = 0;
    beforeAll(async () => {
      before = tf.getBackend();
      await tf.setBackend('wasm');
    });
    afterAll(async () => {
      if (before !== undefined) await tf.setBackend(before);
    });
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach(() => {
      expect(tf.memory().numTensors).toBe(tensors);
    });
    specs();
  });
}
