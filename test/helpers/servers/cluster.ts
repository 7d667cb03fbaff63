/** Runs a piece of a spec on tables that lie on servers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { ServerProcess } from './server_process.js';

let clusters = 0;

/** A name that no other cluster of this process has. */
export function newClusterName(): string {
  return `spec-${process.pid}-${clusters++}`;
}

/**
 * Connects to servers, runs `body` on them and closes the cluster, then puts the earlier backend back. Dense ops run on
 * `cpu` unless told otherwise. Returns what `body` returns.
 */
export async function withCluster<T>(
  servers: readonly Pick<ServerProcess, 'port'>[],
  args: emb.ConnectClusterArgs,
  body: () => T | Promise<T>,
): Promise<T> {
  await import('@tensorflow/tfjs-node');
  await tf.ready();
  await emb.ready();
  const before = tf.getBackend();
  const ps = servers.map(({ port }) => `127.0.0.1:${port}`);
  await emb.connectCluster({ host: 'cpu', name: newClusterName(), ps, ...args });
  try {
    if (!(await tf.setBackend('tf-cluster'))) throw new Error('the tf-cluster backend does not start');
    return await body();
  } finally {
    await tf.setBackend(before);
    tf.removeBackend('tf-cluster');
  }
}
