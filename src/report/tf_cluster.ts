/** The public API of tables on TensorFlow servers: connecting, checkpoints, counters, recovery. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../base/errors.js';
import {
  readCheckpointArguments,
  readDeltasArguments,
  type CheckpointOptions,
  type DeltasArgs,
} from '../backends/cluster/checkpoints/arguments.js';
import { deltas } from '../backends/cluster/checkpoints/deltas.js';
import { restore } from '../backends/cluster/checkpoints/restore.js';
import { save } from '../backends/cluster/checkpoints/save.js';
import { reconnect } from '../backends/cluster/recovery.js';
import { clusterAddon, connect, runningCluster, type RunningCluster } from '../backends/cluster/register.js';
import { BACKEND_NAME, type ConnectClusterArgs } from '../backends/cluster/settings.js';
import type { Counters } from '../backends/devices/machine/counters.js';
import { changedRows } from '../backends/table_delta.js';
import { writeDelta } from '../io/weights/delta_file.js';
import { sourceOf } from './device_source.js';
import type { Report, ReportArgs } from './report.js';
import { reportMaker } from './report_maker.js';

/** A server that was connected. */
export interface ConnectedServer {
  readonly address: string;
  /** Whether tables are looked up and stepped by the ops of this package, or by TensorFlow's own. */
  readonly ops: 'tfjs-embeddings' | 'stock';
  /** Bytes that it was started with; null: no limit, or not known. */
  readonly memory: number | null;
}

