/** Rows as a model takes them: vocabularies and bins are learned once, and kept for the next visit. */
import * as emb from 'tfjs-embeddings';
import { MADE_UP_TYPES } from '../../bookshop.js';
import type { Choices, Feature, Schema, Task } from '../protocol.js';
import { isCsv, openSource, type SourceFile } from './source.js';

const { Discretization, IntegerLookup, StringLookup } = emb.preprocessing;
type Lookup = emb.preprocessing.StringLookup | emb.preprocessing.IntegerLookup;
type Reader = Lookup | emb.preprocessing.Discretization;

/** Most values of a column that get a row of their own. */
const MOST_VALUES = 200_000;
/** Values that a list in the page shows. */
const SHOWN_VALUES = 500;
const BINS = 16;
/** A missing number lies below all others. */
const MISSING_NUMBER = -3e38;
/** Rows that tell whether a column of numbers is one of 0 and 1. */
const LOOKED_AT = 4096;
const HELD_BACK = 0.1;
const SPLIT_SEED = 5;

/** What was learned of the columns, as plain values. */
export interface Learned {
  readonly choices: Choices;
  readonly readers: readonly SavedReader[];
  /** Of a label of two texts: the other one, and the one whose chance is predicted. */
  readonly labels: readonly [string, string] | null;
  readonly task: Task;
}

interface SavedReader {
  readonly column: string;
  /** What the model calls it. */
  readonly input: string;
  readonly kind: Feature['kind'];
  readonly className: 'StringLookup' | 'IntegerLookup' | 'Discretization';
  readonly config: object;
}

/** What the label is called where it is no input of the model, none of which has a space in its name. */
const LABEL = 'the label';

/** Rows to learn from, rows to judge by, and what they are. */
export interface Rows {
  readonly learned: Learned;
  readonly schema: Schema;
  readonly train: emb.data.Dataset;
  readonly held: emb.data.Dataset;
  /** Rows of the table of each column. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly pipeline: emb.preprocessing.Pipeline;
}

const classOf = (reader: Reader): SavedReader['className'] =>
  reader instanceof StringLookup
    ? 'StringLookup'
    : reader instanceof IntegerLookup
      ? 'IntegerLookup'
      : 'Discretization';

const restored = ({ className, config }: SavedReader): Reader => emb.preprocessing[className].fromConfig(config);

/** Columns by names that tfjs takes for inputs: letters, digits and a few signs. */
function inputNames(columns: readonly string[]): string[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    const plain = column.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^[^A-Za-z0-9]/, 'c$&');
    let name = plain;
    for (let i = 2; taken.has(name); i++) name = `${plain}_${i}`;
    taken.add(name);
    return name;
  });
}

const isList = (type: emb.data.ColumnType | undefined): boolean =>
  type === 'ids' || (typeof type === 'object' && 'list' in type);

/** Types of the columns; texts of a CSV file stay texts. */
async function typesOf(file: SourceFile): Promise<Readonly<Record<string, emb.data.ColumnType>>> {
  return file === null ? MADE_UP_TYPES : emb.data.columnsOf(file);
}

function newReader(file: SourceFile, type: emb.data.ColumnType, kind: Feature['kind']): Reader {
  if (kind === 'number') return new Discretization({ numBins: BINS });
  const isWhole =
    type === 'int' || type === 'ids' || (typeof type === 'object' && 'list' in type && type.list === 'int');
  if (isWhole && !isCsv(file)) return new IntegerLookup({ maxTokens: MOST_VALUES });
  return new StringLookup({ maxTokens: MOST_VALUES });
}

/** The columns that are read, in the order of the file, but for the label. */
export function namesOf({ kinds, label }: Choices): string[] {
  return Object.keys(kinds).filter((name) => kinds[name] !== 'ignored' && name !== label);
}

function columnOf(column: string, reader: Reader, kind: Feature['kind']): emb.data.ColumnArgs {
  // Missing values of lists are left out.
  if (kind === 'list') return { type: { list: reader }, missing: 'mask', column };
  const missing = reader instanceof StringLookup ? '' : reader instanceof IntegerLookup ? -1 : MISSING_NUMBER;
  return { type: reader, missing, column };
}

