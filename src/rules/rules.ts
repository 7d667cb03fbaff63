/** The update rules by the names of `emb.train`, and what others derive from them. */
import { adagrad } from './adagrad.js';
import { adagradMomentum } from './adagrad_momentum.js';
import { adam, amsgrad } from './adam.js';
import { adamByRow, adamWByRow, amsgradByRow } from './adam_by_row.js';
import { adamW } from './adam_w.js';
import { ftrl } from './ftrl.js';
import { rmsprop, rmspropCentered, rmspropCenteredMomentum, rmspropMomentum } from './rmsprop.js';
import { rowWiseAdagrad } from './row_wise_adagrad.js';
import { momentum, sgd } from './sgd.js';
import type { Hyper } from './hyper.js';
import type { RuleSettings } from './fields.js';
import type { RowUpdate, UpdateRule } from './update_rule.js';

const OPTIMIZERS = { sgd, adagrad, rowWiseAdagrad, adagradMomentum, adam, ftrl, adamW, rmsprop };

/** Names of the row-sparse optimizers. */
export type OptimizerName = keyof typeof OPTIMIZERS;
export const OPTIMIZER_NAMES = Object.keys(OPTIMIZERS) as readonly OptimizerName[];

/** With the fields that each reads, for types. */
export type Rules = typeof OPTIMIZERS;
export const RULES: Readonly<Record<OptimizerName, UpdateRule>> = OPTIMIZERS;

/** What update kernels do, in the order of `TE_EACH_OPTIMIZER` in custom-ops/kernels/embedding.h. */
const ROW_UPDATES = {
  sgd,
  adagrad,
  rowWiseAdagrad,
  adagradMomentum,
  adam,
  ftrl,
  rmsprop,
  rmspropMomentum,
  rmspropCentered,
  rmspropCenteredMomentum,
  momentum,
  amsgrad,
  adamByRow,
  adamWByRow,
  amsgradByRow,
};

export type UpdateName = keyof typeof ROW_UPDATES;
export const UPDATE_NAMES = Object.keys(ROW_UPDATES) as readonly UpdateName[];
export const UPDATES: Readonly<Record<UpdateName, RowUpdate>> = ROW_UPDATES;

/** Which update an optimizer runs with its settings: that of its own name, where its rule names no other. */
export function updateOf(
  by: { readonly optimizerName: OptimizerName; readonly settings: RuleSettings },
  byRow = false,
): UpdateName {
  return (RULES[by.optimizerName].update?.(by.settings, byRow) ?? by.optimizerName) as UpdateName;
}

/** Something of each rule, by its name. */
export function ofEachRule<T>(make: (name: OptimizerName, rule: UpdateRule) => T): Readonly<Record<OptimizerName, T>> {
  return Object.fromEntries(OPTIMIZER_NAMES.map((name) => [name, make(name, RULES[name])])) as Record<OptimizerName, T>;
}

/** Something of each update, by its name. */
function ofEachUpdate<T>(make: (name: UpdateName) => T): Readonly<Record<UpdateName, T>> {
  return Object.fromEntries(UPDATE_NAMES.map((name) => [name, make(name)])) as Record<UpdateName, T>;
}

/** Names of an update's slots, in the order in which kernels take them. */
export const SLOT_NAMES = ofEachUpdate((name) => UPDATES[name].slots);

/** The slots of a table as functions of the C core take them, as many as `TE_MOST_SLOTS` there. */
export type SlotArguments<T> = [slot0: T, slot1: T, slot2: T, slot3: T];
export function slotArguments<T>([slot0, slot1, slot2, slot3]: readonly T[], none: T): SlotArguments<T> {
  return [slot0 ?? none, slot1 ?? none, slot2 ?? none, slot3 ?? none];
}

/** Whether a slot holds one number per row. */
export function isRowSlot(name: UpdateName, slot: number): boolean {
  const { slots, rowSlots = 0 } = UPDATES[name];
  return slot >= slots.length - rowSlots;
}

/** Whether a step of a row needs all its columns. */
export function couplesColumns(name: UpdateName): boolean {
  return (UPDATES[name].rowSlots ?? 0) > 0;
}

/** The shapes of the slots of a table [rows, dim]. */
export function slotShapes(name: UpdateName, [rows, dim]: readonly [number, number]): number[][] {
  return UPDATES[name].slots.map((_, slot) => (isRowSlot(name, slot) ? [rows] : [rows, dim]));
}

/** Whether weights have limits or a constraint. */
function limitsRows({ clipWeightMin, clipWeightMax, constraint }: Hyper): boolean {
  return clipWeightMin !== -Infinity || clipWeightMax !== Infinity || constraint !== 0;
}

/** Whether a step changes rows without ids too: moves them, or keeps them within limits. */
export function stepsIdleRows(name: UpdateName, hyper: Hyper): boolean {
  return hyper.lazy === 0 && (UPDATES[name].movesIdleRows === true || limitsRows(hyper));
}

/** Names of ops: `EmbeddingSparseApply` makes `EmbeddingSparseApplySgd`. */
export function opNames(prefix: string): Readonly<Record<UpdateName, string>> {
  return ofEachUpdate((name) => `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}
