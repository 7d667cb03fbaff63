/** A device that is a TensorFlow server with our ops: a list of commands is a call, or few. */
import { RuntimeError, described } from '../../base/errors.js';
import type { NodeMessage } from '../../base/protobuf/graph_messages.js';
import {
  runCommand,
  type Command,
  type CommandOf,
  type Commands,
  type EntryAt,
  type ExchangedTableAt,
  type TableAt,
} from '../devices/device.js';
import { DistinctIds } from '../devices/distinct_ids.js';
import { Operands, useForm, type RowGradients, type UseForm } from '../devices/operands.js';
import { firstOutOfRange, type BagOptions, type HostBags } from '../kernel_set.js';
import { quantize } from '../quantize.js';
import { CommandNodes } from './command_nodes.js';
import { ServerCall } from './server_call.js';
import { ServerError } from './server_session.js';
import { SessionDevice, type SessionDeviceParts } from './session_device.js';
import { ownerOf, type ServerVariable } from './variables.js';

/** Bytes of a call of lookups, beyond which the next one begins: messages of this size overlap best. */
const LOOKUP_BYTES = 1.5 * 2 ** 20;
/** Bytes of a call of steps, up to which lookups join it. */
const JOINT_BYTES = 8 * 2 ** 20;
/** A little less than what protocol buffers can hold. */
const MOST_BYTES = 2 ** 31 - 2 ** 20;

/** Commands of one of these kinds that are posted together run at the same time; others wait for those before them. */
const TOGETHER: ReadonlySet<Command['op']> = new Set([
  'allocate',
  'free',
  'read',
  'write',
  'lookUp',
  'rowGradients',
  'step',
]);

interface ServerDeviceParts extends SessionDeviceParts {
  /** Pooled rows and gradients travel as float16. */
  readonly isHalf: boolean;
}

export class ServerDevice extends SessionDevice implements Commands {
  private readonly operands: Operands;
  private readonly nodes: CommandNodes;
  private readonly distinct = new DistinctIds();
  /** Of the commands that are being collected. */
  private calls: ServerCall[] = [];
  /** How often nodes of each kind are in use in them. */
  private readonly uses = new Map<string, number>();
  private isIdle = true;

  constructor(private readonly parts: ServerDeviceParts) {
    super(parts);
    this.operands = new Operands(() => parts.exchange, parts.sharing);
    this.nodes = new CommandNodes(parts.isHalf);
  }

  post(commands: readonly Command[]): void {
    this.checkFault();
    if (this.isIdle) this.operands.scratch.reset();
    this.isIdle = false;
    let before: Command['op'] | null = null;
    try {
      for (const command of commands) {
        if (command.op !== before || !TOGETHER.has(command.op)) this.start();
        before = command.op;
        runCommand(this, command);
      }
      this.start();
    } catch (error) {
      throw this.faultOf(error);
    } finally {
      this.calls = [];
    }
  }

