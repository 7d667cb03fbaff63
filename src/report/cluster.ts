/** What a step of the plans of a machine would take on servers of a network, with batch and ids as they were counted. */
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { counted, secondsText, wholeText } from '../base/units.js';
import type { ReportSource } from '../backends/devices/report_source.js';
import type { ClusterPrediction } from '../partition/cluster/cluster_data.js';
import { predictCluster } from '../partition/cluster/cluster_prediction.js';
import { NETWORK_FIELDS, readNetwork, type PlanNetwork, type PlanNetworkArgs } from '../partition/cluster/network.js';
import { clusterTexts, clusterTitle, serverCells } from '../partition/cluster/plan_cluster.js';
import { serverLoads, sumOfServerLoads } from '../partition/cluster/server_load.js';
import { checkPlanned, plannedSteps } from './planned_steps.js';
import { textTable, wrapped } from './text_lines.js';

/** A network and the machines on it; slots are those of the tables. */
export interface ReportNetworkArgs extends Omit<PlanNetworkArgs, 'slots'> {
  /** Servers; as many as there are devices by default. */
  servers?: number | undefined;
}

/** A step on servers. In `network`, `slots` is how many times as large as tables the slots are. */
export interface ReportCluster extends ClusterPrediction {
  /** Whether the plans were made again, because there are other numbers of servers and devices. */
  readonly plannedAgain: boolean;
  /** Samples of a step of one client, for each plan. */
  readonly batchSizes: readonly number[];
  /** Seconds of a lookup call and of an update here, in the mean; null where there was none. */
  readonly countedSeconds: { readonly lookUp: number | null; readonly update: number | null };
  readonly assumptions: readonly string[];
}

/** A network that was read. */
export interface ReportNetwork {
  readonly servers: number;
  readonly network: PlanNetwork;
}

const FIELDS = [...NETWORK_FIELDS.filter((field) => field !== 'slots'), 'servers'] as const;
const MOST_SERVERS = 65536;
/** Servers that are told one by one. */
const MOST_SHOWN = 32;

/** Reads the option `network`; null: none was given. */
export function readReportNetwork(value: unknown, devices: number): ReportNetwork | null {
  if (value === undefined || value === null) return null;
  const { servers = devices, ...network } = readOptions<ReportNetworkArgs>(value, FIELDS, 'network');
  const expected = `a whole number from 1 to ${MOST_SERVERS}`;
  if (typeof servers !== 'number') throw new ArgumentTypeError('network.servers', expected, servers);
  if (!Number.isInteger(servers) || servers < 1 || servers > MOST_SERVERS) {
    throw new ValueError('network.servers', expected, servers);
  }
  return { servers, network: readNetwork(network) };
}

function meanOf(seconds: number, calls: number): number | null {
  return calls === 0 ? null : seconds / calls;
}

/** The step of all plans on servers. Throws RuntimeError where there is no plan to predict. */
export function clusterOf(source: ReportSource, { servers, network }: ReportNetwork): ReportCluster {
  checkPlanned(source, 'network');
  const wanted = { devices: servers, argument: 'network.servers', unit: 'servers', count: servers };
  const { steps, held, plannedAgain, batchSizes, hostBandwidth, assumptions } = plannedSteps(source, wanted);
  const each = steps.map(({ request, plan, perSample }) => serverLoads(request, plan, network, perSample));
  const memory = held.map(({ tables, slots, host }) => ({ tables: tables + host.tables, slots: slots + host.slots }));
  const all = (kind: 'tables' | 'slots'): number => memory.reduce((sum, server) => sum + server[kind], 0);
  const cluster = predictCluster({
    network: { ...network, slots: all('slots') / all('tables') },
    loads: held.map((_, server) => sumOfServerLoads(each.map((ofPlan) => ofPlan[server]!))),
    memory,
    hostBandwidth,
    rounds: steps.length,
  });
  const { lookUps, updates, seconds } = source.counters;
  const countedSeconds = { lookUp: meanOf(seconds.lookUp, lookUps), update: meanOf(seconds.update, updates) };
  return { ...cluster, plannedAgain, batchSizes, countedSeconds, assumptions };
}

/** The network, and the samples of a step. */
export function reportClusterTitle(cluster: ReportCluster): string {
  const batch = [...new Set(cluster.batchSizes)].map(wholeText).join(' and ');
  return `${clusterTitle(cluster)}, batch ${batch} of each client`;
}

/** What a step takes, beside what was counted here. */
export function reportClusterTexts(cluster: ReportCluster): string[] {
  const { lookUp, update } = cluster.countedSeconds;
  const here = [
    ...(lookUp === null ? [] : [`${secondsText(lookUp)} for a lookup call`]),
    ...(update === null ? [] : [`${secondsText(update)} for an update`]),
  ];
  const [step, ...rest] = clusterTexts(cluster);
  return [
    step!,
    ...(here.length === 0 ? [] : [`counted on this machine: ${here.join(', ')}`]),
    ...rest,
    ...cluster.assumptions.map((text) => `assumed: ${text}`),
  ];
}

/** Titles and lines of the servers, the busiest where there are many, and what is left out. */
export function shownServers(cluster: ReportCluster): { head: string[]; lines: string[][]; left: string | null } {
  const [head, ...lines] = serverCells(cluster);
  if (lines.length <= MOST_SHOWN) return { head: head!, lines, left: null };
  const busy = cluster.servers.map(({ workSeconds, linkSeconds }) => Math.max(workSeconds, linkSeconds));
  const order = lines.map((_, server) => server).sort((a, b) => busy[b]! - busy[a]!);
  const shown = order.slice(0, MOST_SHOWN / 2).map((server) => lines[server]!);
  return { head: head!, lines: shown, left: `the ${shown.length} busiest of ${counted(lines.length, 'server')}` };
}

/** The section of a report. */
export function reportClusterText(cluster: ReportCluster): string[] {
  const { head, lines, left } = shownServers(cluster);
  return [
    '',
    ...wrapped(`On servers: ${reportClusterTitle(cluster)}`),
    ...textTable([head, ...lines], { left: [] }),
    ...(left === null ? [] : [left]),
    ...reportClusterTexts(cluster).flatMap((text) => wrapped(text)),
  ];
}
