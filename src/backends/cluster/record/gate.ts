/**
 * The gate of a name on a server: a text that says which generation of tables may be used. Calls say which one they
 * expect. What only reads is asked before and after it, what changes a table before it and under the table's lock: tables
 * that are restored or replaced are thus never read in part, and never changed by who does not know of it.
 */
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import type { ServerCall } from '../server_call.js';
import { attribute, node, placeholder, STRING } from '../server_graph.js';
import type { ServerSession } from '../server_session.js';

const OF_TEXT = { dtype: attribute.type(STRING) };
const TEXTS = { T: attribute.type(STRING) };
/** The error of a call that was refused holds it. */
export const REFUSED = 'tfjs-embeddings gate';

export class Gate {
  /** What this client expects. */
  expected = '';

  constructor(
    private readonly session: ServerSession,
    /** The container of records. */
    readonly container: string,
  ) {}

  /** The variable of the gate. */
  get variable(): string {
    return this.session.graph.once('gate', (n) => [
      node(n, 'VarHandleOp', [], {
        container: attribute.text(this.container),
        shared_name: attribute.text('~gate'),
        dtype: attribute.type(STRING),
        shape: attribute.shape([]),
      }),
      placeholder(`${n}/expected`, STRING),
      constantText(`${n}/mark`, REFUSED),
      ...this.question(n, n),
    ]);
  }

  /** A node `m/open`, which what reads has for a control input. */
  before(m: string): NodeMessage {
    return node(`${m}/open`, 'Identity', [`${this.variable}/open`], TEXTS);
  }

  /** Says what a call expects. */
  use(call: ServerCall): void {
    if (call.isGuarded) return;
    call.isGuarded = true;
    call.feed(`${this.variable}/expected`, [this.expected], []);
  }

  /** Nodes that ask once more when `nodes` have run: `m/still`, which the call has for a target. */
  after(m: string, nodes: readonly string[]): NodeMessage[] {
    return this.question(this.variable, m, 'still', nodes);
  }

  /** The node `m` among `nodes` runs alone on its table, and only where the gate is as it is expected; target `m/freed`. */
  alone(m: string, table: string, nodes: readonly NodeMessage[]): NodeMessage[] {
    return [
      ...nodes.map((each) => (each.name === m ? { ...each, input: [...(each.input ?? []), `^${m}/go`] } : each)),
      this.mutex(`${m}/mutex`, `${table}~mutex`),
      node(`${m}/lock`, 'MutexLock', [`${m}/mutex`]),
      ...this.question(this.variable, m, 'go', [`${m}/lock`]),
      node(`${m}/freed`, 'ConsumeMutexLock', [`${m}/lock`, `^${m}`]),
    ];
  }

  mutex(name: string, shared: string): NodeMessage {
    return node(name, 'MutexV2', [], {
      container: attribute.text(this.container),
      shared_name: attribute.text(shared),
    });
  }

  private question(gate: string, m: string, name = 'open', waits: readonly string[] = []): NodeMessage[] {
    const of = `${m}/${name}`;
    return [
      node(`${of}/text`, 'ReadVariableOp', [gate, ...waits.map((each) => `^${each}`)], OF_TEXT),
      node(`${of}/same`, 'Equal', [`${of}/text`, `${gate}/expected`], TEXTS),
      node(`${of}/right`, 'Assert', [`${of}/same`, `${gate}/mark`, `${of}/text`], {
        T: attribute.types([STRING, STRING]),
      }),
      node(of, 'Identity', [`${of}/text`, `^${of}/right`], TEXTS),
    ];
  }
}

/** A text as part of the graph. */
export function constantText(name: string, text: string): NodeMessage {
  const tensor = { dtype: STRING, shape: { dim: [] }, strings: [new TextEncoder().encode(text)] };
  return node(name, 'Const', [], { ...OF_TEXT, value: { tensor } });
}
