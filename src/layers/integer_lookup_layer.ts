/** The layer `IntegerLookup`: raw whole numbers to ids, by a vocabulary that it builds as it sees them. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { readLayerConfig } from '../base/layer_config.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { refusePositional } from '../base/positional.js';
import { readOptions } from '../base/options.js';
import { asWhole, readCells, type CellData, type Cells, type IdsOf } from '../preprocessing/cells/cells.js';
import { writeCells } from '../preprocessing/cells/written_cells.js';
import { GrowingVocabulary, UNKNOWN_KEY } from '../preprocessing/growing_vocabulary.js';
import { INT32_MAX } from '../base/types.js';
import { disableInputCast } from '../tfjs/uncast_inputs.js';
import {
  LAYER_OPTIONS,
  checkBoolean,
  checkDimension,
  checkDtype,
  checkName,
  isSymbolic,
  readInputShape,
  shapesOf,
  type LayerOptions,
  type SymbolicShape,
} from '../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from './layer_calls.js';
import { nextName } from '../base/layer_names.js';
import { afterWrites, beforeAccess } from '../tfjs/layer_weights.js';

export interface IntegerLookupLayerArgs extends LayerOptions {
  /** Largest number of keys; ids are in [0, maxTokens]. */
  maxTokens: number;
}

const FIELDS = ['maxTokens', ...LAYER_OPTIONS] as const satisfies readonly (keyof IntegerLookupLayerArgs)[];

/** Data that are no tensors, on their way through the base class, which would take nested arrays apart. */
class HostData {
  readonly shape: number[] = [];
  constructor(readonly value: unknown) {}
}

/** The tensor in a list of one, as models pass it; anything else as it is. */
function onlyOne(inputs: unknown): unknown {
  if (!Array.isArray(inputs) || inputs.length !== 1) return inputs;
  const [only] = inputs as [unknown];
  return isSymbolic(only) || only instanceof tf.Tensor ? only : inputs;
}

function readKeys(data: unknown): { cells: Cells; keys: number[] } {
  const cells = readCells(data, 'inputs');
  return { cells, keys: Array.from(cells.flat, (value, i) => asWhole(value, i, cells.isFloat32, 'inputs')) };
}

function readArgs(given: unknown): { maxTokens: number; base: object } {
  const args = readOptions<IntegerLookupLayerArgs>(given, FIELDS, 'args');
  checkDtype(args.dtype, 'dtype');
  checkDtype(args.inputDType, 'inputDType');
  const maxTokens = checkDimension(args.maxTokens, 'maxTokens');
  if (maxTokens === INT32_MAX) throw new ValueError('maxTokens', 'at most 2^31 - 2', maxTokens);
  const name = checkName(args.name) ?? nextName('integer_lookup');
  const trainable = checkBoolean(args.trainable, 'trainable', true);
  return { maxTokens, base: { name, trainable, dtype: 'int32', batchInputShape: readInputShape(args, null, 0) } };
}

/**
 * A layer that maps whole numbers to ids from 1 on in order of first appearance, learning new ones as they come.
 *
 * Takes any shape, int32 or whole float32 numbers up to 2^24; returns int32 of the same shape, for an embedding of
 * `maxTokens + 1` rows. Applied directly it also takes nested and typed arrays and a RaggedTensor of whole numbers below
 * 2^53, BigInt64Array among them, and returns ids in the same container. Once `maxTokens` keys are known, new ones get
 * id 0. The number -1 stands for the unknown: it always gets id 0. Every call learns, `predict` too; while the layer is
 * not `trainable` it only looks up and counts nothing. `getVocabulary()` and `getFrequencies()` list keys and counts.
 * Vocabulary and counts are the weights `keys` [maxTokens + 1, 2] (int64 as two words) and `counts` [maxTokens + 1], int32
 * and never trained, so that models save and load them.
 * Source: IntegerLookup of NVIDIA distributed-embeddings 23.06. `emb.preprocessing.IntegerLookup` is that of Keras.
 *
 * @throws TypeError for missing or wrongly typed arguments and what is no number; ValueError for sizes below 1, fractions,
 * NaN, overflow, and weights that are no vocabulary.
 *
 * @example
 * const lookup = emb.layers.integerLookup({maxTokens: 100});
 * lookup.apply([12, 36, 1138, 42]); // [1, 2, 3, 4]
 * lookup.apply([[12, 1138], [42, 1000]]); // [[1, 3], [4, 5]]
 * lookup.getVocabulary(); // [-1, 12, 36, 1138, 42, 1000]
 */
