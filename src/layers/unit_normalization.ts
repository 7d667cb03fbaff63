/** The layer `UnitNormalization`: vectors of length 1. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import type { SymbolicShape } from '../base/layer_arguments.js';
import { readLayerConfig } from '../base/layer_config.js';
import { brand } from '../base/per_process.js';
import { refusePositional } from '../base/positional.js';
import { masksOf } from './attention/masked_softmax.js';
import { FLOAT_LAYER_FIELDS, readFloatInputs, readFloatLayerArgs, type FloatLayerArgs } from './float_inputs.js';
import type { AnyTensors, Kwargs } from './layer_calls.js';
import { axesOf } from './operations/operand.js';
import { normalized } from './operations/reductions.js';
import { onlyShape, onlyTensor } from './preprocessing/encoded_ids.js';

export interface UnitNormalizationArgs extends FloatLayerArgs {
  /** The axis or axes of a vector. Default: the last one. */
  axis?: number | readonly number[] | undefined;
}

const FIELDS = ['axis'] as const;
const EXPECTED = 'a float32 tensor';

function checkAxis(value: unknown): number | readonly number[] {
  if (value === undefined || value === null) return -1;
  const axes = [value].flat() as unknown[];
  if (!axes.every((axis) => typeof axis === 'number')) {
    throw new ArgumentTypeError('axis', 'an axis or a list of axes', value);
  }
  if (axes.length === 0 || !axes.every(Number.isInteger)) throw new ValueError('axis', 'whole numbers', value);
  return value as number | readonly number[];
}

/**
 * A layer that divides vectors by their length, so that each has length 1; vectors of zeros stay zeros.
 *
 * Takes a float32 tensor; returns its shape, and passes its mask on. It has no weights.
 * Source: keras.layers.UnitNormalization (Keras 3.15).
 *
 * @throws TypeError for inputs that are no float32 tensors and axes that are no numbers; ValueError for axes that are not
 * there and several inputs.
 *
 * @example
 * emb.layers.unitNormalization().apply(tf.tensor2d([[3, 4]])).print(); // [[0.6, 0.8]]
 */
export class UnitNormalization extends tf.layers.Layer {
  static {
    brand(this, 'UnitNormalization');
  }
  static readonly className: string = 'TfjsEmbeddings>UnitNormalization';
  readonly axis: number | readonly number[];

  /** @param args - See `UnitNormalizationArgs`. */
  constructor(args?: UnitNormalizationArgs);
  constructor(...all: [UnitNormalizationArgs?]) {
    refusePositional('emb.layers.unitNormalization', FIELDS, all);
    const { given, base } = readFloatLayerArgs<UnitNormalizationArgs>(all[0] ?? {}, FIELDS, 'unit_normalization');
    super(base as never);
    this.axis = checkAxis(given.axis);
    this.supportsMasking = true;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shape = onlyShape(inputShape);
    axesOf(this.axis, shape.length);
    return shape;
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
      return normalized(onlyTensor(inputs), this.axis, 1e-12);
    });
  }

  override computeMask(_inputs: tf.Tensor | tf.Tensor[], mask?: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return masksOf(mask, 1)[0] as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), axis: this.axis } as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config or from one of Keras, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
