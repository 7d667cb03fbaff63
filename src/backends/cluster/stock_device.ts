/**
 * A device that is a TensorFlow server without our ops: the rows that a command needs come here, and go back where they
 * are changed. Slower, as rows travel; steps of several clients at the same time would lose updates.
 */
import type { NodeMessage } from '../../base/protobuf/graph_messages.js';
import type { FilledPart } from '../counter_random.js';
import type { BagsAt, Command } from '../devices/device.js';
import { DeviceProgram } from '../devices/device_program.js';
import { Operands, type PartOfBags } from '../devices/operands.js';
import { fillPart, type Fill } from '../fill.js';
import { kernelSet } from '../registry.js';
import { unpackHyper } from '../../rules/hyper.js';
import { stepsIdleRows } from '../../rules/rules.js';
import { madeOnce } from './made_once.js';
import { ServerCall } from './server_call.js';
import { attribute, constant, FLOAT, INT32, node, OF_FLOATS, placeholder } from './server_graph.js';
import type { ServerSession } from './server_session.js';
import { SessionDevice, type SessionDeviceParts } from './session_device.js';
import { ownerOf, type CallGroups, type ServerVariable, type VariableValues } from './variables.js';

/** Floats of one message with rows. */
const MESSAGE_FLOATS = 2 ** 20;

const OF_ROWS = { dtype: attribute.type(FLOAT), Tindices: attribute.type(INT32) };

/** Reads and writes rows of variables by ops of TensorFlow. */
class Rows {
  constructor(private readonly session: ServerSession) {}

  /** Takes some rows of several variables in one call. */
  read(variables: readonly ServerVariable[], rows: Int32Array): Float32Array[] {
    const call = new ServerCall();
    const found = variables.map((): Float32Array => new Float32Array(0));
    variables.forEach(({ node: n, columns, gate }, i) => {
      const read = this.session.graph.once(`gather ${n}`, (m) => [
        placeholder(`${m}/rows`, INT32),
        ...(gate === null ? [] : [gate.before(m)]),
        node(m, 'ResourceGather', [n, `${m}/rows`, ...(gate === null ? [] : [`^${m}/open`])], OF_ROWS),
        ...(gate?.after(m, [m]) ?? []),
      ]);
      gate?.use(call);
      if (gate !== null) call.target(`${read}/still`);
      call.feed(`${read}/rows`, rows, [rows.length]);
      call.fetch(read, (values: Float32Array) => (found[i] = values), new Float32Array(rows.length * columns));
    });
    this.session.call(call);
    return found;
  }

  /** The call that writes some rows of a variable. */
  write(call: ServerCall, variable: ServerVariable, rows: Int32Array, values: Float32Array): void {
    const { node: n, columns, gate, known } = variable;
    const write = this.session.graph.once(`scatter ${n}`, (m) => {
      const nodes = [
        placeholder(`${m}/rows`, INT32),
        placeholder(`${m}/values`, FLOAT),
        node(m, 'ResourceScatterUpdate', [n, `${m}/rows`, `${m}/values`], OF_ROWS),
      ];
      return gate === null ? nodes : gate.alone(m, ownerOf(known!), nodes);
    });
    gate?.use(call);
    if (gate !== null) call.target(`${write}/freed`);
    call.feed(`${write}/rows`, rows, [rows.length]);
    call.feed(`${write}/values`, values, [rows.length, columns]);
    call.target(write);
  }
}

/** First values that are made here and sent. */
export class FilledFromHere implements VariableValues {
  constructor(
    private readonly session: ServerSession,
    private readonly container: string,
  ) {}

