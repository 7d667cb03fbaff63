/** Ops of graphs that take diagonals out of matrices, put them in, or make matrices of them. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { copyValues, emptyValues, readValues, sizeOf, type HostValues } from '../host_array.js';

/** A band of diagonals in matrices: numbers of the lowest and the highest one, where each is aligned in its row. */
interface Band {
  readonly lowest: number;
  readonly highest: number;
  /** Length of the longest diagonal. */
  readonly width: number;
  /** Where the value `at` of a diagonal stands in a row of `width`. */
  readonly placeOf: (diagonal: number, at: number) => number;
}

const lengthOf = (diagonal: number, rows: number, columns: number): number =>
  Math.min(rows + Math.min(diagonal, 0), columns - Math.max(diagonal, 0));

/** Of the diagonal 0 alone where no `k` is given. */
function bandOf(k: tf.Tensor | undefined, rows: number, columns: number, align: string): Band {
  const given = k === undefined ? [0] : Array.from(readTensor(k, 'k'));
  if (given.length < 1 || given.length > 2) throw new ValueError('k', 'one number or two', given);
  const [lowest, highest] = [given[0]!, given.at(-1)!];
  if (lowest > highest) throw new ValueError('k', 'numbers in order', given);
  const stray = given.find((diagonal) => diagonal !== 0 && (diagonal <= -rows || diagonal >= columns));
  if (stray !== undefined) throw new ValueError('k', `diagonals in (${-rows}, ${columns})`, stray);
  let width = 0;
  for (let diagonal = lowest; diagonal <= highest; diagonal++) {
    width = Math.max(width, lengthOf(diagonal, rows, columns));
  }
  const [above, below] = align.split('_');
  const placeOf = (diagonal: number, at: number): number => {
    // None is longer than the main diagonal.
    const side = diagonal > 0 ? above : below;
    return at + (side === 'RIGHT' ? width - lengthOf(diagonal, rows, columns) : 0);
  };
  return { lowest, highest, width, placeOf };
}

/** Calls with the place of each value in a matrix and in its diagonals, which stand one under the other. */
function visit(
  { lowest, highest, width, placeOf }: Band,
  [rows, columns]: readonly [number, number],
  run: (inMatrix: number, inDiagonals: number) => void,
): void {
  for (let diagonal = highest; diagonal >= lowest; diagonal--) {
    for (let at = 0; at < lengthOf(diagonal, rows, columns); at++) {
      const [row, column] = [at + Math.max(0, -diagonal), at + Math.max(0, diagonal)];
      run(row * columns + column, (highest - diagonal) * width + placeOf(diagonal, at));
    }
  }
}

const valuesOf = (x: tf.Tensor, argument: string): HostValues => readValues(tf.backend(), x, argument);
const made = (values: HostValues, shape: number[], dtype: tf.DataType): tf.Tensor =>
  tf.engine().makeTensor(values as tf.DataValues, shape, dtype) as tf.Tensor;

function filled(dtype: tf.DataType, size: number, padding: tf.Tensor | undefined): HostValues {
  const values = emptyValues(dtype, size);
  if (padding !== undefined) (values as Float32Array).fill(valuesOf(padding, 'padding_value')[0] as number);
  return values;
}

function matrixSizes(x: tf.Tensor): [number, number] {
  if (x.rank >= 2) return x.shape.slice(-2) as [number, number];
  throw new ValueError('input', 'matrices', described(`shape [${x.shape.join(', ')}]`));
}

/** The diagonals of matrices; a single one without an axis of its own. */
function parts(x: tf.Tensor, k: tf.Tensor | undefined, padding: tf.Tensor | undefined, align: string): tf.Tensor {
  const sizes = matrixSizes(x);
  const band = bandOf(k, ...sizes, align);
  const count = band.highest - band.lowest + 1;
  const outer = x.shape.slice(0, -2);
  const shape = [...outer, ...(count === 1 ? [] : [count]), band.width];
  const [from, into] = [valuesOf(x, 'input'), filled(x.dtype, sizeOf(shape), padding)];
  for (let matrix = 0; matrix < sizeOf(outer); matrix++) {
    const [start, to] = [matrix * sizes[0] * sizes[1], matrix * count * band.width];
    visit(band, sizes, (at, place) => copyValues(from, start + at, 1, into, to + place));
  }
  return made(into, shape, x.dtype);
}

