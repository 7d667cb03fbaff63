/** What an object of `emb.preprocessing` makes of a column: of one value a row, and of lists of values. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { CategoryEncoding } from '../category_encoding.js';
import type { Container } from '../cells/cells.js';
import { Discretization } from '../discretization.js';
import { HashedCrossing } from '../hashed_crossing.js';
import { Hashing } from '../hashing.js';
import { IndexLookup } from '../index_lookup.js';
import { IntegerLookup } from '../integer_lookup.js';
import { Normalization } from '../normalization.js';
import { StringLookup } from '../string_lookup.js';
import { TextVectorization } from '../text_vectorization.js';

export const CLASSES = {
  StringLookup,
  IntegerLookup,
  TextVectorization,
  Hashing,
  HashedCrossing,
  CategoryEncoding,
  Discretization,
  Normalization,
};
export type ClassName = keyof typeof CLASSES;

/** The class of an object of `emb.preprocessing`; null: it is none. */
export function classOf(value: unknown): ClassName | null {
  const names = Object.keys(CLASSES) as ClassName[];
  return names.find((name) => value instanceof (CLASSES[name] as abstract new (...args: never[]) => unknown)) ?? null;
}

/** Values of each row of a column: 1, so many, or any number of them (null). */
export type RowLength = number | null;

/** The form in which the values of a column are handed over; `rowSplits`: of rows of any length. */
export function columnContainer(count: number, length: RowLength, rowSplits: Int32Array | null): Container {
  if (length === null) return { kind: 'ragged', nestedRowSplits: [rowSplits!], innerShape: [] };
  return { kind: 'tensor', shape: [length === 0 ? 0 : count / length, length] };
}

/** What comes of a column. */
export interface ColumnForm {
  readonly dtype: 'float32' | 'int32' | 'string';
  /** Numbers of each row; null: any number. */
  readonly length: RowLength;
  /** Whether rows may be of different lengths; those that are not, and of any length, are padded. */
  readonly isRagged: boolean;
}

/** Throws TypeError for what takes several columns; ValueError for what has no result for rows of this length. */
export function checkColumn(does: object, length: RowLength, argument: string): void {
  if (does instanceof HashedCrossing) {
    const note = `In a Pipeline write {cross: ['a', 'b'], by: crossing}.`;
    throw new ArgumentTypeError(argument, 'an object that takes one column', does, note);
  }
  const { outputMode } = does as { outputMode?: string };
  if (length !== 1 && outputMode === 'oneHot') {
    throw new ValueError(argument, 'another mode than oneHot for lists', outputMode);
  }
  if (does instanceof Normalization) {
    const { axis } = does;
    if (!axis.every((each) => each === -1 || each === 1)) {
      const received = described(`axis [${axis.join(', ')}]`);
      throw new ValueError(argument, 'a Normalization over the last axis or none, as batches have any size', received);
    }
    if (length === null && axis.length > 0) {
      const note = 'Rows of one length have a mean for each place: {list: …, length: n} in a data set.';
      const expected = 'a Normalization with axis: null for lists of any length';
      throw new ValueError(argument, expected, described(`axis [${axis.join(', ')}]`), note);
    }
  }
  if (length !== 1 && does instanceof TextVectorization && !does.takesTokens) {
    throw new ValueError(argument, 'a TextVectorization with split: null for lists', described('one that splits'));
  }
}

/** Whether an object has learned what it needs, or needs nothing. */
export function isLearned(does: object): boolean {
  if (does instanceof IndexLookup || does instanceof TextVectorization) return does.hasVocabulary;
  if (does instanceof Discretization) return does.binBoundaries !== null;
  return !(does instanceof Normalization) || does.mean !== null;
}

/**
 * The form of a column of rows of this length, which `checkColumn` has let pass.
 *
 * @throws RuntimeError for vectors of an object that has not adapted.
 */
export function columnForm(does: object, length: RowLength, argument: string): ColumnForm {
  const isRagged = length === null;
  if (does instanceof Normalization) return { dtype: 'float32', length, isRagged };
  const { width = null, invert = false } = does as { width?: number | null; invert?: boolean };
  if (width !== null) {
    if (width > 0 && isLearned(does)) return { dtype: 'float32', length: width, isRagged: false };
    const note = 'Call adapt() first: its vectors have no length yet.';
    throw new RuntimeError(argument, 'an object that has adapted', described('one that has not'), note);
  }
  if (does instanceof TextVectorization) {
    return { dtype: 'int32', length: does.ragged ? null : does.outputSequenceLength, isRagged: does.ragged };
  }
  return { dtype: invert && does instanceof StringLookup ? 'string' : 'int32', length, isRagged };
}
