/** What a pipeline does with each column: as it is declared, as it runs, as it is saved. */
import { closestName } from '../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import type { Learner } from '../cells/batches.js';
import type { Cells } from '../cells/cells.js';
import { HashedCrossing } from '../hashed_crossing.js';
import { StringLookup } from '../string_lookup.js';
import { CLASSES, checkColumn, classOf, type ClassName } from './column_form.js';
import { checkMissing, takenBy, type Missing } from './missing_values.js';

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

/** A column, one of another name or with missing values, or a hash of several columns. */
export type ColumnInput =
  | ColumnType
  | {
      readonly type: ColumnType;
      /** The column with the values, where it has another name. */
      readonly column?: string | undefined;
      /** What a missing value is read as; by default an error names its row. 'mask': 0, and a column NAME_mask of 1 and 0. */
      readonly missing?: Missing | undefined;
    }
  | { readonly cross: readonly string[]; readonly by: HashedCrossing<unknown> };

export type Columns = Readonly<Record<string, ColumnInput>>;

/** Of a column: what is done, and with the values of which columns. */
export interface ColumnStep {
  readonly name: string;
  readonly from: readonly string[];
  readonly isList: boolean;
  readonly does: 'int' | 'float' | PreprocessingObject | HashedCrossing<unknown>;
  readonly missing: Missing;
}

const KINDS = ['int', 'float', 'ids', 'string'];
const EXPECTED = `${KINDS.map((kind) => `'${kind}'`).join(', ')}, {list: ...}, {type: ..., column: ..., missing: ...}, {cross: [...], by: ...} or a preprocessing object`;

/** Throws TypeError for what declares no column; ValueError for names that are none and lists of lists. */
export function readStep(name: string, input: unknown): ColumnStep {
  const step = readInput(name, input);
  const { does, isList } = step;
  if (typeof does === 'object' && !(does instanceof HashedCrossing)) {
    checkColumn(does, isList ? null : 1, `columns.${name}`);
  }
  return step;
}

function readInput(name: string, input: unknown): ColumnStep {
  const argument = `columns.${name}`;
  if (isRecord(input) && classOf(input) === null) {
    if ('list' in input)
      return { ...readInput(`${name}.list`, listed(input['list'], argument)), name, from: [name], isList: true };
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
    return { name, from: [name], isList: input === 'ids', does, missing: 'error' };
  }
  if (classOf(input) === null) throw new ArgumentTypeError(argument, EXPECTED, input);
  return { name, from: [name], isList: false, does: input as PreprocessingObject, missing: 'error' };
}

function readOther(name: string, input: Record<string, unknown>): ColumnStep {
  const argument = `columns.${name}`;
  const fields = ['type', 'column', 'missing'] as const;
  const given = readOptions<{ type: unknown; column?: unknown; missing?: unknown }>(input, fields, argument);
  const { type, column = name, missing = 'error' } = given;
  if (typeof column !== 'string') throw new ArgumentTypeError(`${argument}.column`, 'the name of a column', column);
  if (isRecord(type) && classOf(type) === null && !('list' in type)) {
    throw new ArgumentTypeError(`${argument}.type`, EXPECTED, type);
  }
  const step = readInput(`${name}.type`, type);
  const { does } = step;
  if (does instanceof HashedCrossing) throw new ArgumentTypeError(`${argument}.type`, EXPECTED, type);
  const taken = does === 'int' ? 'wholes' : does === 'float' ? 'numbers' : takenBy(does);
  return { ...step, name, from: [column], missing: checkMissing(missing, taken, `${argument}.missing`) };
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
  return { name, from: cross as string[], isList: false, does: by, missing: 'error' };
}

/** A column as plain JSON values. */
export function savedColumn({ name, from, isList, does, missing }: ColumnStep): object | string {
  const kind = typeof does === 'string' ? does : { className: classOf(does), config: does.getConfig() };
  if (does instanceof HashedCrossing) return { cross: [...from], by: kind };
  const type = isList ? { list: kind } : kind;
  if (missing !== 'error') return { column: from[0], type, missing };
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
    const type = restoredColumn(name, saved['type']) as ColumnType;
    return { column: saved['column'] as string, type, missing: saved['missing'] as Missing | undefined };
  }
  if (isRecord(saved) && 'list' in saved) return { list: made(saved['list']) as 'int' };
  if (isRecord(saved) && 'cross' in saved) {
    return { cross: saved['cross'] as string[], by: made(saved['by']) as unknown as HashedCrossing<unknown> };
  }
  return made(saved);
}
