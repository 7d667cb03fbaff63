/**
 * Tables on two servers of TensorFlow on loopback, through the layer: milliseconds and bytes of a lookup and of a step
 * with Adagrad, float32 and float16, beside Keras on TensorFlow's ParameterServerStrategy where a Python has it; then `fit`
 * with `prefetch: 1` and without, on loopback and behind a port that delays. All take turns, all processes share this
 * machine. In a network namespace of its own nobody else is on loopback:
 * `unshare -n -r sh -c 'ip link set lo up; npm run bench -- cluster'`.
 *   node --import tsx tools/bench/servers/cluster.ts [--rivals PYTHON] [--tables 26] [--batch 4096] [--rounds 5]
 *     [--fit-batch 512] [--units 128] [--delay 5] [--part steps] [--part fit]
 * PYTHON has tensorflow-cpu and tf-keras. `--delay`: milliseconds in each direction.
 */
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WITH_SOURCES } from '../../../test/helpers/programs.js';
import { PassingPort } from '../../../test/helpers/servers/passing_port.js';
import { loopbackBytes } from '../../../test/helpers/servers/process_figures.js';
import { ServerProcess } from '../../../test/helpers/servers/server_process.js';
import { Peer, type Measured } from '../rivals/peer.js';
import { ratioOf, takeTurns, type Rounds } from '../rivals/rounds.js';
import { median, printLine } from '../stopwatch.js';
import type { Open } from './cluster_client.js';

const { values: given } = parseArgs({
  options: {
    rivals: { type: 'string' },
    tables: { type: 'string', default: '26' },
    rows: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '4096' },
    ids: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    'fit-batch': { type: 'string', default: '512' },
    units: { type: 'string', default: '128' },
    delay: { type: 'string', default: '5' },
    part: { type: 'string', multiple: true, default: ['steps', 'fit'] },
  },
});
const COLUMNS = 64;
const [tables, rows, batch, ids, rounds] = [given.tables, given.rows, given.batch, given.ids, given.rounds].map(
  Number,
) as [number, number, number, number, number];
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const WORKS = ['lookUp', 'step'] as const;
const TURN = { rounds, turnMs: 400, warmUps: 4 };

const servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
const peers: Peer[] = [];
const ports: PassingPort[] = [];

async function started(name: string, command: readonly string[], open: object): Promise<Peer> {
  const peer = await Peer.start(name, command);
  if (typeof peer === 'string') throw new Error(`${name}: ${peer}`);
  peers.push(peer);
  const { error } = await peer.ask({ do: 'open', ...open });
  if (error !== undefined) throw new Error(`${name}: ${error}`);
  return peer;
}

function client(name: string, options: Partial<Open>): Promise<Peer> {
  const ps = servers.map(({ port }) => `127.0.0.1:${port}`);
  const form = { ps, exchange: 'float32', prefetch: 0, tables, rows, columns: COLUMNS, batch, ids, units: 1 } as const;
  const open: Open = { ...form, name: name.replaceAll(/\W/g, '-'), ...options };
  return started(name, [process.execPath, ...WITH_SOURCES, here('cluster_client.ts')], open);
}

interface Work extends Measured {
  readonly peer: Peer;
  readonly work: string;
}

/** A peer's work; `ask` says how long one of so many took. */
function workOf(peer: Peer, work: string): Work {
  const run = async (steps: number): Promise<number> => {
    const { ms, error } = await peer.ask({ do: work, steps });
    if (ms === undefined) throw new Error(`${peer.name}, ${work}: ${error}`);
    return ms;
  };
  return { name: `${peer.name}, ${work}`, peer, work, run };
}

interface Counted {
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

async function counted(peer: Peer): Promise<[number, number]> {
  const { servers: each } = (await peer.ask({ do: 'counters' })) as { servers?: readonly Counted[] };
  const sum = (of: (one: Counted) => number): number => (each ?? []).reduce((total, one) => total + of(one), 0);
  return [sum((one) => one.bytesSent), sum((one) => one.bytesReceived)];
}

/** Megabytes of one of so many, by the counters of the client and on loopback. */
async function traffic({ peer, run }: Work, steps: number): Promise<Record<string, number>> {
  await run(1);
  const [sent, received] = await counted(peer);
  const before = loopbackBytes();
  await run(steps);
  const onLoopback = (loopbackBytes() - before) / steps / 1e6;
  if (sent === 0) return { onLoopback };
  const [sentNow, receivedNow] = await counted(peer);
  const [to, from] = [(sentNow - sent) / steps / 1e6, (receivedNow - received) / steps / 1e6];
  return { to, from, onLoopback, overCounted: onLoopback / (to + from) };
}

const timesOf = (found: Rounds, { name }: Measured): readonly number[] => {
  const times = found.get(name)!;
  if (typeof times === 'string') throw new Error(times);
  return times;
};

async function lookupsAndSteps(): Promise<void> {
  const contestants = [await client('float32', {}), await client('float16', { exchange: 'float16' })];
  if (given.rivals !== undefined) {
    const open = { servers: servers.length, tables, rows, columns: COLUMNS, batch, ids };
    contestants.push(await started('Keras', [given.rivals, here('parameter_servers.py')], open));
  }
  for (const { name, version } of contestants) console.error(`${name}: ${version}`);
  for (const work of WORKS) {
    const works = contestants.map((peer) => workOf(peer, work));
    const megabytes: Record<string, number>[] = [];
    for (const each of works) megabytes.push(await traffic(each, 5));
    const found = await takeTurns(works, TURN);
    const base = timesOf(found, works[0]!);
    works.forEach((each, i) => {
      const times = timesOf(found, each);
      const [peer, timesOurs] = [each.peer.name, ratioOf(times, base)];
      printLine({ bench: 'cluster', work, peer, ms: median(times), timesOurs, megabytes: megabytes[i] });
    });
  }
  for (const peer of peers.splice(0)) peer.stop();
}

async function fits(delay: number): Promise<void> {
  const ps = [];
  for (const { port } of servers) {
    if (delay === 0) ps.push(`127.0.0.1:${port}`);
    else {
      ports.push(await PassingPort.start(port, delay));
      ps.push(`127.0.0.1:${ports.at(-1)!.port}`);
    }
  }
  const form = { ps, batch: Number(given['fit-batch']), units: Number(given.units) };
  const contestants = [await client(`plain-${delay}`, form), await client(`ahead-${delay}`, { ...form, prefetch: 1 })];
  const parts: Record<string, number> = {};
  for (const work of ['lookUp', 'step', 'dense']) parts[work] = await workOf(contestants[0]!, work).run(10);
  const works = contestants.map((peer) => workOf(peer, 'fit'));
  const found = await takeTurns(works, TURN);
  const [plain, ahead] = works.map((work) => timesOf(found, work)) as [readonly number[], readonly number[]];
  const faster = ratioOf(plain, ahead);
  printLine({ bench: 'cluster', work: 'fit', delay, parts, ms: median(plain), msAhead: median(ahead), faster });
  for (const peer of peers.splice(0)) peer.stop();
}

try {
  printLine({ bench: 'cluster', loadBefore: loadavg()[0] });
  if (given.part.includes('steps')) await lookupsAndSteps();
  if (given.part.includes('fit')) {
    await fits(0);
    await fits(Number(given.delay));
  }
} finally {
  for (const peer of peers) peer.stop();
  await Promise.all(ports.map((port) => port.end()));
  await Promise.all(servers.map((server) => server.end()));
}
process.exit();
