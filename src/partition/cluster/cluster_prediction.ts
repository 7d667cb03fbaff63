/**
 * How long a step takes on a cluster, and how many steps all clients take in a second. A call is packed by the client,
 * goes over its link, is worked on by the server and comes back. Calls of one kind to one server overlap; those to
 * different servers share the client's work and link, those of different clients a server's.
 */
import type { ClusterCalls, ClusterPrediction, ServerPrediction } from './cluster_data.js';
import type { PlanNetwork } from './network.js';
import { bytesOfCalls, type ServerCalls, type ServerLoad } from './server_load.js';

/** Bytes of tables and slots of a server. */
export interface ServerMemory {
  readonly tables: number;
  readonly slots: number;
}

/** Lookups are split into calls of at most so many bytes, which overlap; updates are not. */
const BYTES_OF_CALL = 2e6;

/** Stages of calls in a row: the longest one works all the time, the others delay the first call. */
function pipelined(stages: readonly number[], calls: number): number {
  const longest = Math.max(...stages);
  const all = stages.reduce((sum, seconds) => sum + seconds, 0);
  return longest + (all - longest) / calls;
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

interface Calls {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly calls: number;
  /** Seconds of the server's work. */
  readonly work: number;
}

export interface ClusterArgs {
  readonly network: PlanNetwork;
  readonly loads: readonly ServerLoad[];
  readonly memory: readonly ServerMemory[];
  /** Bytes per second of the memory of a server. */
  readonly hostBandwidth: number;
  /** How many lookups of a step follow one another: one for each layer. */
  readonly rounds: number;
}

/** The prediction for given loads, one for each server. */
export function predictCluster({ network, loads, memory, hostBandwidth, rounds }: ClusterArgs): ClusterPrediction {
  const { bandwidth, latency, messageBandwidth, clients, denseSeconds } = network;

  const callsOf = (kind: keyof ServerLoad, given: ServerCalls): Calls => {
    const { bytesIn, bytesOut } = bytesOfCalls(given, kind);
    const bytes = bytesIn + bytesOut;
    const work = bytes / messageBandwidth + given.memoryBytes / hostBandwidth;
    // Gradients of copies come back before any server can update.
    const updates = given.copiesOut > 0 ? 2 : 1;
    const calls = kind === 'update' ? updates : Math.max(rounds, Math.ceil(bytes / BYTES_OF_CALL));
    return { bytesIn, bytesOut, work, calls: bytes === 0 ? 0 : calls };
  };
  /** What a client waits for servers, which work side by side. */
  const seconds = (kind: keyof ServerLoad, servers: readonly Calls[]): number => {
    const asked = servers.filter(({ calls }) => calls > 0);
    if (asked.length === 0) return 0;
    const most = Math.max(...asked.map(({ calls }) => calls));
    const into = sumOf(asked, ({ bytesIn }) => bytesIn);
    const out = sumOf(asked, ({ bytesOut }) => bytesOut);
    const work = Math.max(...asked.map((server) => server.work));
    const stages = [(into + out) / messageBandwidth, into / bandwidth, work, out / bandwidth];
    const waits = kind === 'lookup' ? rounds : most;
    return 2 * latency * waits + pipelined(stages, kind === 'lookup' ? most : 1);
  };

  const lookups = loads.map(({ lookup }) => callsOf('lookup', lookup));
  const updates = loads.map(({ update }) => callsOf('update', update));
  const servers = loads.map(({ lookup, update }, server): ServerPrediction => {
    const told = (kind: keyof ServerLoad, { ids, rowSplits, weights }: ServerCalls, calls: Calls): ClusterCalls => {
      const { bytesIn, bytesOut } = calls;
      return { calls: calls.calls, ids, rowSplits, weights, bytesIn, bytesOut, seconds: seconds(kind, [calls]) };
    };
    const [ofLookup, ofUpdate] = [lookups[server]!, updates[server]!];
    const [into, out] = [ofLookup.bytesIn + ofUpdate.bytesIn, ofLookup.bytesOut + ofUpdate.bytesOut];
    const exchange = clients * Math.max(...[ofLookup, ofUpdate].map(({ bytesIn, bytesOut }) => bytesIn + bytesOut));
    return {
      lookup: { ...told('lookup', lookup, ofLookup), pooledRows: lookup.rows },
      update: { ...told('update', update, ofUpdate), gradients: update.rows + update.copiesIn },
      memory: { tables: memory[server]!.tables, slots: memory[server]!.slots, exchange },
      workSeconds: ofLookup.work + ofUpdate.work,
      linkSeconds: Math.max(into, out) / bandwidth,
    };
  });

  const lookupSeconds = seconds('lookup', lookups);
  const updateSeconds = seconds('update', updates);
  const stepSeconds = lookupSeconds + updateSeconds + denseSeconds;
  const all = [...lookups, ...updates];
  const each = servers.map(({ lookup, update }) => lookup.seconds + update.seconds);
  return {
    network,
    servers,
    bytesToServers: sumOf(all, ({ bytesIn }) => bytesIn),
    bytesFromServers: sumOf(all, ({ bytesOut }) => bytesOut),
    calls: sumOf(all, ({ calls }) => calls),
    lookupSeconds,
    updateSeconds,
    stepSeconds,
    slowest: each.indexOf(Math.max(...each)),
    ...limitOf(servers, clients, stepSeconds),
  };
}

/** Clients that never wait for each other, or the busiest server: whichever allows fewer steps. */
function limitOf(
  servers: readonly ServerPrediction[],
  clients: number,
  stepSeconds: number,
): Pick<ClusterPrediction, 'stepsPerSecond' | 'limit'> {
  const limits: { seconds: number; limit: ClusterPrediction['limit'] }[] = [
    { seconds: stepSeconds / clients, limit: { resource: 'clients', server: null } },
    ...servers.flatMap(({ workSeconds, linkSeconds }, server) => [
      { seconds: workSeconds, limit: { resource: 'work of a server' as const, server } },
      { seconds: linkSeconds, limit: { resource: 'link of a server' as const, server } },
    ]),
  ];
  const { seconds, limit } = limits.reduce((most, each) => (each.seconds > most.seconds ? each : most));
  return { stepsPerSecond: 1 / seconds, limit };
}
