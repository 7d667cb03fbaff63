/** First values of variables that the server makes itself, from seed, row and column. */
import type { FilledPart } from '../counter_random.js';
import { fillInputs, type Fill } from '../fill.js';
import { blocksOf } from './checkpoints/slices.js';
import { madeOnce } from './made_once.js';
import { ServerCall } from './server_call.js';
import { attribute, constant, DOUBLE, FLOAT, INT32, node, OF_FLOATS, placeholder } from './server_graph.js';
import type { ServerSession } from './server_session.js';
import type { CallGroups, ServerVariable, VariableValues } from './variables.js';

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

  *fill(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): CallGroups {
    const blocks = blocksOf(variable);
    if (blocks.length < 2) return yield [this.whole(variable, part, fill, isOnce)];
    if (isOnce) return yield* this.once(variable, part, fill);
    yield [this.zeros(variable)];
    if (fill.kind === 'constant' && Object.is(fill.value, 0)) return;
    for (const { first, count } of blocks) {
      yield [
        this.block(variable, { ...part, firstRow: part.firstRow + part.rowStep * first, rows: count }, fill, first),
      ];
    }
  }

  /** Under a name that nobody else knows first, as no call is to take longer than it may; several clients may be at it. */
  private *once(variable: ServerVariable, part: FilledPart, fill: Fill): CallGroups {
    const { node: n, name, rows, columns } = variable;
    const draft = this.session.graph.once(`draft of ${n}`, (m) => [
      node(m, 'VarHandleOp', [], {
        container: attribute.text(this.container),
        shared_name: attribute.text(`${name}~${globalThis.crypto.randomUUID()}`),
        dtype: attribute.type(FLOAT),
        shape: attribute.shape([rows, columns]),
      }),
      constant(`${m}/shape`, INT32, [2], Int32Array.of(rows, columns)),
      ...madeOnce(variable, this.container, m, (made, shape) => [
        node(made, 'ReadVariableOp', [m, `^${made}/is`], OF_FLOATS),
        node(`${made}/is`, 'Identity', [shape], { T: attribute.type(INT32) }),
      ]),
      node(`${m}/destroy`, 'DestroyResourceOp', [m, `^${m}/once`], { ignore_lookup_error: attribute.flag(true) }),
    ]);
    yield* this.fill({ ...variable, node: draft }, part, fill, false);
    const call = new ServerCall();
    call.target(`${draft}/destroy`);
    yield [call];
  }

  private whole(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): ServerCall {
    const { node: n, rows, columns } = variable;
    const filled = this.session.graph.once(`fill ${n}`, (m) => [
      ...FEEDS.map(([feed, type]) => placeholder(`${m}/${feed}`, type)),
      node(
        `${m}/values`,
        'EmbeddingFill',
        FEEDS.map(([feed]) => `${m}/${feed}`),
      ),
      node(m, 'AssignVariableOp', [n, `${m}/values`], OF_FLOATS),
      ...madeOnce(variable, this.container, m, (name, shape) => [
        node(name, 'EmbeddingFill', [shape, ...FEEDS.slice(1).map(([feed]) => `${m}/${feed}`)]),
      ]),
    ]);
    const call = new ServerCall();
    feedFill(call, filled, [rows, columns], part, fill);
    call.target(isOnce ? `${filled}/once` : filled);
    return call;
  }

  /** Memory for the variable, which is not touched yet. */
  private zeros({ node: n, rows, columns }: ServerVariable): ServerCall {
    const call = new ServerCall();
    call.target(
      this.session.graph.once(`zeros ${n}`, (m) => [
        constant(`${m}/shape`, INT32, [2], Int32Array.of(rows, columns)),
        node(`${m}/values`, 'EmbeddingNewTable', [`${m}/shape`]),
        node(m, 'AssignVariableOp', [n, `${m}/values`], OF_FLOATS),
      ]),
    );
    return call;
  }

  /** Rows of the variable from `first` on; nobody else knows of it yet. */
  private block({ node: n, columns }: ServerVariable, part: FilledPart, fill: Fill, first: number): ServerCall {
    const filled = this.session.graph.once(`fill a block of ${n}`, (m) => [
      ...FEEDS.map(([feed, type]) => placeholder(`${m}/${feed}`, type)),
      placeholder(`${m}/first`, INT32),
      node(
        `${m}/values`,
        'EmbeddingFill',
        FEEDS.map(([feed]) => `${m}/${feed}`),
      ),
      constant(`${m}/form`, INT32, [1], Int32Array.of(-1)),
      node(`${m}/rows`, 'Reshape', [`${m}/values`, `${m}/form`], {
        T: attribute.type(FLOAT),
        Tshape: attribute.type(INT32),
      }),
      node(`${m}/table`, 'ReadVariableOp', [n], OF_FLOATS),
      node(m, 'EmbeddingWriteRows', [`${m}/table`, `${m}/rows`, `${m}/first`]),
    ]);
    const call = new ServerCall();
    feedFill(call, filled, [part.rows, columns], part, fill);
    call.feed(`${filled}/first`, Int32Array.of(first), []);
    call.target(filled);
    return call;
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
}

function feedFill(call: ServerCall, n: string, shape: readonly number[], part: FilledPart, fill: Fill): void {
  const { kind, key, numbers, quantiles } = fillInputs(fill);
  call.feed(`${n}/shape`, Int32Array.from(shape), [2]);
  call.feed(`${n}/part`, Int32Array.of(part.firstRow, part.rowStep, part.firstColumn), [3]);
  call.feed(`${n}/kind`, Int32Array.of(kind), []);
  call.feed(`${n}/key`, key, [key.length]);
  call.feed(`${n}/numbers`, numbers, [numbers.length]);
  call.feed(`${n}/quantiles`, quantiles, [quantiles.length]);
}