/** What `deltas` wrote. */
export interface Deltas {
  readonly file: string;
  /** How many rows of each table differ, by its name. */
  readonly tables: Readonly<Record<string, number>>;
}

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
 * there are servers, in their order. `tables: 'create'` makes tables when layers are built, under a `name` that has none;
 * 'replace' makes them in place of those that are there; 'attach' finds those that another client made under the same
 * `name`, with the same layer names, sizes and plan; 'readOnly' only looks them up, where they were trained, restored or
 * written. A call that takes longer than `timeoutMs` fails, and with it the cluster, until `reconnect`; readers ask again.
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
 * @throws TypeError and ValueError, which name the field: for 'create' under a name with tables, and for two addresses of
 * one server; RuntimeError where a server does not answer, while a cluster runs, and without native kernels and
 * TensorFlow.
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
   * Saves all tables and slots as a checkpoint of TensorFlow, which Python's `tf.train.load_checkpoint` reads. Returns the
   * names of what was saved: tables, and slots as `<table>/<slot>`, each a float32 tensor [rows, columns].
   *
   * Each server writes what it holds, so that all of them need the same file system under the same path; the client only
   * waits, and its other calls wait behind it. A table and its slots are saved as they are on a server at one moment,
   * between two steps. Rows that a plan deals out by modulo k lie in the tensors `<table>/modulo<i>of<k>`.
   *
   * Edge cases: what dense layers and optimizers keep elsewhere, such as the count of steps, is not in it: see
   * `model.save`. Slots are saved whichever client made them. An earlier checkpoint under the prefix stays whole
   * where a server cannot write, and what was written so far is removed by the next save; one client at a time saves to a
   * prefix. Other clients look up and step meanwhile; rows that they change are copied first, in the servers' memory.
   *
   * @param prefix - A path on the servers, whose folder is there; files are called `<prefix>.index` and
   * `<prefix>.data-…`.
   * @param options - Deadline and progress.
   * @returns A promise of the names.
   * @throws TypeError and ValueError, which name the argument; RuntimeError where a server cannot write, which names it,
   * where no table lies on the servers, and after a failure, until `restore`.
   * Source: tf.raw_ops.SaveV2 and MergeV2Checkpoints (TensorFlow 2.21).
   *
   * @example
   * await emb.cluster().save('/checkpoints/ctr/100');
   */
  async save(prefix: string, options: CheckpointOptions = {}): Promise<string[]> {
    const given = readCheckpointArguments(prefix, options);
    const saved = await save(this.now(), given.prefix, given.work);
    return saved.map(({ name }) => name);
  }

  /**
   * Gives all tables and slots on the servers the values of a checkpoint that `save` wrote: on any number of servers,
   * under any plan. Returns the names of what was restored.
   *
   * Tables are found by name and size. Servers read the files themselves, in blocks of rows; rows that were dealt out by
   * modulo, and are dealt out otherwise now, pass through the client. Until it has ended, lookups and steps throw
   * RuntimeError, those of all other clients too; trainers that were there before are told at their next call, and go on
   * after `reconnect`. It brings back what `reconnect` has found lost: tables count again afterwards.
   *
   * Edge cases: what the checkpoint has beyond the tables of the model is left out. A slot that no client has made yet is
   * made with its saved values; one that the checkpoint lacks, because it was saved before the first step, begins anew.
   *
   * @param prefix - As it was saved.
   * @param options - Deadline and progress.
   * @returns A promise of the names.
   * @throws TypeError and ValueError, which name the argument: where there is no such checkpoint, and where it lacks a
   * table or has another size of it; nothing is written then. RuntimeError where a server fails, which leaves tables that
   * do not count until the next `restore`, and for `tables: 'readOnly'`.
   * Source: tf.raw_ops.RestoreV2 (TensorFlow 2.21).
   *
   * @example
   * await emb.cluster().restore('/checkpoints/ctr/100');
   */
  async restore(prefix: string, options: CheckpointOptions = {}): Promise<string[]> {
    const given = readCheckpointArguments(prefix, options);
    return restore(this.now(), given.prefix, given.work);
  }

  /**
   * Writes the rows of tables that differ from a checkpoint into a safetensors file, which `emb.weights.applyDelta` brings
   * to models elsewhere. Returns its path, and how many rows of each table are in it.
   *
   * Servers compare their tables with the checkpoint, bit by bit, and send what differs; nothing is kept between calls,
   * so that any client may ask, one with `tables: 'readOnly'` too. For each table the header has a checksum of the
   * checkpoint and one of what the file leads to: no file is applied to another base, or out of order. For a chain of
   * files, save and ask for deltas with no step between them, and compare with that checkpoint the next time.
   *
   * Edge cases: slots are not in it. A file that was there is replaced, by a whole one or not at all. The changed rows lie
   * in the client's memory until they are written. While other clients train, each block of rows is taken as it is at one
   * moment, and blocks one after the other.
   *
   * @param args - Checkpoint, file, deadline and progress.
   * @returns A promise of the path and the numbers of rows.
   * @throws TypeError and ValueError, which name the argument: where there is no such checkpoint, and where it lacks a
   * table or has another size of it. RuntimeError where a server fails or the file cannot be written, and after a failure,
   * until `restore`.
   * Source: the safetensors format (safetensors 0.4); what the header of the file says beside is ours.
   *
   * @example
   * await emb.cluster().deltas({since: '/checkpoints/ctr/100', file: 'ctr-100.safetensors'});
   */
  async deltas(args: DeltasArgs): Promise<Deltas> {
    const { since, file, work } = readDeltasArguments(args);
    const found = await deltas(this.now(), since, work);
    await writeDelta(file, found);
    return { file, tables: Object.fromEntries(found.map(({ name, parts }) => [name, changedRows(parts)])) };
  }

  /**
   * Opens new sessions on all servers after a failure. Returns the names of the parts of tables that servers have lost, as
   * those do that were started anew. Where nothing was lost, calls go on with the tables as they are now, as other clients
   * have left them.
   *
   * Edge cases: where something was lost, where another client is restoring, and where it is unknown whether a step of a
   * client that trains alone was done, lookups and steps throw RuntimeError until `restore` has brought all tables to one
   * checkpoint. Where other clients use the tables such a step is told in the console.
   *
   * @returns A promise of the names.
   * @throws RuntimeError where a server does not answer, which names it, and to a reader whose tables are not ready; it
   * may be called again.
   *
   * @example
   * const lost = await emb.cluster().reconnect();
   * if (lost.length > 0) await emb.cluster().restore('/shared/ctr/100');
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
