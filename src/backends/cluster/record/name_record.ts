/** What a server knows of the tables of one name: who made them, what state they are in, and what belongs to each. */
import { isRecord } from '../../../base/options.js';

/** `making`: values come; `made`: first values, which nobody has stepped or written; `ready`: values that count. */
export type TableState = 'making' | 'made' | 'ready';

/** A slot of a table. */
export interface SlotEntry {
  /** Of the whole slot. */
  readonly columns: number;
  /** What all numbers of a new one are; null: not known. */
  readonly value: number | null;
  /** What this server holds of it: rows and columns by the names of variables. */
  readonly parts: Readonly<Record<string, readonly [rows: number, columns: number]>>;
}

export interface TableEntry {
  readonly state: TableState;
  readonly parts: SlotEntry['parts'];
  readonly slots: Readonly<Record<string, SlotEntry>>;
  /** Clients that hold it. */
  readonly users: readonly string[];
  /** Who made it has disposed it, and it stays until its last user has gone. */
  readonly isLeft: boolean;
  /** The one client that may change a table of which each server has a copy; null: nobody has yet. */
  readonly changedBy: string | null;
}

export interface NameRecord {
  /** Another one whenever tables were made or restored: what a client knows of those before does not count. */
  readonly generation: string;
  readonly owner: string;
  /** Who restores, under a text of its own; null: nobody does. */
  readonly restoring: { readonly client: string; readonly token: string } | null;
  readonly tables: Readonly<Record<string, TableEntry>>;
}

/** What the gate of tables in this state says; who expects another text is refused. */
export function gateOf({ generation, restoring }: NameRecord): string {
  return restoring === null ? generation : restoring.token;
}

/** null: there is no record, or none that this version knows. */
export function readRecord(text: string): NameRecord | null {
  if (text === '') return null;
  const found: unknown = JSON.parse(text);
  return isRecord(found) && isRecord(found['tables']) ? (found as unknown as NameRecord) : null;
}

export function writeRecord(record: NameRecord): string {
  return JSON.stringify(record);
}

export function withTable(record: NameRecord, name: string, entry: TableEntry | null): NameRecord {
  const { [name]: _, ...others } = record.tables;
  return { ...record, tables: entry === null ? others : { ...others, [name]: entry } };
}

/** All variables of an entry, by name. */
export function partsOf({ parts, slots }: TableEntry): [name: string, rows: number, columns: number][] {
  return [parts, ...Object.values(slots).map((slot) => slot.parts)].flatMap((each) =>
    Object.entries(each).map(([name, [rows, columns]]): [string, number, number] => [name, rows, columns]),
  );
}
