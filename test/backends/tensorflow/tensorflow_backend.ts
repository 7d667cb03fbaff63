/** Runs specs on the `tensorflow` backend with the addon's ops. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, type NodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { describeForBackends } from '../../helpers/backends.js';

/** A suite on the `tensorflow` backend; every spec must leave the number of tensors as it was. */
export function describeTensorFlow(title: string, define: () => void): void {
  const inBackend = (): void => {
    let tensors: number | undefined; // undefined where the spec was skipped
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach(() => {
      if (tensors !== undefined) expect(tf.memory().numTensors).withContext('number of tensors').toBe(tensors);
    });
    define();
  };
  describeForBackends(title, inBackend, ['tensorflow']);
}

export function nodeBackend(): NodeBackend {
  return asNodeBackend(tf.backend());
}
