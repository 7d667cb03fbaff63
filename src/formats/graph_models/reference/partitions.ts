/** Rows sent to lists and brought back: dynamic partition and stitch. */
import { ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, integers, sizeOf, type HostArray } from '../host_array.js';

function begins(shape: readonly number[], prefix: readonly number[]): boolean {
  return prefix.length <= shape.length && prefix.every((size, i) => shape[i] === size);
}

/** Splits rows of the data by the partition that each one names. */
export function dynamicPartition(data: HostArray, partitions: HostArray, count: number): HostArray[] {
  const targets = integers(partitions, 'partitions');
  if (!begins(data.shape, partitions.shape)) {
    const received = described(`shape [${partitions.shape.join(', ')}]`);
    throw new ValueError('partitions', `a prefix of data.shape [${data.shape.join(', ')}]`, received);
  }
  const inner = data.shape.slice(partitions.shape.length);
  const width = sizeOf(inner);
  const rows = new Int32Array(count);
  targets.forEach((target, i) => {
    if (target < 0 || target >= count) {
      throw new ValueError('partitions', `numbers in [0, ${count})`, described(`${target} at position ${i}`));
    }
    rows[target]!++;
  });
  const parts = Array.from(rows, (length) => hostArray(data.dtype, [length, ...inner]));
  rows.fill(0);
  targets.forEach((target, i) => {
    copyValues(data.values, i * width, width, parts[target]!.values, rows[target]!++ * width);
  });
  return parts;
}

/** Row `indices[m][i]` of the result is row i of `data[m]`; the last one that names a row wins, rows of none are zeros. */
export function dynamicStitch(indices: readonly HostArray[], data: readonly HostArray[]): HostArray {
  const inner = data[0]!.shape.slice(indices[0]!.shape.length);
  let rows = 0;
  indices.forEach((list, m) => {
    const { shape } = data[m]!;
    if (!begins(shape, list.shape) || shape.slice(list.shape.length).join() !== inner.join()) {
      const received = described(`shape [${shape.join(', ')}]`);
      throw new ValueError(`data[${m}]`, `the shape [${[...list.shape, ...inner].join(', ')}]`, received);
    }
    for (const row of integers(list, `indices[${m}]`)) {
      if (row < 0) throw new ValueError(`indices[${m}]`, 'indices of at least 0', row);
      rows = Math.max(rows, row + 1);
    }
  });
  const width = sizeOf(inner);
  const result = hostArray(data[0]!.dtype, [rows, ...inner]);
  indices.forEach((list, m) => {
    integers(list, 'indices').forEach((row, i) => {
      copyValues(data[m]!.values, i * width, width, result.values, row * width);
    });
  });
  return result;
}
