/** The record of a name on one server: a text, which is replaced only where it is still what the client knows. */
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import { ServerCall } from '../server_call.js';
import { attribute, node, placeholder, STRING } from '../server_graph.js';
import type { ServerSession } from '../server_session.js';
import { constantText, Gate } from './gate.js';
import { gateOf, readRecord, writeRecord, type NameRecord } from './name_record.js';

const OF_TEXT = { dtype: attribute.type(STRING) };
const TEXTS = { T: attribute.type(STRING) };
const TWO_TEXTS = { ...TEXTS, N: attribute.int(2) };

/** What a record becomes; null: it stays. */
export type Change = (record: NameRecord | null) => NameRecord | null;

export class RecordStore {
  readonly gate: Gate;
  /** As it was last seen or written; '': there is none. */
  private text = '';

  constructor(
    readonly session: ServerSession,
    container: string,
  ) {
    this.gate = new Gate(session, container);
  }

  /** As it was last seen or written. */
  get known(): NameRecord | null {
    return readRecord(this.text);
  }

  /** As it is on the server now. */
  read(): NameRecord | null {
    this.session.call(this.reading());
    return this.known;
  }

  /** The same while JavaScript goes on. */
  async readLater(timeoutMs: number): Promise<void> {
    const call = this.reading();
    this.session.start([call], call, timeoutMs);
    await this.session.finishLater(call);
  }

  /** Changes it, whoever else does at the same time; what stays was read. Returns what it is then. */
  update(change: Change): NameRecord | null {
    for (let isFresh = false; ; isFresh = true) {
      let next: NameRecord | null;
      try {
        next = change(this.known);
      } catch (error) {
        if (isFresh) throw error;
        next = null; // What is known may be old.
      }
      if (next === null) {
        if (isFresh) return this.known;
        this.read();
        continue;
      }
      const call = this.swapping(next);
      const wanted = this.text;
      this.session.call(call);
      if (this.text === wanted) return next;
    }
  }

  /** A text that the server has made for itself: two addresses with one text are one server. */
  identity(): string {
    let found = '';
    const n = this.session.graph.once('identity', (m) => {
      const of = { container: attribute.text('tfjs-embeddings-record'), shared_name: attribute.text('~identity') };
      return [
        node(m, 'VarHandleOp', [], { ...of, dtype: attribute.type(STRING), shape: attribute.shape([]) }),
        placeholder(`${m}/none`, STRING),
        node(`${m}/mutex`, 'MutexV2', [], { ...of, shared_name: attribute.text('~identity~mutex') }),
        node(`${m}/lock`, 'MutexLock', [`${m}/mutex`]),
        node(`${m}/there`, 'VarIsInitializedOp', [m, `^${m}/lock`]),
        node(`${m}/branch`, 'Switch', [`${m}/none`, `${m}/there`], TEXTS),
        node(`${m}/assign`, 'AssignVariableOp', [m, `${m}/branch`], OF_TEXT),
        node(`${m}/made`, 'Identity', [`${m}/branch`, `^${m}/assign`], TEXTS),
        node(`${m}/is`, 'Identity', [`${m}/branch:1`], TEXTS),
        node(`${m}/read`, 'ReadVariableOp', [m, `^${m}/is`], OF_TEXT),
        node(`${m}/text`, 'Merge', [`${m}/made`, `${m}/read`], TWO_TEXTS),
        node(`${m}/freed`, 'ConsumeMutexLock', [`${m}/lock`, `^${m}/text`]),
      ];
    });
    const call = new ServerCall();
    call.feed(`${n}/none`, [randomText()], []);
    call.fetch(`${n}/text`, ([text]: readonly string[]) => (found = text!));
    call.target(`${n}/freed`);
    this.session.call(call);
    return found;
  }

  private reading(): ServerCall {
    const call = new ServerCall();
    call.fetch(`${this.nodes}/current`, ([text]: readonly string[]) => (this.text = text!));
    return call;
  }

  /** The call that replaces what is known, where that is what is there; afterwards `text` is what is there. */
  swapping(next: NameRecord): ServerCall {
    const n = this.nodes;
    const call = new ServerCall();
    const [expected, wanted] = [this.text, writeRecord(next)];
    call.feed(`${n}/expected`, [expected], []);
    call.feed(`${n}/wanted`, [wanted], []);
    call.feed(`${n}/gate`, [gateOf(next)], []);
    call.fetch(`${n}/before`, ([text]: readonly string[]) => {
      if (text !== expected) this.text = text!;
    });
    call.target(`${n}/freed`);
    // The next change begins from here, before this one has been answered.
    this.text = wanted;
    return call;
  }

  private get nodes(): string {
    const gate = this.gate.variable;
    return this.session.graph.once('record', (n) => [
      node(n, 'VarHandleOp', [], {
        container: attribute.text(this.gate.container),
        shared_name: attribute.text('~record'),
        dtype: attribute.type(STRING),
        shape: attribute.shape([]),
      }),
      constantText(`${n}/none`, ''),
      ...['expected', 'wanted', 'gate'].map((feed) => placeholder(`${n}/${feed}`, STRING)),
      ...current(n, `${n}/current`, []),
      // Under a lock: what is there, and what replaces it.
      this.gate.mutex(`${n}/mutex`, '~record~mutex'),
      node(`${n}/lock`, 'MutexLock', [`${n}/mutex`]),
      ...current(n, `${n}/before`, [`^${n}/lock`]),
      node(`${n}/same`, 'Equal', [`${n}/before`, `${n}/expected`], TEXTS),
      node(`${n}/text`, 'Switch', [`${n}/wanted`, `${n}/same`], TEXTS),
      node(`${n}/opened`, 'Switch', [`${n}/gate`, `${n}/same`], TEXTS),
      node(`${n}/written`, 'AssignVariableOp', [n, `${n}/text:1`], OF_TEXT),
      node(`${n}/gated`, 'AssignVariableOp', [gate, `${n}/opened:1`], OF_TEXT),
      node(`${n}/swapped`, 'Identity', [`${n}/text:1`, `^${n}/written`, `^${n}/gated`], TEXTS),
      node(`${n}/either`, 'Merge', [`${n}/text`, `${n}/swapped`], TWO_TEXTS),
      node(`${n}/freed`, 'ConsumeMutexLock', [`${n}/lock`, `^${n}/either`]),
    ]);
  }
}

function randomText(): string {
  return globalThis.crypto.randomUUID();
}

/** The record, or '' where there is none. */
function current(n: string, m: string, waits: readonly string[]): NodeMessage[] {
  return [
    node(`${m}/there`, 'VarIsInitializedOp', [n, ...waits]),
    node(`${m}/branch`, 'Switch', [`${n}/none`, `${m}/there`], TEXTS),
    node(`${m}/is`, 'Identity', [`${m}/branch:1`], TEXTS),
    node(`${m}/read`, 'ReadVariableOp', [n, `^${m}/is`], OF_TEXT),
    node(m, 'Merge', [`${m}/branch`, `${m}/read`], TWO_TEXTS),
  ];
}
