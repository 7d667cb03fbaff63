/** One optimizer step of every stack. */
import type * as tf from '@tensorflow/tfjs';
import { packHyper } from '../../rules/hyper.js';
import type { DevicesBackend, StackUpdate } from '../../backends/devices/devices_backend.js';
import { tableOf } from '../../backends/table.js';
import type { StackBatch } from '../../backends/sparse_core.js';
import { CustomOptimizer } from '../optimizers/custom_optimizer.js';
import { customStep } from '../optimizers/custom_step.js';
import { kernelStep } from '../optimizers/kernel_step.js';
import { learningRates } from '../optimizers/learning_rates.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import type { SparseCoreLayout } from './layouts.js';
import type { StackPlan } from './stack_plan.js';
import { holdsRow, tableRow, type SparseCoreVariables, type StackVariables } from './stack_variables.js';

/** The gradient of a stack's activations, and the ids that gave them. */
export interface StackGradient {
  readonly stack: StackVariables;
  readonly batch: StackBatch;
  /** [samples, padded dim], core after core. */
  readonly gradient: Float32Array;
}

/** A step that may be made later, at the learning rate of now. */
export interface PendingStep extends StackGradient {
  readonly optimizer: TPUEmbeddingOptimizer;
  readonly learningRate: number;
}

/** The steps of all stacks; dynamic learning rates are asked now, each once. */
export function pendingSteps(gradients: readonly StackGradient[]): PendingStep[] {
  const trained = gradients.flatMap((each) => {
    const { optimizer } = each.stack.plan;
    return optimizer === null ? [] : [{ ...each, optimizer }];
  });
  const rates = learningRates(trained.map(({ optimizer }) => optimizer));
  return trained.map((each, i) => ({ ...each, learningRate: rates[i]! }));
}

/** All samples in the order of the batch: those of a feature on all cores, then those of the next. */
function batchOrder({ features }: StackPlan, { csr: { cores, samples } }: StackBatch): Int32Array {
  const order = new Int32Array(cores * samples);
  let next = 0;
  for (const feature of features) {
    const [start, count] = [feature.sampleOffset / cores, feature.samples / cores];
    for (let core = 0; core < cores; core++) {
      for (let i = 0; i < count; i++) order[next++] = core * samples + start + i;
    }
  }
  return order;
}

/** Steps all stacks. */
export function stepStacks(emulator: DevicesBackend, pending: readonly PendingStep[]): void {
  const updates: StackUpdate[] = [];
  const custom: (() => void)[] = [];
  for (const each of pending) {
    const { stack, batch, gradient, optimizer, learningRate } = each;
    if (optimizer instanceof CustomOptimizer) {
      custom.push(() => stepCustom(emulator, each, optimizer, learningRate));
      continue;
    }
    const { optimizer: name, hyper } = kernelStep(optimizer, learningRate);
    const order = optimizer.useGradientAccumulation ? null : batchOrder(stack.plan, batch);
    const of = { table: tableOf(stack.parameters), slots: stack.slots, batch, gradient, order };
    updates.push({ ...of, optimizer: name, hyper: packHyper(hyper) });
  }
  if (updates.length > 0) emulator.update(updates);
  for (const step of custom) step();
}

/** Rows of one table among those of its stack, by their numbers in the table. */
interface TouchedTable {
  readonly layout: SparseCoreLayout;
  /** In the table, ascending. */
  readonly rows: Int32Array;
  /** Place of each among the touched rows of the stack. */
  readonly places: Int32Array;
}

function touchedTables({ plan }: StackVariables, rows: Int32Array): TouchedTable[] {
  return plan.tables.map(({ layout }) => {
    const found: { row: number; place: number }[] = [];
    rows.forEach((row, place) => {
      if (holdsRow(row, plan.rowsPerShard, layout))
        found.push({ row: tableRow(row, plan.rowsPerShard, layout), place });
    });
    found.sort((a, b) => a.row - b.row);
    return {
      layout,
      rows: Int32Array.from(found, ({ row }) => row),
      places: Int32Array.from(found, ({ place }) => place),
    };
  });
}

/** Columns [0, columns) of some rows. */
function pick(values: Float32Array, width: number, places: Int32Array, columns: number): Float32Array {
  const picked = new Float32Array(places.length * columns);
  places.forEach((place, i) => picked.set(values.subarray(place * width, place * width + columns), i * columns));
  return picked;
}

function put(values: Float32Array, width: number, places: Int32Array, columns: number, from: Float32Array): void {
  places.forEach((place, i) => values.set(from.subarray(i * columns, (i + 1) * columns), place * width));
}

const widthOf = (variable: tf.Tensor): number => variable.shape[1] ?? 1;

/** The user's function steps each table of the stack by itself, over the rows that were looked up. */
function stepCustom(
  emulator: DevicesBackend,
  { stack, batch, gradient }: StackGradient,
  optimizer: CustomOptimizer,
  learningRate: number,
): void {
  const { rows, values } = emulator.stackRowGradients(stack.parameters, batch, gradient);
  const variables = [stack.parameters, ...stack.slots];
  const stored = variables.map((variable) => emulator.placed(variable).readRows(rows));
  for (const { layout, rows: ofTable, places } of touchedTables(stack, rows)) {
    if (ofTable.length === 0) continue;
    const [, dim] = layout.unshardedShape;
    const columns = variables.map((variable) => (variable.rank === 1 ? 1 : dim));
    const own = stored.map((each, i) => pick(each, widthOf(variables[i]!), places, columns[i]!));
    const [parameters, ...slots] = own as [Float32Array, ...Float32Array[]];
    const touched = { rows: ofTable, dim, gradient: pick(values, stack.plan.columns, places, dim), parameters, slots };
    const stepped = customStep(optimizer, touched, learningRate);
    [stepped.parameters, ...stepped.slots].forEach((each, i) => {
      put(stored[i]!, widthOf(variables[i]!), places, columns[i]!, each);
    });
  }
  variables.forEach((variable, i) => emulator.own(variable).writeRows(rows, stored[i]!));
}

/** Looks all stacks up; `tables` are read instead of the parameters where they are given. */
export function lookUpStacks(
  emulator: DevicesBackend,
  variables: SparseCoreVariables,
  batches: ReadonlyMap<string, StackBatch>,
  tables: ReadonlyMap<string, tf.Tensor> | null,
): Map<string, Float32Array> {
  const stacks = [...variables.stacks.values()];
  const activations = emulator.lookUpStacks(
    stacks.map(({ parameters, plan }) => ({
      batch: batches.get(plan.name)!,
      table: tables?.get(plan.name) ?? parameters,
      quantization: plan.quantization,
    })),
  );
  return new Map(stacks.map(({ plan }, i) => [plan.name, activations[i]!]));
}