  *fill(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): CallGroups {
    const { node: n, rows, columns } = variable;
    if (fill.kind === 'constant') return yield [this.constant(variable, fill.value, isOnce)];
    yield [this.constant(variable, 0, isOnce)];
    const m = this.session.graph.once(`fill ${n}`, (name) => [
      placeholder(`${name}/rows`, INT32),
      placeholder(`${name}/values`, FLOAT),
      node(name, 'ResourceScatterUpdate', [n, `${name}/rows`, `${name}/values`], OF_ROWS),
    ]);
    const most = Math.max(1, Math.floor(MESSAGE_FLOATS / columns));
    for (let from = 0; from < rows; from += most) {
      const count = Math.min(most, rows - from);
      const values = new Float32Array(count * columns);
      fillPart(values, { ...part, firstRow: part.firstRow + part.rowStep * from, rows: count }, fill);
      const call = new ServerCall();
      call.feed(`${m}/rows`, rangeOf(from, count), [count]);
      call.feed(`${m}/values`, values, [count, columns]);
      call.target(m);
      yield [call];
    }
  }

  /** All numbers are one. */
  private constant(variable: ServerVariable, value: number, isOnce: boolean): ServerCall {
    const { node: n, rows, columns } = variable;
    const filled = (of: string, shape: string, m: string): NodeMessage =>
      node(of, 'Fill', [shape, `${m}/value`], { T: attribute.type(FLOAT), index_type: attribute.type(INT32) });
    const m = this.session.graph.once(`constant ${n}`, (name) => [
      constant(`${name}/shape`, INT32, [2], Int32Array.of(rows, columns)),
      placeholder(`${name}/value`, FLOAT),
      filled(`${name}/values`, `${name}/shape`, name),
      node(name, 'AssignVariableOp', [n, `${name}/values`], OF_FLOATS),
      ...madeOnce(variable, this.container, name, (of, shape) => [filled(of, shape, name)]),
    ]);
    const call = new ServerCall();
    call.feed(`${m}/value`, Float32Array.of(value), []);
    call.target(isOnce ? `${m}/once` : m);
    return call;
  }

  copy({ node: n }: ServerVariable, from: ServerVariable): ServerCall {
    const call = new ServerCall();
    call.target(
      this.session.graph.once(`copy ${from.node} ${n}`, (m) => [
        node(m, 'AssignVariableOp', [n, from.values], OF_FLOATS),
      ]),
    );
    return call;
  }
}

/** Operands whose ids are numbers of the rows that came here. */
class LocalOperands extends Operands {
  /** The rows that are here, ascending; null: ids are as they were given. */
  rows: Int32Array | null = null;

  override bags(given: BagsAt): PartOfBags {
    const bags = super.bags(given);
    if (this.rows === null) return bags;
    const { rows } = this;
    const values = bags.values.map((id) => placeOf(rows, id));
    return { ...bags, values };
  }
}

export class StockDevice extends SessionDevice {
  private readonly operands: LocalOperands;
  private readonly program: DeviceProgram;
  private readonly rows: Rows;

  constructor(private readonly parts: SessionDeviceParts) {
    super(parts);
    this.operands = new LocalOperands(() => parts.exchange, parts.sharing);
    this.program = new DeviceProgram(kernelSet(), this.operands);
    this.rows = new Rows(parts.session);
  }

