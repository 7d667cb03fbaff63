/** The public API of tables on TensorFlow servers: connecting, checkpoints, counters, recovery. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../base/errors.js';
import type { ServerInfo } from '../backends/cluster/connection.js';
import { reconnect } from '../backends/cluster/recovery.js';
import { clusterAddon, connect, runningCluster, type RunningCluster } from '../backends/cluster/register.js';
import { BACKEND_NAME, type ConnectClusterArgs } from '../backends/cluster/settings.js';
import type { Counters } from '../backends/devices/machine/counters.js';
import { sourceOf } from './device_source.js';
import type { Report, ReportArgs } from './report.js';
import { reportMaker } from './report_maker.js';

/** A server that was connected. */
export type ConnectedServer = Pick<ServerInfo, 'address' | 'ops' | 'memory'>;

/** What was counted, and what went over the link to each server. */
export interface ClusterCounters extends Counters {
  readonly servers: readonly {
    readonly address: string;
    /** Bytes of values to and from it, without what messages add. */
    readonly bytesSent: number;
    readonly bytesReceived: number;
    readonly calls: number;
  }[];
}

/**
 * Returns what each server said of itself: its address, whether it has the ops of this package ('tfjs-embeddings') or
 * TensorFlow's own alone ('stock'), and the bytes that it was started with (null: no limit, or not known).
 *
 * Tables then lie on TensorFlow parameter servers once `await tf.setBackend('tf-cluster')` has run: as many devices as
 * there are servers, in their order. `tables: 'create'` makes tables when layers are built; 'attach' finds those that
 * another client made under the same `name`, with the same layer names, sizes and plan; 'readOnly' only looks them up. A
 * call that takes longer than `timeoutMs` fails, and with it the cluster, until `reconnect` and `restore`.
 * `exchange: 'float16'` halves what travels: pooled rows and gradients are rounded to 11 bits, with a relative error of at
 * most 2 ** -11 in [6e-5, 65504]; larger numbers become infinite. Servers do not encrypt, and run what anybody sends
 * them: private networks only. Node alone.
 *
 * Edge cases: addresses that are not given come from the environment variable TF_CONFIG. Servers without the ops of this
 * package send rows instead of pooled rows, and are for one training client. Another call before the backend runs
 * replaces the connection.
 *
 * @param args - Servers, name, and how tables are used.
 * @returns A promise of what the servers are.
 * @throws TypeError and ValueError, which name the field; RuntimeError where a server does not answer, while a cluster
 * runs, and without native kernels and TensorFlow.
 * Source: the cluster of tf.distribute.Server and TF_CONFIG (TensorFlow 2.21).
 *
 * @example
 * await emb.connectCluster({ps: ['10.0.0.1:2222', '10.0.0.2:2222'], name: 'ctr'});
 * await tf.setBackend('tf-cluster');
 */
export async function connectCluster(args: ConnectClusterArgs): Promise<ConnectedServer[]> {
  const servers = await connect(args);
  return servers.map(({ info: { address, ops, memory } }) => ({ address, ops, memory }));
}

/** The running cluster. */
export class Cluster {
  /** What the servers are, in the order of devices. */
  get servers(): ConnectedServer[] {
    return this.now().settings.servers.map(({ info: { address, ops, memory } }) => ({ address, ops, memory }));
  }

  /**
   * Returns what was counted since the start, as plain data: that of `emb.tpuEmulator().counters()`, where each server is
   * a device, and what this client sent to each server and got from it, in bytes.
   *
   * @returns The counters.
   *
   * @example
   * emb.cluster().counters().servers[0].bytesSent;
   */
  counters(): ClusterCounters {
    const { machine, settings } = this.now();
    const servers = settings.devices.map(({ session, index }) => {
      const { address } = settings.servers[index]!.info;
      return { address, bytesSent: session.sent, bytesReceived: session.received, calls: session.calls };
    });
    return { ...machine.counters.counters(), servers };
  }

  /**
   * Returns a report of the tables on the servers; see `Report`. `network` predicts a step over another network.
   *
   * @param options - What is predicted.
   * @returns The report.
   */
  report(options?: ReportArgs): Report {
    const found = this.now();
    const { servers } = found.settings;
    const known = servers.flatMap(({ info }) => (info.memory === null ? [] : [info.memory]));
    const hbmBytesPerChip = known.length === servers.length ? Math.min(...known) : null;
    return reportMaker()(sourceOf(found, { chips: servers.length, coresPerChip: 1, hbmBytesPerChip }), options);
  }

  /**
   * Opens new sessions on all servers after a failure. Returns the names of the parts of tables that servers have lost,
   * as those do that were started anew; they are there again, as zeros. Where something was lost or a call had failed,
   * lookups and steps throw RuntimeError until `restore` has brought all tables back to one checkpoint.
   *
   * @returns A promise of the names.
   * @throws RuntimeError where a server does not answer, which names it; it may be called again.
   *
   * @example
   * await emb.cluster().reconnect();
   * await emb.cluster().restore('/shared/ctr/100');
   */
  async reconnect(): Promise<string[]> {
    return reconnect(clusterAddon(), this.now());
  }

  /**
   * Ends the backend and its sessions; tables stay on the servers, where `tables: 'attach'` finds them. Returns nothing.
   * Where `tf-cluster` is in use, another backend takes its place.
   */
  close(): void {
    const { host } = this.now();
    const wasInUse = tf.getBackend() === BACKEND_NAME;
    tf.removeBackend(BACKEND_NAME);
    if (wasInUse) void tf.setBackend(host);
  }

  private now(): RunningCluster {
    const found = runningCluster();
    if (found !== null) return found;
    const note = `await emb.connectCluster({ps: […]}) and await tf.setBackend('${BACKEND_NAME}') start it.`;
    throw new RuntimeError('cluster', `a running ${BACKEND_NAME}`, described('none'), note);
  }
}

/**
 * Returns the cluster that runs: `save()`, `restore()`, `deltas()`, `reconnect()`, `report()`, `counters()`, `close()`.
 *
 * @returns The cluster.
 * @throws RuntimeError before `await tf.setBackend('tf-cluster')` and after its end.
 *
 * @example
 * console.log(String(emb.cluster().report()));
 */
export function cluster(): Cluster {
  const running = new Cluster();
  void running.servers; // Throws where none runs.
  return running;
}