/** Axes of diagonals before those of the band, which must be `count` diagonals of `width`. */
function outerOf(diagonal: tf.Tensor, { width }: Band, count: number): number[] {
  const own = count === 1 ? [width] : [count, width];
  const inner = diagonal.shape.slice(-own.length);
  if (String(inner) === String(own)) return diagonal.shape.slice(0, -own.length);
  throw new ValueError('diagonal', `a shape that ends in [${own.join(', ')}]`, diagonal);
}

/** Matrices whose diagonals are given. */
function withParts(x: tf.Tensor, diagonal: tf.Tensor, k: tf.Tensor | undefined, align: string): tf.Tensor {
  const sizes = matrixSizes(x);
  const band = bandOf(k, ...sizes, align);
  const count = band.highest - band.lowest + 1;
  const outer = outerOf(diagonal, band, count);
  if (String(outer) !== String(x.shape.slice(0, -2))) {
    throw new ValueError('diagonal', `a shape that begins as [${x.shape.join(', ')}]`, diagonal);
  }
  const [from, into] = [valuesOf(diagonal, 'diagonal'), valuesOf(x, 'input').slice()];
  for (let matrix = 0; matrix < sizeOf(outer); matrix++) {
    const [to, start] = [matrix * sizes[0] * sizes[1], matrix * count * band.width];
    visit(band, sizes, (at, place) => copyValues(from, start + place, 1, into, to + at));
  }
  return made(into, x.shape, x.dtype);
}

/** Matrices of diagonals; sizes that are -1 are the least that hold them. */
function matrices([diagonal, k, rows, columns, padding]: tf.Tensor[], align: string): tf.Tensor {
  const given = k === undefined ? [0] : Array.from(readTensor(k, 'k'));
  const [lowest, highest] = [given[0] ?? 0, given.at(-1) ?? 0];
  const width = diagonal!.shape.at(-1);
  if (width === undefined) throw new ValueError('diagonal', 'at least a vector', described('a scalar'));
  const [leastRows, leastColumns] = [width - Math.min(highest, 0), width + Math.max(lowest, 0)];
  const [r, c] = [rows, columns].map((each, i) =>
    each === undefined ? -1 : readTensor(each, i === 0 ? 'num_rows' : 'num_cols')[0]!,
  ) as [number, number];
  const sizes: [number, number] =
    r === -1 && c === -1
      ? [Math.max(leastRows, leastColumns), Math.max(leastRows, leastColumns)]
      : [r === -1 ? leastRows : r, c === -1 ? leastColumns : c];
  if (sizes[0] < leastRows) throw new ValueError('num_rows', `at least ${leastRows}`, sizes[0]);
  if (sizes[1] < leastColumns) throw new ValueError('num_cols', `at least ${leastColumns}`, sizes[1]);
  if (sizes[0] !== leastRows && sizes[1] !== leastColumns) {
    throw new ValueError(
      'num_rows',
      `${leastRows}, or ${leastColumns} columns`,
      described(`${sizes[0]} and ${sizes[1]}`),
    );
  }
  const outer = diagonal!.shape.slice(0, highest === lowest ? -1 : -2);
  const shape = [...outer, ...sizes];
  const empty = made(filled(diagonal!.dtype, sizeOf(shape), padding), shape, diagonal!.dtype);
  const result = withParts(empty, diagonal!, k, align);
  empty.dispose();
  return result;
}

/** How diagonals of different lengths are aligned: by the attribute in the third version, at the left before. */
const alignment = (version: string, node: tf.GraphNode): string =>
  version === 'V3' ? textAttribute(node, 'align') || 'RIGHT_LEFT' : 'LEFT_LEFT';

export const DIAGONAL_OPS: readonly GraphOp[] = ['', 'V2', 'V3'].flatMap((version) => {
  const [k, rest] = version === '' ? ['', ''] : [', k: int32', ', num_rows: int32, num_cols: int32, padding_value: T'];
  const padding = version === '' ? '' : ', padding_value: T';
  return [
    graphOp(`MatrixDiagPart${version}(input: T${k}${padding}) -> diagonal: T`, ([x, at, value], node) =>
      parts(x!, at, value, alignment(version, node)),
    ),
    graphOp(`MatrixSetDiag${version}(input: T, diagonal: T${k}) -> output: T`, ([x, diagonal, at], node) =>
      withParts(x!, diagonal!, at, alignment(version, node)),
    ),
    graphOp(`MatrixDiag${version}(diagonal: T${k}${rest}) -> output: T`, (inputs, node) =>
      matrices(inputs, alignment(version, node)),
    ),
  ];
});
