/** Texts to ids of their tokens. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { checkBoolean } from '../base/layer_arguments.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { checkKeys, checkName, checkWhole, isAbsent, readConfig } from './arguments.js';
import { learn, type AdaptOptions, type AsyncBatches, type Learner, type SyncBatches } from './cells/batches.js';
import { asString, readCells, type CellRows, type Cells, type NumberArray } from './cells/cells.js';
import {
  ROW_MODES,
  checkOutputMode,
  type NestedNumbers,
  type OutputMode,
  type OutputModeInput,
} from './cells/output_mode.js';
import type { Utf8Column } from './columns/utf8_column.js';
import { StringLookup } from './string_lookup.js';
import {
  checkSplit,
  checkStandardize,
  ngramsOf,
  splitText,
  standardized,
  widthsOf,
  type Split,
  type Standardize,
} from './text_rules.js';
import type { TokenRows } from './token_counts.js';
import type { VocabularyFile } from './vocabulary_file.js';
import { rankOf, rowsOf, shapeOf } from './cells/written_cells.js';

export interface TextVectorizationArgs {
  /** Name, kept in the config. */
  name?: string | null;
  /** Largest size of the vocabulary, special tokens included; null: no limit. */
  maxTokens?: number | null;
  /** What is done to a text before it is split: `lower_and_strip_punctuation` (default), `lower`, `strip_punctuation`, a function or null. */
  standardize?: Standardize | null;
  /** How a text becomes tokens: `whitespace` (default), `character`, a function, or null where the data are tokens. */
  split?: Split | null;
  /** Widths of runs of tokens that are tokens in their place; n stands for 1 to n. */
  ngrams?: number | readonly number[] | null;
  /** `int` (default), `multiHot`, `count` or `tfIdf`. */
  outputMode?: OutputModeInput;
  /** Ids of a row, with `int`: longer rows are cut, shorter ones padded with 0; null: the longest row. */
  outputSequenceLength?: number | null;
  /** Whether rows stay as long as they are, with `int`. */
  ragged?: boolean;
  /** Whether vectors have `maxTokens` places, also where the vocabulary is smaller. */
  padToMaxTokens?: boolean;
  /** Known tokens in the order of their ids, or a file with one in each line; without it, `adapt` finds them. */
  vocabulary?: readonly string[] | VocabularyFile | null;
  /** A factor for each token of `vocabulary`, with `tfIdf`. */
  idfWeights?: readonly number[] | NumberArray | null;
}

const KEYS = [
  'name',
  'maxTokens',
  'standardize',
  'split',
  'ngrams',
  'outputMode',
  'outputSequenceLength',
  'ragged',
  'padToMaxTokens',
  'vocabulary',
  'idfWeights',
] as const;

export interface TextVectorizationConfig {
  name: string;
  maxTokens: number | null;
  standardize: string | null;
  split: string | null;
  ngrams: number | number[] | null;
  outputMode: OutputMode;
  outputSequenceLength: number | null;
  ragged: boolean;
  padToMaxTokens: boolean;
  vocabulary: string[] | null;
  idfWeights: number[] | null;
}

/** Texts: one, a list, rows of tokens (with `split: null`), a column or a tensor. */
export type TextData = string | readonly string[] | readonly (readonly string[])[] | Utf8Column | CellRows | tf.Tensor;

/** Rows of ids for lists, tensors (of ragged rows: a RaggedTensor) for tensors and rows. */
export type TextOutput<D> = D extends tf.Tensor | CellRows ? tf.Tensor | RaggedTensor : NestedNumbers[];

