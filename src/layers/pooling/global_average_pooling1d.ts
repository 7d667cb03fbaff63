/** The layer `GlobalAveragePooling1D`, which leaves masked steps out; that of TensorFlow.js counts them. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { brand } from '../../base/per_process.js';
import { refusePositional } from '../../base/positional.js';
import { masksOf } from '../attention/masked_softmax.js';
import { FLOAT_LAYER_FIELDS, readFloatInputs, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { onlyShape, onlyTensor } from '../preprocessing/encoded_ids.js';

export interface GlobalAveragePooling1DArgs extends FloatLayerArgs {
  /** 'channelsLast' (default): [batch, steps, features]; 'channelsFirst': [batch, features, steps]. */
  dataFormat?: 'channelsLast' | 'channelsFirst' | undefined;
  /** Whether the axis of the steps stays, with size 1. Default: false. */
  keepdims?: boolean | undefined;
}

const FIELDS = ['dataFormat', 'keepdims'] as const;
const EXPECTED = 'a float32 tensor [batch, steps, features]';

function checkFormat(value: unknown): 'channelsLast' | 'channelsFirst' {
  const expected = `'channelsLast' or 'channelsFirst'`;
  if (value === undefined || value === null) return 'channelsLast';
  if (typeof value !== 'string') throw new ArgumentTypeError('dataFormat', expected, value);
  const found = (['channelsLast', 'channelsFirst'] as const).find(
    (each) => each.toLowerCase() === value.replace('_', '').toLowerCase(),
  );
  if (found === undefined) throw new ValueError('dataFormat', expected, value);
  return found;
}

/**
 * A layer that returns the mean over the steps of a sequence, of those alone that the mask of its input counts.
 *
 * Takes float32 [batch, steps, features]; returns float32 [batch, features], or [batch, 1, features] with `keepdims`. A
 * sequence without a step that counts gives NaN, as in Keras. Its result has no mask. The layer of TensorFlow.js counts
 * masked steps too.
 * Source: keras.layers.GlobalAveragePooling1D (Keras 3.15).
 *
 * @throws TypeError for inputs that are no float32 tensors and wrongly typed arguments; ValueError for another rank than
 * 3, several inputs, and an unknown format.
 *
 * @example
 * const mean = emb.layers.globalAveragePooling1d().apply(rows); // rows of emb.layers.embedding({maskZero: true, ...})
 */
export class GlobalAveragePooling1D extends tf.layers.Layer {
  static {
    brand(this, 'GlobalAveragePooling1D');
  }
  static readonly className: string = 'TfjsEmbeddings>GlobalAveragePooling1D';
  readonly dataFormat: 'channelsLast' | 'channelsFirst';
  readonly keepdims: boolean;

  /** @param args - See `GlobalAveragePooling1DArgs`. */
  constructor(args?: GlobalAveragePooling1DArgs);
  constructor(...all: [GlobalAveragePooling1DArgs?]) {
    refusePositional('emb.layers.globalAveragePooling1d', FIELDS, all);
    const prefix = 'global_average_pooling1d';
    const { given, base } = readFloatLayerArgs<GlobalAveragePooling1DArgs>(all[0] ?? {}, FIELDS, prefix);
    super(base as never);
    this.dataFormat = checkFormat(given.dataFormat);
    this.keepdims = checkBoolean(given.keepdims, 'keepdims', false);
    this.supportsMasking = true;
  }

  get #axis(): number {
    return this.dataFormat === 'channelsLast' ? 1 : 2;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shape = onlyShape(inputShape);
    if (shape.length !== 3) throw new ValueError('inputs', EXPECTED, described(`rank ${shape.length}`));
    if (this.keepdims) return shape.map((size, i) => (i === this.#axis ? 1 : size));
    return shape.filter((_, i) => i !== this.#axis);
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor | tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    this.computeOutputShape(readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape));
    return super.apply(inputs, kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const x = onlyTensor(inputs);
      const [mask] = masksOf(kwargs['mask'], 1) as [tf.Tensor | null];
      if (mask === null) return x.mean(this.#axis, this.keepdims);
      const counts = mask.cast('bool').expandDims(this.dataFormat === 'channelsLast' ? 2 : 1);
      const sum = tf.where(counts, x, tf.scalar(0)).sum(this.#axis, this.keepdims);
      return sum.div(counts.toFloat().sum(this.#axis, this.keepdims));
    });
  }

  override computeMask(): tf.Tensor {
    return null as unknown as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), dataFormat: this.dataFormat, keepdims: this.keepdims };
  }

  /** Makes the layer from its own config or from one of Keras, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
