/** The layer `CategoryEncoding` of Keras models: ids as vectors with one place for each token. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ValueError } from '../../base/errors.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import { checkDimension, type SymbolicShape } from '../../base/layer_arguments.js';
import { encodeInput, encodedShape, onlyShape } from './encoded_ids.js';
import { VECTOR_MODES, checkOutputMode, type PlainMode } from '../../preprocessing/cells/output_mode.js';

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
 * Takes ids [batch, length]; `oneHot` takes any shape, and drops a last axis of 1. Fractions are cut off. As in Keras, ids
 * from `numTokens` on stand for nothing, and so do negative ones with `oneHot`; the layer of TensorFlow.js refuses them.
 * Source: keras.layers.CategoryEncoding (Keras 3.15).
 *
 * @throws TypeError and ValueError for other arguments; ValueError for another rank, and for
 * negative ids with `multiHot` and `count`.
 */
export class CategoryEncoding extends tf.layers.Layer {
  static {
    brand(this, 'CategoryEncoding');
  }
  static readonly className: string = 'TfjsEmbeddings>CategoryEncoding';
  readonly numTokens: number;
  readonly outputMode: PlainMode;

  constructor(args: CategoryEncodingArgs) {
    const { given, base } = readFloatLayerArgs<CategoryEncodingArgs>(args, FIELDS, 'category_encoding');
    super(base as never);
    this.numTokens = checkDimension(given.numTokens, 'numTokens');
    this.outputMode = checkOutputMode(given.outputMode, VECTOR_MODES, 'multiHot');
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    return encodedShape(onlyShape(inputShape), this.outputMode, this.numTokens);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    this.invokeCallHook(inputs, kwargs as never);
    return encodeInput(inputs, this.outputMode, this.numTokens, (numbers) => {
      const ids = numbers.cast('int32');
      this.#checkIds(ids);
      return ids;
    });
  }

  /** Keras counts no negative ids; `oneHot` makes zeros of them. */
  #checkIds(ids: tf.Tensor): void {
    if (this.outputMode === 'oneHot' || ids.size === 0) return;
    const [least] = ids.min().dataSync();
    if (least! >= 0) return;
    throw new ValueError('inputs', `ids of at least 0 for outputMode ${this.outputMode}`, least);
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