function checkChoices({ kinds, item, label }: Choices): void {
  if (kinds[item] !== 'category') throw new Error(`What is recommended must be a category: ${item} is not.`);
  if (label === item) throw new Error(`${item} cannot be recommended and predicted at once.`);
  const others = namesOf({ kinds, item, label }).filter((name) => name !== item);
  if (others.length === 0) throw new Error(`Nothing is left to recommend by: read one more column beside ${item}.`);
}

/** A label of texts has to have two of them. */
async function labelsOf(file: SourceFile, label: string, onRead: (share: number) => void): Promise<[string, string]> {
  const lookup = new StringLookup({ numOovIndices: 0 });
  await openSource(file, { columns: { [label]: { type: lookup, missing: '' } } }, onRead).adapt();
  const values = lookup.getVocabulary().sort();
  if (values.length === 2) return values as [string, string];
  throw new Error(`A label holds numbers or two different texts: ${label} has ${values.length} texts.`);
}

async function isOfTwo(file: SourceFile, label: string): Promise<boolean> {
  const rows = openSource(file, { columns: { [label]: 'float' } }, () => undefined).take(LOOKED_AT);
  for await (const { features } of rows) if (features[label] !== 0 && features[label] !== 1) return false;
  return true;
}

/** Learns vocabularies and bins in one pass over the rows. */
export async function learn(file: SourceFile, choices: Choices, onRead: (share: number) => void): Promise<Rows> {
  checkChoices(choices);
  const types = await typesOf(file);
  const { label, kinds } = choices;
  const isText = label !== null && types[label] === 'string';
  if (label !== null && isList(types[label])) throw new Error(`A label holds one value: ${label} holds lists.`);
  const labels = isText ? await labelsOf(file, label, onRead) : null;
  const task = label === null ? 'choice' : isText || (await isOfTwo(file, label)) ? 'chance' : 'number';
  const names = namesOf(choices);
  const inputs = inputNames(names);
  const readers = names.map((column, i) => {
    const kind = kinds[column] as Feature['kind'];
    return { column, kind, input: inputs[i]!, reader: newReader(file, types[column]!, kind) };
  });
  const columns = readers.map(({ column, input, reader, kind }) => [input, columnOf(column, reader, kind)] as const);
  await openSource(file, { columns: Object.fromEntries(columns) }, onRead).adapt();
  const saved = readers.map(({ reader, ...of }) => ({ ...of, className: classOf(reader), config: reader.getConfig() }));
  return rowsOf(file, { choices, labels, task, readers: saved }, onRead);
}

/** The same rows again, from what was learned. */
export function rowsOf(file: SourceFile, learned: Learned, onRead: (share: number) => void): Rows {
  const { choices, labels, task } = learned;
  const { label, item } = choices;
  const readers = learned.readers.map((saved) => ({ ...saved, reader: restored(saved) }));
  const inputs = readers.map(({ column, input, reader, kind }) => [input, columnOf(column, reader, kind)] as const);
  const columns = Object.fromEntries(inputs);
  const ofLabel = labels === null ? 'float' : new StringLookup({ vocabulary: labels, numOovIndices: 0 });
  const given: emb.data.CsvArgs =
    label === null ? { columns } : { columns: { ...columns, [LABEL]: { type: ofLabel, column: label } }, label: LABEL };
  const [train, held] = openSource(file, given, onRead).split(1 - HELD_BACK, SPLIT_SEED);
  // A pipeline takes rows by the names of the file.
  const steps = readers.map(({ column, input, reader, kind }) => {
    const type = kind === 'list' ? { list: reader } : reader;
    return [input, column === input ? type : { type, column }] as const;
  });
  const pipeline = new emb.preprocessing.Pipeline({ columns: Object.fromEntries(steps) });
  const features = readers.map(({ column, input, reader, kind }): Feature => {
    const known = reader instanceof Discretization ? [] : reader.getVocabulary().slice(1, 1 + SHOWN_VALUES);
    return { name: column, input, kind, isText: reader instanceof StringLookup, values: known.map(String) };
  });
  const positive = task === 'chance' ? `${label} is ${labels?.[1] ?? 1}` : null;
  const sizes = pipeline.inputDims() as Record<string, number>;
  return { learned, schema: { task, item, label, positive, features }, train, held, sizes, pipeline };
}
