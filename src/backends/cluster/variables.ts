/** The buffers of a device as variables on its server, under names that other clients find. */
import { RuntimeError, described } from '../../base/errors.js';
import type { NodeMessage } from '../../base/protobuf/graph_messages.js';
import type { BufferName } from '../devices/device.js';
import type { FilledPart } from '../counter_random.js';
import type { Fill } from '../fill.js';
import { readOnlyError } from './read_only.js';
import type { Membership, Part } from './record/membership.js';
import type { Gate } from './record/gate.js';
import type { TableEntry } from './record/name_record.js';
import { ServerCall } from './server_call.js';
import { attribute, FLOAT, INT32, node, OF_FLOATS, type ServerGraph } from './server_graph.js';
import type { ServerSession } from './server_session.js';

/** A buffer on the server. */
export interface ServerVariable {
  /** Its first node. */
  readonly node: string;
  /** Its values, as nodes read them: the memory of the variable, not a copy. */
  readonly values: string;
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** What other clients know it by; null: it is this client's alone. */
  readonly known: BufferName | null;
  /** Which generation of it may be used; null: it is this client's alone. */
  readonly gate: Gate | null;
}

/** The table that a variable is, or is a slot of. */
export function ownerOf({ slotOf, table }: BufferName): string {
  return slotOf ?? table;
}

/** Where variables are. */
export interface VariablesPlace {
  readonly device: number;
  /** Tables of one name belong together; clients of other containers do not see them. */
  readonly container: string;
  readonly membership: Membership;
}

/** How variables get their values on a kind of server. */
export interface VariableValues {
  /**
   * The calls that give a variable its first values, one after the other; `isOnce`: only where it has none, whoever asks
   * for it at the same time.
   */
  fill(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): Iterable<readonly ServerCall[]>;
  /** Makes a variable a copy of another one. */
  copy(variable: ServerVariable, from: ServerVariable): ServerCall;
}

/** Groups of calls, one after the other. */
export type CallGroups = Iterable<readonly ServerCall[]>;

export class Variables {
  readonly membership: Membership;
  private readonly byBuffer = new Map<number, ServerVariable>();
  /** How many buffers are the same variable. */
  private readonly used = new Map<string, number>();
  private passing = 0;
  /** Names of nameless buffers that are free again, by size: the graph has nodes for them. */
  private readonly spare = new Map<string, string[]>();

  constructor(
    private readonly session: ServerSession,
    private readonly place: VariablesPlace,
    private readonly values: VariableValues,
  ) {
    this.membership = place.membership;
  }

  get gate(): Gate {
    return this.membership.stores[this.place.device]!.gate;
  }

  of(buffer: number): ServerVariable {
    const found = this.byBuffer.get(buffer);
    if (found !== undefined) return found;
    throw new RuntimeError('buffer', 'a buffer of this device', buffer);
  }

  /**
   * Makes a buffer, or finds it. Throws RuntimeError where it should be there and is not, ValueError where it should not.
   * Returns the calls that make it.
   */
  allocate(buffer: number, part: FilledPart, fill: Fill, known: BufferName | undefined): CallGroups {
    const { membership } = this;
    const { rows, columns } = part;
    const isTwice = known !== undefined && this.used.has(known.name);
    if (known === undefined || (isTwice && membership.makes)) {
      return this.values.fill(
        this.keep(buffer, this.passingName(rows, columns), rows, columns, null),
        part,
        fill,
        false,
      );
    }
    const { device } = this.place;
    const keep = (): ServerVariable => this.keep(buffer, known.name, rows, columns, known);
    if (known.slotOf !== null) return this.slot(keep, part, fill, known);
    if (!membership.makes) {
      if (!isTwice) membership.join(device, known, rows, columns);
      keep();
      return [];
    }
    membership.make(device, known, rows, columns);
    const made = membership.advance.bind(membership, device, known.table, 'made');
    return followedBy(this.values.fill(keep(), part, fill, false), made);
  }

  /** A slot that is there stays as it is, whoever made it. */
  private slot(keep: () => ServerVariable, part: FilledPart, fill: Fill, known: BufferName): CallGroups {
    const { membership, place } = this;
    const { rows, columns } = part;
    const found = membership.slotPart(place.device, known);
    if (found === null) {
      if (membership.mode === 'readOnly') throw readOnlyError();
      const variable = keep();
      // First, so that nobody finds a slot without values.
      for (const calls of this.values.fill(variable, part, fill, true))
        for (const call of calls) this.session.call(call);
      membership.addSlot(place.device, known, [rows, columns], fill.kind === 'constant' ? fill.value : null);
      return [];
    }
    if (found[0] !== rows || found[1] !== columns) {
      const received = described(`[${found.join(', ')}]`);
      throw new RuntimeError('tables', `a slot ${known.name}, [${rows}, ${columns}]`, received);
    }
    keep();
    return [];
  }

  private keep(buffer: number, name: string, rows: number, columns: number, known: BufferName | null): ServerVariable {
    const variable = this.declare(name, rows, columns, known);
    this.byBuffer.set(buffer, variable);
    this.used.set(name, (this.used.get(name) ?? 0) + 1);
    return variable;
  }

  /** Makes a buffer that is a copy of another one. */
  copy(buffer: number, from: number): ServerCall {
    const source = this.of(from);
    const { rows, columns } = source;
    const call = this.values.copy(this.keep(buffer, this.passingName(rows, columns), rows, columns, null), source);
    source.gate?.use(call);
    return call;
  }

