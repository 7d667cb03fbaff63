/** What the backend in use does for tables, outside the tape and with the errors that users see. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import type { LookedUp, Lookup, LookupGradient, RowGradientTensors } from '../backends/contract.js';
import { IdOutOfRange } from '../backends/kernel_set.js';
import { currentBackend } from '../backends/registry.js';
import { outOfRangeError } from '../ids/id_out_of_range.js';
import { refuseSecond, withLazyGradient, withoutTape } from '../tfjs/lazy_gradient.js';
import { tableSettings } from './training/table_settings.js';

/** Runs lookups of all tables in one call: devices then work at the same time. */
export function runLookups(lookups: readonly Lookup[]): LookedUp[] {
  const run = (list: readonly Lookup[]): LookedUp[] => currentBackend().lookUp(list);
  return withoutTape(() => {
    if (lookups.length === 1) return withPublicErrors(() => run(lookups), lookups[0]!.table);
    try {
      return run(lookups);
    } catch (error) {
      // One by one it is said which table the id is not in.
      if (error instanceof IdOutOfRange)
        lookups.forEach((lookup) => withPublicErrors(() => run([lookup]), lookup.table));
      throw error;
    }
  });
}

/** What one lookup adds to the gradient of a table with so many rows; `table` is read where `maxNorm` is set. */
export function rowGradients(of: LookupGradient, rows: number, table: tf.Tensor2D | null): RowGradientTensors {
  return withPublicErrors(
    () => currentBackend().gradient.byRow(of, rows, table),
    of.options.maxNorm > 0 ? table : null,
  );
}

/** The gradient of a lookup with respect to its weights, [nnz], which has none of its own. */
export function weightsGradient(table: tf.Tensor2D, of: LookupGradient): tf.Tensor1D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  return withLazyGradient(
    { table, gradient: of.gradient, weights: of.bags.weights! },
    () => withPublicErrors(() => currentBackend().gradient.byWeight(table, of), table),
    () => ({ table: refuse, gradient: refuse, weights: refuse }),
  ) as tf.Tensor1D;
}

/** The tensors of a batch, for the tape to save, in the order in which `asBags` reads them. */
export function present({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

export function asBags([values, rowSplits, weights]: tf.Tensor[]): BagTensors {
  return { values, rowSplits, weights: weights ?? null } as BagTensors;
}

/** The name of a table, unless tfjs made it up. */
function nameOf(table: tf.Tensor | null | undefined): string | null {
  if (!(table instanceof tf.Variable)) return null;
  const name = tableSettings(table)?.name ?? table.name;
  return /^\d+$/.test(name) ? null : `table ${name}`;
}

/** Runs `run`; an id outside the table becomes a ValueError that names id, position, the table and its rows. */
export function withPublicErrors<T>(run: () => T, table?: tf.Tensor | null): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof IdOutOfRange)) throw error;
    const { id, position, rows } = error;
    const note =
      id < 0
        ? 'Where negative ids stand for nothing (padding): raggedEmbedding, or safeEmbeddingLookup.'
        : `Use outOfRange: 'zero' to take such rows as zeros.`;
    throw outOfRangeError({
      id,
      rows,
      position,
      place: `position ${position} of the values`,
      owner: nameOf(table),
      argument: 'ids',
      expected: `ids in [0, ${rows})`,
      note,
      batchRow: null,
    });
  }
}
