/** Errors of kernels as errors of the public API. */
import * as tf from '@tensorflow/tfjs';
import { IdOutOfRange } from '../backends/kernel_set.js';
import { outOfRangeError } from '../ids/id_out_of_range.js';
import { tableSettings } from './training/table_settings.js';

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
