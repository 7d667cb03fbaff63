/** What StringLookup and IntegerLookup share: a vocabulary, and where each id lies. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { checkBoolean } from '../base/layer_arguments.js';
import type * as tf from '@tensorflow/tfjs';
import type { RaggedTensor } from '../ids/ragged_tensor.js';
import { checkKeys, checkName, checkWhole, isAbsent } from './arguments.js';
import { learn, type AdaptOptions, type AsyncBatches, type Learner, type SyncBatches } from './cells/batches.js';
import { isUtf8Column } from './columns/utf8_column.js';
import {
  asNumber,
  asWhole,
  isNumberArray,
  namedValue,
  readCells,
  type CellData,
  type CellRows,
  type Cells,
  type NamedCells,
  type NumberArray,
} from './cells/cells.js';
import { bucketsIn, restsIn, type Found } from './columns/token_places.js';
import { bucketOf, checkSalt } from './hashes/hash_bucket.js';
import {
  INDEX_LOOKUP_KEYS,
  checkOovMethod,
  type IndexLookupArgs,
  type IndexLookupConfig,
  type Token,
  type VocabularyInput,
} from './lookup_arguments.js';
import { ALL_MODES, checkOutputMode, encode, type OutputMode, type OutputOf } from './cells/output_mode.js';
import { isVocabularyFile, readVocabularyLines } from './vocabulary_file.js';
import { TokenCounts, documentsOf, type TokenRows } from './token_counts.js';
import { writeCells } from './cells/written_cells.js';

/** Values in the container of `D`, which held ids; rows of strings are values and row splits. */
export type TokensOf<D, T> = D extends tf.Tensor
  ? tf.Tensor
  : D extends RaggedTensor | CellRows
    ? T extends string
      ? { values: string[]; rowSplits: Int32Array }
      : RaggedTensor
    : D extends NumberArray
      ? T[]
      : D extends readonly (infer E)[]
        ? TokensOf<E, T>[]
        : T;

/** What `apply` of a lookup gives. */
export type LookupOutput<D, T, M, I> = [I] extends [true] ? TokensOf<D, T> : OutputOf<D, M>;

interface Places {
  /** Null: the values are to be looked up one by one. */
  find(cells: Cells, one: (text: string) => number): Found | null;
}

export abstract class IndexLookup<T extends Token, M = 'int', I extends boolean = false> {
  readonly name: string;
  readonly maxTokens: number | null;
  readonly numOovIndices: number;
  readonly maskToken: T | null;
  readonly oovToken: T;
  readonly invert: boolean;
  readonly outputMode: OutputMode;
  readonly padToMaxTokens: boolean;
  readonly oovMethod: 'floormod' | 'farmhash';
  readonly salt: readonly [number, number] | null;
  private readonly isFixed: boolean;
  private tokens: T[] | null = null;
  /** By id, special ones included; null but for `tfIdf`. */
  private factors: Float32Array | null = null;
  private indexOf = new Map<T, number>();
  /** The tokens, then the mask token. */
  private places: Places | null = null;

  protected constructor(args: IndexLookupArgs<T>, defaults: { name: string; oovToken: T }) {
    checkKeys(args, INDEX_LOOKUP_KEYS);
    this.name = checkName(args.name, defaults.name);
    this.maxTokens = isAbsent(args.maxTokens) ? null : checkWhole(args.maxTokens, 'maxTokens', 2);
    this.numOovIndices = checkWhole(args.numOovIndices ?? 1, 'numOovIndices', 0);
    this.maskToken = isAbsent(args.maskToken) ? null : this.checkToken(args.maskToken, 'maskToken');
    this.oovToken = isAbsent(args.oovToken) ? defaults.oovToken : this.checkToken(args.oovToken, 'oovToken');
    this.outputMode = checkOutputMode(args.outputMode, ALL_MODES, 'int');
    this.invert = checkBoolean(args.invert, 'invert', false);
    if (this.invert && this.outputMode !== 'int') {
      throw new ValueError('outputMode', `'int' where invert is true`, args.outputMode);
    }
    this.padToMaxTokens = checkBoolean(args.padToMaxTokens, 'padToMaxTokens', false);
    if (this.padToMaxTokens && this.maxTokens === null) {
      throw new ValueError('maxTokens', 'a number where padToMaxTokens is true', args.maxTokens);
    }
    this.oovMethod = checkOovMethod(args.oovMethod);
    this.salt = checkSalt(args.salt);
    if (this.salt !== null && this.oovMethod !== 'farmhash' && typeof defaults.oovToken === 'number') {
      throw new ValueError('salt', `null where oovMethod is 'floormod'`, args.salt);
    }
    this.isFixed = !isAbsent(args.vocabulary);
    if (!isAbsent(args.vocabulary)) this.setVocabulary(args.vocabulary, args.idfWeights);
    else if (!isAbsent(args.idfWeights)) {
      throw new ValueError('idfWeights', 'weights of a vocabulary that is given too', described('no vocabulary'));
    }
  }

