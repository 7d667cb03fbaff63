/** The layer `Hashing` of Keras models, for whole numbers. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ArgumentTypeError, described } from '../../base/errors.js';
import { Hashing, type HashingArgs } from '../../preprocessing/hashing.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { encodeInput, encodedShape, keepRagged, onlyShape } from './encoded_ids.js';
import { PLAIN_MODES, checkOutputMode, type PlainMode } from '../../preprocessing/cells/output_mode.js';

export interface HashingLayerArgs extends FloatLayerArgs, Pick<HashingArgs, 'numBins' | 'maskValue' | 'salt'> {
  /** `int`, `oneHot`, `multiHot` or `count`. */
  outputMode?: string | undefined;
}

const FIELDS = ['numBins', 'maskValue', 'salt', 'outputMode'] as const;

/**
 * A layer that returns an id in [0, numBins) for each whole number, int32 of the same shape, as
 * `emb.preprocessing.Hashing` does; in the other output modes float32 vectors of numBins places.
 *
 * Takes int32 of any shape, and float32 that holds whole numbers up to 2^24.
 * Source: keras.layers.Hashing (Keras 3.15).
 *
 * @throws TypeError and ValueError for other arguments; ValueError for fractions, NaN and larger float32 numbers.
 */
export class HashingLayer extends tf.layers.Layer {
  static {
    brand(this, 'HashingLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>Hashing';
  readonly #hashing: Hashing;
  readonly #mode: PlainMode;

  constructor(args: HashingLayerArgs) {
    const { given, base } = readFloatLayerArgs<HashingLayerArgs>(args, FIELDS, 'hashing');
    super(base as never);
    this.#mode = checkOutputMode(given.outputMode, PLAIN_MODES, 'int');
    const { numBins, maskValue = null, salt = null } = given;
    this.#hashing = new Hashing({ numBins: numBins!, maskValue, salt });
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    return encodedShape(onlyShape(inputShape), this.#mode, this.#hashing.numBins);
  }

  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    const [input] = Array.isArray(inputs) ? inputs : [inputs];
    if (input?.dtype === 'string') {
      const expected = 'whole numbers; strings do not enter a layers model: apply emb.preprocessing.Hashing first';
      throw new ArgumentTypeError('inputs', expected, described('strings'));
    }
    const result = super.apply(inputs, kwargs as never);
    return this.#mode === 'int' ? keepRagged(inputs, result, 'int32') : result;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    this.invokeCallHook(inputs, kwargs as never);
    const depth = this.#hashing.numBins;
    return encodeInput(inputs, this.#mode, depth, (numbers) => this.#hashing.apply(numbers));
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { numBins, maskValue, salt } = this.#hashing.getConfig();
    return { ...super.getConfig(), numBins, maskValue, salt, outputMode: this.#mode };
  }

  /** Makes the layer from its own config or from one of Keras, whose dtype is that of the ids. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const known = [...FIELDS, ...FLOAT_LAYER_FIELDS].filter((field) => field !== 'dtype');
    return new cls(readLayerConfig(config, known, ['dtype', 'sparse']) as tf.serialization.ConfigDict);
  }
}
