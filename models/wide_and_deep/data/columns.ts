/**
 * From columns of text to ids of features. Nothing here knows the data; everything is inferred from training rows:
 * - numbers become bins: at most 16 that hold equally many rows, and at most 128 over the distinct values, which keep
 *   rare but telling amounts apart;
 * - text becomes its place in a vocabulary;
 * - a column with several values in a cell (`a|b|c`) becomes as many ids, none for an empty cell.
 * Row 0 of each feature stands for values that training did not have.
 */
import * as emb from 'tfjs-embeddings/node';
import { cellsOf, type TextTable } from './csv.js';

const EQUAL_BINS = 16;
const DISTINCT_BINS = 128;
/** Values seen less often share row 0, which is thereby trained. */
const LEAST_SEEN = 2;
const MISSING = new Set(['', '?', 'NA', 'N/A', 'NaN', 'nan', 'null']);

type Kind = 'numeric' | 'categorical' | 'ragged';
type Bins = InstanceType<typeof emb.preprocessing.Discretization>;
type Vocabulary = InstanceType<typeof emb.preprocessing.StringLookup>;

/** One feature: a column seen one way. `rows` is the number of its ids. */
export interface Feature {
  readonly column: string;
  readonly kind: Kind;
  readonly rows: number;
  /** The ids of each cell: one, or any number for a ragged column. */
  encode(cells: readonly string[]): number[][];
  getConfig(): object;
}

/** Whether a cell is a number that can be binned. */
function isNumber(cell: string): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell));
}

export function kindOf(cells: readonly string[], separator: string): Kind {
  const present = cells.filter((cell) => !MISSING.has(cell));
  if (present.length > 0 && present.every(isNumber)) return 'numeric';
  return cells.some((cell) => cell.includes(separator)) ? 'ragged' : 'categorical';
}

/** Bins over numbers, after row 0 for cells that hold none. */
class NumericFeature implements Feature {
  readonly kind = 'numeric';
  readonly rows: number;
  constructor(
    readonly column: string,
    private readonly bins: Bins,
  ) {
    this.rows = bins.binBoundaries!.length + 2;
  }

  encode(cells: readonly string[]): number[][] {
    const numbers = cells.map((cell) => (isNumber(cell) ? Number(cell) : null));
    const ids = this.bins.apply(numbers.map((number) => number ?? 0));
    return numbers.map((number, i) => [number === null ? 0 : 1 + ids[i]!]);
  }

  getConfig(): object {
    return { column: this.column, kind: this.kind, bins: this.bins.getConfig() };
  }
}

/** A vocabulary of text; with a separator, of the parts of each cell. */
class TextFeature implements Feature {
  readonly rows: number;
  constructor(
    readonly column: string,
    readonly kind: 'categorical' | 'ragged',
    private readonly vocabulary: Vocabulary,
    private readonly separator: string,
  ) {
    this.rows = vocabulary.vocabularySize();
  }

  encode(cells: readonly string[]): number[][] {
    return this.vocabulary.apply(cells.map((cell) => partsOf(cell, this.kind, this.separator)));
  }

  getConfig(): object {
    const { column, kind, separator } = this;
    return { column, kind, separator, vocabulary: this.vocabulary.getConfig() };
  }
}

function partsOf(cell: string, kind: Kind, separator: string): string[] {
  if (kind !== 'ragged') return [cell];
  return cell
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** At most `limit` bins over the distinct values: between neighbours where they are few, else at every n-th. */
function distinctBins(numbers: readonly number[], limit: number): Bins {
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const count = Math.min(distinct.length, limit);
  const binBoundaries = Array.from({ length: count - 1 }, (_, i) => {
    const above = Math.round(((i + 1) * distinct.length) / count);
    return (distinct[above - 1]! + distinct[above]!) / 2;
  });
  return new emb.preprocessing.Discretization({ binBoundaries });
}

function learnNumeric(column: string, cells: readonly string[]): Feature[] {
  const numbers = cells.filter(isNumber).map(Number);
  const fine = new NumericFeature(column, distinctBins(numbers, DISTINCT_BINS));
  if (new Set(numbers).size <= EQUAL_BINS) return [fine];
  const coarse = new emb.preprocessing.Discretization({ numBins: EQUAL_BINS }).adapt(numbers);
  return [new NumericFeature(column, coarse), fine];
}

function learnText(
  column: string,
  kind: 'categorical' | 'ragged',
  cells: readonly string[],
  separator: string,
): Feature[] {
  const parts = cells.flatMap((cell) => partsOf(cell, kind, separator));
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  const vocabulary = new emb.preprocessing.StringLookup();
  vocabulary.adapt(parts.filter((part) => counts.get(part)! >= LEAST_SEEN));
  return [new TextFeature(column, kind, vocabulary, separator)];
}

/** Learns the features of every column but the label. */
export function learnFeatures(table: TextTable, label: string, separator: string): Feature[] {
  return table.columns
    .filter((column) => column !== label)
    .flatMap((column) => {
      const cells = cellsOf(table, column);
      const kind = kindOf(cells, separator);
      return kind === 'numeric' ? learnNumeric(column, cells) : learnText(column, kind, cells, separator);
    });
}

/** Makes a feature again from what `getConfig` gave. */
export function featureFromConfig(config: object): Feature {
  const { column, kind, bins, vocabulary, separator } = config as {
    column: string;
    kind: Kind;
    bins: object;
    vocabulary: object;
    separator: string;
  };
  if (kind === 'numeric') return new NumericFeature(column, emb.preprocessing.Discretization.fromConfig(bins));
  return new TextFeature(column, kind, emb.preprocessing.StringLookup.fromConfig(vocabulary), separator);
}
