/** A server with a table, for the ops that servers need: each op is a node that is fed. */
import { loadAddon, type FetchTarget, type RunResult, type SessionRun } from '../../../src/backends/native/addon.js';
import type { NodeMessage } from '../../../src/base/protobuf/graph_messages.js';
import { HYPER_FIELDS, NEUTRAL_HYPER } from '../../../src/rules/hyper.js';
import { DT, graphDefinition, node, placeholder, sessionConfig } from '../../helpers/servers/messages.js';
import type { ServerProcess } from '../../helpers/servers/server_process.js';
import { runOf } from '../native/session_graph.js';

const text = (words: string) => ({ s: Buffer.from(words) });
const type = (of: number) => ({ type: of });
const BAG = { combiner: text('sum'), out_of_range: text('error'), max_norm: { f: 0 } };

/** The nodes of a variable: `<name>`, `<name>/read`, `<name>/assign`, which is fed `<name>/new`. */
function variable(name: string): NodeMessage[] {
  const attr = {
    dtype: type(DT.float),
    shape: { shape: { unknownRank: true } },
    container: text(''),
    shared_name: text(name),
  };
  return [
    node(name, 'VarHandleOp', [], attr),
    node(`${name}/read`, 'ReadVariableOp', [name], { dtype: type(DT.float) }),
    placeholder(`${name}/new`, DT.float),
    node(`${name}/assign`, 'AssignVariableOp', [name, `${name}/fresh`], { dtype: type(DT.float) }),
    node(`${name}/fresh`, 'EmbeddingCopy', [`${name}/new`], { T: type(DT.float) }),
  ];
}

const inputs = (types: Readonly<Record<string, number>>): NodeMessage[] =>
  Object.entries(types).map(([name, of]) => placeholder(name, of));

const BAG_INPUTS = ['values', 'splits', 'weights'];
const LATE_INPUTS = ['gradient', ...BAG_INPUTS, 'hyper', '^early'];

/** All ops on the variables `table` and `slot`. */
const GRAPH = graphDefinition(
  ...variable('table'),
  ...variable('slot'),
  ...variable('other'),
  ...inputs({ values: DT.int32, splits: DT.int32, weights: DT.float, gradient: DT.float, hyper: DT.float }),
  ...inputs({ shape: DT.int32, part: DT.int32, kind: DT.int32, key: DT.int32, numbers: DT.double }),
  ...inputs({ quantiles: DT.double, first: DT.int32, rows: DT.int32, base: DT.float, prefix: DT.string }),
  ...inputs({ names: DT.string, slices: DT.string, a: DT.float, b: DT.float }),
  node('bag', 'EmbeddingBag', ['table/read', ...BAG_INPUTS], BAG),
  node('step', 'EmbeddingSparseApplyAdagrad', ['table/read', 'slot/read', 'gradient', ...BAG_INPUTS, 'hyper'], BAG),
  node('sgd', 'EmbeddingSparseApplySgd', ['table/read', 'gradient', ...BAG_INPUTS, 'hyper'], BAG),
  node('write', 'EmbeddingWriteRows', ['table/read', 'base', 'first']),
  node('fill', 'EmbeddingFill', ['shape', 'part', 'kind', 'key', 'numbers', 'quantiles']),
  node('fill/assign', 'AssignVariableOp', ['table', 'fill'], { dtype: type(DT.float) }),
  node('read', 'EmbeddingReadRows', ['table/read', 'first', 'rows']),
  node('changed', 'EmbeddingChangedRows', ['table/read', 'base']),
  node('checksum', 'EmbeddingChecksum', ['base', 'part']),
  node('shares', 'EmbeddingSharesMemory', ['a', 'b']),
  node('other/again', 'ReadVariableOp', ['other', '^other/read'], { dtype: type(DT.float) }),
  node('is_own', 'EmbeddingSharesMemory', ['other/read', 'other/again']),
  node('gathered', 'ResourceGather', ['other', 'values'], {
    dtype: type(DT.float),
    Tindices: type(DT.int32),
    batch_dims: { i: 0 },
    validate_indices: { b: true },
  }),
  ...inputs({ purpose: DT.string, second: DT.int32, files: DT.string }),
  // A snapshot, of which blocks are read while the table changes: `late/…` come after the first block.
  node('snapshot', 'EmbeddingSnapshot', ['purpose', 'table/read', 'slot/read'], { N: { i: 2 } }),
  node('early', 'EmbeddingSnapshotRows', ['snapshot', 'first', 'rows'], { N: { i: 2 } }),
  node('count', 'EmbeddingSnapshotCount', ['purpose', '^snapshot']),
  node('rows/count', 'EmbeddingSnapshotRows', ['snapshot', 'first', 'rows', '^count'], { N: { i: 2 } }),
  node('late/step', 'EmbeddingSparseApplyAdagrad', ['table/read', 'slot/read', ...LATE_INPUTS], BAG),
  node('late/adam', 'EmbeddingSparseApplyAdam', ['table/read', 'slot/read', 'other/read', ...LATE_INPUTS], BAG),
  node('late/write', 'EmbeddingWriteRows', ['slot/read', 'base', 'second', '^early']),
  ...['step', 'adam', 'write'].map((late) =>
    node(`rows/${late}`, 'EmbeddingSnapshotRows', ['snapshot', 'second', 'rows', `^late/${late}`], { N: { i: 2 } }),
  ),
  node('save', 'SaveV2', ['prefix', 'names', 'slices', 'early', 'early:1'], {
    dtypes: { list: { type: [DT.float, DT.float] } },
  }),
  node('remove', 'EmbeddingRemoveUnfinished', ['files']),
  node('restore', 'RestoreV2', ['prefix', 'names', 'slices'], { dtypes: { list: { type: [DT.float, DT.float] } } }),
  node('info', 'EmbeddingServerInfo'),
);

/** A learning rate, and nothing else. */
export function hyper(learningRate: number): Float32Array {
  const settings = { ...NEUTRAL_HYPER, learningRate };
  return Float32Array.from(HYPER_FIELDS, (name) => settings[name]);
}

export type Feeds = Readonly<Record<string, readonly [SessionRun[2][number], readonly number[]]>>;

/** A client of the table. */
export class TableClient {
  readonly session: number;

  constructor(server: ServerProcess) {
    this.session = loadAddon().openSession(server.target, sessionConfig(20_000), GRAPH, '127.0.0.1', server.port);
  }

  run(feeds: Feeds, fetches: readonly string[], targets: readonly string[] = []): SessionRun {
    const list = Object.entries(feeds).map(([name, [value, shape]]) => [name, value, shape] as const);
    return runOf(list, fetches, { targets, timeoutMs: 60_000 });
  }

  start(...runs: SessionRun[]): number {
    return loadAddon().startRuns(this.session, runs);
  }

  finish(group: number): RunResult[] {
    return loadAddon().finishRuns(group, null);
  }

  /** What one run fetches. Throws what TensorFlow says. */
  fetch(feeds: Feeds, fetches: readonly string[], targets: readonly string[] = []): (FetchTarget | string[])[] {
    const [result] = this.finish(this.start(this.run(feeds, fetches, targets)));
    if (result!.code !== 0) throw new Error(result!.message);
    return result!.values;
  }

  /** Assigns table and slot. */
  assign(name: 'table' | 'slot' | 'other', values: Float32Array, shape: readonly number[]): void {
    this.fetch({ [`${name}/new`]: [values, shape] }, [], [`${name}/assign`]);
  }

  close(): void {
    loadAddon().closeSession(this.session);
  }
}