  post(commands: readonly Command[]): void {
    this.checkFault();
    try {
      for (const command of commands) this.run(command);
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  finish(): void {
    this.checkFault();
  }

  async close(): Promise<void> {
    await this.leave();
    this.session.close();
    this.program.close();
  }

  private run(command: Command): void {
    const { variables, session } = this.parts;
    switch (command.op) {
      case 'allocate':
        for (const calls of variables.allocate(command.buffer, command.part, command.fill, command.known)) {
          for (const call of calls) session.call(call);
        }
        return;
      case 'free': {
        const call = variables.free(command.buffer);
        if (call !== null) session.call(call);
        return;
      }
      case 'copy':
        return session.call(variables.copy(command.buffer, command.from));
      case 'copyShared':
        return this.program.run(command);
      case 'read':
      case 'write': {
        const { rows, table } = command;
        if (command.op === 'read') this.reading(table.buffer);
        else this.changed(table.buffer);
        const first =
          'firstRow' in command
            ? rangeOf(command.firstRow, rows)
            : this.parts.exchange.ints.slice(command.ids, command.ids + rows);
        const local = { ...command, table: { ...table, rows }, firstRow: 0, rows };
        return this.withRows(first, [table.buffer], command.op === 'write', () => this.program.run(local));
      }
      case 'lookUp':
        if (!('buffer' in command.table)) return this.program.run(command);
        this.onRows(command, command.table.buffer, [], [command.bags], false);
        return;
      case 'weightsGradient':
        this.onRows(command, command.table.buffer, [], [command.bags], false);
        return;
      case 'rowGradients':
        return this.rowGradients(command);
      case 'step': {
        this.changed(command.table.buffer);
        const bags = command.entries.map((entry) => entry.bags);
        this.onRows(command, command.table.buffer, command.slots, bags, movesIdleRows(command));
        return;
      }
    }
  }

  private changed(buffer: number): void {
    const call = this.changing(buffer);
    if (call !== null) this.session.call(call);
  }

  /** Runs a command on the rows of its ids, or on all of them; returns their numbers. */
  private onRows(
    command: Extract<Command, { op: 'lookUp' | 'weightsGradient' | 'rowGradients' | 'step' }>,
    buffer: number,
    slots: readonly number[],
    bags: readonly BagsAt[],
    needsAll: boolean,
  ): Int32Array {
    this.reading(buffer);
    const { rows } = this.parts.variables.of(buffer);
    const ids = needsAll ? rangeOf(0, rows) : this.idsOf(bags, rows);
    const local = { ...command, table: { ...command.table, rows: ids.length } } as Command;
    this.withRows(ids, [buffer, ...slots], command.op === 'step', () => {
      this.operands.rows = ids;
      try {
        this.program.run(local);
      } finally {
        this.operands.rows = null;
      }
    });
    return ids;
  }

  private rowGradients(command: Extract<Command, { op: 'rowGradients' }>): void {
    const { table, entries, out } = command;
    const bags = entries.map((entry) => entry.bags);
    const ids = this.onRows(command, table.buffer, [], bags, false);
    const { ints } = this.parts.exchange;
    for (let i = out + 1; i <= out + ints[out]!; i++) ints[i] = ids[ints[i]!]!;
  }

  /** The distinct rows that some bags name, ascending. */
  private idsOf(bags: readonly BagsAt[], rows: number): Int32Array {
    this.operands.scratch.reset();
    const found = new Set<number>();
    for (const each of bags) for (const id of this.operands.bags(each).values) if (id >= 0 && id < rows) found.add(id);
    return Int32Array.from(found).sort();
  }

  /** Has these rows of buffers here while `work` runs, and sends them back where they are changed. */
  private withRows(rows: Int32Array, buffers: readonly number[], isChanged: boolean, work: () => void): void {
    const variables = buffers.map((buffer) => this.parts.variables.of(buffer));
    const views = variables.map(({ columns }, i) => this.program.hold(buffers[i]!, rows.length * columns));
    try {
      if (rows.length > 0) this.rows.read(variables, rows).forEach((values, i) => views[i]!.view().set(values));
      work();
      if (!isChanged || rows.length === 0) return;
      const call = new ServerCall();
      variables.forEach((variable, i) => this.rows.write(call, variable, rows, views[i]!.view()));
      this.session.call(call);
    } finally {
      for (const buffer of buffers) this.program.run({ op: 'free', buffer });
    }
  }
}

function rangeOf(first: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => first + i);
}

/** The place of an id among ascending rows; -1: it is none of them, as it is outside the table. */
function placeOf(rows: Int32Array, id: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return rows[low] === id ? low : -1;
}

/** Whether a step changes rows that it has no gradient for. */
function movesIdleRows({ optimizer, hyper }: Extract<Command, { op: 'step' }>): boolean {
  return stepsIdleRows(optimizer, unpackHyper(hyper));
}
