/** Which ops TensorFlow runs. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { asOwn } from '../../../src/tfjs/engine/own_functions.js';

/** The ops of one output that `f` runs and whose names match, in order. */
export async function opsRun(pattern: RegExp, f: () => unknown): Promise<string[]> {
  const backend = asNodeBackend(tf.backend());
  const { executeSingleOutput } = backend;
  const names: string[] = [];
  // One of somebody else would keep steps from being captured.
  backend.executeSingleOutput = asOwn((name, ...rest) => {
    if (pattern.test(name)) names.push(name);
    return executeSingleOutput.call(backend, name, ...rest);
  });
  try {
    await f();
  } finally {
    backend.executeSingleOutput = executeSingleOutput;
  }
  return names;
}
