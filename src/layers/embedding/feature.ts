/** How one feature is looked up, and the shapes that this gives. */
import { ValueError, described } from '../../base/errors.js';
import type { Combiner, OutOfRange } from '../../base/types.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';

/** As `Embedding`, as `RaggedEmbedding`, or as a feature of Keras RS. */
export type FeatureKind = 'embedding' | 'ragged' | 'reduce';

/** How the ids of one feature are looked up. */
export interface Feature {
  readonly kind: FeatureKind;
  readonly combiner: Combiner | null;
  readonly maskZero: boolean;
  readonly maxNorm: number | null;
  readonly outOfRange: OutOfRange;
  readonly inputLength: number | SymbolicShape | null;
}

/** What ids and weights of a feature are called in errors. */
export interface FeaturePaths {
  readonly ids: string;
  readonly weights: string;
}

function checkRank(rank: number, path: string): void {
  if (rank >= 2) return;
  const note = 'Ids of rank 1 are ambiguous: give them a batch axis, or use no combiner.';
  throw new ValueError(path, 'rank 2 or more when a combiner is given', described(`rank ${rank}`), note);
}

/** Throws for weights of a feature whose rows stay apart. */
export function checkWeighted({ combiner }: Feature, isWeighted: boolean, path: string): void {
  if (!isWeighted || combiner !== null) return;
  throw new ValueError(
    path,
    `nothing: without a combiner ('sum', 'mean' or 'sqrtn') weights have no meaning`,
    described('weights'),
  );
}

/** The shape of dense ids, with the sizes that `inputLength` knows. */
function withInputLength({ inputLength }: Feature, ids: SymbolicShape, path: string): SymbolicShape {
  if (inputLength === null) return ids;
  const lengths = Array.isArray(inputLength) ? inputLength : [inputLength];
  const fits =
    lengths.length === ids.length - 1 &&
    lengths.every((length, axis) => length === null || ids[axis + 1] === null || length === ids[axis + 1]);
  if (!fits) {
    const expected = `ids of shape [batch, ${lengths.map(String).join(', ')}], as inputLength says`;
    throw new ValueError(path, expected, described(`[${ids.map(String).join(', ')}]`));
  }
  return [ids[0]!, ...lengths.map((length, axis) => length ?? ids[axis + 1]!)];
}

/** Whether ids of this rank are looked up one by one in spite of a combiner. */
function isSingle({ kind, combiner }: Feature, rank: number): boolean {
  return kind === 'reduce' && combiner !== null && rank < 2;
}

/** Checks the shape of dense ids; returns it with the sizes that `inputLength` knows. */
export function checkDense(feature: Feature, shape: SymbolicShape, path: string): SymbolicShape {
  const { kind, combiner } = feature;
  if (kind === 'ragged' || (kind === 'embedding' && combiner !== null)) checkRank(shape.length, path);
  return withInputLength(feature, shape, path);
}

/** The shape of a feature's result for dense ids, and weights, of these shapes in a symbolic graph. */
export function featureShape(
  feature: Feature,
  dim: number,
  ids: SymbolicShape,
  weights: SymbolicShape | null,
  paths: FeaturePaths,
): SymbolicShape {
  const full = checkDense(feature, ids, paths.ids);
  checkWeighted(feature, weights !== null, paths.weights);
  if (weights !== null) checkWeightsShape(weights, ids, paths.weights);
  const isPooled = feature.combiner !== null && !isSingle(feature, ids.length);
  return isPooled ? [...full.slice(0, -1), dim] : [...full, dim];
}

/** Throws where the shapes of weights and ids in a symbolic graph cannot be the same. */
export function checkWeightsShape(weights: SymbolicShape, ids: SymbolicShape, path = 'weights'): void {
  const fits =
    weights.length === ids.length &&
    weights.every((size, axis) => size === null || ids[axis] === null || size === ids[axis]);
  if (fits) return;
  const expected = `the shape of the ids, [${ids.map(String).join(', ')}]`;
  throw new ValueError(path, expected, described(`[${weights.map(String).join(', ')}]`));
}

/** The shapes of all results in a symbolic graph. `shapes`: of the ids of each feature, then of those weights there are. */
export function featureShapes(
  features: readonly Feature[],
  dims: readonly number[],
  shapes: readonly SymbolicShape[],
  weighted: readonly number[],
  paths: { readonly ids: readonly string[]; readonly weights: readonly string[] },
): SymbolicShape[] {
  const count = features.length + weighted.length;
  if (shapes.length !== count) {
    const expected = `${count} shapes, of the ids of each feature and then of weights`;
    throw new ValueError('inputs', expected, described(`${shapes.length}`));
  }
  const batch = shapes.map(([size]) => size ?? null).find((size) => size !== null) ?? null;
  return features.map((feature, i) => {
    const ids = shapes[i]!;
    if (batch !== null && typeof ids[0] === 'number' && ids[0] !== batch) {
      throw new ValueError(`inputs[${i}]`, `a batch of ${batch}, as another input has`, described(`one of ${ids[0]}`));
    }
    const place = weighted.indexOf(i);
    const weights = place < 0 ? null : shapes[features.length + place]!;
    return featureShape(feature, dims[i]!, ids, weights, { ids: paths.ids[i]!, weights: paths.weights[i]! });
  });
}
