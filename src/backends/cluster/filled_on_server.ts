/** First values of variables that the server makes itself, from seed, row and column. */
import type { FilledPart } from '../counter_random.js';
import { fillInputs, type Fill } from '../fill.js';
import { ServerCall } from './server_call.js';
import { attribute, DOUBLE, FLOAT, INT32, node, OF_FLOATS, placeholder } from './server_graph.js';
import type { ServerSession } from './server_session.js';
import type { ServerVariable, VariableValues } from './variables.js';

/** Inputs of the op EmbeddingFill. */
const FEEDS = [
  ['shape', INT32],
  ['part', INT32],
  ['kind', INT32],
  ['key', INT32],
  ['numbers', DOUBLE],
  ['quantiles', DOUBLE],
] as const;

export class FilledOnServer implements VariableValues {
  constructor(
    private readonly session: ServerSession,
    private readonly container: string,
  ) {}

  fill(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): ServerCall[] {
    const { node: n, rows, columns } = variable;
    const filled = this.session.graph.once(`fill ${n}`, (m) => [
      ...FEEDS.map(([feed, type]) => placeholder(`${m}/${feed}`, type)),
      node(
        `${m}/values`,
        'EmbeddingFill',
        FEEDS.map(([feed]) => `${m}/${feed}`),
      ),
      node(m, 'AssignVariableOp', [n, `${m}/values`], OF_FLOATS),
      ...this.madeOnce(variable, m),
    ]);
    const { kind, key, numbers, quantiles } = fillInputs(fill);
    const call = new ServerCall();
    call.feed(`${filled}/shape`, Int32Array.of(rows, columns), [2]);
    call.feed(`${filled}/part`, Int32Array.of(part.firstRow, part.rowStep, part.firstColumn), [3]);
    call.feed(`${filled}/kind`, Int32Array.of(kind), []);
    call.feed(`${filled}/key`, key, [key.length]);
    call.feed(`${filled}/numbers`, numbers, [numbers.length]);
    call.feed(`${filled}/quantiles`, quantiles, [quantiles.length]);
    call.target(isOnce ? `${filled}/once` : filled);
    return [call];
  }

  copy({ node: n }: ServerVariable, from: ServerVariable): ServerCall {
    const call = new ServerCall();
    call.target(
      this.session.graph.once(`copy ${from.node} ${n}`, (m) => [
        node(`${m}/copy`, 'EmbeddingCopy', [from.values], { T: attribute.type(FLOAT) }),
        node(m, 'AssignVariableOp', [n, `${m}/copy`], OF_FLOATS),
      ]),
    );
    return call;
  }

  /** Makes a variable where it is not there, under a lock, so that of several clients one makes it. */
  private madeOnce({ node: n, name }: ServerVariable, m: string): ReturnType<typeof node>[] {
    const shape = { T: attribute.type(INT32) };
    const others = FEEDS.slice(1).map(([feed]) => `${m}/${feed}`);
    return [
      node(`${m}/mutex`, 'MutexV2', [], {
        container: attribute.text(this.container),
        shared_name: attribute.text(`${name}~mutex`),
      }),
      node(`${m}/lock`, 'MutexLock', [`${m}/mutex`]),
      node(`${m}/there`, 'VarIsInitializedOp', [n, `^${m}/lock`]),
      node(`${m}/branch`, 'Switch', [`${m}/shape`, `${m}/there`], shape),
      node(`${m}/new`, 'EmbeddingFill', [`${m}/branch`, ...others]),
      node(`${m}/assign`, 'AssignVariableOp', [n, `${m}/new`], OF_FLOATS),
      node(`${m}/made`, 'Identity', [`${m}/branch`, `^${m}/assign`], shape),
      node(`${m}/either`, 'Merge', [`${m}/made`, `${m}/branch:1`], { ...shape, N: attribute.int(2) }),
      node(`${m}/once`, 'ConsumeMutexLock', [`${m}/lock`, `^${m}/either`]),
    ];
  }
}
