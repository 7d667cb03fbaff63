/** What a client has to do with the tables of a name: it makes them or joins them, and knows when they count no longer. */
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { warnOnce } from '../../../base/warn_once.js';
import type { BufferName } from '../../devices/device.js';
import { readOnlyError } from '../read_only.js';
import type { ServerCall } from '../server_call.js';
import { addressOf, type ServerSession } from '../server_session.js';
import {
  gateOf,
  partsOf,
  withTable,
  type NameRecord,
  type SlotEntry,
  type TableEntry,
  type TableState,
} from './name_record.js';
import { RecordStore } from './record_store.js';

/**
 * `create`: tables are made, under a name that has none; `replace`: the same, in place of those that are there; `attach`:
 * they are there, and steps change them; `readOnly`: they are there and are looked up.
 */
export type TablesMode = 'create' | 'replace' | 'attach' | 'readOnly';
export const TABLES_MODES: readonly TablesMode[] = ['create', 'replace', 'attach', 'readOnly'];

/** A variable by its name. */
export type Part = readonly [name: string, rows: number, columns: number];

const STATES: readonly TableState[] = ['making', 'made', 'ready'];
const AFTER_ANOTHER =
  'await emb.cluster().reconnect() goes on with the tables as they are now; restore(prefix) brings back a checkpoint.';

let generations = 0;

/** A text that no other client and no other call makes. */
function unique(client: string): string {
  return `${client}/${Date.now().toString(36)}/${generations++}`;
}

export class Membership {
  readonly stores: readonly RecordStore[];
  /** Of the tables that this client knows; null: of none. */
  private generation: string | null = null;
  /** Tables whose values a reader may have, as it has seen. */
  private readonly admitted = new Set<string>();

  constructor(
    sessions: readonly ServerSession[],
    private readonly name: string,
    readonly mode: TablesMode,
    readonly client: string,
  ) {
    this.stores = sessions.map((session) => new RecordStore(session, `tfjs-embeddings-record/${name}`));
  }

  get makes(): boolean {
    return this.mode === 'create' || this.mode === 'replace';
  }

  /**
   * Takes the name for this client. Returns what was there on each server, which nobody can use any more. Throws ValueError
   * where tables are there that are not to be replaced, and leaves them.
   */
  claim(replaces: boolean): Part[][] {
    const generation = unique(this.client);
    const fresh: NameRecord = { generation, owner: this.client, restoring: null, tables: {} };
    const before: (NameRecord | null)[] = [];
    try {
      for (const store of this.stores) {
        let found: NameRecord | null = null;
        store.update((record) => {
          found = record;
          if (!replaces && record !== null && Object.keys(record.tables).length > 0) throw this.inUse(record);
          return fresh;
        });
        before.push(found);
      }
    } catch (error) {
      before.forEach((record, i) => {
        const back = record ?? { ...fresh, generation: `${generation}/given up` };
        this.stores[i]!.update((now) => (now?.generation === generation ? back : null));
      });
      throw error;
    }
    this.adopt(generation);
    return before.map((record) => Object.values(record?.tables ?? {}).flatMap(partsOf));
  }