  /** Forgets a buffer; null where its variable stays, because others use it. */
  free(buffer: number): ServerCall | null {
    const variable = this.byBuffer.get(buffer);
    if (variable === undefined) return null;
    const { known, name, rows, columns } = variable;
    this.byBuffer.delete(buffer);
    const count = this.used.get(name)! - 1;
    if (count > 0) this.used.set(name, count);
    else this.used.delete(name);
    if (count > 0) return null;
    if (known !== null) {
      const held = this.shared.flatMap((each) => (each.known!.slotOf === known.table ? [each.known!.table] : []));
      return this.destroying(this.membership.release(this.place.device, known, new Set(held)));
    }
    const size = `${rows} ${columns}`;
    this.spare.set(size, [...(this.spare.get(size) ?? []), name]);
    return this.destroying([[name, rows, columns]]);
  }

  private destroying(parts: readonly Part[]): ServerCall | null {
    return destroying(this.session, this.place.container, parts);
  }

  /** Shared variables that this client holds. */
  get shared(): ServerVariable[] {
    return [...new Map([...this.byBuffer.values()].map((each) => [each.name, each])).values()].filter(
      ({ known }) => known !== null,
    );
  }

  /** What the record of a server has to say of them, as far as this client knows. */
  entries(): Record<string, TableEntry> {
    const { client } = this.membership;
    const entries: Record<string, TableEntry> = {};
    const parts = (of: (known: BufferName) => boolean): Record<string, [number, number]> =>
      Object.fromEntries(
        this.shared.filter(({ known }) => of(known!)).map(({ name, rows, columns }) => [name, [rows, columns]]),
      );
    for (const { known } of this.shared) {
      const table = ownerOf(known!);
      const slots = this.shared.flatMap((each) => (each.known!.slotOf === table ? [each.known!] : []));
      entries[table] ??= {
        state: 'made',
        parts: parts((each) => each.table === table),
        slots: Object.fromEntries(
          slots.map(({ table: slot, columns }) => [
            slot,
            { columns, value: null, parts: parts((each) => each.table === slot) },
          ]),
        ),
        users: [client],
        isLeft: false,
        changedBy: null,
      };
    }
    return entries;
  }

  /** Makes those zeros that are not there, which nobody may use yet. */
  ensure(variables: readonly ServerVariable[]): void {
    const isThere: boolean[] = [];
    const call = new ServerCall();
    variables.forEach(({ node: n }, i) =>
      call.fetch(`${n}/there`, ([there]: Int32Array) => (isThere[i] = there === 1)),
    );
    this.session.call(call);
    const zeros = { kind: 'constant', value: 0 } as const;
    variables.forEach((variable, i) => {
      if (isThere[i]!) return;
      const { rows, columns } = variable;
      const part = { firstRow: 0, rowStep: 1, rows, firstColumn: 0, columns };
      for (const calls of this.values.fill(variable, part, zeros, true))
        for (const each of calls) this.session.call(each);
    });
  }

  /** The names of those that are not there. */
  lost(): string[] {
    const variables = [...new Map([...this.byBuffer.values()].map((each) => [each.name, each])).values()];
    const isThere: boolean[] = [];
    const call = new ServerCall();
    variables.forEach(({ node: n }, i) =>
      call.fetch(`${n}/there`, ([there]: Int32Array) => (isThere[i] = there === 1)),
    );
    this.session.call(call);
    return variables.filter((_, i) => !isThere[i]).map(({ name }) => name);
  }

  private passingName(rows: number, columns: number): string {
    return this.spare.get(`${rows} ${columns}`)?.pop() ?? `~${this.membership.client}/${this.passing++}`;
  }

  /** A variable under its name, whether it is there or not. */
  declare(name: string, rows: number, columns: number, known: BufferName | null): ServerVariable {
    const gate = known === null ? null : this.gate;
    const first = declared(this.session.graph, this.place.container, name, rows, columns, gate);
    return { node: first, values: `${first}/values`, name, rows, columns, known, gate };
  }
}

/** The call that takes variables off a server; null: there are none. */
export function destroying({ graph }: ServerSession, container: string, parts: readonly Part[]): ServerCall | null {
  if (parts.length === 0) return null;
  const call = new ServerCall();
  for (const [name, rows, columns] of parts) {
    call.target(`${declared(graph, container, name, rows, columns, null)}/destroy`);
  }
  return call;
}

function declared(
  graph: ServerGraph,
  container: string,
  name: string,
  rows: number,
  columns: number,
  gate: Gate | null,
): string {
  return graph.once(
    `variable ${name} ${rows} ${columns}${gate === null ? '' : ' behind the gate'}`,
    (n): NodeMessage[] => [
      node(n, 'VarHandleOp', [], {
        container: attribute.text(container),
        shared_name: attribute.text(name),
        dtype: attribute.type(FLOAT),
        shape: attribute.shape([rows, columns]),
      }),
      ...(gate === null ? [] : [gate.before(n)]),
      node(`${n}/values`, 'ReadVariableOp', gate === null ? [n] : [n, `^${n}/open`], OF_FLOATS),
      node(`${n}/initialized`, 'VarIsInitializedOp', [n]),
      node(`${n}/there`, 'Cast', [`${n}/initialized`], { SrcT: attribute.type(BOOL), DstT: attribute.type(INT32) }),
      node(`${n}/destroy`, 'DestroyResourceOp', [n], { ignore_lookup_error: attribute.flag(true) }),
    ],
  );
}

const BOOL = 10;

function* followedBy(groups: CallGroups, last: () => ServerCall | null): CallGroups {
  yield* groups;
  const call = last();
  if (call !== null) yield [call];
}
