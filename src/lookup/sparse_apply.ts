/** One exact row-sparse optimizer step as a function of variables. */
import * as tf from '@tensorflow/tfjs';
import { packHyper } from '../rules/hyper.js';
import { currentBackend } from '../backends/registry.js';
import { tableOf } from '../backends/table.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { fieldsOf, hyperOf, readSettings, type SparseOptimizerConfig } from '../rules/optimizer_settings.js';
import { readOptions } from '../base/options.js';
import {
  OPTIMIZER_NAMES,
  SLOT_NAMES,
  slotShapes,
  updateOf,
  type OptimizerName,
  type UpdateName,
} from '../rules/rules.js';
import { checkBagOptions, checkMatrix, checkTable, type BagOptionsInput } from './arguments.js';
import { readBagTensors, type VectorInput } from './bag_arguments.js';
import { gradientWithoutMax, withPublicErrors } from './lookup.js';

/** Hyper-parameters of one table. */
type TableHyper = Omit<SparseOptimizerConfig, 'globalClipNorm'>;

export interface SparseApplyArgs extends BagOptionsInput, TableHyper {
  /** [rows, dim], updated in place. */
  table: tf.Variable;
  /** As many as the optimizer has, each like the table ([rows] or [rows, 1] for rowWiseAdagrad), updated in place. */
  slots?: readonly tf.Variable[] | undefined;
  /** Gradient of the pooled rows [batch, dim]. */
  gradient: tf.Tensor2D;
  values: VectorInput;
  rowSplits: VectorInput;
  weights?: VectorInput | null | undefined;
  /** Number of the step, from 1: used by Adam's bias correction and by learning rates that are functions. */
  step?: number | undefined;
}

/**
 * Steps the rows of a table that a batch touches, in place; returns nothing.
 *
 * Each touched row is updated once, with the sum of its gradients over the batch: exact, whatever is repeated. Cost
 * grows with the ids, never with the table's height (except with `lazy: false`).
 * Shapes: table [rows, dim] float32 variable; slots as in `emb.train`, in the order of docs/optimizers.md; gradient [batch, dim]; values, rowSplits, weights as in `embeddingBag`. Snapshots of a variable taken
 * before never change. Nothing is written when an id is out of range.
 * Source: the sparse update kernels of TensorFlow 2.21 (ResourceSparseApply*) and the TPU embedding optimizers.
 *
 * @param name - Which update: a name of `emb.train`.
 * @param args - Table and slots, which are written; gradient, ids and hyper-parameters.
 * @throws TypeError for wrong types; ValueError for an unknown name, wrong shapes and hyper-parameters out of range.
 *
 * @example
 * const table = tf.variable(tf.zeros([3, 2]));
 * emb.ops.sparseApply('sgd', {table, gradient: tf.ones([1, 2]), values: [2, 2], rowSplits: [0, 2], combiner: 'sum',
 *                             learningRate: 0.5});
 * table.print(); // [[0, 0], [0, 0], [-1, -1]]
 */
export function sparseApply(name: OptimizerName, args: SparseApplyArgs): void {
  if (typeof name !== 'string') throw new ArgumentTypeError('name', `one of ${OPTIMIZER_NAMES.join(', ')}`, name);
  if (!OPTIMIZER_NAMES.includes(name)) throw new ValueError('name', `one of ${OPTIMIZER_NAMES.join(', ')}`, name);
  const given = readOptions<SparseApplyArgs>(args, FIELDS, 'args');
  const table = checkVariable(given.table, 'table');
  const dim = checkTable(table, 'table').shape[1];
  const settings = readSettings(name, given);
  const optimizer = updateOf({ optimizerName: name, settings });
  const slots = checkSlots(optimizer, given.slots ?? [], table);
  const options = checkBagOptions(given);
  const step = checkStep(given.step ?? 1);
  const hyper = packHyper(hyperOf(name, settings, step, null));
  tf.tidy(() => {
    const bags = readBagTensors(given.values!, given.rowSplits!, given.weights, options.validate);
    const gradient = checkMatrix(given.gradient, bags.rowSplits.shape[0] - 1, dim, 'gradient');
    const stepped = tableOf(table);
    withPublicErrors(() => {
      const entries = [gradientWithoutMax({ gradient, bags, options }, stepped)];
      currentBackend().step([{ optimizer, table: stepped, slots, entries, dense: null, hyper }]);
    }, stepped);
  });
}

/** Every hyper-parameter may be given: those of other optimizers have no effect. */
function namesOfFields(): readonly (keyof SparseApplyArgs)[] {
  return [
    'table',
    'slots',
    'gradient',
    'values',
    'rowSplits',
    'weights',
    'step',
    'combiner',
    'outOfRange',
    'maxNorm',
    'validate',
    ...new Set(OPTIMIZER_NAMES.flatMap((name) => fieldsOf(name)).filter((field) => field !== 'globalClipNorm')),
  ];
}
const FIELDS = /* @__PURE__ */ namesOfFields();

function checkStep(step: unknown): number {
  const expected = 'a whole number >= 1';
  if (typeof step !== 'number') throw new ArgumentTypeError('step', expected, step);
  if (!Number.isSafeInteger(step) || step < 1) throw new ValueError('step', expected, step);
  return step;
}

function checkVariable(variable: unknown, argument: string): tf.Variable {
  const expected = 'a tf.Variable, because it is updated in place';
  if (!(variable instanceof tf.Variable)) {
    throw new ArgumentTypeError(argument, expected, variable);
  }
  return variable as tf.Variable;
}

function checkSlots(name: UpdateName, slots: unknown, table: tf.Variable): tf.Variable[] {
  const names = SLOT_NAMES[name];
  const expected = (): string => (names.length === 0 ? 'no slots' : `variables: ${names.join(', ')}`);
  if (!Array.isArray(slots)) {
    throw new ArgumentTypeError('slots', expected(), slots);
  }
  const list = slots as unknown[];
  if (list.length !== names.length) throw new ValueError('slots', expected(), described(`${list.length} slots`));
  const shapes = slotShapes(name, table.shape as [number, number]);
  // Not by `forEach`, which leaves holes out.
  for (let i = 0; i < list.length; i++) {
    const slot = list[i];
    const shape = shapes[i]!;
    const variable = checkVariable(slot, `slots[${i}]`);
    const what = (): string => `a float32 variable of shape [${shape.join(', ')}]`;
    if (variable.dtype !== 'float32') throw new ArgumentTypeError(`slots[${i}]`, what(), variable);
    const actual = variable.shape;
    const isColumn = shape.length === 1 && actual.length === 2 && actual[1] === 1 && actual[0] === shape[0];
    if (!isColumn && (actual.length !== shape.length || actual.some((size, axis) => size !== shape[axis]))) {
      throw new ValueError(`slots[${i}]`, what(), variable);
    }
    checkLive(variable, `slots[${i}]`, what());
    // One buffer in two roles would be written twice in a step.
    if (variable === table || list.indexOf(slot) !== i) {
      throw new ValueError(`slots[${i}]`, 'a variable of its own', described('one that is given twice'));
    }
  }
  return slots as tf.Variable[];
}