  private inUse({ owner, tables }: NameRecord): ValueError {
    const names = Object.keys(tables);
    const received = `${this.name}, under which ${owner} made ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
    const note =
      "tables: 'attach' joins them; tables: 'replace' makes them anew, whoever uses them; another name leaves them.";
    return new ValueError('name', "a name without tables for tables: 'create'", described(received), note);
  }

  /** Calls expect this generation from now on. */
  private adopt(generation: string): void {
    this.generation = generation;
    this.admitted.clear();
    for (const { gate } of this.stores) gate.expected = generation;
  }

  /**
   * Has calls expect what is on the servers now. Returns why tables there do not count, or null: then they do. Sessions are
   * those of now.
   */
  refresh(): string | null {
    const records = this.stores.map((store) => store.read());
    const empty = records.findIndex((record) => record === null);
    if (empty >= 0) return `no tables of ${this.name} on server ${this.addressOf(empty)}`;
    const { restoring, generation } = records.find((record) => record!.restoring !== null) ?? records[0]!;
    if (restoring !== null) return `tables that ${restoring.client} is restoring, or has restored in part`;
    const other = records.findIndex((record) => gateOf(record!) !== generation);
    if (other >= 0) return `tables of another restore on server ${this.addressOf(other)} than on the others`;
    this.adopt(generation);
    return null;
  }

  private addressOf(device: number): string {
    return addressOf(this.stores[device]!.session.place);
  }

  /** The entry of a table on a server as it is known, where this client's generation is there. */
  entry(device: number, table: string): TableEntry | null {
    return this.stores[device]!.known?.tables[table] ?? null;
  }

  /** Adds a part of a table that this client makes now. Throws where the name or the table is another one's. */
  make(device: number, { table, name }: BufferName, rows: number, columns: number): void {
    this.change(device, (record) => {
      const entry = record.tables[table];
      const isOwn = entry === undefined || (entry.users.includes(this.client) && !entry.isLeft);
      if (!isOwn) {
        const others = entry.users.length;
        const note = 'Give the table another name, or have the others end.';
        const received = described(`${table}, which was disposed here and which ${countOf(others)} still`);
        throw new ValueError('name', 'a table that no other client has', received, note);
      }
      const others = (entry?.users.length ?? 1) - 1;
      if (others > 0 && !(name in entry!.parts)) {
        const note =
          'An optimizer that needs whole rows (row-wise Adagrad, unitNorm) or the whole gradient (clipNorm) has tables that are cut moved to one server: plan them whole, or use another optimizer.';
        throw new RuntimeError(
          'tables',
          `${table} as it is cut, as ${countOf(others)}`,
          described('a move of it to one server'),
          note,
        );
      }
      const { state = 'making', slots = {}, changedBy = null } = entry ?? {};
      const parts = { ...entry?.parts, [name]: [rows, columns] as const };
      return withTable(record, table, {
        state,
        parts,
        slots,
        users: [this.client],
        isLeft: false,
        changedBy,
        ...usersOf(entry),
      });
    });
  }

  /** Finds a part of a table that another client made. Throws RuntimeError where it is not there, or cut otherwise. */
  join(device: number, { table, name }: BufferName, rows: number, columns: number): void {
    if (this.generation === null) this.refresh();
    const store = this.stores[device]!;
    const record = store.read();
    const entry = record?.tables[table];
    const part = entry?.parts[name];
    if (entry === undefined || part === undefined) throw this.notThere(table, name, entry);
    if (part[0] !== rows || part[1] !== columns) throw this.notThere(table, `[${rows}, ${columns}]`, entry);
    if (entry.state === 'making') {
      const note = 'Try again when it has.';
      throw new RuntimeError(
        'tables',
        `${table} with its first values`,
        described(`one that ${record!.owner} still makes`),
        note,
      );
    }
    if (entry.users.includes(this.client)) return;
    store.update((now) => {
      const found = now?.tables[table];
      return found === undefined ? null : withTable(now!, table, { ...found, users: [...found.users, this.client] });
    });
  }

  private notThere(table: string, wanted: string, entry: TableEntry | undefined): RuntimeError {
    const note =
      'Another client makes it first, with the same names, sizes and plan: as many servers in the same order, and the same strategy and thresholds. One whose optimizer needs whole rows or whole gradients (row-wise Adagrad, unitNorm, clipNorm) moves tables that are cut to one server: plan them whole.';
    const found = entry === undefined ? 'none' : `one that is cut into ${cutOf(entry)}`;
    return new RuntimeError('tables', `a table of ${this.name} that holds ${table}, ${wanted}`, described(found), note);
  }

  /** A part of a slot, where it is there. */
  slotPart(device: number, { table, slotOf, name }: BufferName): readonly [number, number] | null {
    const find = (): readonly [number, number] | null => this.entry(device, slotOf!)?.slots[table]?.parts[name] ?? null;
    const known = find();
    if (known !== null) return known;
    this.stores[device]!.read();
    return find();
  }

  /** Adds a part of a slot to its table; who else adds it at the same time does the same. */
  addSlot(
    device: number,
    { table: slot, slotOf, name, columns: all }: BufferName,
    part: readonly [number, number],
    value: number | null,
  ): void {
    if (this.mode === 'readOnly') throw readOnlyError();
    this.change(device, (record) => {
      const entry = record.tables[slotOf!];
      if (entry === undefined) throw this.goneError(slotOf!);
      const known = entry.slots[slot];
      const parts = { ...known?.parts, [name]: part };
      const slots: Record<string, SlotEntry> = {
        ...entry.slots,
        [slot]: { columns: all, value: known?.value ?? value, parts },
      };
      return withTable(record, slotOf!, { ...entry, slots });
    });
  }

  private goneError(table: string): RuntimeError {
    return new RuntimeError(
      'tables',
      `${table} on the servers`,
      described('one that its owner disposed'),
      AFTER_ANOTHER,
    );
  }

  /**
   * The call that says how far a table is; null: that is known. It is sent before what it speaks of; where another client
   * was quicker it is sent again with the next one.
   */
  advance(device: number, table: string, state: TableState): ServerCall | null {
    const store = this.stores[device]!;
    const { known } = store;
    const entry = known?.tables[table];
    if (entry === undefined || known!.generation !== this.generation || known!.restoring !== null) return null;
    if (STATES.indexOf(entry.state) >= STATES.indexOf(state)) return null;
    return store.swapping(withTable(known!, table, { ...entry, state }));
  }

  /** Only one client may change a table of which servers have copies: others would do it in another order on each. */
  changeCopies(device: number, table: string): void {
    if (this.entry(device, table)?.changedBy === this.client) return;
    this.change(device, (record) => {
      const entry = record.tables[table];
      if (entry === undefined) throw this.goneError(table);
      if (entry.changedBy === null || entry.changedBy === this.client) {
        return withTable(record, table, { ...entry, changedBy: this.client });
      }
      const note = `Plan it without dataParallelThreshold, so that several clients can change it. Where ${entry.changedBy} has ended, restore(prefix) frees it.`;
      throw new RuntimeError(
        'tables',
        `a table that one client changes`,
        described(`${table}, of which servers have copies, and which ${entry.changedBy} changes`),
        note,
      );
    });
  }

  /** A reader may have values of a table. Throws RuntimeError where they are not ready. */
  admit(table: string): void {
    if (this.mode !== 'readOnly' || this.admitted.has(table)) return;
    const why = this.refresh() ?? this.unready(table);
    if (why !== null) {
      const note = 'Try again: it is asked anew. Who trains them calls restore(prefix) where they are lost.';
      throw new RuntimeError('tables', 'tables that are ready', described(why), note);
    }
    this.stores.forEach((_, device) => this.rejoin(device, [table]));
    this.admitted.add(table);
  }

  /** Tables of a generation that this client has not seen before have it among their users. */
  rejoin(device: number, tables: readonly string[]): void {
    this.stores[device]!.update((record) => {
      const missing = tables.filter((table) => record?.tables[table]?.users.includes(this.client) === false);
      if (missing.length === 0) return null;
      const entries = missing.map((table) => {
        const entry = record!.tables[table]!;
        return [table, { ...entry, users: [...entry.users, this.client] }] as const;
      });
      return { ...record!, tables: { ...record!.tables, ...Object.fromEntries(entries) } };
    });
  }

  private unready(table: string): string | null {
    const entries = this.stores.flatMap(({ known }) => known?.tables[table] ?? []);
    if (entries.length === 0) return `none called ${table}`;
    return entries.every(({ state }) => state === 'ready')
      ? null
      : `first values of ${table}, which was neither trained nor restored nor written yet`;
  }

  /** Whether no other client uses a table that this one does, as far as is known. */
  isAlone(): boolean {
    const entries = this.stores.flatMap(({ known }) => Object.values(known?.tables ?? {}));
    return entries.every(({ users }) => !users.includes(this.client) || users.length === 1);
  }

  /** A reader has seen that tables are others than it knew. */
  doubt(): void {
    this.admitted.clear();
  }

  /**
   * Gives a part up. `held`: slots that this client still has. Returns the parts that go with it; none where others use
   * the table, which then stays until they have gone.
   */
  release(device: number, { table, slotOf, name }: BufferName, held: ReadonlySet<string>): Part[] {
    const owner = slotOf ?? table;
    let gone: Part[] = [];
    this.stores[device]!.update((record) => {
      gone = [];
      const entry = record?.tables[owner];
      if (entry === undefined || record!.generation !== this.generation || !entry.users.includes(this.client))
        return null;
      const others = entry.users.length - 1;
      let left: TableEntry;
      if (slotOf !== null) {
        const slot = entry.slots[table];
        if (!this.makes || others > 0 || slot?.parts[name] === undefined) return null;
        gone = [[name, ...slot.parts[name]]];
        left = { ...entry, slots: without(entry.slots, table, slot, name) };
      } else if (others > 0 || !(entry.isLeft || this.makes)) {
        if (this.makes) warnOnce(`${table} stays on the servers, as ${countOf(others)}; it goes when they have ended.`);
        return withTable(record!, owner, { ...leftBy(entry, this.client), isLeft: entry.isLeft || this.makes });
      } else {
        const { [name]: part, ...parts } = entry.parts;
        const isLast = Object.keys(parts).length === 0;
        // A table that moves goes before its slots, which are still to be read.
        const slots = isLast
          ? Object.fromEntries(Object.entries(entry.slots).filter(([slot]) => held.has(slot)))
          : entry.slots;
        const kept = new Set(partsOf({ ...entry, parts, slots }).map(([each]) => each));
        gone = partsOf(entry).filter(([each]) => !kept.has(each));
        if (part === undefined) return null;
        left = { ...entry, parts, slots };
      }
      return withTable(record!, owner, partsOf(left).length === 0 ? null : left);
    });
    return gone;
  }

  /** The call by which this client leaves all tables on a server, where no other is quicker; null: it has left. */
  leaving(device: number): ServerCall | null {
    const store = this.stores[device]!;
    const { known } = store;
    if (known === null || known.generation !== this.generation) return null;
    const tables = Object.entries(known.tables).map(([name, entry]) => [name, leftBy(entry, this.client)] as const);
    const isIn = Object.values(known.tables).some(
      ({ users, changedBy }) => users.includes(this.client) || changedBy === this.client,
    );
    return isIn ? store.swapping({ ...known, tables: Object.fromEntries(tables) }) : null;
  }

  /** Has everybody refused until `opened`. `own`: what this client knows of each server, where that has lost it. */
  close(own: readonly Readonly<Record<string, TableEntry>>[]): string {
    const token = `restoring ${unique(this.client)}`;
    const restoring = { client: this.client, token };
    const generation = this.generation ?? unique(this.client);
    this.stores.forEach((store, device) => {
      store.update((record) => {
        const entries = own[device]!;
        if (record === null) return { generation, owner: this.client, restoring, tables: entries };
        for (const [name, { parts }] of Object.entries(entries)) {
          const there = record.tables[name];
          const isSame = there !== undefined && Object.keys(parts).every((part) => part in there.parts);
          if (there !== undefined && !isSame) throw this.notThere(name, Object.keys(parts).join(', '), there);
        }
        return { ...record, restoring, tables: { ...entries, ...record.tables } };
      });
    });
    for (const { gate } of this.stores) gate.expected = token;
    this.admitted.clear();
    return token;
  }

  /** What was closed is ready. Throws RuntimeError where another client restores meanwhile. */
  open(token: string, tables: ReadonlySet<string>): void {
    const generation = unique(this.client);
    for (const store of this.stores) {
      store.update((record) => {
        if (record?.restoring?.token !== token) {
          const received = described('one that another client has begun meanwhile');
          throw new RuntimeError('tables', 'a restore that nobody disturbs', received, AFTER_ANOTHER);
        }
        const entries = Object.entries(record.tables).map(([name, entry]) => [
          name,
          tables.has(name) ? { ...entry, state: 'ready' as const, changedBy: null } : entry,
        ]);
        return { ...record, generation, restoring: null, tables: Object.fromEntries(entries) as NameRecord['tables'] };
      });
    }
    this.adopt(generation);
  }

  /** Changes the record where it is the one that this client knows. */
  private change(device: number, change: (record: NameRecord) => NameRecord): void {
    this.stores[device]!.update((record) => {
      const isKnown = record?.generation === this.generation || record?.restoring?.client === this.client;
      if (record !== null && isKnown) return change(record);
      const received = described('those that another client made or restored meanwhile');
      throw new RuntimeError('tables', 'the tables that this client knows', received, AFTER_ANOTHER);
    });
  }
}

function usersOf(entry: TableEntry | undefined): Pick<TableEntry, 'users'> | object {
  return entry === undefined ? {} : { users: entry.users };
}

function leftBy(entry: TableEntry, client: string): TableEntry {
  const users = entry.users.filter((user) => user !== client);
  return { ...entry, users, changedBy: entry.changedBy === client ? null : entry.changedBy };
}

/** Slots without a part of one of them. */
function without(slots: TableEntry['slots'], name: string, slot: SlotEntry, part: string): TableEntry['slots'] {
  const { [name]: _, ...others } = slots;
  const { [part]: __, ...parts } = slot.parts;
  return Object.keys(parts).length === 0 ? others : { ...others, [name]: { ...slot, parts } };
}

function countOf(others: number): string {
  return others === 1 ? 'another client uses it' : `${others} other clients use it`;
}

function cutOf({ parts }: TableEntry): string {
  return Object.keys(parts).slice(0, 3).join(', ');
}
