/** The layer `CategoryEncoding` of Keras models: ids as vectors with one place for each token. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../brand.js';
import { readLayerConfig } from '../../config/layer_config.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../feature_interaction/float_inputs.js';
import { checkDimension, type SymbolicShape } from '../layer_arguments.js';
import { checkOutputMode, encodeIds, encodedShape, onlyShape, onlyTensor, type OutputMode } from './encoded_ids.js';

export interface CategoryEncodingArgs extends FloatLayerArgs {
  /** Number of ids; each is below it. */
  numTokens: number;
  /** `multiHot` (default), `oneHot` or `count`. */
  outputMode?: string | undefined;
}

const FIELDS = ['numTokens', 'outputMode'] as const;

/**
 * A layer that returns float32 vectors of `numTokens`: with `multiHot` 1 at each id of a row, with `count` how often it
 * is there, with `oneHot` a vector for each id.
 *
 * Takes ids [batch, length]; `oneHot` takes any shape, and drops a last axis of 1. Fractions are cut off; ids outside of
 * the tokens stand for nothing, as in Keras, while the layer of TensorFlow.js refuses them.
 * Source: keras.layers.CategoryEncoding (Keras 3.15).
 *
 * @throws TypeError and ValueError for other arguments; ValueError for another rank.
 */
export class CategoryEncoding extends tf.layers.Layer {
  static {
    brand(this, 'CategoryEncoding');
  }
  static readonly className: string = 'TfjsEmbeddings>CategoryEncoding';
  readonly numTokens: number;
  readonly outputMode: OutputMode;

  constructor(args: CategoryEncodingArgs) {
    const { given, base } = readFloatLayerArgs<CategoryEncodingArgs>(args, FIELDS, 'category_encoding');
    super(base as never);
    this.numTokens = checkDimension(given.numTokens, 'numTokens');
    this.outputMode = checkOutputMode(given.outputMode, ['multiHot', 'oneHot', 'count'], 'multiHot');
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    return encodedShape(onlyShape(inputShape), this.outputMode, this.numTokens);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      return encodeIds(onlyTensor(inputs).cast('int32'), this.outputMode, this.numTokens);
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), numTokens: this.numTokens, outputMode: this.outputMode };
  }

  /** Makes the layer from its own config or from one of Keras. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
