/** The prediction of a plan whose devices are servers, and how it is told. */
import { bytesText, counted, secondsText, wholeText } from '../../base/units.js';
import type { PlanData } from '../plan.js';
import type { PlanRequest } from '../plan_request.js';
import { bagsPerSample } from '../step_load.js';
import { shardSize, tableLayouts } from '../table_layout.js';
import type { ClusterPrediction } from './cluster_data.js';
import { predictCluster, type ServerMemory } from './cluster_prediction.js';
import type { PlanNetwork } from './network.js';
import { serverLoads } from './server_load.js';

const BYTES = 4;

/** Bytes of tables on each server, and of as many slots for each number of them as the network tells. */
function memoryOf({ tables }: PlanRequest, plan: PlanData, slots: number): ServerMemory[] {
  const bytes = plan.ranks.map(() => 0);
  for (const { shards } of tableLayouts(plan, tables)) {
    for (const shard of shards) bytes[shard.device]! += BYTES * shardSize(shard);
  }
  return bytes.map((held) => ({ tables: held, slots: slots * held }));
}

/** What a plan costs on servers. */
export function planCluster(request: PlanRequest, plan: PlanData, network: PlanNetwork): ClusterPrediction {
  return predictCluster({
    network,
    loads: serverLoads(request, plan, network, { bags: bagsPerSample(request) }),
    memory: memoryOf(request, plan, network.slots),
    hostBandwidth: request.machine.hostBandwidth,
    rounds: 1,
  });
}

/** A line of cells for each server, below their titles: bytes, calls and seconds of a step of one client. */
export function serverCells({ servers }: ClusterPrediction): string[][] {
  const head = 'server tables slots exchange lookup-in lookup-out calls lookup update-in update-out update busy';
  return [
    head.split(' ').map((cell) => cell.replace('-', ' ')),
    ...servers.map(({ lookup, update, memory, workSeconds, linkSeconds }, server) => [
      String(server),
      ...[memory.tables, memory.slots, memory.exchange, lookup.bytesIn, lookup.bytesOut].map(bytesText),
      String(lookup.calls),
      secondsText(lookup.seconds),
      ...[update.bytesIn, update.bytesOut].map(bytesText),
      secondsText(update.seconds),
      secondsText(Math.max(workSeconds, linkSeconds)),
    ]),
  ];
}

/** The machines, in one line. */
export function clusterTitle({ network, servers }: ClusterPrediction): string {
  const { clients, bandwidth, latency, exchange } = network;
  return (
    `${counted(servers.length, 'server')}, ${counted(clients, 'client')}, links of ${bytesText(bandwidth)}/s and ` +
    `${secondsText(latency)}, pooled rows and gradients as ${exchange}`
  );
}

/** What a step takes, and what limits the steps of all clients. */
export function clusterTexts(cluster: ClusterPrediction): string[] {
  const { network, bytesToServers, bytesFromServers, calls, slowest, stepsPerSecond, limit } = cluster;
  const { clients, denseSeconds, slots, messageBandwidth } = network;
  const dense = denseSeconds === 0 ? '' : `, ${secondsText(denseSeconds)} of work of its own between them`;
  const limits =
    limit.server === null
      ? 'each waits for its own steps'
      : `limited by the ${limit.resource.replace('a server', `server ${limit.server}`)}`;
  return [
    `a step of one client: ${bytesText(bytesToServers)} to the servers and ${bytesText(bytesFromServers)} back in ` +
      `${counted(calls, 'call')}; lookup ${secondsText(cluster.lookupSeconds)}, update ` +
      `${secondsText(cluster.updateSeconds)}${dense}: ${secondsText(cluster.stepSeconds)}; server ${slowest} is slowest`,
    `${counted(clients, 'client')}: at most ${perSecondText(stepsPerSecond)} steps a second; ${limits}`,
    `assumed: ${bytesText(messageBandwidth)}/s of messages packed or unpacked by a machine, slots ${Number(slots.toPrecision(3))} times as ` +
      'large as tables, ids sent with the lookup and with the update, memory beside that of idle servers',
  ];
}

function perSecondText(steps: number): string {
  return steps >= 100 ? wholeText(Math.round(steps)) : steps.toPrecision(3);
}
