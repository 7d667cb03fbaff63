/** What a data set is told of its columns: their types, what stands for missing values, which are labels and weights. */
import { closestName } from '../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { isRecord, readOptions } from '../base/options.js';
import { checkColumn, classOf } from '../preprocessing/pipeline/column_form.js';
import { checkMissing, maskName, takenBy, type Taken } from '../preprocessing/pipeline/missing_values.js';

/** What turns raw values into numbers: the classes of `emb.preprocessing`. */
export interface Preprocessor {
  /**
   * Turns values into numbers.
   *
   * @param data - Raw values.
   * @returns A number, or as many for each, for every value.
   */
  apply(data: never): unknown;
  /**
   * Learns from values.
   *
   * @param data - Raw values.
   * @returns Itself.
   */
  adapt?(data: never): unknown;
  /**
   * Learns from values part by part.
   *
   * @returns What takes the parts; null where there is nothing to learn.
   */
  learner?(): { take(cells: never, isWhole: boolean): void; end(): unknown } | null;
  /**
   * Tells its settings.
   *
   * @returns Plain JSON values.
   */
  getConfig(): object;
}

/** One value in each row. */
export type ScalarType = 'float' | 'int' | 'string' | 'date';

/** Any number of values in each row, or `length` of them. */
export interface ListType {
  list: 'float' | 'int' | 'string' | Preprocessor;
  /** What parts the values of a cell in a file of text; without it any of `|`, `;` and `,`, and spaces between numbers. */
  separator?: string | undefined;
  /** Values of each row, all alike: the column is a matrix, not ragged. */
  length?: number | undefined;
}

export type ColumnType = ScalarType | 'ids' | ListType | Preprocessor;

/**
 * What a missing value is read as: an error, 0 with a column of 1 and 0 beside, or a value. Declared here once more, as
 * bundled declarations would take a type that an entry passes on from another room for a value.
 */
export type Missing = 'error' | 'mask' | number | string;

/** A type with settings. */
export interface ColumnArgs {
  type: ColumnType;
  /** What a missing value is read as; by default an error names its row. 'mask': 0, and a column NAME_mask of 1 and 0. */
  missing?: Missing | undefined;
  /** The column in the file, where it has another name there. */
  column?: string | undefined;
  /** What is taken of a date: days since 1970, hour of the day (0 to 23), weekday (0: Monday) or month (1 to 12), in UTC. */
  part?: DatePart | undefined;
}

export type DatePart = 'days' | 'hour' | 'weekday' | 'month';

export type ColumnSpecs = Readonly<Record<string, ColumnType | ColumnArgs>>;

/** Types of columns, and which of them are labels and weights. */
export interface DeclarationArgs {
  /** Types by name; only these columns are read. */
  columns?: ColumnSpecs | undefined;
  /** The column to predict, or columns by the names of a model's outputs; 'float' unless `columns` says otherwise. */
  label?: string | readonly string[] | undefined;
  /** The column with the weights of the rows in the loss. */
  weight?: string | undefined;
}

/** A column as it is read. */
export interface ColumnSpec {
  readonly name: string;
  /** Its name in the file. */
  readonly source: string;
  readonly item: 'float' | 'int' | 'string' | 'date' | Preprocessor;
  readonly isList: boolean;
  /** Values of each row of a list; null: any number. */
  readonly length: number | null;
  readonly separator: string | null;
  readonly missing: Missing;
  readonly part: DatePart;
}

export interface Declaration {
  readonly columns: readonly ColumnSpec[];
  readonly labels: readonly string[];
  readonly weight: string | null;
}

const SCALARS = ['float', 'int', 'string', 'date'] as const;
const PARTS = ['days', 'hour', 'weekday', 'month'] as const;
const ITEMS = ['float', 'int', 'string'] as const;
const COLUMN_FIELDS = ['type', 'missing', 'column', 'part'] as const;
const LIST_FIELDS = ['list', 'separator', 'length'] as const;
export const DECLARATION_FIELDS = ['columns', 'label', 'weight'] as const;
const EXPECTED = "'float', 'int', 'string', 'date', 'ids', {list: …} or an object of emb.preprocessing";

