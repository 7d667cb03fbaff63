/** Ids as they are, or as vectors with a place for each id: the output modes of Keras's preprocessing layers. */
import type * as tf from '@tensorflow/tfjs';
import { toCamelCase } from '../../base/camel_case.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { CellRows, Cells, IdsOf } from './cells.js';
import { rowsOf, writeCells, writeRows, writeVectors } from './written_cells.js';

export type OutputMode = 'int' | 'oneHot' | 'multiHot' | 'count' | 'tfIdf';

/** A mode, as it is written here or in Keras. */
export type OutputModeInput = OutputMode | 'one_hot' | 'multi_hot' | 'tf_idf';

/** Numbers in nested arrays. */
export type NestedNumbers = number | readonly NestedNumbers[];

/** What `apply` gives for data `D` in the mode `M`. */
export type OutputOf<D, M> = 'int' extends M
  ? IdsOf<D>
  : D extends tf.Tensor
    ? tf.Tensor
    : D extends RaggedTensor | CellRows
      ? tf.Tensor | RaggedTensor
      : NestedNumbers;

export const ALL_MODES: readonly OutputMode[] = ['int', 'oneHot', 'multiHot', 'count', 'tfIdf'];
/** The modes of what has no vocabulary to weigh. */
export type PlainMode = Exclude<OutputMode, 'tfIdf'>;
export const PLAIN_MODES: readonly PlainMode[] = ['int', 'oneHot', 'multiHot', 'count'];
/** The modes of what makes rows of ids of a value. */
export const ROW_MODES: readonly Exclude<OutputMode, 'oneHot'>[] = ['int', 'multiHot', 'count', 'tfIdf'];
/** The modes of what makes vectors of ids. */
export const VECTOR_MODES: readonly PlainMode[] = ['multiHot', 'oneHot', 'count'];

/** Reads a mode, as Keras or as TensorFlow.js writes it. */
export function checkOutputMode<M extends OutputMode>(value: unknown, modes: readonly M[], byDefault: M): M {
  if (value === undefined || value === null) return byDefault;
  const expected = `one of ${modes.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('outputMode', expected, value);
  const mode = modes.find((each) => each === toCamelCase(value));
  if (mode === undefined) throw new ValueError('outputMode', expected, value);
  return mode;
}

export interface Encoding {
  readonly mode: OutputMode;
  /** Places of a vector. */
  readonly depth: number;
  /** A factor for each place, with `tfIdf`. */
  readonly weights?: Float32Array | null;
}

/** The most numbers that fit an array. */
const MOST_NUMBERS = 2 ** 31 - 1;

function vectors(count: number, depth: number): Float32Array {
  if (count * depth <= MOST_NUMBERS) return new Float32Array(count * depth);
  const received = described(`${count} vectors of ${depth} places`);
  throw new ValueError('data', `vectors of at most ${MOST_NUMBERS} numbers in all`, received);
}

/**
 * Ids in the mode, in the container that their values came in. Ids outside [0, depth) stand for nothing. `countWeights`:
 * what each value counts, by default 1.
 */
export function encode(
  cells: Cells,
  ids: Int32Array,
  { mode, depth, weights = null }: Encoding,
  countWeights: Float32Array | null = null,
): unknown {
  if (mode === 'int') return writeCells(cells, ids);
  const isPlace = (id: number): boolean => id >= 0 && id < depth;
  if (mode === 'oneHot') {
    const hot = vectors(ids.length, depth);
    ids.forEach((id, i) => isPlace(id) && (hot[i * depth + id] = 1));
    return writeVectors(cells, hot, depth);
  }
  const rows = rowsOf(cells);
  const splits = rows ?? [0, ids.length];
  const counts = vectors(splits.length - 1, depth);
  for (let row = 0; row + 1 < splits.length; row++) {
    for (let i = splits[row]!; i < splits[row + 1]!; i++) {
      const id = ids[i]!;
      if (!isPlace(id)) continue;
      const at = row * depth + id;
      counts[at] = mode === 'multiHot' ? 1 : counts[at]! + (countWeights?.[i] ?? 1);
    }
  }
  if (mode === 'tfIdf') counts.forEach((count, i) => (counts[i] = count * weights![i % depth]!));
  return writeRows(cells, rows, counts, depth);
}
