/** Ragged values laid out in a dense tensor. */
import { ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, integer, integers, sizeOf, type HostArray } from '../host_array.js';

/** How a partition tensor tells rows. */
type PartitionType = 'FIRST_DIM_SIZE' | 'VALUE_ROWIDS' | 'ROW_SPLITS';
const TYPES: readonly string[] = ['FIRST_DIM_SIZE', 'VALUE_ROWIDS', 'ROW_SPLITS'];

/** The row of each value, and how many rows there are. */
interface Level {
  readonly rowOf: Int32Array;
  readonly rows: number;
}

function ofSplits(splits: Int32Array, argument: string): Level {
  if (splits.length === 0 || splits[0] !== 0) {
    throw new ValueError(
      argument,
      'row splits that start at 0',
      described(splits.length === 0 ? 'none' : `${splits[0]}`),
    );
  }
  const rowOf = new Int32Array(Math.max(0, splits[splits.length - 1]!));
  for (let row = 0; row + 1 < splits.length; row++) {
    if (splits[row + 1]! < splits[row]!) {
      throw new ValueError(argument, 'non-decreasing row splits', described(`${splits[row + 1]} at ${row + 1}`));
    }
    rowOf.fill(row, splits[row], splits[row + 1]);
  }
  return { rowOf, rows: splits.length - 1 };
}

function ofRowIds(ids: Int32Array, rows: number, argument: string): Level {
  ids.forEach((id, i) => {
    const least = i === 0 ? 0 : ids[i - 1]!;
    if (id < least || id >= rows) {
      throw new ValueError(argument, `row ids in [${least}, ${rows}) at position ${i}`, id);
    }
  });
  return { rowOf: ids, rows };
}

/** Rows of each ragged axis, outermost first. */
function readLevels(partitions: readonly HostArray[], types: readonly string[]): Level[] {
  const unknown = types.find((type) => !TYPES.includes(type));
  if (unknown !== undefined || types.length !== partitions.length) {
    throw new ValueError('row_partition_types', `one of ${TYPES.join(', ')} for each partition`, types);
  }
  const levels: Level[] = [];
  let rows: number | null = null;
  partitions.forEach((partition, i) => {
    const argument = `row_partition_tensors[${i}]`;
    const type = types[i] as PartitionType;
    if (type === 'FIRST_DIM_SIZE') {
      if (i !== 0) throw new ValueError('row_partition_types', 'FIRST_DIM_SIZE in the first place only', types);
      rows = integer(partition, argument);
      return;
    }
    if (type === 'VALUE_ROWIDS' && rows === null) {
      throw new ValueError('row_partition_types', 'FIRST_DIM_SIZE before VALUE_ROWIDS', types);
    }
    const numbers = integers(partition, argument);
    const level = type === 'ROW_SPLITS' ? ofSplits(numbers, argument) : ofRowIds(numbers, rows!, argument);
    if (rows !== null && level.rows !== rows) {
      throw new ValueError(argument, `a partition into ${rows} rows`, described(`${level.rows} rows`));
    }
    levels.push(level);
    rows = level.rowOf.length;
  });
  return levels;
}

function longestRow({ rowOf }: Level): number {
  let [longest, length] = [0, 0];
  rowOf.forEach((row, i) => {
    length = i > 0 && rowOf[i - 1] === row ? length + 1 : 1;
    longest = Math.max(longest, length);
  });
  return longest;
}

/** The shape of the result: what `wanted` says, and where it says -1, what the values need. */
function outputShape(wanted: readonly number[] | null, levels: readonly Level[], inner: readonly number[]): number[] {
  const needed = [levels[0]!.rows, ...levels.map(longestRow), ...inner];
  if (wanted === null) return needed;
  if (wanted.length !== needed.length) {
    throw new ValueError('shape', `${needed.length} sizes, one per axis of the ragged tensor`, wanted);
  }
  return wanted.map((size, i) => {
    const fits = size < 0 || i <= levels.length || size === needed[i];
    if (!fits) throw new ValueError('shape', `size ${needed[i]} in axis ${i}, that of the values`, wanted);
    return size < 0 ? needed[i]! : size;
  });
}

/** One element of the result where no value lies, repeated as broadcasting says. */
function fillDefault(result: HostArray, inner: readonly number[], fallback: HostArray): void {
  const { shape } = fallback;
  const fits =
    shape.length <= inner.length &&
    shape.every((size, i) => {
      const meant = inner[inner.length - shape.length + i];
      return size === 1 || size === meant;
    });
  if (!fits) {
    const received = described(`shape [${shape.join(', ')}]`);
    throw new ValueError('default_value', `a shape that broadcasts to [${inner.join(', ')}]`, received);
  }
  const width = sizeOf(inner);
  const cell = hostArray(result.dtype, inner);
  for (let flat = 0; flat < width; flat++) {
    let [rest, at, stride] = [flat, 0, 1];
    for (let axis = inner.length - 1, own = shape.length - 1; axis >= 0; axis--, own--) {
      const place = rest % inner[axis]!;
      rest = Math.floor(rest / inner[axis]!);
      if (own < 0) continue;
      if (shape[own] !== 1) at += place * stride;
      stride *= shape[own]!;
    }
    copyValues(fallback.values, at, 1, cell.values, flat);
  }
  const cells = width === 0 ? 0 : sizeOf(result.shape) / width;
  for (let i = 0; i < cells; i++) copyValues(cell.values, 0, width, result.values, i * width);
}

/** Values in a dense tensor, `default_value` in the rest; what lies outside a given shape is cut off. */
export function raggedTensorToTensor(
  shape: HostArray,
  values: HostArray,
  defaultValue: HostArray,
  partitions: readonly HostArray[],
  types: readonly string[],
): HostArray {
  const levels = readLevels(partitions, types);
  if (levels.length === 0) throw new ValueError('row_partition_types', 'at least one ragged axis', types);
  const last = levels[levels.length - 1]!;
  if (values.shape.length === 0 || values.shape[0] !== last.rowOf.length) {
    const received = described(`shape [${values.shape.join(', ')}]`);
    throw new ValueError('values', `${last.rowOf.length} values, as the partitions say`, received);
  }
  const inner = values.shape.slice(1);
  const wanted = shape.shape.length === 0 ? null : Array.from(integers(shape, 'shape'));
  const sizes = outputShape(wanted, levels, inner);
  const result = hostArray(values.dtype, sizes);
  fillDefault(result, inner, defaultValue);
  const width = sizeOf(inner);
  // Cell of the result for each row of a level; -1: cut off.
  let cells = Int32Array.from({ length: levels[0]!.rows }, (_, row) => (row < sizes[0]! ? row : -1));
  levels.forEach(({ rowOf }, depth) => {
    const size = sizes[depth + 1]!;
    let column = 0;
    cells = rowOf.map((row, i) => {
      column = i > 0 && rowOf[i - 1] === row ? column + 1 : 0;
      return cells[row]! < 0 || column >= size ? -1 : cells[row]! * size + column;
    });
  });
  cells.forEach((cell, i) => {
    if (cell >= 0) copyValues(values.values, i * width, width, result.values, cell * width);
  });
  return result;
}
