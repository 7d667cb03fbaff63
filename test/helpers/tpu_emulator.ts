/** Runs a piece of a spec on an emulated machine of its own. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';

/** Settings of the machine; one core per chip, in line and on the `cpu` backend unless told otherwise. */
export type EmulatedMachine = Parameters<typeof emb.configureTpuEmulator>[0] & { chips: number };

/**
 * Starts the emulator, runs `body` on it and removes it, then puts the earlier backend back. What `body` leaves on the
 * devices is lost. Returns what `body` returns.
 */
export async function withTpuEmulator<T>(machine: EmulatedMachine, body: () => T | Promise<T>): Promise<T> {
  await tf.ready();
  await emb.ready();
  const before = tf.getBackend();
  emb.configureTpuEmulator({ coresPerChip: 1, devices: 'inline', host: 'cpu', ...machine });
  try {
    if (!(await tf.setBackend('tpu-emulator'))) throw new Error('the tpu-emulator backend does not start');
    return await body();
  } finally {
    await tf.setBackend(before);
    tf.removeBackend('tpu-emulator');
    emb.configureTpuEmulator({});
  }
}
