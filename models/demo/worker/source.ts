/** Where rows come from: the made-up shop or a file, what its columns are taken for, and data sets of them. */
import * as emb from 'tfjs-embeddings';
import type { Choices, Column, Kind, Understood } from '../protocol.js';
import { MADE_UP, MADE_UP_TYPES, makeUp } from '../../bookshop.js';

/** What is kept of a source; null: the made-up rows. */
export type SourceFile = File | null;

const SEED = 7;
/** Rows that examples and suggestions come from. */
const LOOKED_AT = 200;
const EXAMPLES = 3;
const LONGEST_EXAMPLE = 32;
const FEW_VALUES = 12;
/** What columns of numbers without an order are called. */
const ID_NAMES = /(^|[^a-z])id$|[a-z]I[dD]$|user|customer|visitor|code|zip/;
/** Words that columns of items and labels are named by. */
const ITEM_NAMES = /item|product|book|movie|film|title|song|track|article|place|sku/i;
const LABEL_NAMES = /label|target|click|finished|bought|liked|rating|stars|income|outcome|score|^y$/i;

/** A file that tells how far it has been read. */
class CountedFile extends File {
  constructor(
    file: File,
    private readonly onRead: (share: number) => void,
  ) {
    super([file], file.name);
  }

  override slice(start?: number, end?: number, type?: string): Blob {
    this.onRead((end ?? this.size) / this.size);
    return super.slice(start, end, type);
  }
}

const isParquet = (file: File): boolean => /\.(parquet|pq)$/i.test(file.name);

/** Whether cells are texts, whatever they hold. */
export const isCsv = (file: SourceFile): boolean => file !== null && !isParquet(file);

/** Rows of a source; `onRead` is told which share of it has been read. */
export function openSource(
  file: SourceFile,
  args: emb.data.CsvArgs,
  onRead: (share: number) => void,
): emb.data.Dataset {
  if (file === null) return emb.data.fromArrays(makeUp(SEED) as never, args);
  const counted = new CountedFile(file, onRead);
  return isParquet(file) ? emb.data.fromParquet(counted, args) : emb.data.fromCsv(counted, args);
}

/** What a column holds, in words. */
function wordsOf(type: emb.data.ColumnType): string {
  if (type === 'ids') return 'lists of ids';
  if (typeof type === 'object' && 'list' in type) return type.list === 'string' ? 'lists of texts' : 'lists of numbers';
  return { string: 'text', int: 'whole numbers', float: 'numbers', date: 'dates' }[type as 'int'];
}

function kindOf(name: string, type: emb.data.ColumnType, cells: readonly string[]): Kind {
  if (type === 'date' || (typeof type === 'object' && 'list' in type && type.list === 'float')) return 'ignored';
  if (type === 'ids' || (typeof type === 'object' && 'list' in type)) return 'list';
  if (type === 'float') return 'number';
  // Whole numbers are names where they are called so, and where there are few of them.
  const isName = ID_NAMES.test(name) || ITEM_NAMES.test(name) || new Set(cells).size <= FEW_VALUES;
  if (type === 'int') return isName ? 'category' : 'number';
  return cells.some((cell) => cell.includes('|')) ? 'list' : 'category';
}

/** A value as people write it. */
const textOf = (value: string | number): string =>
  String(typeof value === 'number' ? Number(value.toPrecision(6)) : value);

const shortened = (text: string): string =>
  text.length <= LONGEST_EXAMPLE ? text : `${text.slice(0, LONGEST_EXAMPLE)}…`;

/** The first rows as texts. */
async function firstCells(file: SourceFile, types: Readonly<Record<string, emb.data.ColumnType>>) {
  const names = Object.keys(types);
  const cells = new Map(names.map((name): [string, string[]] => [name, []]));
  const asText = (type: emb.data.ColumnType): emb.data.ColumnType =>
    type === 'ids' || type === 'date' || (typeof type === 'object' && 'list' in type) ? { list: 'string' } : 'string';
  const read = (type: emb.data.ColumnType): emb.data.ColumnArgs => {
    const known = isCsv(file) ? asText(type) : type;
    return typeof known === 'string' && known !== 'ids'
      ? { type: known, missing: known === 'string' ? '' : 0 }
      : { type: known, missing: 'mask' };
  };
  // Numbered, as a column may have any name.
  const given = Object.fromEntries(names.map((column, i) => [`c${i}`, { ...read(types[column]!), column }]));
  for await (const { features } of openSource(file, { columns: given }, () => undefined).take(LOOKED_AT)) {
    for (const [i, name] of names.entries()) {
      const value = features[`c${i}`]!;
      const values = typeof value === 'object' ? Array.from(value as readonly (string | number)[]) : [value];
      cells.get(name)!.push(values.map(textOf).join('|'));
    }
  }
  return cells;
}

/** The item is named like one, or has the most values; the label is named like one, else there is none. */
function suggest(columns: readonly Column[], cells: ReadonlyMap<string, readonly string[]>): Choices {
  const distinct = (name: string): number => new Set(cells.get(name)).size;
  const label = columns.find(({ name }) => LABEL_NAMES.test(name))?.name ?? null;
  const categories = columns.filter(({ name, kind }) => kind === 'category' && name !== label);
  const largest = [...categories].sort((a, b) => distinct(b.name) - distinct(a.name))[0];
  const item = categories.find(({ name }) => ITEM_NAMES.test(name)) ?? largest ?? columns[0]!;
  const kinds = Object.fromEntries(columns.map(({ name, kind }) => [name, kind]));
  return { kinds, item: item.name, label };
}

/** Looks at the first rows. Throws what reading them throws. */
export async function understand(file: SourceFile): Promise<Understood> {
  const types = file === null ? MADE_UP_TYPES : await emb.data.columnsOf(file);
  const cells = await firstCells(file, types);
  const rows = cells.values().next().value!.length;
  const name = file?.name ?? MADE_UP;
  if (rows === 0) throw new emb.ValueError('source', 'a file with rows', `${name}, which has a header alone`);
  const columns = Object.entries(types).map(([column, type]): Column => {
    const own = cells.get(column)!;
    const examples = [...new Set(own.filter((cell) => cell !== ''))].slice(0, EXAMPLES).map(shortened);
    return { name: column, found: wordsOf(type), kind: kindOf(column, type, own), examples };
  });
  return { name, columns, choices: suggest(columns, cells) };
}
