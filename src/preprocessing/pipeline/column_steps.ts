/** What a pipeline does with each column: as it is declared, as it runs, as it is saved. */
import { closestName } from '../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import type { Learner } from '../cells/batches.js';
import type { Cells } from '../cells/cells.js';
import { CategoryEncoding } from '../category_encoding.js';
import { Discretization } from '../discretization.js';
import { HashedCrossing } from '../hashed_crossing.js';
import { Hashing } from '../hashing.js';
import { IntegerLookup } from '../integer_lookup.js';
import { Normalization } from '../normalization.js';
import { StringLookup } from '../string_lookup.js';
import { TextVectorization } from '../text_vectorization.js';

/** The modes of a class do not matter here. */
interface Fitting {
  getConfig(): object;
  readonly width?: number | null;
  learner?(): Learner<unknown> | null;
}

/** Any object of `emb.preprocessing` that takes one column. */
export interface PreprocessingObject extends Fitting {
  /**
   * As `apply`, of data that were read.
   *
   * @param cells - The data.
   * @returns As `apply`.
   */
  applyCells(cells: Cells): unknown;
}

/** Numbers as they are (`ids`: rows of them), strings by a vocabulary that is learned, or what an object makes of values. */
export type ColumnKind = 'int' | 'float' | 'ids' | 'string' | PreprocessingObject;

/** What is done with a column: one value a row, or a list of values a row. */
type ColumnType = ColumnKind | { readonly list: Exclude<ColumnKind, 'ids'> };

/** A column, that of another name with `column`, or a hash of several columns. */
export type ColumnInput =
  | ColumnType
  | { readonly type: ColumnType; readonly column: string }
  | { readonly cross: readonly string[]; readonly by: HashedCrossing<unknown> };

export type Columns = Readonly<Record<string, ColumnInput>>;

/** Of a column: what is done, and with the values of which columns. */
export interface ColumnStep {
  readonly name: string;
  readonly from: readonly string[];
  readonly isList: boolean;
  readonly does: 'int' | 'float' | PreprocessingObject | HashedCrossing<unknown>;
}

const CLASSES = {
  StringLookup,
  IntegerLookup,
  TextVectorization,
  Hashing,
  HashedCrossing,
  CategoryEncoding,
  Discretization,
  Normalization,
};
type ClassName = keyof typeof CLASSES;

function classOf(value: unknown): ClassName | null {
  const names = Object.keys(CLASSES) as ClassName[];
  return names.find((name) => value instanceof (CLASSES[name] as abstract new (...args: never[]) => unknown)) ?? null;
}

const KINDS = ['int', 'float', 'ids', 'string'];
const EXPECTED = `${KINDS.map((kind) => `'${kind}'`).join(', ')}, {list: ...}, {type: ..., column: ...}, {cross: [...], by: ...} or a preprocessing object`;

/** Throws TypeError for what declares no column; ValueError for names that are none and lists of lists. */
export function readStep(name: string, input: unknown): ColumnStep {
  const argument = `columns.${name}`;
  if (isRecord(input) && classOf(input) === null) {
    if ('list' in input)
      return { ...readStep(`${name}.list`, listed(input['list'], argument)), name, from: [name], isList: true };
    if ('cross' in input) return readCross(name, input);
    if ('type' in input) return readOther(name, input);
  }
  if (input instanceof HashedCrossing) {
    const note = `Write {cross: ['a', 'b'], by: crossing}.`;
    throw new ArgumentTypeError(argument, 'an object that takes one column', input, note);
  }
  if (typeof input === 'string') {
    if (!KINDS.includes(input)) {
      const meant = closestName(input, KINDS);
      throw new ValueError(argument, EXPECTED, input, meant === undefined ? undefined : `Did you mean '${meant}'?`);
    }
    const does = input === 'string' ? new StringLookup() : input === 'float' ? 'float' : 'int';
    return { name, from: [name], isList: input === 'ids', does };
  }
  if (classOf(input) === null) throw new ArgumentTypeError(argument, EXPECTED, input);
  return { name, from: [name], isList: false, does: input as PreprocessingObject };
}

function readOther(name: string, input: Record<string, unknown>): ColumnStep {
  const argument = `columns.${name}`;
  const { type, column } = readOptions<{ type: unknown; column: unknown }>(input, ['type', 'column'], argument);
  if (typeof column !== 'string') throw new ArgumentTypeError(`${argument}.column`, 'the name of a column', column);
  if (isRecord(type) && classOf(type) === null && !('list' in type)) {
    throw new ArgumentTypeError(`${argument}.type`, EXPECTED, type);
  }
  return { ...readStep(`${name}.type`, type), name, from: [column] };
}

function listed(of: unknown, argument: string): unknown {
  const isNested = of === 'ids' || (isRecord(of) && classOf(of) === null);
  if (!isNested) return of;
  throw new ValueError(`${argument}.list`, `'int', 'float', 'string' or a preprocessing object`, of);
}

function readCross(name: string, { cross, by }: Record<string, unknown>): ColumnStep {
  const argument = `columns.${name}`;
  const expected = 'two or more names of columns';
  if (!Array.isArray(cross) || cross.some((each) => typeof each !== 'string')) {
    throw new ArgumentTypeError(`${argument}.cross`, expected, cross);
  }
  if (cross.length < 2) throw new ValueError(`${argument}.cross`, expected, cross);
  if (!(by instanceof HashedCrossing)) throw new ArgumentTypeError(`${argument}.by`, 'a HashedCrossing', by);
  return { name, from: cross as string[], isList: false, does: by };
}

/** A column as plain JSON values. */
export function savedColumn({ name, from, isList, does }: ColumnStep): object | string {
  const kind = typeof does === 'string' ? does : { className: classOf(does), config: does.getConfig() };
  if (does instanceof HashedCrossing) return { cross: [...from], by: kind };
  const type = isList ? { list: kind } : kind;
  return from[0] === name ? type : { column: from[0], type };
}

/** The declaration of a column that was saved. */
export function restoredColumn(name: string, saved: unknown): ColumnInput {
  const argument = `config.columns.${name}`;
  const made = (kind: unknown): ColumnKind => {
    if (typeof kind === 'string') return kind as ColumnKind;
    const className = isRecord(kind) ? kind['className'] : undefined;
    if (typeof className !== 'string' || !Object.hasOwn(CLASSES, className)) {
      throw new ValueError(argument, `one of the classes ${Object.keys(CLASSES).join(', ')}`, described(`the class ${String(className)}`)); // prettier-ignore
    }
    return CLASSES[className as ClassName].fromConfig((kind as { config: object }).config) as PreprocessingObject;
  };
  if (isRecord(saved) && 'type' in saved) {
    return { column: saved['column'] as string, type: restoredColumn(name, saved['type']) as ColumnType };
  }
  if (isRecord(saved) && 'list' in saved) return { list: made(saved['list']) as 'int' };
  if (isRecord(saved) && 'cross' in saved) {
    return { cross: saved['cross'] as string[], by: made(saved['by']) as unknown as HashedCrossing<unknown> };
  }
  return made(saved);
}
