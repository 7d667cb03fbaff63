/** The layer `Discretization` of Keras models: numbers to the ids of bins. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { binOf, checkBoundaries, writtenBoundaries } from '../../preprocessing/discretization.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { encodeInput, encodedShape, keepRagged, onlyShape } from './encoded_ids.js';
import { PLAIN_MODES, checkOutputMode, type PlainMode } from '../../preprocessing/cells/output_mode.js';

export interface DiscretizationLayerArgs extends FloatLayerArgs {
  /** Inner boundaries, ascending; a value on a boundary belongs to the bin above it. */
  binBoundaries: readonly number[];
  /** `int` (default), `oneHot`, `multiHot` or `count`. */
  outputMode?: string | undefined;
}

const FIELDS = ['binBoundaries', 'outputMode'] as const;

/**
 * A layer that returns the bin of each number, int32 of the same shape, or the bins as float32 vectors.
 *
 * Takes numbers of any shape, [batch, length] for `multiHot` and `count`. Values and boundaries are compared as float32,
 * as TensorFlow does. NaN falls into the last bin there and here; `emb.preprocessing.Discretization` refuses it.
 * Source: keras.layers.Discretization (Keras 3.15), once it has its boundaries.
 *
 * @throws TypeError and ValueError for other arguments and boundaries that fall; ValueError for another rank.
 */
export class DiscretizationLayer extends tf.layers.Layer {
  static {
    brand(this, 'DiscretizationLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>Discretization';
  readonly binBoundaries: readonly number[];
  readonly outputMode: PlainMode;

  constructor(args: DiscretizationLayerArgs) {
    const { given, base } = readFloatLayerArgs<DiscretizationLayerArgs>(args, FIELDS, 'discretization');
    super(base as never);
    this.binBoundaries = checkBoundaries(given.binBoundaries).map(Math.fround);
    this.outputMode = checkOutputMode(given.outputMode, PLAIN_MODES, 'int');
  }

  get #bins(): number {
    return this.binBoundaries.length + 1;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    return encodedShape(onlyShape(inputShape), this.outputMode, this.#bins);
  }

  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    const result = super.apply(inputs as tf.Tensor, kwargs as never);
    return this.outputMode === 'int' ? keepRagged(inputs, result, 'int32') : result;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    this.invokeCallHook(inputs, kwargs as never);
    const last = this.binBoundaries.length;
    return encodeInput(inputs, this.outputMode, this.#bins, (numbers) => {
      const ids = Int32Array.from(numbers.dataSync(), (value) => {
        return Number.isNaN(value) ? last : binOf(Math.fround(value), this.binBoundaries);
      });
      return tf.tensor(ids, numbers.shape, 'int32');
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), binBoundaries: writtenBoundaries(this.binBoundaries), outputMode: this.outputMode };
  }

  /** Makes the layer from its own config or from one of Keras, adapted or not; how it was adapted no longer counts. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const known = [...FIELDS, ...FLOAT_LAYER_FIELDS];
    return new cls(readLayerConfig(config, known, ['numBins', 'epsilon', 'sparse']) as tf.serialization.ConfigDict);
  }
}
