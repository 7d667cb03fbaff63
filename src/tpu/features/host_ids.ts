/** The ids of a feature as they wait in a queue: copies on the host, which the caller cannot change. */
import { ValueError, described } from '../../base/errors.js';
import { outOfRangeError, strayPosition } from '../../ids/id_out_of_range.js';
import { placeOf } from '../../ids/id_place.js';
import type { IdBatch } from '../../ids/parse_ids.js';
import { uniformSplits } from '../../ids/row_splits.js';
import { hostIds, hostWeights, type IdKind } from './feature_ids.js';

export interface HostIds {
  readonly kind: IdKind;
  /** As TensorFlow tells it: [rows, null] for ragged ids. */
  readonly shape: readonly (number | null)[];
  readonly values: Int32Array;
  readonly weights: Float32Array | null;
  /** Of samples: those of the last axis, or one id each for dense ids. */
  readonly rowSplits: Int32Array;
  /** The last index of each sparse id; null for other kinds. */
  readonly columns: Int32Array | null;
}

function shapeOf(batch: IdBatch): (number | null)[] {
  if (batch.kind === 'dense') return [...batch.idsShape!];
  return batch.kind === 'sparse' ? [...batch.places!.denseShape] : [batch.rowSplits!.length - 1, null];
}

/** The last index of each sparse id; null for other kinds. */
export function columnsOf({ places }: IdBatch): Int32Array | null {
  if (places === null) return null;
  const rank = places.denseShape.length;
  return Int32Array.from({ length: places.count }, (_, i) => places.indices[i * rank + rank - 1]!);
}

/** A copy of the ids. Throws ValueError, which names the feature, for ids outside [0, rows). */
export function copyIds(batch: IdBatch, rows: number, path: string, owner: string): HostIds {
  const values = Int32Array.from(hostIds(batch));
  const position = strayPosition(values, rows);
  if (position >= 0) {
    const [id, place] = [values[position]!, placeOf(batch, position)];
    const expected = `ids in [0, ${rows})`;
    throw outOfRangeError({
      ...{ id, rows, position, place, owner, expected },
      argument: path,
      note: undefined,
      batchRow: null,
    });
  }
  const weights = hostWeights(batch);
  return {
    kind: batch.kind,
    shape: shapeOf(batch),
    values,
    weights: weights === null ? null : Float32Array.from(weights),
    rowSplits: batch.kind === 'dense' ? uniformSplits(values.length, 1) : Int32Array.from(batch.rowSplits!),
    columns: columnsOf(batch),
  };
}

function concat<T extends Int32Array | Float32Array>(parts: readonly T[], into: T): T {
  let at = 0;
  for (const part of parts) {
    into.set(part as never, at);
    at += part.length;
  }
  return into;
}

/** Parts of one batch, one after the other along the first axis. */
export function joinIds(parts: readonly HostIds[], path: string): HostIds {
  const first = parts[0]!;
  const text = ({ kind, shape }: HostIds): string => `${kind} ids of shape [${shape.join(', ')}]`;
  const others = (shape: HostIds['shape']): string => {
    return shape.slice(1, first.kind === 'sparse' ? -1 : undefined).join();
  };
  for (const part of parts) {
    const fits = part.kind === first.kind && others(part.shape) === others(first.shape);
    if (!fits || part.shape.length !== first.shape.length) {
      throw new ValueError(path, `parts that go together with ${text(first)} of the first core`, described(text(part)));
    }
  }
  const total = parts.reduce((sum, { values }) => sum + values.length, 0);
  const splits = [0];
  for (const { rowSplits } of parts) {
    const start = splits.at(-1)!;
    for (const split of rowSplits.subarray(1)) splits.push(start + split);
  }
  const last = first.kind === 'sparse' ? [Math.max(...parts.map(({ shape }) => shape.at(-1)!))] : [];
  const rest = first.kind === 'sparse' ? first.shape.slice(1, -1) : first.shape.slice(1);
  const weighted = parts.some(({ weights }) => weights !== null);
  const ones = (length: number): Float32Array => new Float32Array(length).fill(1);
  return {
    kind: first.kind,
    shape: [parts.reduce((sum, { shape }) => sum + shape[0]!, 0), ...rest, ...last],
    values: concat(
      parts.map(({ values }) => values),
      new Int32Array(total),
    ),
    weights: weighted
      ? concat(
          parts.map(({ weights, values }) => weights ?? ones(values.length)),
          new Float32Array(total),
        )
      : null,
    rowSplits: Int32Array.from(splits),
    columns:
      first.columns === null
        ? null
        : concat(
            parts.map(({ columns }) => columns!),
            new Int32Array(total),
          ),
  };
}
