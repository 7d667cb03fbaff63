/** A session on a server, and the graph that specs of sessions run. */
import { loadAddon, type RunResult, type SessionRun } from '../../../src/backends/native/addon.js';
import { DT, graphDefinition, node, placeholder, runOptions, sessionConfig } from '../../helpers/servers/messages.js';
import type { ServerProcess } from '../../helpers/servers/server_process.js';

const queue = { component_types: { list: { type: [DT.float] } }, shared_name: { s: Buffer.from('waiting') } };
const ofFloats = { list: { type: [DT.float] } };

/** twice = 2 x; queues: `put` adds what `x` is fed, `get` waits until there is something. */
export const GRAPH = graphDefinition(
  placeholder('x', DT.float),
  node('twice', 'AddV2', ['x', 'x'], { T: { type: DT.float } }),
  node('pair', 'Split', ['axis', 'x'], { num_split: { i: 2 }, T: { type: DT.float } }),
  placeholder('axis', DT.int32),
  ...(['float', 'double', 'int32', 'uint8', 'string', 'half', 'int64'] as const).flatMap((type) => [
    placeholder(type, DT[type]),
    node(`same_${type}`, 'Identity', [type], { T: { type: DT[type] } }),
  ]),
  node('queue', 'FIFOQueueV2', [], queue),
  node('put', 'QueueEnqueueV2', ['queue', 'x'], { Tcomponents: ofFloats, timeout_ms: { i: -1 } }),
  node('get', 'QueueDequeueV2', ['queue'], { component_types: ofFloats, timeout_ms: { i: -1 } }),
  node('rounded', 'Cast', ['half'], { SrcT: { type: DT.half }, DstT: { type: DT.float } }),
  node('halved', 'Cast', ['x'], { SrcT: { type: DT.float }, DstT: { type: DT.half } }),
);

type Value = SessionRun[2][number];
type Feed = readonly [name: string, value: Value, shape?: readonly number[], isHalf?: boolean];

/** A run of these feeds. */
export function runOf(
  feeds: readonly Feed[],
  fetches: readonly string[],
  { timeoutMs = 20_000, targets = [] }: { timeoutMs?: number; targets?: readonly string[] } = {},
): SessionRun {
  const shapes = feeds.flatMap(([, value, shape = [value.length]]) => [shape.length, ...shape]);
  const lines = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('');
  return [
    runOptions(timeoutMs),
    lines(feeds.map(([name]) => name)),
    feeds.map(([, value]) => value),
    Int32Array.from(shapes),
    Uint8Array.from(feeds, ([, , , isHalf]) => (isHalf === true ? 1 : 0)),
    lines(fetches),
    lines(targets),
  ];
}

/** Adds a number to the queue of the server. */
export const put = (x: number, timeoutMs?: number): SessionRun =>
  runOf([['x', Float32Array.of(x), []]], [], { targets: ['put'], ...(timeoutMs === undefined ? {} : { timeoutMs }) });
/** Takes one from it, or waits for one until its deadline. */
export const get = (timeoutMs = 20_000): SessionRun => runOf([], ['get'], { timeoutMs });

export function openOn(server: Pick<ServerProcess, 'port' | 'target'>, timeoutMs = 10_000, host = '127.0.0.1'): number {
  return loadAddon().openSession(server.target, sessionConfig(timeoutMs), GRAPH, host, server.port);
}

/** Runs one group and waits for it. */
export function runAll(session: number, ...runs: SessionRun[]): RunResult[] {
  const { startRuns, finishRuns } = loadAddon();
  return finishRuns(startRuns(session, runs), null);
}

export function values(results: readonly RunResult[]): unknown[] {
  return results.map((result) => {
    if (result.code !== 0) throw new Error(`code ${result.code}: ${result.message}`);
    return result.values.map((value) => (Array.isArray(value) ? value : Array.from(value as Float32Array)));
  });
}
