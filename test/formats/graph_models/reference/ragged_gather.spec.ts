/** Rows of ragged tensors by indices of any rank, beside the same of nested lists. */
import { hostArray, int32Array, int32Vector, type HostArray } from '../../../../src/formats/graph_models/host_array.js';
import { raggedGather, raggedTensorToSparse } from '../../../../src/formats/graph_models/reference/ragged.js';
import { Random } from '../../../helpers/random.js';
import { expectError } from '../../../helpers/errors.js';

type Nested = number | readonly Nested[];

/** Splits of each ragged axis and flat values of lists `depth` levels deep; each value is a vector of `width`. */
function ragged(rows: Nested, depth: number, width: number): { splits: HostArray[]; values: HostArray } {
  const splits: HostArray[] = [];
  let level = rows as readonly Nested[];
  for (let axis = 0; axis < depth; axis++) {
    const own = [0];
    for (const row of level) own.push(own.at(-1)! + (row as readonly Nested[]).length);
    splits.push(int32Vector(own, 'splits'));
    level = level.flatMap((row) => row as readonly Nested[]);
  }
  const flat = Float32Array.from(
    level.flatMap((each) => Array.from({ length: width }, (_, i) => (each as number) + i / 8)),
  );
  return { splits, values: hostArray('float32', [level.length, width], flat) };
}

/** Rows of 0 to 3 elements, each told by a number of its own. */
function drawn(random: Random, depth: number): Nested[] {
  let next = 0;
  const list = (left: number): Nested[] =>
    Array.from({ length: random.whole(0, 4) }, () => (left === 0 ? next++ : list(left - 1)));
  return Array.from({ length: 4 }, () => list(depth - 1));
}

const numbers = ({ values }: HostArray): number[] => Array.from(values as Float32Array);

describe('raggedGather', () => {
  for (const depth of [1, 2]) {
    for (const shape of [[3], [2, 3], [2, 1, 3], [2, 2, 1, 2], [2, 0], [0, 2], []]) {
      it(`takes rows of ${depth} ragged axes for indices of shape [${shape.join(', ')}]`, () => {
        const random = new Random(7 + shape.length);
        const rows = drawn(random, depth);
        const { splits, values } = ragged(rows, depth, 2);
        const size = shape.reduce((product, each) => product * each, 1);
        const picked = Array.from({ length: size }, () => random.whole(0, rows.length));
        const found = raggedGather(splits, values, int32Array(shape, picked, 'indices'));
        // Lists of lists in the shape of the indices.
        const nest = (axis: number, at: number): Nested => {
          if (axis === shape.length) return rows[picked[at]!]!;
          return Array.from({ length: shape[axis]! }, (_, i) => nest(axis + 1, at * shape[axis]! + i));
        };
        // A scalar gives one row, whose splits are those of a list of it.
        const wanted = ragged(shape.length === 0 ? [nest(0, 0)] : nest(0, 0), depth + Math.max(0, shape.length - 1), 2);
        expect(found.slice(0, -1).map(numbers)).toEqual(wanted.splits.map(numbers));
        expect(found.at(-1)!.shape).toEqual(wanted.values.shape);
        expect(numbers(found.at(-1)!)).toEqual(numbers(wanted.values));
      });
    }
  }

  it('refuses rows that are not there', () => {
    const { splits, values } = ragged([[1], [2, 3]], 1, 1);
    for (const [index, at] of [
      [2, 1],
      [-1, 0],
    ] as const) {
      // prettier-ignore
      const indices = int32Vector(at === 1 ? [0, index] : [index, 0], 'indices');
      expectError(() => raggedGather(splits, values, indices), 'ValueError', 'indices', `${index} at ${at}`);
    }
  });
});

describe('raggedTensorToSparse', () => {
  it('tells each value by its place', () => {
    const { splits, values } = ragged([[[1], []], [], [[2, 3], [4], [5]]], 2, 2); // prettier-ignore
    const [indices, flat, shape] = raggedTensorToSparse(splits, values) as [HostArray, HostArray, HostArray];
    const places = [[0, 0, 0], [2, 0, 0], [2, 0, 1], [2, 1, 0], [2, 2, 0]].flatMap((place) => [[...place, 0], [...place, 1]]); // prettier-ignore
    expect(indices.shape).toEqual([10, 4]);
    expect(numbers(indices)).toEqual(places.flat());
    expect(numbers(flat)).toEqual([1, 2, 3, 4, 5].flatMap((each) => [each, each + 1 / 8]));
    expect(numbers(shape)).toEqual([3, 3, 2, 2]);
  });
});