/** Whether this turns raw values into numbers. */
export function isPreprocessor(value: unknown): value is Preprocessor {
  if (value === null || typeof value !== 'object') return false;
  const { apply, getConfig } = value as Partial<Preprocessor>;
  return typeof apply === 'function' && typeof getConfig === 'function';
}

/** What the values of a column are, for what stands for those that are missing. */
function takenOf({ item }: Pick<ColumnSpec, 'item'>, part: DatePart): Taken {
  if (isPreprocessor(item)) return takenBy(item);
  if (item === 'string') return 'texts';
  return item === 'int' || (item === 'date' && part !== 'days') ? 'wholes' : 'numbers';
}

type ItemOfType = Pick<ColumnSpec, 'item' | 'isList' | 'length' | 'separator'>;

function readType(type: unknown, path: string): ItemOfType {
  const scalar = { isList: false, length: null, separator: null };
  if (isPreprocessor(type)) return { ...scalar, item: type };
  if (type === 'ids') return { item: 'int', isList: true, length: null, separator: null };
  if (typeof type === 'string') {
    if ((SCALARS as readonly string[]).includes(type)) return { ...scalar, item: type as ScalarType };
    const meant = closestName(type, [...SCALARS, 'ids']);
    throw new ValueError(path, EXPECTED, type, meant === undefined ? undefined : `Did you mean ${meant}?`);
  }
  if (!isRecord(type) || !('list' in type)) throw new ArgumentTypeError(path, EXPECTED, type);
  const { list, separator = null, length = null } = readOptions<ListType>(type, LIST_FIELDS, path);
  if (!isPreprocessor(list) && !(ITEMS as readonly unknown[]).includes(list)) {
    const expected = "'float', 'int', 'string' or an object of emb.preprocessing";
    if (typeof list === 'string') throw new ValueError(`${path}.list`, expected, list);
    throw new ArgumentTypeError(`${path}.list`, expected, list);
  }
  if (separator !== null && (typeof separator !== 'string' || separator === '')) {
    const Wrong = typeof separator === 'string' ? ValueError : ArgumentTypeError;
    throw new Wrong(`${path}.separator`, 'a text of at least one character', separator);
  }
  if (length !== null && !(Number.isSafeInteger(length) && length > 0)) {
    const Wrong = typeof length === 'number' ? ValueError : ArgumentTypeError;
    throw new Wrong(`${path}.length`, 'a whole number from 1 on', length);
  }
  return { item: list!, isList: true, length, separator };
}

function readColumn(name: string, given: unknown): ColumnSpec {
  const path = `columns.${name}`;
  const isArgs = isRecord(given) && !isPreprocessor(given) && 'type' in given;
  const args = isArgs ? readOptions<ColumnArgs>(given, COLUMN_FIELDS, path) : { type: given as ColumnType };
  const item = readType(args.type, isArgs ? `${path}.type` : path);
  const { missing = 'error' as Missing, column = name, part = 'days' } = args;
  if (typeof column !== 'string') throw new ArgumentTypeError(`${path}.column`, 'the name of a column', column);
  if (!PARTS.includes(part)) throw new ValueError(`${path}.part`, `one of ${PARTS.join(', ')}`, part);
  if (args.part !== undefined && item.item !== 'date') {
    throw new ValueError(`${path}.part`, "a column of type 'date'", described('one of another type'));
  }
  checkMissing(missing, takenOf(item, part), `${path}.missing`);
  const isOutside =
    typeof missing === 'number' && (item.item === 'int' || item.item === 'date') && missing !== (missing | 0);
  if (isOutside && takenOf(item, part) === 'wholes')
    throw new ValueError(`${path}.missing`, 'a whole number of int32', missing);
  if (classOf(item.item) !== null) {
    checkColumn(item.item as Preprocessor, item.isList ? item.length : 1, isArgs ? `${path}.type` : path);
  }
  if (missing === 'mask' && item.length !== null) {
    throw new ValueError(`${path}.missing`, "'error' or a value for lists of one length", missing);
  }
  return { name, source: column, ...item, missing, part };
}

