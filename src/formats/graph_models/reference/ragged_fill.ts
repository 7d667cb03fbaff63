/** Empty rows of a ragged tensor, given by the row of each value. */
import { ValueError, described } from '../../../base/errors.js';
import { checkRank, integer, type HostArray } from '../host_array.js';
import { sparseFillEmptyRows } from './sparse.js';

/** The same values with a default in each row that has none: a sparse tensor of one axis. */
export function raggedFillEmptyRows(
  rowIds: HostArray,
  values: HostArray,
  nrows: HostArray,
  defaultValue: HostArray,
): HostArray[] {
  checkRank(rowIds, 1, 'value_rowids');
  if (nrows.shape.length !== 0) {
    throw new ValueError('nrows', 'a scalar', described(`shape [${nrows.shape.join(', ')}]`));
  }
  const rows = integer(nrows, 'nrows');
  if (rows < 0) throw new ValueError('nrows', 'a number of at least 0', rows);
  const indices = { ...rowIds, shape: [rowIds.shape[0]!, 1] };
  const names = ['value_rowids', 'values', 'nrows'] as const;
  const [places, ...rest] = sparseFillEmptyRows(indices, values, { ...nrows, shape: [1] }, defaultValue, names);
  // TensorFlow leaves the second axis where there are no rows.
  const shape = rows === 0 ? [0, 1] : [places!.shape[0]!];
  return [{ ...places!, shape }, ...rest];
}
