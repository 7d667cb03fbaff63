/** Lookups of many tables in one call. */
import * as tf from '@tensorflow/tfjs';
import type { Lookup } from '../backends/contract.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { addIdDetails } from '../ids/id_out_of_range.js';
import type { Combiner } from '../base/types.js';
import { checkBagOptions, checkLookupTable, type BagOptionsInput } from './arguments.js';
import { readBagTensors, type VectorInput } from './bag_arguments.js';
import { lookUp } from './lookup.js';

/** The ids of one table. */
export interface BagsInput {
  values: VectorInput;
  rowSplits: VectorInput;
  /** One float32 weight per id; gradients flow to it when it is a tensor. */
  weights?: VectorInput | null | undefined;
  /** In place of that of the options. */
  combiner?: Combiner | undefined;
}

export interface EmbeddingBagsOptions extends Partial<BagOptionsInput> {
  /** `'list'`: one tensor per table (default); `'concat'`: all side by side, [batch, sum of dims]. */
  output?: 'list' | 'concat' | undefined;
}

const OPTIONS = ['combiner', 'outOfRange', 'maxNorm', 'validate', 'output'] as const;
const BAGS = ['values', 'rowSplits', 'weights', 'combiner'] as const;

function checkList(given: unknown, argument: string): readonly unknown[] {
  if (!Array.isArray(given)) throw new ArgumentTypeError(argument, 'a list with an entry per table', given);
  return given as unknown[];
}

function checkOutput(output: unknown): 'list' | 'concat' {
  const expected = `'list' or 'concat'`;
  if (output === undefined || output === null) return 'list';
  if (typeof output !== 'string') throw new ArgumentTypeError('output', expected, output);
  if (output !== 'list' && output !== 'concat') throw new ValueError('output', expected, output);
  return output;
}

/** The first lookup with an id outside its table: kernels tell the id, and nothing of other lookups. */
function strayLookup(lookups: readonly Lookup[]): number {
  return lookups.findIndex(({ table, bags, options }) => {
    const isOutside = (id: number): boolean => id < 0 || id >= table.rows;
    return options.outOfRange === 'error' && bags.values.dataSync<'int32'>().some(isOutside);
  });
}

function sideBySide(rows: readonly tf.Tensor2D[]): tf.Tensor2D {
  if (rows.length === 0)
    throw new ValueError('tables', `at least one table where output is 'concat'`, described('none'));
  const other = rows.findIndex(({ shape }) => shape[0] !== rows[0]!.shape[0]);
  if (other < 0) return tf.concat2d([...rows], 1);
  const expected = `as many bags as bags[0] has (${rows[0]!.shape[0]}), to lie side by side`;
  throw new ValueError(`bags[${other}].rowSplits`, expected, described(`${rows[other]!.shape[0]} bags`));
}

/**
 * Returns the combined rows of many tables: a list with one tensor per table, or all of them side by side.
 *
 * Shapes: tables[i] [rows, dim] float32; bags[i] as the arguments of `embeddingBag`; the result is a list of
 * [batch, dim], or with `output: 'concat'` one tensor [batch, sum of dims] float32. A table may come several times.
 * `options` hold for all tables; a combiner in `bags[i]` goes first. Backends with devices look all tables up at once.
 * Differentiable with respect to tables and weights.
 * Source: tf.nn.embedding_lookup_sparse (TensorFlow 2.21), for a list of tables.
 *
 * @param tables - [rows, dim] float32 each.
 * @param bags - The ids, splits and weights for each table.
 * @param options - The combiner, how ids are weighted and checked, and the form of the result.
 * @returns A tensor for each table, or one of all.
 * @throws TypeError for wrong types and dtypes; ValueError for lists of different lengths, for what `embeddingBag`
 * refuses, and for different numbers of bags under `'concat'`. Errors name the entry, such as `bags[2].values`.
 *
 * @example
 * const tables = [tf.tensor2d([[1, 2], [3, 4]]), tf.tensor2d([[5], [6], [7]])];
 * const bags = [{values: [0, 1], rowSplits: [0, 2]}, {values: [2], rowSplits: [0, 1]}];
 * emb.ops.embeddingBags(tables, bags, {combiner: 'sum', output: 'concat'}).print(); // [[4, 6, 7]]
 */
export function embeddingBags(
  tables: readonly (tf.Tensor2D | tf.Variable)[],
  bags: readonly BagsInput[],
  options: EmbeddingBagsOptions & { output: 'concat' },
): tf.Tensor2D;
export function embeddingBags(
  tables: readonly (tf.Tensor2D | tf.Variable)[],
  bags: readonly BagsInput[],
  options?: EmbeddingBagsOptions & { output?: 'list' | undefined },
): tf.Tensor2D[];
export function embeddingBags(
  tables: readonly (tf.Tensor2D | tf.Variable)[],
  bags: readonly BagsInput[],
  options: EmbeddingBagsOptions = {},
): tf.Tensor2D | tf.Tensor2D[] {
  const matrices = Array.from(checkList(tables, 'tables'), (table, i) => checkLookupTable(table, `tables[${i}]`));
  const given = readOptions<EmbeddingBagsOptions>(options, OPTIONS);
  const output = checkOutput(given.output);
  const list = Array.from(checkList(bags, 'bags'), (each, i) => readOptions<BagsInput>(each, BAGS, `bags[${i}]`));
  if (list.length !== matrices.length) {
    throw new ValueError('bags', `one entry per table (${matrices.length})`, described(`${list.length} entries`));
  }
  return tf.tidy(() => {
    const lookups = list.map(({ values, rowSplits, weights, combiner }, i): Lookup => {
      const checked = checkBagOptions({ ...given, combiner: (combiner ?? given.combiner)! });
      const tensors = readBagTensors(values!, rowSplits!, weights, checked.validate, `bags[${i}].`);
      return { table: matrices[i]!, bags: tensors, options: checked };
    });
    const rows = addIdDetails(
      () => lookUp(lookups),
      () => ({ argument: `bags[${strayLookup(lookups)}].values` }),
    );
    return output === 'concat' ? sideBySide(rows) : rows;
  });
}
