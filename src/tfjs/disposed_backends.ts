/** Tells when a tfjs backend is disposed, which `tf.removeBackend` does; tfjs has no hook there. */
import type * as tf from '@tensorflow/tfjs';

/** Calls `listener` before a backend is disposed. */
export function beforeDisposal(backend: tf.KernelBackend, listener: () => void): void {
  const { dispose } = backend;
  backend.dispose = (): void => {
    backend.dispose = dispose;
    listener();
    dispose.call(backend);
  };
}
