/** One exact row-sparse optimizer step as a function of variables. */
import * as tf from '@tensorflow/tfjs';
import { packHyper } from '../backends/hyper.js';
import { backendPart } from '../backends/registry.js';
import { ArgumentTypeError, ValueError, described } from '../errors.js';
import { hyperOf, readSettings, type SparseOptimizerConfig } from '../optimizers/settings.js';
import { OPTIMIZER_NAMES, SLOT_NAMES, type OptimizerName } from '../types.js';
import { checkBagOptions, checkMatrix, checkTable, type BagOptionsInput } from './arguments.js';
import { readBagTensors, type VectorInput } from './bag_arguments.js';
import { withPublicErrors } from './kernel_errors.js';

export interface SparseApplyArgs extends BagOptionsInput, SparseOptimizerConfig {
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
 * grows with the ids, never with the table's height (except Adam and Adagrad momentum with `lazy: false`).
 * Shapes: table [rows, dim] float32 variable; slots as in `emb.train` (adagrad: accumulators; rowWiseAdagrad:
 * accumulators [rows]; adagradMomentum: accumulators, momenta; adam: momenta, velocities; ftrl: accumulators,
 * linears); gradient [batch, dim]; values, rowSplits, weights as in `embeddingBag`. Snapshots of a variable taken
 * before never change. Nothing is written when an id is out of range.
 * Throws TypeError for wrong types; ValueError for an unknown name, wrong shapes and hyper-parameters out of range.
 * Source: the sparse update kernels of TensorFlow 2.21 (ResourceSparseApply*) and the TPU embedding optimizers.
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
  if (args === null || typeof args !== 'object') throw new ArgumentTypeError('args', 'an object', args);
  const table = checkVariable(args.table, 'table');
  const [rows, dim] = checkTable(table, 'table').shape as [number, number];
  const slots = checkSlots(name, args.slots ?? [], rows, dim);
  const options = checkBagOptions(args);
  const settings = readSettings(name, args);
  const step = args.step ?? 1;
  if (typeof step !== 'number') throw new ArgumentTypeError('step', 'a whole number >= 1', step);
  if (!Number.isInteger(step) || step < 1) throw new ValueError('step', 'a whole number >= 1', step);
  const hyper = packHyper(hyperOf(name, settings, step, null));
  tf.tidy(() => {
    const bags = readBagTensors(args.values, args.rowSplits, args.weights, options.validate);
    const gradient = checkMatrix(args.gradient, bags.rowSplits.shape[0] - 1, dim, 'gradient');
    withPublicErrors(() => backendPart().sparseApply(name, table, slots, gradient, bags, options, hyper));
  });
}

function checkVariable(variable: unknown, argument: string): tf.Variable {
  if (variable instanceof tf.Variable) return variable;
  throw new ArgumentTypeError(argument, 'a tf.Variable, because it is updated in place', variable);
}

function checkSlots(name: OptimizerName, slots: unknown, rows: number, dim: number): tf.Variable[] {
  const names = SLOT_NAMES[name];
  const expected = names.length === 0 ? 'no slots' : `variables: ${names.join(', ')}`;
  if (!Array.isArray(slots)) throw new ArgumentTypeError('slots', expected, slots);
  if (slots.length !== names.length) throw new ValueError('slots', expected, described(`${slots.length} slots`));
  const shape = name === 'rowWiseAdagrad' ? [rows] : [rows, dim];
  slots.forEach((slot: unknown, i) => {
    const variable = checkVariable(slot, `slots[${i}]`);
    const what = `a float32 variable of shape [${shape.join(', ')}]`;
    if (variable.dtype !== 'float32') throw new ArgumentTypeError(`slots[${i}]`, what, variable);
    const actual = variable.shape;
    const isColumn = name === 'rowWiseAdagrad' && actual.length === 2 && actual[1] === 1 && actual[0] === rows;
    if (!isColumn && (actual.length !== shape.length || actual.some((size, axis) => size !== shape[axis]))) {
      throw new ValueError(`slots[${i}]`, what, variable);
    }
  });
  return slots as tf.Variable[];
}
