/** The layer `BruteForceRetrieval`: the best candidates for each query, which are saved with the model. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkDimension, type SymbolicShape } from '../base/layer_arguments.js';
import { readLayerConfig } from '../base/layer_config.js';
import { checkCount, readOptions } from '../base/options.js';
import { brand, hasBrand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { readInt32, type FlatInput } from '../ids/values.js';
import {
  FLOAT_LAYER_FIELDS,
  readFloatInputs,
  readFloatLayerArgs,
  type FloatLayerArgs,
} from '../layers/float_inputs.js';
import type { AnyTensors, Kwargs } from '../layers/layer_calls.js';
import { onlyShape, onlyTensor } from '../layers/preprocessing/encoded_ids.js';
import type { AnnSettings } from './ann/ann_file.js';
import type { AnnIndex, AnnSearchOptions } from './ann/ann_index.js';
import { makeIndex } from './ann/index_maker.js';
import { readRows, type RankedTable } from './ranked_table.js';
import { topK } from './top_k.js';

export interface BruteForceRetrievalArgs extends FloatLayerArgs {
  /** Rows [candidates, dim]: a table as `emb.topK` takes them, or nested arrays. They are copied. */
  candidates?: RankedTable | readonly (readonly number[])[] | undefined;
  /** What each candidate is called: whole int32. Default: the number of its row. */
  identifiers?: FlatInput | null | undefined;
  /**
   * An index of the candidates, in place of `candidates` and `identifiers`: the layer looks at some of its lists. Its rows,
   * ids and lists are copied.
   */
  index?: AnnIndex | undefined;
  /** How many lists of the index a query looks at. Default: `index.probes`. */
  probes?: number | undefined;
  /** How a query's candidates are found, as `index.search` says. Default: as there. */
  rerank?: number | undefined;
  /** How many candidates a query gets; at most as many as there are. */
  k: number;
}

/** What a config has in place of the candidates, which are weights. */
interface SavedArgs {
  readonly numCandidates: number;
  readonly dim: number;
  readonly hasIdentifiers: boolean;
  readonly indexForm: AnnSettings | null;
}

const FIELDS = ['candidates', 'identifiers', 'index', 'probes', 'rerank', 'k'] as const;
const SAVED = ['numCandidates', 'dim', 'hasIdentifiers', 'indexForm'] as const;
const EXPECTED = 'a float32 tensor [batch, dim]';

/** The values of the weights, until they are built. */
interface Given {
  readonly rows: Float32Array;
  readonly identifiers: Int32Array | null;
  readonly centroids: Float32Array | null;
  readonly lists: Int32Array | null;
}

/** Rows, ids and lists of an index. */
function readIndex(given: Partial<BruteForceRetrievalArgs>): Given & { dim: number; form: AnnSettings } {
  const { index } = given;
  if (!hasBrand(index, 'AnnIndex')) throw new ArgumentTypeError('index', 'an index that emb.ann.build made', index);
  for (const field of ['candidates', 'identifiers'] as const) {
    if ((given[field] ?? null) === null) continue;
    throw new ValueError(field, 'nothing beside `index`, which holds both', given[field]);
  }
  if (!index!.keepsRows) throw new ValueError('index', 'an index that keeps its rows', described('one of codes alone'));
  const { ids, rows, lists, centroids } = index!.parts();
  const { metric, codes, lists: count } = index!;
  const form = { metric, codes, lists: count };
  return { rows: rows.numbers, identifiers: ids, lists, centroids: centroids.numbers, dim: rows.dim, form };
}

/** How the layer searches where it has an index; without one these say nothing. */
function readSearch(given: Partial<BruteForceRetrievalArgs>, hasIndex: boolean): AnnSearchOptions {
  const search: AnnSearchOptions = {};
  for (const [field, least] of [
    ['probes', 1],
    ['rerank', given.k as number],
  ] as const) {
    const value = given[field] ?? undefined;
    if (value === undefined) continue;
    if (!hasIndex) throw new ValueError(field, 'nothing without `index`', value);
    search[field] = checkCount(value, field, least);
  }
  return search;
}

function readForm(value: unknown): AnnSettings | null {
  if ((value ?? null) === null) return null;
  const { metric, codes, lists } = readOptions<AnnSettings>(value, ['metric', 'codes', 'lists'], 'indexForm');
  const isKnown = (metric === 'dot' || metric === 'cosine') && (codes === 'int8' || codes === 'none');
  if (!isKnown) throw new ValueError('indexForm', 'a metric and codes of an index', value);
  return { metric, codes, lists: checkCount(lists, 'indexForm.lists', 1) };
}

