/** What is predicted of a step on servers: plain data, part of a plan and of a report. */
import type { PlanNetwork } from './network.js';

/** The calls of one kind to one server in a step of one client. Bytes, as the server sees them. */
export interface ClusterCalls {
  calls: number;
  ids: number;
  rowSplits: number;
  weights: number;
  bytesIn: number;
  bytesOut: number;
  /** From the first call to the last answer, for a client that is alone and asks no other server. */
  seconds: number;
}

/** One server, and what a step of one client asks of it. */
export interface ServerPrediction {
  lookup: ClusterCalls & { pooledRows: number };
  update: ClusterCalls & { gradients: number };
  /** Bytes beside those of an idle server. `exchange`: messages of all clients at a time. */
  memory: { tables: number; slots: number; exchange: number };
  /** How long a step of one client keeps it busy, and its link in the busier direction. */
  workSeconds: number;
  linkSeconds: number;
}

/** What decides how many steps all clients take. */
export type ClusterResource = 'clients' | 'work of a server' | 'link of a server';
export const CLUSTER_RESOURCES: readonly ClusterResource[] = ['clients', 'work of a server', 'link of a server'];

/** A step on a cluster: bytes of each server, seconds, memory, and what limits the steps of all clients. */
export interface ClusterPrediction {
  network: PlanNetwork;
  servers: ServerPrediction[];
  /** Bytes of a step of one client to all servers, and from them; calls, each with an answer. */
  bytesToServers: number;
  bytesFromServers: number;
  calls: number;
  /** Of a client that is alone: lookups of a step, its update, and the whole with `denseSeconds`. */
  lookupSeconds: number;
  updateSeconds: number;
  stepSeconds: number;
  /** The server whose lookups and update take longest. */
  slowest: number;
  /** Of all clients together, at most. */
  stepsPerSecond: number;
  /** What allows no more, and of which server; null where clients wait for their own step. */
  limit: { resource: ClusterResource; server: number | null };
}