/**
 * Turns texts into the ids of their tokens: row 0 pads, row 1 is for unknown tokens, then the vocabulary by falling
 * frequency, as in `StringLookup`.
 *
 * - A text is standardized, split and made n-grams of. With `split: null` the data are rows of tokens.
 * - `int`: rows of ids, padded with 0 to the longest, or to `outputSequenceLength`; with `ragged` as they are. Lists
 *   give nested arrays; tensors an int32 tensor [batch, length] or, `ragged`, a RaggedTensor; one text gives one row.
 * - The other modes: a float32 vector for each text, with a place for each id; without the row that pads.
 * - Letters of ASCII are lowered, as TensorFlow does; white space is that of ASCII.
 * - Errors: TypeError for values that are not texts; ValueError for settings out of range and rows of texts with a
 *   `split`; RuntimeError for `apply` before `adapt`, `adapt` with a fixed vocabulary, and `getConfig` with functions.
 *
 * Source: keras.layers.TextVectorization (Keras 3.15).
 *
 * @example
 * const words = new emb.preprocessing.TextVectorization({ outputSequenceLength: 4 });
 * words.adapt(['The cat sat.', 'The dog!']);
 * words.getVocabulary(); // ['', '[UNK]', 'the', 'sat', 'dog', 'cat']
 * words.apply(['the dog sat', 'a cat']); // [[2, 4, 3, 0], [1, 5, 0, 0]]
 */
export class TextVectorization {
  static {
    brand(this, 'TextVectorization');
  }
  readonly name: string;
  readonly outputSequenceLength: number | null;
  readonly ragged: boolean;
  private readonly standardize: Standardize | null;
  private readonly split: Split | null;
  private readonly ngrams: number | readonly number[] | null;
  private readonly widths: readonly number[] | null;
  private readonly lookup: StringLookup<OutputModeInput, boolean>;

  /** @param args - How texts are split, and what becomes of the tokens; see `TextVectorizationArgs`. */
  constructor(args?: TextVectorizationArgs);
  constructor(...given: [TextVectorizationArgs?]) {
    refusePositional('new emb.preprocessing.TextVectorization', ['maxTokens', 'standardize', 'split', 'ngrams'], given);
    const [args = {}] = given;
    checkKeys(args, KEYS);
    this.name = checkName(args.name, 'text_vectorization');
    this.standardize = checkStandardize(args.standardize);
    this.split = checkSplit(args.split);
    this.widths = widthsOf(args.ngrams);
    this.ngrams = args.ngrams ?? null;
    const { maxTokens = null, padToMaxTokens = false, vocabulary = null, idfWeights = null } = args;
    const shared = {
      maxTokens,
      padToMaxTokens,
      vocabulary,
      idfWeights,
      outputMode: checkOutputMode(args.outputMode, ROW_MODES, 'int'),
    };
    this.lookup = new StringLookup<OutputModeInput, boolean>({ ...shared, maskToken: '' });
    this.ragged = checkBoolean(args.ragged, 'ragged', false);
    const length = args.outputSequenceLength;
    this.outputSequenceLength = isAbsent(length) ? null : checkWhole(length, 'outputSequenceLength', 1);
    const { outputMode } = this.lookup;
    if (outputMode === 'int') return;
    if (this.ragged) throw new ValueError('ragged', `false in outputMode ${outputMode}`, true);
    if (this.outputSequenceLength !== null) {
      throw new ValueError('outputSequenceLength', `none in outputMode ${outputMode}`, length);
    }
  }

  /**
   * Returns one equal to that whose `getConfig()` this is; Keras configs are read too.
   *
   * @param config - What `getConfig()` gave, or a config of Keras.
   * @returns A new object.
   */
  static fromConfig(config: object): TextVectorization {
    return new TextVectorization(readConfig<TextVectorizationArgs>(config, KEYS));
  }

  /** Places of the vectors; null: ids come. */
  get width(): number | null {
    return this.lookup.width;
  }

  /** Whether there is a vocabulary: from the start, or once `adapt` has found one. */
  get hasVocabulary(): boolean {
    return this.lookup.hasVocabulary;
  }

  /** Whether the data are rows of tokens and no texts. */
  get takesTokens(): boolean {
    return this.split === null;
  }

