/** The buffers of a device as variables on its server, under names that other clients find. */
import { RuntimeError, described } from '../../base/errors.js';
import type { BufferName } from '../devices/device.js';
import type { FilledPart } from '../counter_random.js';
import type { Fill } from '../fill.js';
import { ServerCall } from './server_call.js';
import { attribute, FLOAT, INT32, node, OF_FLOATS } from './server_graph.js';
import { ServerError, type ServerSession } from './server_session.js';

/**
 * `create`: tables are made; `attach`: they are there, and steps change them; `readOnly`: they are there and are looked
 * up.
 */
export type TablesMode = 'create' | 'attach' | 'readOnly';
export const TABLES_MODES: readonly TablesMode[] = ['create', 'attach', 'readOnly'];

/** A buffer on the server. */
export interface ServerVariable {
  /** Its first node. */
  readonly node: string;
  /** Its values, as nodes read them: the memory of the variable, not a copy. */
  readonly values: string;
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** Whether it goes when nobody here needs it any more. */
  readonly isOwn: boolean;
}

/** Where variables are. */
export interface VariablesPlace {
  /** Tables of one name belong together; clients of other containers do not see them. */
  readonly container: string;
  readonly mode: TablesMode;
  /** Tells the nameless buffers of this client from those of others. */
  readonly client: string;
}

/** How variables get their values on a kind of server. */
export interface VariableValues {
  /** Calls that give a variable its first values; `isOnce`: only where it has none, whoever asks for it at the same time. */
  fill(variable: ServerVariable, part: FilledPart, fill: Fill, isOnce: boolean): ServerCall[];
  /** Makes a variable a copy of another one. */
  copy(variable: ServerVariable, from: ServerVariable): ServerCall;
}

export class Variables {
  private readonly byBuffer = new Map<number, ServerVariable>();
  private readonly used = new Set<string>();
  private passing = 0;
  /** Names of nameless buffers that are free again, by size: the graph has nodes for them. */
  private readonly spare = new Map<string, string[]>();

  constructor(
    private readonly session: ServerSession,
    private readonly place: VariablesPlace,
    private readonly values: VariableValues,
  ) {}

  of(buffer: number): ServerVariable {
    const found = this.byBuffer.get(buffer);
    if (found !== undefined) return found;
    throw new RuntimeError('buffer', 'a buffer of this device', buffer);
  }

  /**
   * Makes a buffer, or finds it. Throws RuntimeError where it should be there and is not. Returns the calls that make it.
   */
  allocate(buffer: number, part: FilledPart, fill: Fill, known: BufferName | undefined): ServerCall[] {
    const isShared = known !== undefined && !this.used.has(known.name);
    const name = isShared ? known.name : this.passingName(part.rows, part.columns);
    const isThere = isShared && this.place.mode !== 'create' && !known.isMadeLate;
    const isOwn = !isShared || this.place.mode === 'create';
    const variable = this.declare(name, part.rows, part.columns, isOwn);
    if (isThere) this.find(variable);
    this.byBuffer.set(buffer, variable);
    this.used.add(name);
    if (isThere) return [];
    // A slot that another client has made already stays as it is.
    return this.values.fill(variable, part, fill, !isOwn);
  }

  /** Makes a buffer that is a copy of another one. */
  copy(buffer: number, from: number): ServerCall {
    const source = this.of(from);
    const variable = this.declare(this.passingName(source.rows, source.columns), source.rows, source.columns, true);
    this.byBuffer.set(buffer, variable);
    this.used.add(variable.name);
    return this.values.copy(variable, source);
  }

  /** Forgets a buffer; null where its variable stays, because others made it. */
  free(buffer: number): ServerCall | null {
    const variable = this.byBuffer.get(buffer);
    if (variable === undefined) return null;
    this.byBuffer.delete(buffer);
    this.used.delete(variable.name);
    if (!variable.isOwn) return null;
    if (variable.name.startsWith('~')) {
      const size = `${variable.rows} ${variable.columns}`;
      this.spare.set(size, [...(this.spare.get(size) ?? []), variable.name]);
    }
    const call = new ServerCall();
    call.target(`${variable.node}/destroy`);
    return call;
  }

  /** Makes those that are gone, without their values; returns their names. `refuse`: the error where that may not be. */
  remake(refuse: (() => Error) | null): string[] {
    const lost: string[] = [];
    for (const variable of this.byBuffer.values()) {
      try {
        this.sizeOf(variable);
      } catch (error) {
        if (!(error instanceof ServerError) || !error.isMissing) throw error;
        if (refuse !== null) throw refuse();
        const { rows, columns } = variable;
        const part = { firstRow: 0, rowStep: 1, rows, firstColumn: 0, columns };
        const zeros = { kind: 'constant', value: 0 } as const;
        for (const call of this.values.fill(variable, part, zeros, false)) this.session.call(call);
        lost.push(variable.name);
      }
    }
    return lost;
  }

  private passingName(rows: number, columns: number): string {
    return this.spare.get(`${rows} ${columns}`)?.pop() ?? `~${this.place.client}/${this.passing++}`;
  }

  private declare(name: string, rows: number, columns: number, isOwn: boolean): ServerVariable {
    const first = this.session.graph.once(`variable ${name} ${rows} ${columns}`, (n) => [
      node(n, 'VarHandleOp', [], {
        container: attribute.text(this.place.container),
        shared_name: attribute.text(name),
        dtype: attribute.type(FLOAT),
        shape: attribute.shape([rows, columns]),
      }),
      node(`${n}/values`, 'ReadVariableOp', [n], OF_FLOATS),
      node(`${n}/size`, 'VariableShape', [n], { out_type: attribute.type(INT32) }),
      node(`${n}/destroy`, 'DestroyResourceOp', [n], { ignore_lookup_error: attribute.flag(true) }),
    ]);
    return { node: first, values: `${first}/values`, name, rows, columns, isOwn };
  }

  private sizeOf({ node: n }: ServerVariable): Int32Array {
    let found: Int32Array = new Int32Array(0);
    const call = new ServerCall();
    call.fetch(`${n}/size`, (values: Int32Array) => (found = values));
    this.session.call(call);
    return found;
  }

  /** Throws RuntimeError where another client has not made a variable of this name and size. */
  private find(variable: ServerVariable): void {
    const { name, rows, columns } = variable;
    const expected = `a table of ${this.place.container} that holds ${name}`;
    const note =
      'Another client makes it first, with the same names, sizes and plan: as many servers in the same order, and the same strategy and thresholds.';
    let size: Int32Array;
    try {
      size = this.sizeOf(variable);
    } catch (error) {
      if (!(error instanceof ServerError) || !error.isMissing) throw error;
      throw new RuntimeError('tables', expected, described('none'), note);
    }
    if (size[0] === rows && size[1] === columns) return;
    throw new RuntimeError('tables', `${expected}, [${rows}, ${columns}]`, described(`[${size.join(', ')}]`), note);
  }
}
