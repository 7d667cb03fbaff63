/** Shapes of which some or all dimensions are unknown, as in TensorFlow. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';

/** null: of unknown rank; a null inside: of unknown size. */
export type PartialShape = readonly (number | null)[] | null;

/** What callers write for a partial shape: -1 is an unknown size, as in TensorFlow. */
export type PartialShapeInput = readonly (number | null | undefined)[] | null | undefined;

const EXPECTED = 'a list of sizes, null (or -1) where a size is unknown; null where the rank is';

/** Reads what callers write. */
export function readPartialShape(shape: PartialShapeInput, argument: string): PartialShape {
  if (shape === null || shape === undefined) return null;
  if (!Array.isArray(shape)) throw new ArgumentTypeError(argument, EXPECTED, shape);
  return shape.map((size: unknown) => {
    if (size === null || size === undefined || size === -1) return null;
    if (typeof size !== 'number') throw new ArgumentTypeError(argument, EXPECTED, shape);
    if (!Number.isSafeInteger(size) || size < 0) throw new ValueError(argument, EXPECTED, shape);
    return size;
  });
}

/** As TensorFlow writes it. */
export function showShape(shape: PartialShape): string {
  return shape === null ? '<unknown>' : `[${shape.map((size) => size ?? '?').join(',')}]`;
}

export function isFullyDefined(shape: PartialShape): shape is readonly number[] {
  return shape !== null && shape.every((size) => size !== null);
}

export function isCompatible(a: PartialShape, b: PartialShape): boolean {
  if (a === null || b === null) return true;
  return a.length === b.length && a.every((size, i) => size === null || b[i] === null || size === b[i]);
}

/** What both shapes say together; ValueError where they contradict each other. */
export function mergeShapes(a: PartialShape, b: PartialShape, argument: string): PartialShape {
  if (a === null) return b;
  if (b === null) return a;
  if (!isCompatible(a, b)) {
    throw new ValueError(argument, `elements of shape ${showShape(a)}`, described(`shape ${showShape(b)}`));
  }
  return a.map((size, i) => size ?? b[i]!);
}