function readIdentifiers(identifiers: FlatInput | null | undefined, numCandidates: number): Int32Array | null {
  if (identifiers === undefined || identifiers === null) return null;
  const read = readInt32(identifiers, 'identifiers').slice();
  if (read.length === numCandidates) return read;
  throw new ValueError('identifiers', `one for each of ${numCandidates} candidates`, described(`${read.length}`));
}

/**
 * A layer that returns for each query the `k` candidates with the largest inner products, the best first; ties by the
 * earlier candidate.
 *
 * Takes float32 [batch, dim]; returns `[scores, identifiers]`, float32 and int32 [batch, k]. The candidates and their
 * identifiers are weights that are never trained, `candidates` [candidates, dim] and `identifiers` [candidates]; they are
 * saved with the model, and `setWeights` replaces them by as many others. Runs as `emb.topK`. A SavedModel has a product
 * and `TopKV2`. No gradient goes through it.
 *
 * With `index` it looks at some lists of an index of `emb.ann` alone, as `index.search`; two more weights are the index's
 * `centroids` [lists, dim] and the list of each candidate, `lists` [candidates]. Such a layer has no form in a SavedModel;
 * one that was loaded runs with the main entry, or once `emb.ann` was called.
 * Source: tfrs.layers.factorized_top_k.BruteForce (TensorFlow Recommenders 0.7), keras_rs.layers.BruteForceRetrieval.
 *
 * @throws TypeError for arguments and inputs of another type; ValueError for a `k` beyond the number of candidates, for
 * identifiers that are not one for each, and for queries of another width.
 *
 * @example
 * const user = tf.input({shape: [1], dtype: 'int32'});
 * const best = emb.layers.bruteForceRetrieval({candidates: items, k: 10}).apply(tower.apply(user));
 * const model = tf.model({inputs: user, outputs: best});
 */
export class BruteForceRetrieval extends tf.layers.Layer {
  static {
    brand(this, 'BruteForceRetrieval');
  }
  static readonly className: string = 'TfjsEmbeddings>BruteForceRetrieval';
  readonly k: number;
  readonly numCandidates: number;
  readonly dim: number;
  readonly hasIdentifiers: boolean;
  /** What the index is, or null where all candidates are looked at. */
  readonly indexForm: AnnSettings | null;
  readonly #search: AnnSearchOptions;
  #given: Given | null;
  #candidates: tf.LayerVariable | null = null;
  #identifiers: tf.LayerVariable | null = null;
  #centroids: tf.LayerVariable | null = null;
  #lists: tf.LayerVariable | null = null;
  /** The index, and what it was made of: its weights may be others later. */
  #index: { readonly index: AnnIndex; readonly of: readonly object[] } | null = null;

