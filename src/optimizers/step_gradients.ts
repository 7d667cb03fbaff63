/** The gradients of one step: those of tables, which are stepped by rows, and all others. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { numbersShape } from '../backends/packed/packed_table.js';
import { isAnonymous, variableText } from '../lookup/training/variable_names.js';
import type { NamedTensor } from '../base/types.js';
import type { Gradient } from './gradients.js';
import { scaleOf } from './global_norm.js';
import { IndexedSlices } from './indexed_slices.js';
import { ofRows } from '../backends/single_rows.js';
import { ofSlices, rowsOf, type TableGradient } from './table_step.js';

export interface StepGradients {
  readonly tables: ReadonlyMap<tf.Variable, TableGradient>;
  readonly dense: readonly NamedTensor[];
}

/** `entries`: what came through lookups. Call inside a tidy. */
export function sortGradients(
  found: readonly { name: string; gradient: Gradient }[],
  entries: ReadonlyMap<tf.Variable, TableGradient['entries']>,
  isTable: (variable: tf.Variable) => boolean,
): StepGradients {
  const tables = new Map<tf.Variable, TableGradient>();
  for (const [table, ofLookups] of entries) tables.set(table, { entries: ofLookups, dense: null });
  const dense: NamedTensor[] = [];
  for (const { name, gradient } of found) {
    const variable = variableOf(name);
    if (gradient instanceof IndexedSlices) {
      checkFits(name, variable, gradient.denseShape);
      tables.set(variable, ofSlices(gradient));
    } else if (isTable(variable)) {
      checkTensor(name, variable, gradient);
      tables.set(variable, { entries: entries.get(variable) ?? [], dense: gradient as tf.Tensor2D });
    } else {
      checkTensor(name, variable, gradient);
      dense.push({ name, tensor: gradient });
    }
  }
  return { tables, dense };
}

function variableOf(name: string): tf.Variable {
  const variable = tf.engine().registeredVariables[name];
  if (variable !== undefined) return variable;
  throw new ValueError('grads', 'gradients of variables that exist', described(`one of ${JSON.stringify(name)}`));
}

function checkFits(name: string, variable: tf.Variable, shape: readonly number[]): void {
  const own = numbersShape(variable);
  if (tf.util.arraysEqual(own, shape as number[])) return;
  const argument = `grads[${JSON.stringify(name)}]`;
  const expected = `a gradient of shape [${own.join(', ')}]`;
  throw new ValueError(argument, expected, described(`shape [${shape.join(', ')}]`), noteOf(name, variable));
}

/** What a variable is whose own name is a number. */
function noteOf(name: string, variable: tf.Variable): string | undefined {
  return isAnonymous(name) ? `${JSON.stringify(name)} is the variable ${variableText(variable)}.` : undefined;
}

function checkTensor(name: string, variable: tf.Variable, gradient: tf.Tensor): void {
  const argument = `grads[${JSON.stringify(name)}]`;
  if (gradient.isDisposed) throw new RuntimeError(argument, 'a tensor in use', described('a disposed tensor'));
  if (gradient.dtype !== 'float32') throw new ArgumentTypeError(argument, 'a float32 tensor', gradient);
  checkFits(name, variable, gradient.shape);
}

/** Scales gradients so that their norm, over tables and all else together, is at most `most`. Call inside a tidy. */
export function clipStep({ tables, dense }: StepGradients, most: number): StepGradients {
  const list = [...tables].map(([table, gradient]) => ({ table, ...rowsOf(table, gradient) }));
  const tensors = dense.map(({ tensor }) => tensor);
  const { scale } = scaleOf([...list.map(({ rowGradients }) => rowGradients), ...tensors], most);
  const clipped = list.map(({ table, uniqueIds, rowGradients }): [tf.Variable, TableGradient] => {
    return [table, { entries: [ofRows(uniqueIds, rowGradients.mul(scale))], dense: null }];
  });
  return { tables: new Map(clipped), dense: dense.map(({ name, tensor }) => ({ name, tensor: tensor.mul(scale) })) };
}

/** The same for the tables that are chosen, by themselves. Call inside a tidy. */
export function clipTables(
  gradients: StepGradients,
  most: number,
  isChosen: (table: tf.Variable) => boolean,
): StepGradients {
  const chosen = new Map([...gradients.tables].filter(([table]) => isChosen(table)));
  const { tables } = clipStep({ tables: chosen, dense: [] }, most);
  return { ...gradients, tables: new Map([...gradients.tables, ...tables]) };
}
