/**
 * Calls sessions on a server of TensorFlow with right arguments, of which some are spoiled, in a process of its own.
 *   node --import tsx tools/attack/programs/session_calls_program.ts <seed> [calls]
 * Every call gives a result or an Error and writes nothing but the arrays that results go to; in the end the server and its
 * sessions are as good as before. Prints a JSON line at the end.
 */
import { createRequire } from 'node:module';
import { loadAddon, type SessionRun } from '../../../src/backends/native/addon.js';
import { GRAPH, openOn, runAll, runOf } from '../../../test/backends/native/session_graph.js';
import { Random } from '../../../test/helpers/random.js';
import { ServerProcess } from '../../../test/helpers/servers/server_process.js';
import { HostileArrays } from '../hostile/arrays.js';
import { spoiler } from '../hostile/spoiled_calls.js';
import { WatchedMemory } from '../watched_memory.js';

createRequire(import.meta.url)('@tensorflow/tfjs-node/lib/napi-v8/tfjs_binding.node');
const random = new Random(Number(process.argv[2] ?? 1));
const calls = Number(process.argv[3] ?? 4000);
const arrays = new HostileArrays(random);
const hostile = spoiler(random, arrays);
const addon = loadAddon();
addon.registerTensorFlow();
const functions = addon as unknown as Record<string, (...args: unknown[]) => unknown>;
const server = await ServerProcess.start();
const sessions = [openOn(server), openOn(server)];
const groups: number[] = [];
const MOST_GROUPS = 30;
const MOST_SESSIONS = 12;

function run(): SessionRun {
  const size = random.whole(0, 9);
  const feeds: Parameters<typeof runOf>[0] = [
    ['x', arrays.floats(size), [size]],
    ['int32', arrays.ints([1, 2])],
    ['string', ['a', 'b']],
    ['half', arrays.floats(2), [2], random.chance(0.5)],
  ];
  const fetches = random.pick([['twice'], ['same_half', 'twice'], ['same_string'], []]);
  const targets = random.pick([[], ['queue'], ['axis']]);
  return [...runOf(feeds.slice(random.whole(0, 4)), fetches, { timeoutMs: 500, targets })];
}

function runs(): unknown[] {
  const list = Array.from({ length: random.whole(1, 4) }, run);
  for (const each of list) if (random.chance(0.4)) hostile.spoil(each as unknown as unknown[]);
  return list;
}

function graph(): Uint8Array {
  const bytes = arrays.bytes([...GRAPH]);
  if (random.chance(0.8)) bytes[random.whole(0, bytes.length)] = random.whole(0, 256);
  return bytes;
}

const takeGroup = (): number => (groups.length === 0 ? 0 : groups.splice(random.whole(0, groups.length), 1)[0]!);

/** Filters of devices are right: TensorFlow's server ends where one is not. */
const RIGHT: Readonly<Record<string, () => unknown[]>> = {
  startRuns: () => [random.pick(sessions), runs()],
  finishRuns: () => {
    const into = [null, [[arrays.floats(3)]], [[null, null]], [[arrays.floats(2), null], [null]], [[]]];
    return [takeGroup(), random.pick(into)];
  },
  finishRunsAsync: () => [takeGroup()],
  forgetRuns: () => [takeGroup()],
  runsAreDone: () => [random.pick([...groups, 0])],
  extendSession: () => [
    random.pick(sessions),
    graph(),
    random.pick(['', 'x\n', 'twice\nx:0\n', ':\n', 'x:99999999999\n']),
  ],
  openSession: () => {
    const target = random.pick([server.target, 'grpc://', 'grpc://a:b:c', 'grpc://[']);
    const host = random.pick(['127.0.0.1', 'localhost', '', '\0', 'x'.repeat(300)]);
    return [target, arrays.bytes(random.pick([[], [88, 100], [255]])), GRAPH, host, random.pick([server.port, 1])];
  },
  sessionInfo: () => [],
};
const MOSTLY = ['startRuns', 'finishRuns', 'finishRunsAsync'];

const counts = { calls: 0, returned: 0, threw: 0 };
const fallen: string[] = [];

function note(name: string, result: unknown): void {
  if (name === 'startRuns') groups.push(result as number);
  if (name === 'openSession') sessions.push(result as number);
  if (result instanceof Promise) {
    void result.then((outcomes) => {
      if (!Array.isArray(outcomes)) fallen.push('a promise gave no outcomes');
    });
  }
  if (groups.length > MOST_GROUPS) addon.finishRuns(groups.shift()!, null);
  if (sessions.length > MOST_SESSIONS) addon.closeSession(sessions.pop()!);
}

while (counts.calls < calls && fallen.length === 0) {
  const name = random.chance(0.7) ? random.pick(MOSTLY) : random.pick(Object.keys(RIGHT));
  const args = RIGHT[name]!();
  if (random.chance(0.2)) hostile.spoil(args);
  if (random.chance(0.1)) hostile.setTrap(args[1]);
  const memory = new WatchedMemory(name, args);
  let hasThrown = false;
  try {
    note(name, functions[name]!(...args));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    hasThrown = true;
  }
  counts.calls++;
  counts[hasThrown ? 'threw' : 'returned']++;
  const fault = memory.fault(hasThrown);
  if (fault !== null) fallen.push(`call ${counts.calls}: ${name} ${fault}`);
  if (counts.calls % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
for (const group of groups) addon.finishRuns(group, null);
for (const session of sessions.slice(0, 2)) {
  const [last] = runAll(session, runOf([['x', Float32Array.of(2)]], ['twice']));
  if ((last!.values[0] as Float32Array | undefined)?.[0] !== 4) fallen.push(`a session is spoiled: ${last!.message}`);
}
await server.end();
process.stdout.write(`${JSON.stringify({ ...counts, fallen })}\n`, () => process.exit(0));
