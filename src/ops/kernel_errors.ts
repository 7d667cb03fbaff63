/** Errors of kernels as errors of the public API. */
import { IdOutOfRange } from '../backends/kernel_set.js';
import { ValueError, described } from '../errors.js';

/** Runs `run`; an id outside the table becomes a ValueError that names id, position and rows. */
export function withPublicErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof IdOutOfRange)) throw error;
    const { id, position, rows } = error;
    const received = described(`${id} at position ${position} of the values (the table has ${rows} rows)`);
    const note =
      id < 0
        ? 'Where negative ids stand for nothing (padding): raggedEmbedding, or safeEmbeddingLookup.'
        : `Use outOfRange: 'zero' to take such rows as zeros.`;
    throw new ValueError('ids', `ids in [0, ${rows})`, received, note);
  }
}