  /** The mode of the output. */
  get outputMode(): OutputMode {
    return this.lookup.outputMode;
  }

  /**
   * Learns the vocabulary of the tokens, as `StringLookup` does, and returns this. With `tfIdf` each text is a document.
   *
   * @param data - Texts, or an iterable of batches of them; of an async one, or of a data set of `tf.data`, a promise
   * comes back.
   * @param options - How many batches are read.
   * @returns This object.
   */
  adapt(data: SyncBatches, options?: AdaptOptions): this;
  adapt(data: AsyncBatches, options?: AdaptOptions): Promise<this>;
  adapt(data: SyncBatches | AsyncBatches, options?: AdaptOptions): this | Promise<this> {
    const learner = this.learner();
    if (learner !== null) return learn(data, options, learner);
    const received = described('one made with a vocabulary');
    throw new RuntimeError('adapt', 'a TextVectorization made without a vocabulary', received);
  }

  /**
   * Takes data part by part and learns from all of them; null where there is nothing to learn. For a Pipeline.
   *
   * @returns What takes the parts.
   */
  learner(): Learner<this> | null {
    const inner = this.lookup.learner((cells) => this.tokensOf(cells));
    if (inner === null) return null;
    const end = (): this => {
      inner.end();
      return this;
    };
    return { take: (cells, isWhole) => inner.take(cells, isWhole), end };
  }

  /**
   * Returns rows of ids, or vectors; see the class.
   *
   * @param data - Texts, or with `split: null` rows of tokens.
   * @returns Ids or vectors, one row for each text.
   */
  apply<D extends TextData>(data: D): TextOutput<D> {
    return this.applyCells(readCells(data)) as TextOutput<D>;
  }

  /**
   * As `apply`, of data that were read. For a Pipeline.
   *
   * @param cells - The data.
   * @returns As `apply`.
   */
  applyCells(cells: Cells): unknown {
    const tokens = this.tokensOf(cells);
    const isTensor = cells.container.kind === 'tensor' || cells.container.kind === 'ragged';
    const isOne = rankOf(cells.container) === (this.split === null ? 1 : 0) && !isTensor;
    const encoded = this.lookup.apply(tokens) as tf.Tensor | RaggedTensor;
    const result = encoded instanceof RaggedTensor ? this.rowsOfIds(encoded) : encoded;
    if (isTensor) return result;
    const rows = result instanceof RaggedTensor ? result.toRows() : rowsOfTensor(result);
    if (result instanceof tf.Tensor) result.dispose();
    return isOne ? rows[0] : rows;
  }

  /**
   * Returns the tokens by id, with those for padding and unknown ones in front, or without them. Empty before `adapt`.
   *
   * @param includeSpecialTokens - Whether these two are in front.
   * @returns The tokens.
   */
  getVocabulary(includeSpecialTokens = true): string[] {
    return this.lookup.getVocabulary(includeSpecialTokens);
  }

  /**
   * Returns the number of rows that ids may name: the `inputDim` of an embedding.
   *
   * @returns The number of rows.
   */
  vocabularySize(): number {
    return this.lookup.vocabularySize();
  }

  /** Factors by id, with `tfIdf` once there is a vocabulary; else null. */
  get idfWeights(): number[] | null {
    return this.lookup.idfWeights;
  }

  /**
   * Sets the known tokens in the order of their ids, as `StringLookup.setVocabulary` does.
   *
   * @param vocabulary - The tokens, or a file with one in each line.
   * @param idfWeights - With `tfIdf`: a factor for each.
   */
  setVocabulary(vocabulary: readonly string[] | VocabularyFile, idfWeights?: readonly number[] | NumberArray): void {
    this.lookup.setVocabulary(vocabulary, idfWeights);
  }

