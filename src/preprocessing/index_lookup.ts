/** What StringLookup and IntegerLookup share: a vocabulary, and where each id lies. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { checkKeys, checkName, checkOutputMode, checkWhole, isAbsent } from './arguments.js';
import { readCells, type CellData, type Cells, type IdsOf } from './cells.js';

export type Token = string | number;

export interface IndexLookupArgs<T extends Token> {
  /** Name, kept in the config. */
  name?: string | null;
  /** Largest size of the vocabulary, special tokens included; null: no limit. */
  maxTokens?: number | null;
  /** Number of rows for unknown values; 0 makes an unknown value an error. */
  numOovIndices?: number;
  /** Value that gets row 0, before the rows for unknown values; null: none. */
  maskToken?: T | null;
  /** What `getVocabulary` shows in the rows for unknown values. */
  oovToken?: T;
  /** Known values in the order of their ids; without it, `adapt` finds them. */
  vocabulary?: readonly T[] | null;
  outputMode?: 'int';
}

export const INDEX_LOOKUP_KEYS = [
  'name',
  'maxTokens',
  'numOovIndices',
  'maskToken',
  'oovToken',
  'vocabulary',
  'outputMode',
] as const;

/** Throws for a call such as `StringLookup(['a', 'b'])` or, in the order of Keras, `StringLookup(100, 1)`. */
export function refuseLookupByPosition(call: string, given: readonly unknown[]): void {
  const names = Array.isArray(given[0]) ? ['vocabulary'] : ['maxTokens', 'numOovIndices', 'maskToken', 'oovToken'];
  refusePositional(call, names, given);
}

/** Everything needed to make an equal lookup again, as plain JSON values. */
export interface IndexLookupConfig<T extends Token> {
  name: string;
  maxTokens: number | null;
  numOovIndices: number;
  maskToken: T | null;
  oovToken: T;
  /** Without mask and unknown tokens; null before `adapt`. */
  vocabulary: T[] | null;
  outputMode: 'int';
}

export abstract class IndexLookup<T extends Token> {
  readonly name: string;
  readonly maxTokens: number | null;
  readonly numOovIndices: number;
  readonly maskToken: T | null;
  readonly oovToken: T;
  private readonly isFixed: boolean;
  private tokens: T[] | null = null;
  private indexOf = new Map<T, number>();

  protected constructor(args: IndexLookupArgs<T>, defaults: { name: string; oovToken: T }) {
    checkKeys(args, INDEX_LOOKUP_KEYS);
    this.name = checkName(args.name, defaults.name);
    this.maxTokens = isAbsent(args.maxTokens) ? null : checkWhole(args.maxTokens, 'maxTokens', 2);
    this.numOovIndices = checkWhole(args.numOovIndices ?? 1, 'numOovIndices', 0);
    this.maskToken = isAbsent(args.maskToken) ? null : this.checkToken(args.maskToken, 'maskToken');
    this.oovToken = isAbsent(args.oovToken) ? defaults.oovToken : this.checkToken(args.oovToken, 'oovToken');
    checkOutputMode(args.outputMode);
    this.isFixed = !isAbsent(args.vocabulary);
    if (!isAbsent(args.vocabulary)) this.setVocabulary(args.vocabulary);
  }

  /** The values of `data` as tokens. */
  protected abstract readTokens(cells: Cells, argument: string): T[];
  /** Order among tokens that were seen equally often; the later one comes first. */
  protected abstract compare(a: T, b: T): number;
  /** Which of the `numOovIndices` rows an unknown token gets. */
  protected abstract oovBucket(token: T): number;

  /**
   * Learns the vocabulary: values by falling frequency, equal ones in reverse order, at most `maxTokens` rows in all.
   * Returns this. What was learned before is forgotten.
   *
   * @throws TypeError for values of another type; RuntimeError where the vocabulary was given at construction.
   */
  adapt(data: CellData): this {
    if (this.isFixed) {
      const received = described('a lookup made with a vocabulary');
      throw new RuntimeError('adapt', 'a lookup made without a vocabulary', received);
    }
    const counts = new Map<T, number>();
    for (const token of this.readTokens(readCells(data), 'data')) counts.set(token, (counts.get(token) ?? 0) + 1);
    if (this.maskToken !== null) counts.delete(this.maskToken);
    counts.delete(this.oovToken);
    const sorted = [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || this.compare(b, a));
    const room = this.maxTokens === null ? sorted.length : Math.max(this.maxTokens - this.firstId(), 0);
    this.keep(sorted.slice(0, room).map(([token]) => token));
    return this;
  }

