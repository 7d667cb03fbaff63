/** The layer `BruteForceRetrieval`: the best candidates for each query, which are saved with the model. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkDimension, type SymbolicShape } from '../base/layer_arguments.js';
import { readLayerConfig } from '../base/layer_config.js';
import { brand } from '../base/per_process.js';
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
import { floatsOf, readRankedTable, type RankedTable } from './ranked_table.js';
import { topK } from './top_k.js';

export interface BruteForceRetrievalArgs extends FloatLayerArgs {
  /** Rows [candidates, dim]: a table as `emb.topK` takes them, or nested arrays. They are copied. */
  candidates?: RankedTable | readonly (readonly number[])[] | undefined;
  /** What each candidate is called: whole int32. Default: the number of its row. */
  identifiers?: FlatInput | null | undefined;
  /** How many candidates a query gets; at most as many as there are. */
  k: number;
}

/** What a config has in place of the candidates, which are weights. */
interface SavedArgs {
  readonly numCandidates: number;
  readonly dim: number;
  readonly hasIdentifiers: boolean;
}

const FIELDS = ['candidates', 'identifiers', 'k'] as const;
const SAVED = ['numCandidates', 'dim', 'hasIdentifiers'] as const;
const EXPECTED = 'a float32 tensor [batch, dim]';

/** The values of the weights, until they are built. */
interface Given {
  readonly rows: Float32Array;
  readonly identifiers: Int32Array | null;
}

function readRows(candidates: unknown): { rows: Float32Array; numCandidates: number; dim: number } {
  const expected = 'a table, or nested arrays of numbers [candidates, dim]';
  if (candidates === undefined || candidates === null) throw new ArgumentTypeError('candidates', expected, candidates);
  if (!Array.isArray(candidates)) {
    const table = readRankedTable(candidates, 'candidates');
    const { rows: numCandidates, dim } = table;
    return { rows: floatsOf(table), numCandidates, dim };
  }
  const lists = candidates as unknown[];
  const dim = Array.isArray(lists[0]) ? lists[0].length : 0;
  const isEven = dim > 0 && lists.every((row) => Array.isArray(row) && row.length === dim);
  const numbers = lists.flat();
  if (!isEven || !numbers.every((x) => typeof x === 'number')) {
    throw new ArgumentTypeError('candidates', expected, candidates);
  }
  return { rows: Float32Array.from(numbers), numCandidates: lists.length, dim };
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
  #given: Given | null;
  #candidates: tf.LayerVariable | null = null;
  #identifiers: tf.LayerVariable | null = null;

  /** @param args - See `BruteForceRetrievalArgs`. */
  constructor(args: BruteForceRetrievalArgs);
  constructor(...all: [BruteForceRetrievalArgs]) {
    refusePositional('emb.layers.bruteForceRetrieval', FIELDS, all);
    const prefix = 'brute_force_retrieval';
    type Args = BruteForceRetrievalArgs & Partial<SavedArgs>;
    const { given, base } = readFloatLayerArgs<Args>(all[0], [...FIELDS, ...SAVED], prefix);
    super({ ...base, trainable: false } as never);
    if (given.numCandidates === undefined) {
      const { rows, ...size } = readRows(given.candidates);
      const identifiers = readIdentifiers(given.identifiers, size.numCandidates);
      this.#given = { rows, identifiers };
      [this.numCandidates, this.dim, this.hasIdentifiers] = [size.numCandidates, size.dim, identifiers !== null];
    } else {
      this.#given = null;
      this.numCandidates = checkDimension(given.numCandidates, 'numCandidates');
      this.dim = checkDimension(given.dim, 'dim');
      this.hasIdentifiers = given.hasIdentifiers === true;
    }
    this.k = checkDimension(given.k, 'k');
    if (this.k <= this.numCandidates) return;
    throw new ValueError('k', `at most as many as there are candidates, ${this.numCandidates}`, this.k);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    this.computeOutputShape(inputShape);
    if (this.#candidates !== null) return;
    const [rows, identifiers] = [this.#given?.rows, this.#given?.identifiers];
    const { numCandidates, dim } = this;
    this.#candidates = this.#addValues('candidates', [numCandidates, dim], 'float32', rows);
    if (this.hasIdentifiers) {
      this.#identifiers = this.#addValues('identifiers', [numCandidates], 'int32', identifiers);
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
      const { values, indices } = topK(onlyTensor(inputs) as tf.Tensor2D, this.#candidates!, this.k);
      if (this.#identifiers === null) return [values, indices];
      // A place without a candidate stays one.
      const named = this.#identifiers.read().gather(indices.maximum(tf.scalar(0, 'int32')));
      return [values, tf.where(indices.less(tf.scalar(0, 'int32')), indices, named)];
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { k, numCandidates, dim, hasIdentifiers } = this;
    return { ...super.getConfig(), k, numCandidates, dim, hasIdentifiers } as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its config; its candidates are weights, zeros until they are set. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, ['k', ...SAVED, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
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
