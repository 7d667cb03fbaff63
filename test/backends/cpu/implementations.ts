/** The implementations on typed arrays, each forced in turn. */
import * as tf from '@tensorflow/tfjs';
import type { ImplementationName } from '../../../src/backends/kernel_set.js';
import { registerNativeKernels } from '../../../src/backends/native/register.js';
import { registerLookupBackends } from '../../../src/backends/register.js';
import { namedKernelSet, setKernels } from '../../../src/backends/registry.js';
import { skipOrFail } from '../../helpers/backends.js';

registerLookupBackends();
registerNativeKernels();

/** Specs on the cpu backend, once per implementation. A missing one is shown as pending, and fails under CI. */
export function describeImplementations(what: string, specs: (name: ImplementationName) => void): void {
  for (const name of ['native', 'wasm', 'reference'] as const) {
    describe(`${what}: ${name}`, () => {
      let tensors = 0;
      beforeAll(async () => {
        await tf.setBackend('cpu');
      });
      beforeEach(() => {
        if (namedKernelSet(name) === undefined) skipOrFail(`${name} kernels are not built`);
        setKernels(name);
        tensors = tf.memory().numTensors;
      });
      afterEach(() => {
        setKernels('auto');
        expect(tf.memory().numTensors).toBe(tensors);
      });
      specs(name);
    });
  }
}
