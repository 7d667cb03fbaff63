/** The layer `IntegerLookup` of Keras models: whole numbers to ids by a vocabulary that does not change. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { IntegerLookup, type IntegerLookupArgs } from '../../preprocessing/integer_lookup.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import { checkBoolean, type SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { encodeInput, encodedShape, keepRagged, onlyShape } from './encoded_ids.js';
import {
  ALL_MODES,
  checkOutputMode,
  type OutputMode,
  type OutputModeInput,
  type PlainMode,
} from '../../preprocessing/cells/output_mode.js';

type LookupArgs = Pick<IntegerLookupArgs, 'maxTokens' | 'numOovIndices' | 'maskToken' | 'oovToken'>;

export interface VocabularyLayerArgs extends FloatLayerArgs, LookupArgs {
  /** Known numbers in the order of their ids. */
  vocabulary: readonly number[];
  /** `int`, `oneHot`, `multiHot`, `count` or `tfIdf`; `maskToken` goes with `int` alone. */
  outputMode?: string | undefined;
  /** With `tfIdf`: a factor for each number of `vocabulary`. */
  idfWeights?: readonly number[] | null | undefined;
  /** Whether vectors have maxTokens places, also where the vocabulary is smaller. */
  padToMaxTokens?: boolean | undefined;
}

const FIELDS = [
  'maxTokens',
  'numOovIndices',
  'maskToken',
  'oovToken',
  'vocabulary',
  'outputMode',
  'padToMaxTokens',
  'idfWeights',
] as const;
/** Fields of Keras's config that say nothing more here; an import checks their values. */
const WITHOUT_EFFECT = [
  'dtype',
  'vocabularyDtype',
  'vocabularySize',
  'hasInputVocabulary',
  'invert',
  'oovMethod',
  'salt',
  'sparse',
];

/**
 * A layer that returns the id of each whole number, int32 of the same shape, as `emb.preprocessing.IntegerLookup` does;
 * in the other output modes float32 vectors with a place for each id; `tfIdf` counts ids, each times its factor.
 *
 * Takes int32 of any shape, and float32 that holds whole numbers up to 2^24. `emb.layers.integerLookup` is another one,
 * which learns its vocabulary as it goes.
 * Source: keras.layers.IntegerLookup (Keras 3.15) with a vocabulary.
 *
 * @throws TypeError and ValueError for other arguments; ValueError for fractions, NaN, larger float32 numbers, and an
 * unknown number with numOovIndices 0.
 */
export class VocabularyLayer extends tf.layers.Layer {
  static {
    brand(this, 'VocabularyLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>VocabularyLookup';
  /** Knows the factors. */
  readonly #lookup: IntegerLookup<OutputModeInput>;
  /** The same, which gives ids in every mode. */
  readonly #ids: IntegerLookup;
  readonly #mode: OutputMode;
  readonly #isPadded: boolean;
  /** Places of a vector. */
  readonly #depth: number;

  constructor(args: VocabularyLayerArgs) {
    const { given, base } = readFloatLayerArgs<VocabularyLayerArgs>(args, FIELDS, 'integer_lookup');
    super(base as never);
    this.#mode = checkOutputMode(given.outputMode, ALL_MODES, 'int');
    this.#isPadded = checkBoolean(given.padToMaxTokens, 'padToMaxTokens', false);
    const { maxTokens = null, numOovIndices = 1, maskToken = null, oovToken = -1, vocabulary } = given;
    const { idfWeights = null } = given;
    if (!Array.isArray(vocabulary)) throw new ArgumentTypeError('vocabulary', 'an array of whole numbers', vocabulary);
    if (this.#mode !== 'int' && maskToken !== null) {
      throw new ValueError('maskToken', `null for outputMode ${this.#mode}`, maskToken);
    }
    if (this.#isPadded && maxTokens === null) {
      throw new ValueError('maxTokens', 'a number where padToMaxTokens is true', maxTokens);
    }
    const outputMode = this.#mode === 'tfIdf' ? 'tfIdf' : 'int';
    const settings = { maxTokens, numOovIndices, maskToken, oovToken, vocabulary, outputMode, idfWeights } as const;
    this.#lookup = new IntegerLookup<OutputModeInput, false>(settings);
    // A lookup with factors gives vectors, any other one ids.
    this.#ids =
      this.#mode === 'tfIdf'
        ? new IntegerLookup({ numOovIndices, maskToken, oovToken, vocabulary: this.#lookup.getVocabulary(false) })
        : (this.#lookup as IntegerLookup);
    this.#depth = this.#isPadded ? maxTokens! : this.#lookup.vocabularySize();
  }

  /** How ids become vectors; factors come afterwards. */
  get #plainMode(): PlainMode {
    return this.#mode === 'tfIdf' ? 'count' : this.#mode;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    return encodedShape(onlyShape(inputShape), this.#plainMode, this.#depth);
  }

  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    const result = super.apply(inputs as tf.Tensor, kwargs as never);
    return this.#mode === 'int' ? keepRagged(inputs, result, 'int32') : result;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    this.invokeCallHook(inputs, kwargs as never);
    const idsOf = (numbers: tf.Tensor): tf.Tensor => this.#ids.apply(numbers);
    if (this.#mode !== 'tfIdf') return encodeInput(inputs, this.#mode, this.#depth, idsOf);
    return tf.tidy(() => {
      const factors = new Float32Array(this.#depth);
      factors.set(this.#lookup.idfWeights!);
      return encodeInput(inputs, 'count', this.#depth, idsOf).mul(tf.tensor1d(factors));
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { maxTokens, numOovIndices, maskToken, oovToken, vocabulary, idfWeights } = this.#lookup.getConfig();
    const weights = this.#mode === 'tfIdf' ? { idfWeights } : {};
    const settings = { maxTokens, numOovIndices, maskToken, oovToken, vocabulary, ...weights };
    return { ...super.getConfig(), ...settings, outputMode: this.#mode, padToMaxTokens: this.#isPadded };
  }

  /** Makes the layer from its own config or from one of Keras. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const known = [...FIELDS, ...FLOAT_LAYER_FIELDS].filter((field) => field !== 'dtype');
    return new cls(readLayerConfig(config, known, WITHOUT_EFFECT) as tf.serialization.ConfigDict);
  }
}
