/** Products of a sparse and a dense matrix. */
import { ValueError, described } from '../../../base/errors.js';
import { checkRank, hostArray, integers, type HostArray } from '../host_array.js';

/** Which of the two factors are transposed. */
export interface Adjoints {
  readonly a: boolean;
  readonly b: boolean;
}

/** Returns the product [rows of a, columns of b]. Places that come twice add. */
export function sparseTensorDenseMatMul(
  indices: HostArray,
  values: HostArray,
  shape: HostArray,
  b: HostArray,
  adjoints: Adjoints,
): HostArray {
  checkRank(indices, 2, 'a_indices');
  checkRank(values, 1, 'a_values');
  checkRank(b, 2, 'b');
  const count = indices.shape[0]!;
  if (indices.shape[1] !== 2) {
    throw new ValueError('a_indices', 'coordinates of two axes', described(`shape [${indices.shape.join(', ')}]`));
  }
  if (shape.shape.length !== 1 || shape.values.length !== 2) {
    throw new ValueError('a_shape', 'two sizes', described(`shape [${shape.shape.join(', ')}]`));
  }
  if (values.shape[0] !== count) {
    throw new ValueError('a_values', `${count} values, one per index`, described(`${values.shape[0]}`));
  }
  const sizes = integers(shape, 'a_shape');
  const [rowAxis, innerAxis] = adjoints.a ? [1, 0] : [0, 1];
  const [rows, inner] = [sizes[rowAxis]!, sizes[innerAxis]!];
  const [bRows, bColumns] = b.shape as [number, number];
  const [bInner, columns] = adjoints.b ? [bColumns, bRows] : [bRows, bColumns];
  if (rows < 0 || inner < 0) throw new ValueError('a_shape', 'sizes of at least 0', Array.from(sizes));
  if (inner !== bInner) {
    throw new ValueError('b', `${inner} rows to multiply with, those of a`, described(`${bInner}`));
  }
  const places = integers(indices, 'a_indices');
  const product = hostArray(values.dtype, [rows, columns]);
  const [terms, factors, sums] = [values.values, b.values, product.values] as Float32Array[];
  const multiply = values.dtype === 'int32' ? Math.imul : (x: number, y: number): number => x * y;
  for (let i = 0; i < count; i++) {
    const [row, k] = [places[i * 2 + rowAxis]!, places[i * 2 + innerAxis]!];
    if (row < 0 || row >= rows || k < 0 || k >= inner) {
      const received = described(`[${places[i * 2]}, ${places[i * 2 + 1]}] at index ${i}`);
      throw new ValueError('a_indices', `places in a matrix of shape [${sizes.join(', ')}]`, received);
    }
    for (let column = 0; column < columns; column++) {
      const factor = factors![adjoints.b ? column * inner + k : k * columns + column]!;
      sums![row * columns + column]! += multiply(terms![i]!, factor);
    }
  }
  return product;
}