  /** The values of `data` as tokens. */
  protected abstract readTokens(cells: Cells, argument: string): T[];
  /** A token from a line of a file. */
  protected abstract parseToken(line: string): T;
  /** Where these tokens are found in columns. */
  protected abstract placesOf(tokens: readonly T[]): Places;
  /** Order among tokens that were seen equally often; the later one comes first. */
  protected abstract compare(a: T, b: T): number;

  /**
   * Learns the vocabulary: values by falling frequency, equal ones in reverse order, at most `maxTokens` rows in all.
   * Returns this. What was learned before is forgotten.
   *
   * Takes data, or an iterable of batches; of an async one, or of a data set of `tf.data`, a promise comes back. With
   * `tfIdf` each row is a document (a vector: each value; a batch that is a vector: all of it).
   *
   * @throws TypeError for values of another type; RuntimeError where the vocabulary was given at construction.
   */
  adapt(data: SyncBatches, options?: AdaptOptions): this;
  adapt(data: AsyncBatches, options?: AdaptOptions): Promise<this>;
  adapt(data: SyncBatches | AsyncBatches, options?: AdaptOptions): this | Promise<this> {
    const learner = this.learner();
    if (learner !== null) return learn(data, options, learner);
    const received = described('a lookup made with a vocabulary');
    throw new RuntimeError('adapt', 'a lookup made without a vocabulary', received);
  }

  /**
   * Takes data part by part and learns from all of them; null where there is nothing to learn. For a Pipeline.
   *
   * @param rowsOf - How data become rows of tokens, for `TextVectorization`.
   * @returns What takes the parts.
   */
  learner(rowsOf?: (cells: Cells) => TokenRows<T>): Learner<this> | null {
    if (this.isFixed) return null;
    const seen = new TokenCounts<T>(this.outputMode === 'tfIdf');
    return {
      take: (cells, isWhole) => {
        if (rowsOf === undefined) seen.take(this.readTokens(cells, 'data'), () => documentsOf(cells, isWhole));
        else {
          const { values, rowSplits } = rowsOf(cells);
          seen.take(values, () => rowSplits);
        }
      },
      end: () => this.learned(seen),
    };
  }

  private learned(seen: TokenCounts<T>): this {
    seen.forget([this.maskToken, this.oovToken]);
    const first = this.firstId();
    const room = this.maxTokens === null ? Infinity : Math.max(this.maxTokens - first, 0);
    const tokens = seen.mostFrequent(room, (a, b) => this.compare(a, b));
    this.keep(tokens, this.outputMode === 'tfIdf' ? padFront(seen.inverseFrequencies(tokens), first) : null);
    return this;
  }

