/** What a checkpoint holds: a text in it, beside the tables. */
import { ValueError, described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import type { TableLayout } from '../../../partition/table_layout.js';

/** The name of the text among the tensors of a checkpoint. */
export const MANIFEST = 'tfjs_embeddings/tables';
const VERSION = 1;

/** A table or a slot in a checkpoint. */
export interface SavedTable {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** The table that it is a slot of; null: it is a table. */
  readonly slotOf: string | null;
  /**
   * 1: it is one tensor, under its name. Else its rows are dealt out to as many tensors, which `pieceName` names: row r
   * is row floor(r / modulo) of tensor r mod modulo.
   */
  readonly modulo: number;
}

/** The tensor with the rows first, first + step, ... of a table. */
export function pieceName(table: string, first: number, step: number): string {
  return step === 1 ? table : `${table}/modulo${first}of${step}`;
}

/** How many rows first, first + step, ... a table of so many rows has. */
export function pieceRows(rows: number, first: number, step: number): number {
  return Math.max(0, Math.ceil((rows - first) / step));
}

/** The pieces of a table: 1, or as many as its rows are dealt out to. */
export function moduloOf({ shards }: TableLayout): number {
  return shards[0]!.rows.step;
}

export function writeManifest(tables: readonly SavedTable[]): string {
  return JSON.stringify({ version: VERSION, tables });
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function savedTable(value: unknown): SavedTable | null {
  if (!isRecord(value)) return null;
  const { name, rows, columns, slotOf, modulo } = value;
  const isSlotOf = slotOf === null || typeof slotOf === 'string';
  if (typeof name !== 'string' || !isSlotOf || ![rows, columns, modulo].every(isCount)) return null;
  return { name, rows, columns, slotOf, modulo } as SavedTable;
}

/** The tables and slots of a checkpoint by name. Throws ValueError for a text of another form or version. */
export function readManifest(text: string, prefix: string, argument: string): Map<string, SavedTable> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    given = null;
  }
  const { version, tables } = isRecord(given) ? given : {};
  if (version === VERSION && Array.isArray(tables)) {
    const found = tables.map(savedTable);
    if (!found.includes(null)) return new Map((found as SavedTable[]).map((each) => [each.name, each]));
  }
  const received = `${prefix}, whose ${MANIFEST} is ${JSON.stringify(text.slice(0, 60))}`;
  throw new ValueError(argument, `a checkpoint of version ${VERSION}`, described(received));
}
