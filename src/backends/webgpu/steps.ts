/** One exact step of a table and its slots, in place on the GPU. */
import type * as tf from '@tensorflow/tfjs';
import { unpackHyper, type Hyper } from '../../rules/hyper.js';
import { couplesColumns, stepsIdleRows, UPDATES, type UpdateName } from '../../rules/rules.js';
import type { WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import type { Groups } from './groups.js';
import { tableInts, type TableAt } from './operands.js';
import { forEachPart, type Part } from './parts.js';
import { runProgram, type Scratch } from './programs.js';
import { sumRows, type GradientUse } from './row_sums.js';
import {
  constrainedText,
  hyperFloats,
  idleCountText,
  idleText,
  keyInts,
  limitsKey,
  rowSlotText,
  slotNames,
  touchedText,
  writtenSlots,
  type StepForm,
} from './step_text.js';

/** A step whose tensors have no other holders. */
export interface Step {
  readonly optimizer: UpdateName;
  readonly table: TableAt;
  readonly slots: readonly tf.TensorInfo[];
  readonly uses: readonly GradientUse[];
  readonly groups: Groups;
  readonly hyper: Float32Array;
}

/** What all shaders of a step are told. */
interface Stepping {
  readonly backend: WebgpuBackend;
  readonly form: StepForm;
  readonly table: TableAt;
  readonly slots: readonly tf.TensorInfo[];
  readonly groups: Groups;
  readonly sums: tf.TensorInfo;
  /** Words of a row. */
  readonly cells: number;
}

/** How many threads sum up squares. */
const SUMMERS = 256;

/** Scales all rows together so that their common norm is at most `most`. */
function clipTogether(
  backend: WebgpuBackend,
  scratch: Scratch,
  sums: tf.TensorInfo,
  length: number,
  most: number,
): void {
  const parts = scratch.make(SUMMERS, 'float32');
  const squares = {
    name: 'squares',
    inputs: { sums },
    ints: { length },
    threads: SUMMERS,
    code: `fn run(t : i32) {
      var total = 0.0;
      for (var i = t; i < uniforms.length; i += ${SUMMERS}) { total += sums[i] * sums[i]; }
      result[t] = total;
    }`,
  };
  runProgram(backend, squares, parts);
  const norm = scratch.make(1, 'float32');
  const root = {
    name: 'norm',
    inputs: { parts },
    threads: 1,
    code: `fn run(t : i32) {
      if (t > 0) { return; }
      var total = 0.0;
      for (var i = 0; i < ${SUMMERS}; i++) { total += parts[i]; }
      result[0] = sqrt(total);
    }`,
  };
  runProgram(backend, root, norm);
  const scale = {
    name: 'clipTogether',
    inputs: { norm },
    ints: { length },
    floats: { most },
    threads: length,
    code: `fn run(i : i32) {
      if (i >= uniforms.length || norm[0] <= uniforms.most) { return; }
      result[i] = (result[i] * uniforms.most) / norm[0];
    }`,
  };
  runProgram(backend, scale, sums);
}

function partInts({ table, groups, cells, form }: Stepping, part: Part): Record<string, number> {
  return { ...tableInts(table, part), count: groups.count, cells, ...keyInts(form.hyper) };
}

/** The slots of a part by name. */
function slotInputs({ form }: Stepping, part: Part): Record<string, tf.TensorInfo> {
  return Object.fromEntries(slotNames(form.optimizer).map((name, i) => [name, part.tensors[i + 1]!]));
}

/** The slot of one number per row, where there is one. */
function rowSlotOf({ form }: Stepping, part: Part): tf.TensorInfo | null {
  return couplesColumns(form.optimizer) ? part.tensors.at(-1)! : null;
}

/** What tells the shaders of a step apart. */
function nameOf({ form }: Stepping, what: string): string {
  return `${what}_${form.optimizer}_${form.codec.name}_${limitsKey(form.hyper)}`;
}

function stepTouched(stepping: Stepping, part: Part): void {
  const { backend, form, groups, sums, cells, table } = stepping;
  const isConstrained = form.hyper.constraint === 2;
  const floats = hyperFloats(form.hyper);
  const ints = partInts(stepping, part);
  const [rows] = part.tensors;
  const slots = slotInputs(stepping, part);
  const rowSlot = rowSlotOf(stepping, part);
  if (rowSlot !== null) {
    const program = {
      name: nameOf(stepping, 'rowSlot'),
      inputs: { plan: groups.plan, sums },
      ints,
      floats,
      threads: groups.count,
      code: rowSlotText(form),
    };
    runProgram(backend, program, rowSlot);
  }
  const own = isConstrained ? { table: rows! } : { sums };
  const columns = isConstrained ? table.dim : cells;
  const program = {
    name: nameOf(stepping, isConstrained ? 'unconstrained' : 'touched'),
    inputs: { ...slots, plan: groups.plan, ...own },
    written: writtenSlots(form.optimizer),
    ints: { ...ints, cells: columns },
    floats,
    threads: groups.count * columns,
    code: touchedText(form, isConstrained),
  };
  runProgram(backend, program, isConstrained ? sums : rows!);
  if (isConstrained) constrain(stepping, part, sums, 'touched');
}

/** Writes rows that were stepped elsewhere, within the limits of their norms. */
function constrain(stepping: Stepping, part: Part, sums: tf.TensorInfo, rows: 'touched' | 'idle'): void {
  const { backend, form, groups } = stepping;
  const program = {
    name: `constrained_${rows}_${form.codec.name}`,
    inputs: { plan: groups.plan, sums },
    ints: partInts(stepping, part),
    floats: hyperFloats(form.hyper),
    threads: rows === 'touched' ? groups.count : part.rows,
    code: constrainedText(form.codec, rows),
  };
  runProgram(backend, program, part.tensors[0]!);
}

function stepIdle(stepping: Stepping, part: Part, scratch: Scratch): void {
  const { backend, form, groups, cells, table } = stepping;
  const isConstrained = form.hyper.constraint === 2;
  const slots = UPDATES[form.optimizer].movesIdleRows === true ? slotInputs(stepping, part) : {};
  const [rows] = part.tensors;
  const columns = isConstrained ? table.dim : cells;
  const rowSlot = UPDATES[form.optimizer].movesIdleRows === true ? rowSlotOf(stepping, part) : null;
  if (rowSlot !== null) {
    const counted = {
      name: 'idleCount',
      inputs: { plan: groups.plan },
      ints: partInts(stepping, part),
      threads: part.rows,
      code: idleCountText(),
    };
    runProgram(backend, counted, rowSlot);
  }
  const program = {
    name: nameOf(stepping, isConstrained ? 'idleUnconstrained' : 'idle'),
    inputs: { ...slots, plan: groups.plan, ...(isConstrained && { table: rows! }) },
    written: UPDATES[form.optimizer].movesIdleRows === true ? writtenSlots(form.optimizer) : [],
    ints: { ...partInts(stepping, part), cells: columns },
    floats: hyperFloats(form.hyper),
    threads: part.rows * columns,
    code: idleText(form, isConstrained),
  };
  const next = isConstrained ? scratch.make(part.rows * table.dim, 'float32') : rows!;
  runProgram(backend, program, next);
  if (isConstrained) constrain(stepping, part, next, 'idle');
}

/** Steps a table. Ids were checked, and table and slots have no other holders. */
export function stepTable(backend: WebgpuBackend, scratch: Scratch, step: Step): void {
  const { optimizer, table, slots, uses, groups } = step;
  const { dim } = table;
  const hyper: Hyper = unpackHyper(step.hyper);
  if (dim === 0 || table.tensor.shape[0] === 0) return;
  const length = groups.count * dim;
  const sums = scratch.make(length, 'float32');
  const isTouched = groups.count > 0;
  if (isTouched) {
    sumRows(backend, scratch, { sums, groups, dim }, uses, table);
    if (hyper.clipNorm > 0) clipTogether(backend, scratch, sums, length, hyper.clipNorm);
  }
  const { codec } = table;
  const form = { optimizer, codec, hyper };
  const stepping = { backend, form, table, slots, groups, sums, cells: codec.words(dim) };
  forEachPart(backend, [table.tensor, ...slots], (part) => {
    if (isTouched) stepTouched(stepping, part);
    if (stepsIdleRows(optimizer, hyper)) stepIdle(stepping, part, scratch);
  });
}
