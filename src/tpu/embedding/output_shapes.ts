/** The shapes of activations without their columns: from configs, from `build` and from what is enqueued. */
import { ValueError, described } from '../../base/errors.js';
import type { FeatureConfig, PartialShape } from '../config/feature_config.js';
import type { HostIds } from '../features/host_ids.js';

function text(shape: PartialShape | null): string {
  return shape === null ? 'an unknown shape' : `[${shape.map((size) => size ?? 'null').join(', ')}]`;
}

/** Whether a feature gives sequences for ids of two axes. */
export function isSequence({ maxSequenceLength, outputShape }: FeatureConfig): boolean {
  return maxSequenceLength > 0 && outputShape === null;
}

/** The output shape of ids of this shape: the last axis is combined. Throws ValueError for a shape without axes. */
export function outputOfInputShape(shape: PartialShape, feature: FeatureConfig, path: string): PartialShape {
  if (shape.length === 0) throw new ValueError(path, 'a shape of rank 1 or more', described('rank 0'));
  if (shape.length === 1) return shape;
  const isSpread = isSequence(feature) && shape.length === 2 && shape[1] !== 1;
  return isSpread ? [shape[0]!, feature.maxSequenceLength] : shape.slice(0, -1);
}

/** The output shape of a batch of so many samples. */
export function outputOfBatchSize(size: number, feature: FeatureConfig): PartialShape {
  return isSequence(feature) ? [size, feature.maxSequenceLength] : [size];
}

/** The output shape of ids, by their kind. Throws ValueError for kinds and shapes that cannot be looked up. */
export function outputOfIds({ kind, shape }: HostIds, feature: FeatureConfig, path: string): PartialShape {
  if (kind !== 'dense') {
    return isSequence(feature) && shape.length === 2 ? [shape[0]!, feature.maxSequenceLength] : shape.slice(0, -1);
  }
  if (shape.length === 0) throw new ValueError(path, 'dense ids of rank 1 or more', described('rank 0'));
  if (shape.length === 1) return shape;
  if (shape.at(-1) !== 1) {
    const expected = 'dense ids whose last axis, which is combined, has size 1';
    throw new ValueError(path, expected, described(`shape ${text(shape)}`));
  }
  return shape.slice(0, -1);
}

/** A shape that goes before another one: unknown sizes are taken from it. Throws ValueError where the two disagree. */
function merged(stored: PartialShape | null, incoming: PartialShape | null, path: string): PartialShape | null {
  if (stored === null || incoming === null) return stored ?? incoming;
  // Ids of one or two axes may be reshaped to more: the lookup tells whether their number fits.
  if (incoming.length <= 2 && incoming.length >= 1 && stored.length > incoming.length) return stored;
  const agrees =
    stored.length === incoming.length &&
    stored.every((size, axis) => size === null || incoming[axis] === null || size === incoming[axis]);
  if (!agrees) throw new ValueError(path, `the output shape ${text(stored)}, as set`, described(text(incoming)));
  return stored.map((size, axis) => size ?? incoming[axis]!);
}

export class OutputShapes {
  #shapes: (PartialShape | null)[];

  constructor(
    private readonly features: readonly FeatureConfig[],
    private readonly paths: readonly string[],
  ) {
    this.#shapes = features.map(({ outputShape }) => outputShape);
  }

  /**
   * Takes shapes in that were found; those known before go first. With `complete` every size must be known then.
   * Throws ValueError where one disagrees, or is missing; nothing changes then.
   */
  take(incoming: readonly (PartialShape | null)[], complete: boolean): void {
    const all = this.#shapes.map((stored, i) => merged(stored, incoming[i] ?? null, this.paths[i]!));
    if (complete) all.forEach((shape, i) => this.#checkComplete(shape, i));
    this.#shapes = all;
  }

  /** The same for as long as what is done with them goes well: where `work` throws, nothing has changed. */
  takeFor<T>(incoming: readonly (PartialShape | null)[], work: () => T): T {
    const before = this.#shapes;
    this.take(incoming, true);
    try {
      return work();
    } catch (error) {
      this.#shapes = before;
      throw error;
    }
  }

  #checkComplete(shape: PartialShape | null, i: number): void {
    if (shape !== null && !shape.includes(null)) return;
    const note = 'Give it in FeatureConfig, to build, or by enqueuing ids.';
    throw new ValueError(this.paths[i]!, 'an output shape whose sizes are all known', described(text(shape)), note);
  }

  /** All shapes, without unknown sizes. */
  get complete(): number[][] {
    return this.#shapes.map((shape) => [...(shape as number[])]);
  }

  /** Back to what configs say. */
  reset(): void {
    this.#shapes = this.features.map(({ outputShape }) => outputShape);
  }
}