  finish(): void {
    this.checkFault();
    this.isIdle = true;
    try {
      this.session.finish(this);
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  /** Waits for what was started, whatever became of it: nobody asks for it any more. */
  drain(): void {
    try {
      this.session.finish(this);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
    }
  }

  /** Ends when steps that are under way have ended, as tables may outlive it. */
  async close(): Promise<void> {
    await this.leave();
    this.session.close();
    this.operands.close();
  }

  /** Starts what was collected. */
  private start(): void {
    const { calls } = this;
    this.calls = [];
    this.uses.clear();
    this.session.start(calls, this);
  }

  allocate({ buffer, part, fill, known }: CommandOf<'allocate'>): void {
    for (const calls of this.variables.allocate(buffer, part, fill, known)) {
      this.start();
      this.calls.push(...calls);
    }
  }

  free({ buffer }: CommandOf<'free'>): void {
    this.addCall(this.variables.free(buffer));
  }

  copy({ buffer, from }: CommandOf<'copy'>): void {
    this.addCall(this.variables.copy(buffer, from));
  }

  private addCall(call: ServerCall | null): void {
    if (call !== null) this.calls.push(call);
  }

  /** The call that is being filled; a new one where it is that large already. */
  private call(most: number): ServerCall {
    const last = this.calls.at(-1);
    if (last !== undefined && last.size < most) return last;
    const call = new ServerCall();
    this.calls.push(call);
    return call;
  }

  /** Nodes of a kind: one set of them for each use at a time, as a place takes one value in a call. */
  private nodesOf(key: string, make: (name: string) => ReturnType<CommandNodes['read']>): string {
    const use = this.uses.get(key) ?? 0;
    this.uses.set(key, use + 1);
    return this.session.graph.once(`${key} #${use}`, make);
  }

  private table(table: TableAt | ExchangedTableAt): ServerVariable {
    if (!('buffer' in table)) throw onlyStacks('a lookup in the exchange memory');
    this.reading(table.buffer);
    return this.variables.of(table.buffer);
  }

  /** Nodes that read a table; where others know it they ask before and after whether it is the one that is meant. */
  private readingNodes(key: string, { gate }: ServerVariable, make: (name: string) => NodeMessage[]): string {
    if (gate === null) return this.nodesOf(key, make);
    return this.nodesOf(key, (name) => [...make(name), ...gate.after(name, [name])]);
  }

  private guard(call: ServerCall, n: string, { gate }: ServerVariable, node = 'still'): void {
    if (gate === null) return;
    gate.use(call);
    call.target(`${n}/${node}`);
  }

  /** Starts what says that a table changes, before what changes it. */
  private change(buffer: number): void {
    const call = this.changing(buffer);
    if (call !== null) this.session.start([call], this);
  }

  read(command: CommandOf<'read' | 'write'>): void {
    const { table, rows, where } = command;
    if (!('firstRow' in command)) throw onlyStacks('rows by their numbers');
    const of = this.table(table);
    const n = this.readingNodes(`read ${of.values}`, of, (name) => this.nodes.read(name, of));
    const call = this.call(LOOKUP_BYTES);
    this.guard(call, n, of);
    call.feed(`${n}/first`, Int32Array.of(command.firstRow), []);
    call.feed(`${n}/rows`, Int32Array.of(rows), []);
    const target = { ...where, sharedKey: null };
    const put = (values: Float32Array): void => this.operands.putRows(values, target, rows, table.dim);
    call.fetch(n, put, this.operands.room(target, rows, table.dim));
  }

  write(command: CommandOf<'read' | 'write'>): void {
    const { table, rows, where } = command;
    if (!('firstRow' in command)) throw onlyStacks('rows by their numbers');
    this.change(table.buffer);
    const of = this.variables.of(table.buffer);
    const n = this.nodesOf(`write ${of.values}`, (name) => aloneOn(of, name, this.nodes.write(name, of)));
    const written = new Float32Array(rows * table.dim);
    this.operands.copyRows({ ...where, sharedKey: null }, rows, table.dim, written);
    const call = this.call(LOOKUP_BYTES);
    call.feed(`${n}/rows`, written, [written.length]);
    call.feed(`${n}/first`, Int32Array.of(command.firstRow), []);
    call.target(n);
    this.guard(call, n, of, 'freed');
  }

  copyShared({ sharedKey, words, at }: CommandOf<'copyShared'>): void {
    const rows = { sharedKey, at: 0, stride: words };
    this.operands.copyRows(rows, 1, words, this.parts.exchange.floats.subarray(at, at + words));
  }

  lookUp({ table, bags, options, pooled, distinct, quantization }: CommandOf<'lookUp'>): void {
    const host = this.operands.bags(bags);
    const count = host.rowSplits.length - 1;
    if (distinct !== null) {
      // The caller, who gave an id, is at fault for it, not the server.
      const outside = firstOutOfRange(host.values, table.rows, options);
      const { ints } = this.parts.exchange;
      ints[distinct] =
        outside === null ? this.distinct.count(host.values, table.rows) : -1 - (host.first + outside.position);
      if (outside !== null) return;
    }
    if (count * table.dim === 0) return;
    const bytes = 4 * (count * (table.dim + 1) + 2 * host.values.length);
    checkSize(bytes);
    const of = this.table(table);
    const use = { options, isWeighted: host.weights !== null, ofRows: false };
    const { joint } = this.session;
    const isJoint = joint !== null && joint.size + bytes <= JOINT_BYTES;
    const after = isJoint ? (joint.steps.get(of.values) ?? null) : null;
    const key = `bag ${of.values} ${keyOf(use)} after ${after}`;
    const n = this.readingNodes(key, of, (name) => this.nodes.lookup(name, of, use, after));
    const call = isJoint ? joint : this.call(LOOKUP_BYTES);
    this.guard(call, n, of);
    this.feedBags(call, n, host);
    const put = (values: Float32Array): void => {
      if (quantization !== null) quantize(values, quantization);
      this.operands.putRows(values, pooled, count, table.dim);
    };
    const room = this.operands.room(pooled, count, table.dim);
    call.fetch(this.nodes.pooledOf(n), put, room, this.parts.isHalf);
  }

  weightsGradient({ table, bags, options, gradient, out }: CommandOf<'weightsGradient'>): void {
    const host = this.operands.bags(bags);
    if (host.values.length === 0) return;
    const of = this.table(table);
    const use = { options, isWeighted: true, ofRows: false };
    const key = `weights ${of.values} ${keyOf(use)}`;
    const n = this.readingNodes(key, of, (name) => this.nodes.weightsGradient(name, of, use));
    const call = this.call(LOOKUP_BYTES);
    this.guard(call, n, of);
    this.feedUse(call, n, host, this.operands.compact(gradient, host, table.dim), table.dim);
    const into = this.parts.exchange.floats.subarray(out, out + host.values.length);
    call.fetch(n, () => undefined, into);
  }

  rowGradients({ table, entries, room, out }: CommandOf<'rowGradients'>): void {
    const { dim } = table;
    const call = this.call(Infinity);
    const found = entries.map((entry) => this.rowsOf(call, table, entry));
    call.after(() => this.operands.putRowGradients(found, dim, room, out));
  }

  /** The gradient of a use by row, which is there when the call has ended. */
  private rowsOf(call: ServerCall, table: TableAt, entry: EntryAt): RowGradients {
    const host = this.operands.bags(entry.bags);
    const gradients = this.operands.compact(entry.gradient, host, table.dim);
    const rows = { ids: host.values, gradients };
    if (entry.ofRows) return rows;
    const of = this.table(table);
    const use = useForm(entry, host);
    const n = this.nodesOf(`rows ${of.values} ${keyOf(use)}`, (name) => this.nodes.rowGradients(name, of, use));
    of.gate?.use(call);
    this.feedUse(call, n, host, gradients, table.dim);
    call.fetch(n, (ids: Int32Array) => (rows.ids = ids));
    call.fetch(this.nodes.gradientsOf(n), (values: Float32Array) => (rows.gradients = values), null, this.parts.isHalf);
    return rows;
  }

  /** Several uses of a table make one step, over the sum of their gradients. */
  step({ optimizer, table, slots, entries, hyper, order }: CommandOf<'step'>): void {
    this.change(table.buffer);
    if (order !== null) throw onlyStacks('a step for each occurrence');
    const parts = entries.map(({ bags }) => this.operands.bags(bags));
    const tables = [table.buffer, ...slots].map((buffer) => this.variables.of(buffer));
    const uses = entries.map((entry, i) => useForm(entry, parts[i]!));
    const key = `step ${optimizer} ${tables.map(({ values }) => values).join()} ${uses.map(keyOf).join()}`;
    const [of] = tables as [ServerVariable];
    const n = this.nodesOf(key, (name) => aloneOn(of, name, this.nodes.step(name, optimizer, tables, uses)));
    const call = this.call(Infinity);
    parts.forEach((host, i) => {
      this.feedUse(call, `${n}/${i}`, host, this.operands.compact(entries[i]!.gradient, host, table.dim), table.dim);
    });
    call.feed(`${n}/hyper`, Float32Array.from(hyper), [hyper.length]);
    call.target(n);
    this.guard(call, n, of, 'freed');
    call.steps.set(tables[0]!.values, n);
    checkSize(call.size);
  }

  private feedBags(call: ServerCall, n: string, { values, rowSplits, weights }: HostBags): void {
    call.feed(`${n}/values`, values, [values.length]);
    call.feed(`${n}/splits`, rowSplits, [rowSplits.length]);
    if (weights !== null) call.feed(`${n}/weights`, weights, [weights.length]);
  }

  private feedUse(call: ServerCall, n: string, host: HostBags, gradient: Float32Array, dim: number): void {
    this.feedBags(call, n, host);
    call.feed(`${n}/gradient`, gradient, [host.rowSplits.length - 1, dim], this.parts.isHalf);
  }
}

/** Where others know a table, what changes it runs alone on it. */
function aloneOn({ gate, known }: ServerVariable, name: string, nodes: NodeMessage[]): NodeMessage[] {
  return gate === null ? nodes : gate.alone(name, ownerOf(known!), nodes);
}

function keyOf({ options, isWeighted, ofRows }: UseForm): string {
  const { combiner, outOfRange, maxNorm }: BagOptions = options;
  return `${combiner} ${outOfRange} ${maxNorm} ${isWeighted ? 'weighted' : ''} ${ofRows ? 'rows' : ''}`;
}

function checkSize(bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  const note = 'Use smaller batches, or more servers.';
  throw new RuntimeError('batch', `a message of at most ${MOST_BYTES} bytes to a server`, described(`${bytes}`), note);
}

/** Stacks of SparseCores lie on the emulator alone. */
function onlyStacks(what: string): RuntimeError {
  return new RuntimeError('command', 'a command of layers of embeddings', described(what));
}
