/**
 * Calls of one client to servers of TensorFlow on loopback, as a step on servers makes them, beside what the planner
 * predicts of them: bytes, memory, and medians in milliseconds. All processes share this machine; a prediction gives
 * each a machine of its own. In a network namespace of its own (`unshare -n`) nobody else is on loopback.
 *   node --import tsx tools/bench/servers/loopback.ts [--servers 2] [--tables 26] [--batch 4096] [--ids 10] [--rounds 15]
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { loadAddon, type SessionRun } from '../../../src/backends/native/addon.js';
import type { NodeMessage } from '../../../src/base/protobuf/graph_messages.js';
import { planEmbedding } from '../../../src/partition/index.js';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { runOf } from '../../../test/backends/native/session_graph.js';
import { Random } from '../../../test/helpers/random.js';
import { DT, graphDefinition, node, placeholder, sessionConfig } from '../../../test/helpers/servers/messages.js';
import { figuresOf, loopbackBytes } from '../../../test/helpers/servers/process_figures.js';
import { ServerProcess } from '../../../test/helpers/servers/server_process.js';
import { printLine, time } from '../stopwatch.js';

const { values: given } = parseArgs({
  options: {
    servers: { type: 'string', default: '2' },
    tables: { type: 'string', default: '26' },
    batch: { type: 'string', default: '4096' },
    ids: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '15' },
  },
});
const [count, tables, batch, length, rounds] = [given.servers, given.tables, given.batch, given.ids, given.rounds].map(
  Number,
) as [number, number, number, number, number];
const [ROWS, COLUMNS] = [100_000, 64];
/** Calls that make tables take longer than others. */
const LONG = { timeoutMs: 60_000 };

createRequire(import.meta.url)('@tensorflow/tfjs-node/lib/napi-v8/tfjs_binding.node');
const { closeSession, finishRuns, openSession, registerTensorFlow, startRuns } = loadAddon();
registerTensorFlow();

const FLOAT = { dtype: { type: DT.float } };
const BAG = { combiner: { s: Buffer.from('sum') }, out_of_range: { s: Buffer.from('error') }, max_norm: { f: 0 } };
const SHAPE = { dim: [{ size: ROWS }, { size: COLUMNS }] };

function constant(name: string, dtype: number, dims: readonly number[], values: ArrayBufferView): NodeMessage {
  const content = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const shape = { dim: dims.map((size) => ({ size })) };
  return node(name, 'Const', [], { dtype: { type: dtype }, value: { tensor: { dtype, shape, content } } });
}

/** A variable full of one number, another one for each, as equal ones would share their memory. */
function variable(name: string, value: number): NodeMessage[] {
  const names = { container: { s: Buffer.from('bench') }, shared_name: { s: Buffer.from(name) } };
  return [
    node(name, 'VarHandleOp', [], { ...FLOAT, ...names, shape: { shape: SHAPE } }),
    node(`${name}/read`, 'ReadVariableOp', [name], FLOAT),
    constant(`${name}/value`, DT.float, [], Float32Array.of(value)),
    node(`${name}/fill`, 'Fill', ['shape', `${name}/value`], { T: { type: DT.float }, index_type: { type: DT.int32 } }),
    node(`${name}/init`, 'AssignVariableOp', [name, `${name}/fill`], FLOAT),
  ];
}

/** Tables with Adagrad's slots, their lookups and updates. */
function graphOf(held: readonly number[]): Uint8Array {
  return graphDefinition(
    constant('none', DT.float, [0], new Float32Array(0)),
    constant('shape', DT.int32, [2], Int32Array.of(ROWS, COLUMNS)),
    placeholder('hyper', DT.float),
    node('nothing', 'NoOp'),
    ...held.flatMap((t) => [
      ...variable(`table${t}`, t / tables),
      ...variable(`slot${t}`, 1 + t / tables),
      placeholder(`ids${t}`, DT.int32),
      placeholder(`splits${t}`, DT.int32),
      placeholder(`gradient${t}`, DT.float),
      node(`pooled${t}`, 'EmbeddingBag', [`table${t}/read`, `ids${t}`, `splits${t}`, 'none'], BAG),
      node(
        `update${t}`,
        'EmbeddingSparseApplyAdagrad',
        [`table${t}/read`, `slot${t}/read`, `gradient${t}`, `ids${t}`, `splits${t}`, 'none', 'hyper'],
        BAG,
      ),
    ]),
  );
}