  /**
   * Returns the ids, int32, in the container that `data` came in: nested arrays (uneven too) stay nested, typed arrays
   * and columns give Int32Array, tensors an int32 tensor of the same shape, ragged rows a RaggedTensor.
   *
   * Other modes give float32 vectors with a place for each id: `oneHot` one for each value, the others one for each row
   * [batch, length] of values, as a tensor for tensors and ragged rows, else as nested arrays. With `invert` the data are
   * ids, and the values come back.
   *
   * @throws RuntimeError before `adapt`; TypeError for values of another type; ValueError for an unknown value where
   * numOovIndices is 0.
   */
  apply<D extends CellData>(data: D): LookupOutput<D, T, M, I> {
    return this.applyCells(readCells(data)) as LookupOutput<D, T, M, I>;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param cells - The data.
   * @returns As `apply`.
   */
  applyCells(cells: Cells): unknown {
    if (this.tokens === null) {
      throw new RuntimeError('apply', 'a vocabulary from adapt() or at construction', described('none yet'));
    }
    if (this.invert) return writeCells(cells, this.tokensOf(cells) as number[]);
    const ids = this.idsOf(cells);
    const encoding = { mode: this.outputMode, depth: this.depth(), weights: this.weights() };
    return encode(cells, ids, encoding);
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

  /** Whether there is a vocabulary: from the start, or once `adapt` has found one. */
  get hasVocabulary(): boolean {
    return this.tokens !== null;
  }

  /** Factors by id, with `tfIdf` once there is a vocabulary; else null. */
  get idfWeights(): number[] | null {
    return this.factors === null ? null : Array.from(this.factors);
  }

  /**
   * Sets the known values in the order of their ids; mask and unknown tokens may be in front, as `getVocabulary` gives
   * them. `idfWeights`, with `tfIdf`: a factor for each. Throws TypeError for other types; ValueError for repeated
   * values, the mask token among them, or more than `maxTokens` rows.
   */
  setVocabulary(vocabulary: VocabularyInput<T>, idfWeights?: readonly number[] | NumberArray | null): void {
    const all = this.readVocabulary(vocabulary);
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
      if (this.invert && token === this.oovToken) {
        throw new ValueError('vocabulary', 'the unknown token only in front where invert is true', token);
      }
      seen.add(token);
    }
    if (this.maxTokens !== null && this.firstId() + tokens.length > this.maxTokens) {
      const received = described(`${this.firstId() + tokens.length} rows`);
      throw new ValueError('vocabulary', `at most maxTokens (${this.maxTokens}) rows`, received);
    }
    const factors = this.readWeights(idfWeights, all.length);
    this.keep(tokens, factors === null || isFull ? factors : padFront(factors, special.length));
  }

  /** Returns the settings and the vocabulary as plain JSON values. */
  getConfig(): IndexLookupConfig<T> {
    const { name, maxTokens, numOovIndices, maskToken, oovToken, invert, outputMode, padToMaxTokens, salt } = this;
    return {
      name,
      maxTokens,
      numOovIndices,
      maskToken,
      oovToken,
      // Unknown values have factors of their own, which go with their tokens.
      vocabulary: this.tokens === null ? null : this.getVocabulary(this.factors !== null),
      idfWeights: this.idfWeights,
      invert,
      outputMode,
      padToMaxTokens,
      oovMethod: this.oovMethod,
      salt: salt === null ? null : [...salt],
    };
  }

  private readVocabulary(vocabulary: unknown): T[] {
    if (isUtf8Column(vocabulary) || isNumberArray(vocabulary)) {
      return this.readTokens(readCells(vocabulary, 'vocabulary'), 'vocabulary');
    }
    const given: unknown = isVocabularyFile(vocabulary)
      ? readVocabularyLines(vocabulary).map((line) => this.parseToken(line))
      : vocabulary;
    if (!Array.isArray(given)) throw new ArgumentTypeError('vocabulary', 'an array of tokens or a file', vocabulary);
    return given.map((token: unknown) => this.checkToken(token, 'vocabulary'));
  }

  private readWeights(idfWeights: unknown, count: number): Float32Array | null {
    if (this.outputMode !== 'tfIdf') {
      if (isAbsent(idfWeights)) return null;
      throw new ValueError('idfWeights', `none in outputMode ${this.outputMode}`, idfWeights);
    }
    const expected = `${count} numbers, one for each value of the vocabulary`;
    if (isAbsent(idfWeights)) throw new ValueError('idfWeights', expected, idfWeights);
    if (!Array.isArray(idfWeights) && !ArrayBuffer.isView(idfWeights)) {
      throw new ArgumentTypeError('idfWeights', expected, idfWeights);
    }
    const read = Float32Array.from(readCells(idfWeights, 'idfWeights').flat, (value, position) =>
      asNumber(value, position, 'idfWeights'),
    );
    if (read.length !== count) throw new ValueError('idfWeights', expected, described(`${read.length}`));
    return read;
  }

  private checkToken(token: unknown, argument: string): T {
    const [read] = this.readTokens({ flat: [token], count: 1, isFloat32: false, container: { kind: 'one' } }, argument);
    return read!;
  }

  private specialTokens(): T[] {
    const unknown = Array.from({ length: this.numOovIndices }, () => this.oovToken);
    return this.hasMaskRow() ? [this.maskToken!, ...unknown] : unknown;
  }

  private hasMaskRow(): boolean {
    return this.maskToken !== null && this.outputMode === 'int';
  }

  /** Id of the first known value. */
  private firstId(): number {
    return this.numOovIndices + (this.hasMaskRow() ? 1 : 0);
  }

  /** Places of the vectors; null: ids come. */
  get width(): number | null {
    return this.outputMode === 'int' ? null : this.depth();
  }

  private depth(): number {
    return this.padToMaxTokens ? this.maxTokens! : this.vocabularySize();
  }

  /** Factors for all places of a vector; those without a value count nothing. */
  private weights(): Float32Array | null {
    if (this.factors === null || this.factors.length === this.depth()) return this.factors;
    const padded = new Float32Array(this.depth());
    padded.set(this.factors);
    return padded;
  }

  private keep(tokens: T[], factors: Float32Array | null): void {
    const first = this.firstId();
    this.tokens = tokens;
    this.factors = factors;
    this.indexOf = new Map(tokens.map((token, i) => [token, first + i]));
    this.places = this.placesOf(this.maskToken === null ? tokens : [...tokens, this.maskToken]);
    // In vectors the mask token has no place.
    if (this.maskToken !== null) this.indexOf.set(this.maskToken, this.hasMaskRow() ? 0 : -1);
  }

  private tokensOf({ flat, isFloat32, places }: Cells): T[] {
    const first = this.firstId();
    return Array.from(flat, (value, position) => {
      const id = asWhole(value, position, isFloat32, places);
      if (id === 0 && this.hasMaskRow()) return this.maskToken!;
      return id < first ? this.oovToken : (this.tokens![id - first] ?? this.oovToken);
    });
  }

  private idsOf(cells: Cells): Int32Array {
    const found = this.places!.find(cells, (text) => {
      const id = this.indexOf.get(text as T);
      if (id === undefined) return -1;
      return text === this.maskToken ? this.tokens!.length : id - this.firstId();
    });
    if (found === null) {
      return Int32Array.from(this.readTokens(cells, 'data'), (token, position) => {
        return this.idOf(token, position, cells.places);
      });
    }
    const { places, unknown } = found;
    if (unknown > 0 && this.numOovIndices === 0) {
      const position = places.indexOf(-1);
      return Int32Array.of(this.idOf(cells.flat[position] as T, position, cells.places));
    }
    const buckets = unknown > 0 && this.numOovIndices > 1 ? this.bucketsOf(cells) : null;
    const first = this.firstId();
    const [firstOov, mask, maskId] = this.hasMaskRow() ? [1, this.tokens!.length, 0] : [0, this.tokens!.length, -1];
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      if (place < 0) places[i] = firstOov + (buckets === null ? 0 : buckets[i]!);
      else places[i] = place === mask ? maskId : first + place;
    }
    return places;
  }