  /**
   * Returns settings and vocabulary as plain JSON values.
   *
   * @returns Settings and vocabulary.
   * @throws RuntimeError where `standardize` or `split` is a function, which no config holds.
   */
  getConfig(): TextVectorizationConfig {
    const { maxTokens, outputMode, padToMaxTokens, vocabulary, idfWeights } = this.lookup.getConfig();
    const { name, ngrams, outputSequenceLength, ragged } = this;
    const [standardize, split] = [nameOfRule(this.standardize, 'standardize'), nameOfRule(this.split, 'split')];
    return {
      name,
      maxTokens,
      standardize,
      split,
      ngrams: typeof ngrams === 'object' && ngrams !== null ? [...ngrams] : ngrams,
      outputMode,
      outputSequenceLength,
      ragged,
      padToMaxTokens,
      vocabulary,
      idfWeights,
    };
  }

  /** Rows of tokens, one for each text. */
  private tokensOf(cells: Cells): TokenRows<string> {
    const texts = Array.from(cells.flat, (value, position) => {
      return standardized(asString(value, position, cells.places), this.standardize, position);
    });
    const { split, widths } = this;
    const rows: (readonly string[])[] = [];
    if (split === null) {
      const splits = rowsOf(cells) ?? [0, texts.length];
      for (let row = 0; row + 1 < splits.length; row++) rows.push(texts.slice(splits[row], splits[row + 1]));
    } else {
      checkTexts(cells);
      texts.forEach((text, position) => rows.push(splitText(text, split, position)));
    }
    const tokens = widths === null ? rows : rows.map((row) => ngramsOf(row, widths));
    const rowSplits = new Int32Array(tokens.length + 1);
    tokens.forEach((row, i) => (rowSplits[i + 1] = rowSplits[i]! + row.length));
    return { values: tokens.flat(), rowSplits };
  }

  /** Rows of ids as they are, or padded. */
  private rowsOfIds(ids: RaggedTensor): RaggedTensor | tf.Tensor {
    const length = this.outputSequenceLength;
    const { rowSplits, values } = ids;
    const rows = rowSplits.length - 1;
    const cut = (row: number): Int32Array => {
      const [start, end] = [rowSplits[row]!, rowSplits[row + 1]!];
      return values.subarray(start, length === null ? end : Math.min(end, start + length)) as Int32Array;
    };
    if (this.ragged) {
      if (length === null) return ids;
      const lengths = Array.from({ length: rows }, (_, row) => cut(row).length);
      const kept = lengths.flatMap((_, row) => Array.from(cut(row)));
      return RaggedTensor.fromRowLengths(Int32Array.from(kept), lengths);
    }
    const width = length ?? ids.rowLengths().reduce((most, each) => Math.max(most, each), 0);
    const padded = new Int32Array(rows * width);
    for (let row = 0; row < rows; row++) padded.set(cut(row), row * width);
    return tf.tensor2d(padded, [rows, width], 'int32');
  }
}

/** The rows of a matrix, also where they have no numbers: tfjs gives no row then. */
function rowsOfTensor(matrix: tf.Tensor): NestedNumbers[] {
  const [rows, length] = matrix.shape as [number, number];
  return length > 0 ? (matrix.arraySync() as NestedNumbers[]) : Array.from({ length: rows }, () => []);
}

/** With a `split`, data are texts and no rows of them: [batch] or [batch, 1]. */
function checkTexts(cells: Cells): void {
  const rank = rankOf(cells.container);
  if (rank < 2) return;
  const shape = shapeOf(cells);
  if (shape !== null && rank === 2 && shape[1] === 1) return;
  const received = described(`rank ${rank}`);
  throw new ValueError('data', 'texts [batch] or [batch, 1]', received, 'Rows of tokens go with split: null.');
}

function nameOfRule(rule: Standardize | Split | null, argument: string): string | null {
  if (typeof rule !== 'function') return rule;
  const note = 'A function is not saved: give the rule by its name, or standardize the texts before.';
  throw new RuntimeError(argument, 'a rule by its name', rule, note);
}
