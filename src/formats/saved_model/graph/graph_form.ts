/** What runtimes of graphs say each in a way of its own, beyond single ops. */
import type { OpenTable } from '../../../tables/keys/open_table.js';
import type { GraphVariable } from './function_builder.js';
import type { Operations } from './operations.js';
import type { Value } from './value.js';

/** A loop over the steps of sequences. */
export interface Scan {
  /** [steps, batch, ...] each. */
  readonly sequences: readonly Value[];
  /** What the first step begins with; each step gives them anew, of the same shapes. */
  readonly states: readonly Value[];
  /** Values from outside that steps need. */
  readonly outside: readonly Value[];
  /** How many steps there are, an int32 scalar, and where that is known. */
  readonly steps: Value;
  readonly length: number | null;
  /** Whether the first state is kept of all steps. */
  readonly keepsAll: boolean;
  step(o: Operations, states: readonly Value[], items: readonly Value[], outside: readonly Value[]): readonly Value[];
}

export interface Scanned {
  /** After the last step. */
  readonly states: readonly Value[];
  /** The first state after each step, [steps, ...]. */
  readonly all: Value | null;
}

/** Keys that were looked for in an open table, flat. */
export interface FoundKeys {
  /** int32, the row of a key that has one. */
  readonly row: Value;
  /** Which keys have one; null: rows stand for all that are no padding. */
  readonly isFound: Value | null;
  /** Which keys are no padding; null: all. */
  readonly present: Value | null;
  /** The keys as numbers of 64 bits. */
  words(): Value;
}

/** A table of whole numbers: those that are known, and what each becomes. */
export interface NumberTable {
  /** Ascending. */
  readonly keys: readonly number[];
  readonly ids: readonly number[];
}

export interface GraphForm {
  /** What errors call it. */
  readonly runtime: 'TensorFlow' | 'ONNX';
  scan(o: Operations, scan: Scan): Scanned;
  /** `padding`: keys that stand for nothing. */
  findKeys(o: Operations, table: OpenTable, keys: Value, padding: readonly bigint[]): FoundKeys;
  /** The ids of int32 numbers; `unknown`: those of other numbers. */
  findNumbers(o: Operations, numbers: Value, table: NumberTable, unknown: Value): Value;
  /** Whether sums of rows of this table, one after the other, are exact enough for `sumBags`. */
  canSumBags(table: GraphVariable): boolean;
  /** Sums of numbers [n, dim] between row splits. */
  sumBags(o: Operations, numbers: Value, rowSplits: Value): Value;
}