export class IntegerLookupLayer extends tf.layers.Layer {
  static {
    brand(this, 'IntegerLookupLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>IntegerLookup';
  readonly maxTokens: number;
  #vocabulary: GrowingVocabulary;
  /** The weights, once the layer is built. */
  #variables: { keys: tf.Variable; counts: tf.Variable } | null = null;
  /** Which of vocabulary and weights was changed since the other was. */
  #newer: 'neither' | 'vocabulary' | 'weights' = 'neither';

  /** @param args - See `IntegerLookupLayerArgs`. */
  constructor(args: IntegerLookupLayerArgs);
  constructor(...given: [IntegerLookupLayerArgs]) {
    refusePositional('emb.layers.integerLookup', ['maxTokens'], given);
    const { maxTokens, base } = readArgs(given[0]);
    super(base as never);
    this.maxTokens = maxTokens;
    this.#vocabulary = new GrowingVocabulary(maxTokens);
  }

  override build(_inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.#variables !== null) return;
    const rows = this.maxTokens + 1;
    this.#variables = { keys: this.#addState('keys', [rows, 2]), counts: this.#addState('counts', [rows]) };
    this.built = true;
  }

  /** A weight that is written when it is read, and read again after someone else wrote it. */
  #addState(name: string, shape: number[]): tf.Variable {
    const weight = this.addWeight(name, shape, 'int32', tf.initializers.zeros(), undefined as never, false);
    const variable = weight.read() as tf.Variable;
    beforeAccess(weight, () => this.#store());
    afterWrites(weight, () => (this.#newer = 'weights'));
    return variable;
  }

  /** Brings the weights up to date. */
  #store(): void {
    if (this.#newer !== 'vocabulary') return;
    const { keys, counts } = this.#variables!;
    tf.tidy(() => {
      const words = this.#vocabulary.toWords();
      keys.assign(tf.tensor2d(words.keys, [this.maxTokens + 1, 2], 'int32'));
      counts.assign(tf.tensor1d(words.counts, 'int32'));
    });
    this.#newer = 'neither';
  }

  /** The vocabulary, read from the weights if they were set. */
  #current(): GrowingVocabulary {
    if (this.#newer === 'weights') {
      const { keys, counts } = this.#variables!;
      const words = { keys: keys.dataSync<'int32'>(), counts: counts.dataSync<'int32'>() };
      this.#vocabulary = GrowingVocabulary.fromWords(words);
      this.#newer = 'neither';
    }
    return this.#vocabulary;
  }

  /**
   * Returns -1, which stands for the unknown, then the keys by id.
   *
   * @returns A key for each id.
   */
  getVocabulary(): number[] {
    return [UNKNOWN_KEY, ...this.#current().keys];
  }

  /**
   * Returns how often each id of `getVocabulary()` was given out, at most 2^31 - 1; ids given while frozen do not count.
   *
   * @returns A count for each id.
   */
  getFrequencies(): number[] {
    return [...this.#current().counts];
  }

  /** Sets keys and counts from tensors of another layer's `getWeights()`. */
  override setWeights(weights: tf.Tensor[]): void {
    if (this.#variables === null) {
      throw new RuntimeError('setWeights', 'a layer that was built', described(`${this.name}, never applied`));
    }
    const rows = this.maxTokens + 1;
    const expected = `int32 tensors [${rows}, 2] and [${rows}], as getWeights() returns them`;
    const isList =
      Array.isArray(weights) && weights.every((each) => each instanceof tf.Tensor && each.dtype === 'int32');
    if (!isList) throw new ArgumentTypeError('weights', expected, weights);
    const shapes = weights.map(({ shape }) => `[${shape.join(', ')}]`).join(' and ');
    if (shapes !== `[${rows}, 2] and [${rows}]`) throw new ValueError('weights', expected, described(shapes));
    const words = { keys: weights[0]!.dataSync<'int32'>(), counts: weights[1]!.dataSync<'int32'>() };
    this.#vocabulary = GrowingVocabulary.fromWords(words);
    this.#newer = 'vocabulary';
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    if (shapes.length > 1) throw new ValueError('inputs', 'one input', described(`${shapes.length} inputs`));
    return shapes[0]!;
  }

  /** Numbers may have any shape, so nothing is said about it. */
  protected override warnOnIncompatibleInputShape(_inputShape: SymbolicShape): void {}

  override apply<D extends CellData>(data: D, kwargs?: Kwargs): IdsOf<D>;
  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: unknown, kwargs?: Record<string, unknown>): unknown {
    const input = onlyOne(inputs);
    if (isSymbolic(input)) disableInputCast(input);
    if (isSymbolic(input) || input instanceof tf.Tensor) return super.apply(input as tf.Tensor, kwargs as never);
    return (super.apply(new HostData(input) as never, kwargs as never) as unknown as HostData).value;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    this.invokeCallHook(inputs, kwargs as never);
    const given = inputs as unknown;
    if (given instanceof HostData) return new HostData(this.#lookUp(given.value)) as never;
    return this.#lookUp(Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor;
  }

  /** Ids in the container of the data. All data are checked before the first new key is kept. */
  #lookUp(data: unknown): unknown {
    const { cells, keys } = readKeys(data);
    const vocabulary = this.#current();
    if (!this.trainable)
      return writeCells(
        cells,
        Int32Array.from(keys, (key) => vocabulary.find(key)),
      );
    const ids = Int32Array.from(keys, (key) => vocabulary.take(key));
    if (ids.length > 0) this.#newer = 'vocabulary';
    return writeCells(cells, ids);
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { dtype: _ofInput, ...base } = super.getConfig();
    return { ...base, maxTokens: this.maxTokens };
  }

  /** Makes the layer from its own config, or from the arguments of NVIDIA's layer, in snake_case or camelCase. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, FIELDS, ['dtype', 'useGpu']) as tf.serialization.ConfigDict);
  }
}
