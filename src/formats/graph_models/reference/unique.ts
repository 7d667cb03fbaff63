/** Different values of a tensor, in the order in which they first come, and what one vector has beyond another. */
import { ValueError, described } from '../../../base/errors.js';
import { checkRank, copyValues, hostArray, int32Vector, integers, sizeOf, type HostArray } from '../host_array.js';

/** Bits of the values from `start` on, as a key of a map. */
function keyOf({ values }: HostArray, places: readonly number[]): string {
  if (Array.isArray(values)) return places.map((at) => values[at]!.join(',')).join(';');
  // -0 and 0 are equal, as they are for TensorFlow.
  return places.map((at) => String(values[at]! + 0)).join(',');
}

/** Different slices along an axis, for each slice which one it is, and how often each one comes. */
export function uniqueWithCounts(x: HostArray, axis: HostArray | null): HostArray[] {
  const axes = axis === null ? new Int32Array(0) : integers(axis, 'axis');
  if (axes.length === 0 && x.shape.length !== 1) {
    throw new ValueError('x', 'a vector where no axis is given', described(`shape [${x.shape.join(', ')}]`));
  }
  if (axes.length > 1) throw new ValueError('axis', 'one axis or none', axes);
  const rank = x.shape.length;
  const given = axes[0] ?? 0;
  const along = given < 0 ? given + rank : given;
  if (along < 0 || along >= rank) throw new ValueError('axis', `an axis in [${-rank}, ${rank})`, given);
  const slices = x.shape[along]!;
  const [outer, inner] = [sizeOf(x.shape.slice(0, along)), sizeOf(x.shape.slice(along + 1))];
  const placesOf = (slice: number): number[] =>
    Array.from({ length: outer * inner }, (_, i) => (Math.floor(i / inner) * slices + slice) * inner + (i % inner));
  const known = new Map<string, number>();
  const counts: number[] = [];
  const first: number[] = [];
  const idx = Array.from({ length: slices }, (_, slice) => {
    const key = keyOf(x, placesOf(slice));
    const at = known.get(key) ?? known.size;
    if (at === known.size) {
      known.set(key, at);
      first.push(slice);
      counts.push(0);
    }
    counts[at]!++;
    return at;
  });
  const y = hostArray(
    x.dtype,
    x.shape.map((size, i) => (i === along ? first.length : size)),
  );
  first.forEach((slice, at) => {
    placesOf(slice).forEach((from, i) => {
      const to = (Math.floor(i / inner) * first.length + at) * inner + (i % inner);
      copyValues(x.values, from, 1, y.values, to);
    });
  });
  return [y, int32Vector(idx, 'idx'), int32Vector(counts, 'count')];
}

/** The values of `x` that are not in `y`, and their places. */
export function listDiff(x: HostArray, y: HostArray): HostArray[] {
  checkRank(x, 1, 'x');
  checkRank(y, 1, 'y');
  const known = new Set(Array.from({ length: y.shape[0]! }, (_, at) => keyOf(y, [at])));
  const left = Array.from({ length: x.shape[0]! }, (_, at) => at).filter((at) => {
    // NaN equals nothing.
    return Number.isNaN(x.values[at]) || !known.has(keyOf(x, [at]));
  });
  const out = hostArray(x.dtype, [left.length]);
  left.forEach((from, at) => copyValues(x.values, from, 1, out.values, at));
  return [out, int32Vector(left, 'idx')];
}