  /**
   * Returns the ids, int32, in the container that `data` came in: nested arrays (uneven too) stay nested, typed arrays
   * give Int32Array, tensors an int32 tensor of the same shape, RaggedTensor a RaggedTensor.
   *
   * @throws RuntimeError before `adapt`; TypeError for values of another type; ValueError for an unknown value where
   * numOovIndices is 0.
   */
  apply<D extends CellData>(data: D): IdsOf<D> {
    if (this.tokens === null) {
      throw new RuntimeError('apply', 'a vocabulary from adapt() or at construction', described('none yet'));
    }
    const cells = readCells(data);
    const ids = Int32Array.from(this.readTokens(cells, 'data'), (token, position) => this.idOf(token, position));
    return cells.write(ids) as IdsOf<D>;
  }

  /**
   * Returns the values by id, with mask and unknown tokens in front, or without them. Empty before `adapt`.
   */
  getVocabulary(includeSpecialTokens = true): T[] {
    if (this.tokens === null) return [];
    return includeSpecialTokens ? [...this.specialTokens(), ...this.tokens] : [...this.tokens];
  }

  /** Returns the number of rows that ids may name: the `inputDim` of an embedding. */
  vocabularySize(): number {
    return this.firstId() + (this.tokens?.length ?? 0);
  }

  /**
   * Sets the known values in the order of their ids; mask and unknown tokens may be in front, as `getVocabulary` gives
   * them. Throws TypeError for other types; ValueError for repeated values, the mask token among them, or more than
   * `maxTokens` rows.
   */
  setVocabulary(vocabulary: readonly T[]): void {
    const expected = 'an array of tokens';
    if (!Array.isArray(vocabulary)) throw new ArgumentTypeError('vocabulary', expected, vocabulary);
    const all = vocabulary.map((token: unknown) => this.checkToken(token, 'vocabulary'));
    const special = this.specialTokens();
    const isFull = special.length > 0 && special.every((token, i) => all[i] === token);
    const tokens = isFull ? all.slice(special.length) : all;
    const seen = new Set<T>();
    for (const token of tokens) {
      if (seen.has(token)) throw new ValueError('vocabulary', 'values that differ', token);
      if (token === this.maskToken) {
        const expected = 'the mask token only in front, followed by the unknown tokens';
        throw new ValueError('vocabulary', expected, token);
      }
      seen.add(token);
    }
    if (this.maxTokens !== null && this.firstId() + tokens.length > this.maxTokens) {
      const received = described(`${this.firstId() + tokens.length} rows`);
      throw new ValueError('vocabulary', `at most maxTokens (${this.maxTokens}) rows`, received);
    }
    this.keep(tokens);
  }

  /** Returns the settings and the vocabulary as plain JSON values. */
  getConfig(): IndexLookupConfig<T> {
    const { name, maxTokens, numOovIndices, maskToken, oovToken, tokens } = this;
    return {
      name,
      maxTokens,
      numOovIndices,
      maskToken,
      oovToken,
      vocabulary: tokens === null ? null : [...tokens],
      outputMode: 'int',
    };
  }

  private checkToken(token: unknown, argument: string): T {
    const [read] = this.readTokens({ flat: [token], isFloat32: false, write: (ids) => ids }, argument);
    return read!;
  }

  private specialTokens(): T[] {
    const unknown = Array.from({ length: this.numOovIndices }, () => this.oovToken);
    return this.maskToken === null ? unknown : [this.maskToken, ...unknown];
  }

  /** Id of the first known value. */
  private firstId(): number {
    return this.numOovIndices + (this.maskToken === null ? 0 : 1);
  }

  private keep(tokens: T[]): void {
    const first = this.firstId();
    this.tokens = tokens;
    this.indexOf = new Map(tokens.map((token, i) => [token, first + i]));
    if (this.maskToken !== null) this.indexOf.set(this.maskToken, 0);
  }

  private idOf(token: T, position: number): number {
    const known = this.indexOf.get(token);
    if (known !== undefined) return known;
    if (this.numOovIndices === 0) {
      const received = described(`${JSON.stringify(token)} at position ${position}`);
      throw new ValueError('data', 'values of the vocabulary, as numOovIndices is 0', received);
    }
    const bucket = this.numOovIndices === 1 ? 0 : this.oovBucket(token);
    return (this.maskToken === null ? 0 : 1) + bucket;
  }
}
