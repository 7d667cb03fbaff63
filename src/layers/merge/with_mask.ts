/** The layer `WithMask`: a tensor once more, with its own mask, another one or none. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { isSymbolic, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { brand } from '../../base/per_process.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';

/** Which mask the result has: that of the input, the second input, or none. */
export type WhichMask = 'own' | 'given' | 'none';

interface WithMaskArgs extends FloatLayerArgs {
  mask: WhichMask;
}

const FIELDS = ['mask'] as const;

/**
 * The layer, for models of Keras, where operations end masks and calls may be given masks: `loadKerasModel` puts it
 * before layers that take a mask. It takes `[x, mask]` and returns x with that mask, or x alone.
 */
export class WithMask extends tf.layers.Layer {
  static {
    brand(this, 'WithMask');
  }
  static readonly className: string = 'TfjsEmbeddings>WithMask';
  readonly mask: WhichMask;

  constructor(args: WithMaskArgs) {
    const { given, base } = readFloatLayerArgs<WithMaskArgs>(args, FIELDS, 'with_mask');
    super(base as never);
    const { mask = 'own' } = given;
    if (!['own', 'given', 'none'].includes(mask)) throw new ValueError('mask', `'own', 'given' or 'none'`, mask);
    this.mask = mask;
    this.supportsMasking = true;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    const count = this.mask === 'given' ? 2 : 1;
    if (shapes.length !== count) throw new ValueError('inputs', `${count} of them`, described(`${shapes.length}`));
    return shapes[0]!;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      // What a model gives to a layer is freed before the result.
      return [inputs].flat()[0]!.clone();
    });
  }

  override computeMask(inputs: tf.Tensor | tf.Tensor[], masks?: tf.Tensor | tf.Tensor[]): tf.Tensor {
    if (this.mask === 'given') return withoutTape(() => tf.cast([inputs].flat()[1]!, 'bool').clone());
    return (this.mask === 'own' ? ([masks].flat()[0] ?? null) : null) as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), mask: this.mask };
  }

  /** Makes the layer from its config. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}

/**
 * The symbolic inputs of a layer, each another one: the loop of tfjs that runs a model frees a tensor that a layer takes
 * twice before the layers after it have read it.
 */
export function distinct<T extends AnyTensors>(
  inputs: T,
  note: (layer: WithMask, from: tf.SymbolicTensor) => void = () => {},
): T {
  if (!Array.isArray(inputs) || !isSymbolic(inputs[0])) return inputs;
  const list = inputs as tf.SymbolicTensor[];
  return list.map((each, i) => {
    if (list.indexOf(each) === i) return each;
    const layer = new WithMask({ mask: 'own' });
    const again = layer.apply(each) as tf.SymbolicTensor;
    note(layer, each);
    return again;
  }) as T;
}