  /** @param args - See `BruteForceRetrievalArgs`. */
  constructor(args: BruteForceRetrievalArgs);
  constructor(...all: [BruteForceRetrievalArgs]) {
    refusePositional('emb.layers.bruteForceRetrieval', FIELDS, all);
    const prefix = 'brute_force_retrieval';
    type Args = BruteForceRetrievalArgs & Partial<SavedArgs>;
    const { given, base } = readFloatLayerArgs<Args>(all[0], [...FIELDS, ...SAVED], prefix);
    super({ ...base, trainable: false } as never);
    if (given.numCandidates !== undefined) {
      this.#given = null;
      this.numCandidates = checkDimension(given.numCandidates, 'numCandidates');
      this.dim = checkDimension(given.dim, 'dim');
      this.hasIdentifiers = given.hasIdentifiers === true;
      this.indexForm = readForm(given.indexForm);
    } else if ((given.index ?? null) !== null) {
      const { dim, form, ...parts } = readIndex(given);
      this.#given = parts;
      [this.numCandidates, this.dim, this.hasIdentifiers] = [parts.identifiers!.length, dim, true];
      this.indexForm = form;
    } else {
      const { numbers: rows, count: numCandidates, dim } = readRows(given.candidates, 'candidates');
      const identifiers = readIdentifiers(given.identifiers, numCandidates);
      this.#given = { rows, identifiers, centroids: null, lists: null };
      [this.numCandidates, this.dim, this.hasIdentifiers] = [numCandidates, dim, identifiers !== null];
      this.indexForm = null;
    }
    this.k = checkDimension(given.k, 'k');
    this.#search = readSearch(given, this.indexForm !== null);
    if (this.k <= this.numCandidates) return;
    throw new ValueError('k', `at most as many as there are candidates, ${this.numCandidates}`, this.k);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    this.computeOutputShape(inputShape);
    if (this.#candidates !== null) return;
    const { rows, identifiers, centroids, lists } = this.#given ?? ({} as Partial<Given>);
    const { numCandidates, dim, indexForm } = this;
    this.#candidates = this.#addValues('candidates', [numCandidates, dim], 'float32', rows);
    if (this.hasIdentifiers) {
      this.#identifiers = this.#addValues('identifiers', [numCandidates], 'int32', identifiers);
    }
    if (indexForm !== null) {
      this.#centroids = this.#addValues('centroids', [indexForm.lists, dim], 'float32', centroids);
      this.#lists = this.#addValues('lists', [numCandidates], 'int32', lists);
    }
    this.#given = null;
    this.built = true;
  }

  #addValues(
    name: string,
    shape: number[],
    dtype: 'float32' | 'int32',
    values: Float32Array | Int32Array | null | undefined,
  ): tf.LayerVariable {
    const apply = (): tf.Tensor => (values ? tf.tensor(values, shape, dtype) : tf.zeros(shape, dtype));
    return this.addWeight(name, shape, dtype, { apply } as never, undefined as never, false);
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape[] {
    const shape = onlyShape(inputShape);
    if (shape.length !== 2 || shape[1] !== this.dim) {
      const received = described(`shape [${shape.map(String).join(', ')}]`);
      throw new ValueError('inputs', `${EXPECTED} with ${this.dim} columns, those of the candidates`, received);
    }
    return [
      [shape[0]!, this.k],
      [shape[0]!, this.k],
    ];
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor[];
  override apply(inputs: tf.Tensor | tf.Tensor[], kwargs?: Kwargs): [tf.Tensor2D, tf.Tensor2D];
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    this.computeOutputShape(readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape));
    return super.apply(inputs, kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor[] {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const queries = onlyTensor(inputs) as tf.Tensor2D;
      if (this.indexForm !== null) {
        const found = this.#indexNow(this.indexForm).search(queries, this.k, this.#search);
        return [found.values, found.indices];
      }
      const { values, indices } = topK(queries, this.#candidates!, this.k);
      if (this.#identifiers === null) return [values, indices];
      // A place without a candidate stays one.
      const named = this.#identifiers.read().gather(indices.maximum(tf.scalar(0, 'int32')));
      return [values, tf.where(indices.less(tf.scalar(0, 'int32')), indices, named)];
    });
  }

  /** The index of the weights as they are. */
  #indexNow({ metric, codes, lists: count }: AnnSettings): AnnIndex {
    const weights = [this.#candidates, this.#identifiers, this.#centroids, this.#lists].map((each) => each!.read());
    const of = weights.map(({ dataId }) => dataId);
    if (this.#index?.of.every((each, i) => each === of[i]) === true) return this.#index.index;
    const [numbers, ids, centroids, lists] = weights.map((each) => each.dataSync().slice()) as [
      ...[Float32Array, Int32Array, Float32Array, Int32Array],
    ];
    const { dim } = this;
    const stray = lists.findIndex((list) => list < 0 || list >= count);
    if (stray >= 0) throw new ValueError('lists', `numbers from 0 to ${count - 1}`, described(`${lists[stray]}`));
    const rows = { numbers, count: this.numCandidates, dim };
    const form = { metric, codes, keepRows: true, centroids: { numbers: centroids, count, dim } };
    const index = makeIndex({ ...form, ids, rows, lists });
    this.#index = { index, of };
    return index;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { k, numCandidates, dim, hasIdentifiers, indexForm } = this;
    const index = indexForm === null ? {} : { indexForm: { ...indexForm }, ...this.#search };
    return { ...super.getConfig(), k, numCandidates, dim, hasIdentifiers, ...index } as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its config; its candidates are weights, zeros until they are set. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(
      readLayerConfig(config, [
        'k',
        'probes',
        'rerank',
        ...SAVED,
        ...FLOAT_LAYER_FIELDS,
      ]) as tf.serialization.ConfigDict,
    );
  }
}

/**
 * Returns a `BruteForceRetrieval` layer; arguments, shapes and errors as there.
 *
 * @param args - The candidates, what they are called, and how many a query gets; see `BruteForceRetrieval`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.bruteForceRetrieval({candidates: items, identifiers: [104, 108, 23], k: 2});
 */
export function bruteForceRetrieval(args: BruteForceRetrievalArgs): BruteForceRetrieval;
export function bruteForceRetrieval(...given: [BruteForceRetrievalArgs]): BruteForceRetrieval {
  return new BruteForceRetrieval(...given);
}