  /** Rows for unknown values, for all values. */
  private bucketsOf(cells: Cells): Int32Array {
    const of = this.numOovIndices;
    const isByRest = typeof this.oovToken === 'number' && this.oovMethod === 'floormod';
    return (isByRest ? restsIn(cells, of) : bucketsIn(cells, { of, salt: this.salt }))!;
  }

  private idOf(token: T, position: number, named: NamedCells): number {
    const known = this.indexOf.get(token);
    if (known !== undefined) return known;
    if (this.numOovIndices === 0) {
      const shown = typeof token === 'string' ? JSON.stringify(token) : String(token);
      const [argument, received] = namedValue(shown, position, named);
      throw new ValueError(argument, 'values of the vocabulary, as numOovIndices is 0', received);
    }
    const bucket = this.numOovIndices === 1 ? 0 : this.oovBucket(token);
    return (this.hasMaskRow() ? 1 : 0) + bucket;
  }

  /** Which of the `numOovIndices` rows an unknown token gets. */
  private oovBucket(token: T): number {
    const { numOovIndices } = this;
    if (typeof token === 'string' || this.oovMethod === 'farmhash')
      return bucketOf(String(token), numOovIndices, this.salt);
    const rest = (token as number) % numOovIndices;
    return rest < 0 ? rest + numOovIndices : rest;
  }
}

/** Special tokens count as much as the average of the others. */
function padFront(factors: Float32Array, special: number): Float32Array {
  const mean = factors.reduce((sum, each) => sum + each, 0) / factors.length;
  const padded = new Float32Array(special + factors.length).fill(factors.length === 0 ? 0 : mean);
  padded.set(factors, special);
  return padded;
}