function readLabels(value: unknown): string[] {
  if (value === undefined) return [];
  const labels: unknown[] = Array.isArray(value) ? value : [value];
  for (const each of labels) {
    if (typeof each !== 'string') throw new ArgumentTypeError('label', 'the name of a column, or names', value);
  }
  if (new Set(labels).size !== labels.length) throw new ValueError('label', 'names that differ', value);
  return labels as string[];
}

/**
 * Reads what a data set is told of its columns; `found`: types of the columns where the data tell them, by name.
 *
 * @throws TypeError for values of another type; ValueError for unknown types, and columns that the data do not have.
 */
export function readDeclaration(args: DeclarationArgs, found: ReadonlyMap<string, ColumnType> | null): Declaration {
  const labels = readLabels(args.label);
  const { weight } = args;
  if (weight !== undefined && typeof weight !== 'string') {
    throw new ArgumentTypeError('weight', 'the name of a column', weight);
  }
  if (weight !== undefined && labels.includes(weight)) {
    throw new ValueError('weight', 'another column than the label', weight);
  }
  if (args.columns === undefined && found === null) {
    throw new ArgumentTypeError('columns', "types by name, such as {age: 'float', visits: 'ids'}", undefined);
  }
  if (args.columns !== undefined && !isRecord(args.columns)) {
    throw new ArgumentTypeError('columns', "types by name, such as {age: 'float', visits: 'ids'}", args.columns);
  }
  const special = [...labels, ...(weight === undefined ? [] : [weight])];
  const given: [string, unknown][] =
    args.columns === undefined ? [...found!].filter(([name]) => !special.includes(name)) : Object.entries(args.columns);
  const columns = given.map(([name, type]) => readColumn(name, type));
  for (const name of special) {
    if (!columns.some((each) => each.name === name)) columns.push(readColumn(name, 'float'));
  }
  const features = columns.filter(({ name }) => !special.includes(name));
  if (features.length === 0) {
    throw new ValueError('columns', 'at least one column beside label and weight', described('none'));
  }
  const names = columns.flatMap(({ name, missing, isList }) => {
    return missing === 'mask' && !isList ? [name, maskName(name)] : [name];
  });
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined)
    throw new ValueError(`columns.${twice}`, 'a name of its own', described('the mask of another'));
  for (const { name, isList, length, item, missing } of columns) {
    if (!special.includes(name)) continue;
    const argument = name === weight ? 'weight' : 'label';
    if (isList && length === null)
      throw new ValueError(argument, 'a column with one value per row', described('lists'));
    if (item === 'string') {
      const note = `Give it an object of emb.preprocessing, such as columns: {${name}: new emb.preprocessing.StringLookup()}.`;
      throw new ValueError(argument, 'a column of numbers', described(`${name}, a column of strings`), note);
    }
    if (missing === 'mask')
      throw new ValueError(`columns.${name}.missing`, `'error' or a value for the ${argument}`, missing);
  }
  if (found !== null) for (const { source, name } of columns) checkFound(source, `columns.${name}`, found);
  return { columns, labels, weight: weight ?? null };
}

/** Throws ValueError, with the nearest name, where the data have no such column. */
export function checkFound(
  source: string,
  path: string,
  found: ReadonlyMap<string, unknown>,
  where = 'the data',
): void {
  if (found.has(source)) return;
  const names = [...found.keys()].filter((name) => name.trim() !== '');
  const some = names.length > 20 ? `${names.slice(0, 20).join(', ')}, …` : names.join(', ');
  const meant = closestName(source, names);
  const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
  throw new ValueError(
    path,
    `one of the columns of ${where}${names.length > 0 ? `: ${some}` : ''}`,
    described(`no column ${source}`),
    note,
  );
}