const random = new Random(1);
const ids = Array.from({ length: tables }, () =>
  Int32Array.from({ length: batch * length }, () => random.whole(0, ROWS)),
);
const splits = Int32Array.from({ length: batch + 1 }, (_, bag) => bag * length);
const gradient = Float32Array.from({ length: batch * COLUMNS }, () => 1e-3 * (random.next() - 0.5));
const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, epsilon: 1e-7 });

const parts = Array.from({ length: count }, (_, server) =>
  Array.from({ length: tables }, (_each, table) => table).filter((table) => table % count === server),
);
const servers = await Promise.all(parts.map(() => ServerProcess.start()));
const sessions = servers.map(({ target, port }, server) =>
  openSession(target, sessionConfig(20_000), graphOf(parts[server]!), '127.0.0.1', port),
);

type Feeds = Parameters<typeof runOf>[0];
const idsOf = (held: readonly number[]): Feeds =>
  held.flatMap((t): Feeds => [
    [`ids${t}`, ids[t]!],
    [`splits${t}`, splits],
  ]);
const gradientsOf = (held: readonly number[]): Feeds => [
  ['hyper', hyper],
  ...held.map((t): Feeds[number] => [`gradient${t}`, gradient, [batch, COLUMNS]]),
];

/** All servers at the same time. */
function call(runs: (held: readonly number[]) => readonly SessionRun[]): void {
  const groups = parts.map((held, server) => startRuns(sessions[server]!, runs(held)));
  for (const { code, message } of groups.flatMap((group) => finishRuns(group, null))) {
    if (code !== 0) throw new Error(message);
  }
}

const CALLS = {
  empty: () => call(() => [runOf([], [], { targets: ['nothing'] })]),
  lookup: () => call((held) => held.map((t) => runOf(idsOf([t]), [`pooled${t}`]))),
  update: () =>
    call((held) => [
      runOf([...idsOf(held), ...gradientsOf(held)], [], { ...LONG, targets: held.map((t) => `update${t}`) }),
    ]),
};

CALLS.empty();
const idle = servers.map(({ pid }) => figuresOf(pid).resident);
call((held) => [runOf([], [], { ...LONG, targets: held.flatMap((t) => [`table${t}/init`, `slot${t}/init`]) })]);
const grown = servers.map((server, i) => figuresOf(server.pid).resident - idle[i]!);
const empty = await time(CALLS.empty, 20 * rounds);
const measured: Record<string, { megabytes: number; msMedian: number; msMin: number }> = {};
for (const kind of ['lookup', 'update'] as const) {
  for (let n = 0; n < 2; n++) CALLS[kind]();
  const before = loopbackBytes();
  const { msMedian, msMin } = await time(CALLS[kind], rounds, 0);
  measured[kind] = { megabytes: (loopbackBytes() - before) / rounds / 1e6, msMedian, msMin };
}
for (const session of sessions) closeSession(session);
await Promise.all(servers.map((server) => server.end()));

const { cluster } = planEmbedding({
  tables: ids.map(() => ({ inputDim: ROWS, outputDim: COLUMNS, combiner: 'sum' as const })),
  hotness: ids.map(() => length),
  batchSize: batch,
  worldSize: count,
  // Half of an empty call is the way to the servers.
  network: { bandwidth: 3e9, latency: empty.msMedian / 2000, slots: 1 },
});
printLine({ bench: 'loopback', call: 'empty', msMedian: empty.msMedian, msMin: empty.msMin });
for (const kind of ['lookup', 'update'] as const) {
  const bytes = cluster!.servers.reduce((sum, server) => sum + server[kind].bytesIn + server[kind].bytesOut, 0);
  const seconds = kind === 'lookup' ? cluster!.lookupSeconds : cluster!.updateSeconds;
  printLine({
    bench: 'loopback',
    call: kind,
    ...measured[kind],
    predicted: { megabytes: bytes / 1e6, ms: 1000 * seconds },
  });
}
printLine({
  bench: 'loopback',
  megabytesOfServer: Math.max(...grown) / 1e6,
  predicted: (cluster!.servers[0]!.memory.tables + cluster!.servers[0]!.memory.slots) / 1e6,
});
process.exit(0);
