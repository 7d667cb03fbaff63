/**
 * What an optimizer does to the rows of a table, told once: kernels, settings, slots, files and TPU forms derive what they
 * need from it. The C core has the same list, `TE_EACH_OPTIMIZER` in custom-ops/kernels/embedding.h.
 */
import type * as tf from '@tensorflow/tfjs';
import type { Limit, RuleField, RuleSettings } from './fields.js';
import type { Hyper } from './hyper.js';

/** One element of a table: its value and its slots, in the order of the rule. */
export interface Element {
  w: number;
  slot0: number;
  slot1: number;
  slot2: number;
}
const SLOTS = ['slot0', 'slot1', 'slot2'] as const;

/** Rows of a table with the same rows of its slots. */
export interface Rows {
  readonly table: tf.Tensor2D;
  readonly slots: readonly tf.Tensor2D[]; // [n, dim], or [n, 1] of a slot per row
}

/** tfjs, which comes as an argument: the program of a device has the rules without it. */
export type Ops = typeof tf;

/** What one update kernel does. */
export interface RowUpdate {
  /** Names of the slots, in the order in which kernels take them. */
  readonly slots: readonly string[];
  /** How many of the last slots hold one number per row; then the table's columns belong together. */
  readonly rowSlots?: number;
  /** With `lazy: false` rows without ids are stepped too, with a gradient of zero. */
  readonly movesIdleRows?: boolean;
  /**
   * The reference: one step of a row (in double) with its summed gradient, in place; `slots` of the whole table are
   * written at the row.
   */
  stepRow(row: number[], slots: readonly Float32Array[], id: number, gradient: readonly number[], hyper: Hyper): void;
  /** The same on matrices of rows, from stock ops. Called inside a tidy. */
  stepRows(ops: Ops, rows: Rows, gradient: tf.Tensor2D, hyper: Hyper): Rows;
}

/** An optimizer: its fields, and the update of its own name, which its settings may replace by another one. */
export interface UpdateRule<F extends RuleField = RuleField> extends RowUpdate {
  /** Of the class that saved models name. */
  readonly className: string;
  /** Fields that it reads beside the common ones. */
  readonly fields: readonly F[];
  /** Weight decay reaches rows without ids, where those are stepped, and dense variables where the rule steps them. */
  readonly decaysIdleRows?: boolean;
  /** Default 0.01. */
  readonly learningRate?: number;
  /** Where defaults and limits differ from those of all rules. */
  readonly defaults?: Partial<RuleSettings>;
  readonly limits?: Partial<Record<RuleField, Limit>>;
  /** The class of Keras that is the same, and its fields by ours. */
  readonly keras?: { readonly className: string; readonly fields: Readonly<Record<string, RuleField>> };
  /** Numbers of a step that depend on how many there were, from 1; null: rows count their own. */
  hyper?(settings: RuleSettings, step: number | null): Partial<Hyper>;
  /**
   * The name of the update that it runs with these settings; without it the one of its own name. `byRow`: for rows that
   * begin at different steps, whose numbers go by their own count.
   */
  update?(settings: RuleSettings, byRow: boolean): string;
  /** The stock optimizer that trains dense variables beside it; null where no stock one is the same: then it does. */
  dense(train: typeof tf.train, settings: RuleSettings, learningRate: number): tf.Optimizer | null;
}

/** g / d; where the divisor is 0, no gradient worth a step has ever reached the element, which keeps still. */
export function quotient(g: number, d: number): number {
  return d === 0 ? 0 : g / d;
}

/** `stepRow` of a rule that steps each element by itself. */
export function elementwise(step: (element: Element, g: number, hyper: Hyper) => void): RowUpdate['stepRow'] {
  return (row, slots, id, gradient, hyper) => {
    const dim = row.length;
    row.forEach((w, c) => {
      const at = id * dim + c;
      const element: Element = { w, slot0: 0, slot1: 0, slot2: 0 };
      slots.forEach((slot, i) => (element[SLOTS[i]!] = slot[at]!));
      step(element, gradient[c]!, hyper);
      row[c] = element.w;
      slots.forEach((slot, i) => (slot[at] = element[SLOTS[i]!]));
    });
  };
}

/** w - rate * step */
export function stepped(table: tf.Tensor2D, rate: number, step: tf.Tensor): tf.Tensor2D {
  return table.sub(step.mul(rate));
}

/** Rows without a fraction of themselves. */
export function decayed(table: tf.Tensor2D, decay: number): tf.Tensor2D {
  return decay === 0 ? table : table.sub(table.mul(decay));
}

/** The usual powers are roots, which are exact where pow is not. */
export function power(base: tf.Tensor2D, exponent: number): tf.Tensor2D {
  if (exponent === 0.5) return base.sqrt();
  if (exponent === 1) return base;
  return base.pow(exponent);
}
