/**
 * What happens to rows of a table while slots that were loaded wait for its first step: which optimizer they belong to is
 * known by then alone.
 */
import { perProcess } from '../base/per_process.js';

/** Which row each row was before; -1: none. */
export type RowSource = Int32Array;

interface Waiting {
  /** Moments are numbered in this process. */
  now: number;
  /** Slots that wait, by the names of their tables. */
  readonly slots: Map<string, number>;
}

const waiting = (): Waiting => perProcess('slots that wait', () => ({ now: 0, slots: new Map() }));

/** A slot of a table of this name waits from now on; returns the moment. */
export function beginWaiting(table: string): number {
  const { slots } = waiting();
  slots.set(table, (slots.get(table) ?? 0) + 1);
  return momentNow();
}

/** It waits no more. */
export function endWaiting(table: string): void {
  const { slots } = waiting();
  const left = (slots.get(table) ?? 1) - 1;
  if (left > 0) slots.set(table, left);
  else slots.delete(table);
}

/** What happens later comes after this moment. */
export function momentNow(): number {
  return waiting().now++;
}

export class RowHistory {
  /** Of each row: the moment from which on its slots begin anew. */
  #restarts: Int32Array | null = null;
  readonly #moves: { readonly at: number; readonly rows: number; readonly source: RowSource }[] = [];

  /** Slots of these rows begin anew. `of`: the table. */
  restarted(rows: Int32Array, of: { readonly name: string; readonly rows: number }): void {
    if (!this.#isAsked(of.name)) return;
    const restarts = (this.#restarts ??= new Int32Array(of.rows).fill(-1));
    const now = momentNow();
    for (const row of rows) restarts[row] = now;
  }

  /** Rows lie elsewhere: there were so many before. */
  moved(source: RowSource, before: number, name: string): void {
    if (!this.#isAsked(name)) return;
    const old = this.#restarts;
    this.#restarts = old === null ? null : source.map((row) => (row < 0 ? -1 : old[row]!));
    this.#moves.push({ at: momentNow(), rows: before, source });
  }

  #isAsked(name: string): boolean {
    if (waiting().slots.has(name)) return true;
    this.#restarts = null;
    this.#moves.length = 0;
    return false;
  }

  /** How many rows the table had at a moment; null: as many as now. */
  rowsAt(moment: number): number | null {
    return this.#moves.find(({ at }) => at > moment)?.rows ?? null;
  }

  /** How rows moved since a moment, the first first. */
  movesSince(moment: number): RowSource[] {
    return this.#moves.filter(({ at }) => at > moment).map(({ source }) => source);
  }

  /** The rows whose slots begin anew since a moment, ascending. */
  restartedSince(moment: number): Int32Array {
    const rows: number[] = [];
    this.#restarts?.forEach((at, row) => {
      if (at > moment) rows.push(row);
    });
    return Int32Array.from(rows);
  }
}
