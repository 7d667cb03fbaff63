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
}

/** Rows of a table with the same rows of its slots. */
export interface Rows {
  readonly table: tf.Tensor2D;
  readonly slots: readonly tf.Tensor2D[]; // [n, dim], or [n, 1] of a slot per row
}

/** tfjs, which comes as an argument: the program of a device has the rules without it. */
export type Ops = typeof tf;

export interface UpdateRule<F extends RuleField = RuleField> {
  /** Of the class that saved models name. */
  readonly className: string;
  /** Names of the slots, in the order in which kernels take them. */
  readonly slots: readonly string[];
  /** Slots hold one number per row, the table's columns belong together. */
  readonly isPerRow?: boolean;
  /** With `lazy: false` rows without ids are stepped too, with a gradient of zero. */
  readonly movesIdleRows?: boolean;
  /** Fields that it reads beside the common ones. */
  readonly fields: readonly F[];
  /** Default 0.01. */
  readonly learningRate?: number;
  /** Where defaults and limits differ from those of all rules. */
  readonly defaults?: Partial<RuleSettings>;
  readonly limits?: Partial<Record<RuleField, Limit>>;
  /** The class of Keras that is the same, and its fields by ours. */
  readonly keras?: { readonly className: string; readonly fields: Readonly<Record<string, RuleField>> };
  /** Numbers of a step that depend on how many there were, from 1. */
  hyper?(settings: RuleSettings, step: number): Partial<Hyper>;
  /**
   * The reference: one step of a row (in double) with its summed gradient, in place; `slots` of the whole table are
   * written at the row.
   */
  stepRow(row: number[], slots: readonly Float32Array[], id: number, gradient: readonly number[], hyper: Hyper): void;
  /** The same on matrices of rows, from stock ops. Called inside a tidy. */
  stepRows(ops: Ops, rows: Rows, gradient: tf.Tensor2D, hyper: Hyper): Rows;
  /** The stock optimizer that trains dense variables beside it. */
  dense(train: typeof tf.train, settings: RuleSettings, learningRate: number): tf.Optimizer;
}

/** g / d; where the divisor is 0, no gradient worth a step has ever reached the element, which keeps still. */
export function quotient(g: number, d: number): number {
  return d === 0 ? 0 : g / d;
}

/** `stepRow` of a rule that steps each element by itself. */
export function elementwise(step: (element: Element, g: number, hyper: Hyper) => void): UpdateRule['stepRow'] {
  return (row, slots, id, gradient, hyper) => {
    const dim = row.length;
    row.forEach((w, c) => {
      const at = id * dim + c;
      const element: Element = { w, slot0: slots[0]?.[at] ?? 0, slot1: slots[1]?.[at] ?? 0 };
      step(element, gradient[c]!, hyper);
      row[c] = element.w;
      if (slots[0] !== undefined) slots[0][at] = element.slot0;
      if (slots[1] !== undefined) slots[1][at] = element.slot1;
    });
  };
}

/** w - rate * step */
export function stepped(table: tf.Tensor2D, rate: number, step: tf.Tensor): tf.Tensor2D {
  return table.sub(step.mul(rate));
}

/** The usual powers are roots, which are exact where pow is not. */
export function power(base: tf.Tensor2D, exponent: number): tf.Tensor2D {
  if (exponent === 0.5) return base.sqrt();
  if (exponent === 1) return base;
  return base.pow(exponent);
}
