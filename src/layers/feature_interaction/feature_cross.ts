/** The layer `FeatureCross`: explicit crosses of features, one degree more with each layer. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import { readActivation, type Activation, type ActivationInput } from './activations.js';
import {
  FLOAT_LAYER_FIELDS,
  checkSameShapes,
  readFloatInputs,
  readFloatLayerArgs,
  type FloatLayerArgs,
} from '../float_inputs.js';
import { readInitializerOf, type Initializer, type InitializerInput } from '../../tables/initializers.js';
import { checkBoolean, checkDimension, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { serializeRegistered } from '../../tables/registered_objects.js';
import { readRegularizer, type Regularizer, type RegularizerInput } from '../../tables/regularizers.js';

export interface FeatureCrossArgs extends FloatLayerArgs {
  /** Width of a projection before the product, for a kernel of low rank; null (default): none. */
  projectionDim?: number | null | undefined;
  /** This times the second input is added to the product, at least 0. Default 0. */
  diagScale?: number | null | undefined;
  /** Whether a bias is added to the product. Default: true. */
  useBias?: boolean | undefined;
  /** Applied to the product with its bias. Default: none. */
  preActivation?: ActivationInput | null | undefined;
  /** Of both kernels. Default 'glorotUniform'. */
  kernelInitializer?: InitializerInput | null | undefined;
  /** What the bias begins with. Default: 'zeros'. */
  biasInitializer?: InitializerInput | null | undefined;
  /** Penalty on both kernels. Default: none. */
  kernelRegularizer?: RegularizerInput | null | undefined;
  /** Penalty on the bias. Default: none. */
  biasRegularizer?: RegularizerInput | null | undefined;
}

const FIELDS = [
  'projectionDim',
  'diagScale',
  'useBias',
  'preActivation',
  'kernelInitializer',
  'biasInitializer',
  'kernelRegularizer',
  'biasRegularizer',
] as const satisfies readonly (keyof FeatureCrossArgs)[];

const EXPECTED = 'a float32 tensor x0 [batch, ..., dim], or [x0, x] of one shape';

function checkScale(value: unknown): number {
  if (value === undefined || value === null) return 0;
  const expected = 'a number of at least 0';
  if (typeof value !== 'number') throw new ArgumentTypeError('diagScale', expected, value);
  if (!(value >= 0) || value === Infinity) throw new ValueError('diagScale', expected, value);
  return value;
}

/** Keras 3, which writes a module beside each class, computes another hard sigmoid than Keras 2 and TensorFlow.js. */
function checkKerasActivation({ kernelInitializer, preActivation }: Record<string, unknown>): void {
  const isKeras3 = typeof (kernelInitializer as { module?: unknown } | null | undefined)?.module === 'string';
  if (!isKeras3 || typeof preActivation !== 'string' || !/^hard_?sigmoid$/i.test(preActivation)) return;
  const note = 'Keras 3 computes relu6(x + 3) / 6, TensorFlow.js clips x / 5 + 1 / 2.';
  throw new ValueError(
    'preActivation',
    'an activation that TensorFlow.js computes as Keras 3 does',
    preActivation,
    note,
  );
}

/** Shapes of x0 and x; the size of their last axis is known. */
function checkShapes(shapes: readonly SymbolicShape[]): number {
  if (shapes.length > 2) throw new ValueError('inputs', EXPECTED, described(`${shapes.length} inputs`));
  shapes.forEach((shape, i) => {
    if (shape.length >= 2) return;
    throw new ValueError(shapes.length === 1 ? 'inputs' : `inputs[${i}]`, EXPECTED, described(`rank ${shape.length}`));
  });
  checkSameShapes(shapes);
  const dim = shapes[0]!.at(-1)!;
  if (dim !== null) return dim;
  throw new ValueError('inputs', 'a last axis of known size', described(`[${shapes[0]!.map(String).join(', ')}]`));
}

/**
 * A layer that returns x0 * (preActivation(x W + b) + diagScale x) + x, the cross of DCN v2.
 *
 * Takes float32 [batch, ..., dim] as x0 alone, which is then x too, or [x0, x] of one shape; returns their shape. A stack
 * of layers feeds x0 to each as the first input and the last layer's result as the second. Weights: `kernel` [dim, dim]
 * and `bias` [dim]; with `projectionDim` first `projection_kernel` [dim, projectionDim], then `kernel` [projectionDim,
 * dim]. A mask of x0 is passed on.
 * Source: keras_rs.layers.FeatureCross (Keras RS 0.4).
 *
 * @throws TypeError for missing or wrongly typed arguments and inputs that are not float32; ValueError for sizes below 1,
 * a negative diagScale, unknown names, rank 1, shapes that differ, and a last axis of unknown or another size.
 *
 * @example
 * const x0 = tf.input({shape: [32]});
 * const x1 = emb.layers.featureCross({projectionDim: 8}).apply(x0);
 * const x2 = emb.layers.featureCross({projectionDim: 8}).apply([x0, x1]);
 * const model = tf.model({inputs: x0, outputs: tf.layers.dense({units: 1}).apply(x2)});
 */
export class FeatureCross extends tf.layers.Layer {
  static {
    brand(this, 'FeatureCross');
  }
  static readonly className: string = 'TfjsEmbeddings>FeatureCross';
  readonly projectionDim: number | null;
  readonly diagScale: number;
  readonly useBias: boolean;
  readonly preActivation: Activation;
  readonly kernelInitializer: Initializer;
  readonly biasInitializer: Initializer;
  readonly kernelRegularizer: Regularizer | null;
  readonly biasRegularizer: Regularizer | null;
  #projection: tf.LayerVariable | null = null;
  #kernel: tf.LayerVariable | null = null;
  #bias: tf.LayerVariable | null = null;

  /** @param args - See `FeatureCrossArgs`. */
  constructor(args?: FeatureCrossArgs);
  constructor(...all: [FeatureCrossArgs?]) {
    refusePositional('emb.layers.featureCross', FIELDS, all);
    const [args = {}] = all;
    const { given, base } = readFloatLayerArgs<FeatureCrossArgs>(args, FIELDS, 'feature_cross');
    super(base as never);
    const { projectionDim } = given;
    this.projectionDim =
      projectionDim === undefined || projectionDim === null ? null : checkDimension(projectionDim, 'projectionDim');
    this.diagScale = checkScale(given.diagScale);
    this.useBias = checkBoolean(given.useBias, 'useBias', true);
    this.preActivation = readActivation('preActivation', given.preActivation);
    this.kernelInitializer = readInitializerOf('kernelInitializer', given.kernelInitializer, 'glorotUniform');
    this.biasInitializer = readInitializerOf('biasInitializer', given.biasInitializer, 'zeros');
    this.kernelRegularizer = readRegularizer(given.kernelRegularizer, 'kernelRegularizer');
    this.biasRegularizer = readRegularizer(given.biasRegularizer, 'biasRegularizer');
    this.supportsMasking = true;
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.#kernel !== null) return;
    const dim = checkDimension(checkShapes(shapesOf(inputShape)), 'inputs');
    const { projectionDim } = this;
    if (projectionDim !== null) this.#projection = this.#addKernel('projection_kernel', dim, projectionDim);
    this.#kernel = this.#addKernel('kernel', projectionDim ?? dim, dim);
    if (this.useBias) {
      const regularizer = this.biasRegularizer ?? undefined;
      this.#bias = this.addWeight('bias', [dim], 'float32', this.biasInitializer, regularizer as never);
    }
    this.built = true;
  }

  #addKernel(name: string, rows: number, columns: number): tf.LayerVariable {
    const regularizer = this.kernelRegularizer ?? undefined;
    return this.addWeight(name, [rows, columns], 'float32', this.kernelInitializer, regularizer as never);
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    this.#checkDim(checkShapes(shapes));
    return shapes[0]!;
  }

  /** The size of the last axis is that of the weights, once they are there. */
  #checkDim(dim: number): void {
    const width = this.#kernel?.shape[1] ?? dim;
    if (dim === width) return;
    throw new ValueError('inputs', `a last axis of size ${width}, as when the layer was built`, described(`${dim}`));
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor | tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    this.#checkDim(checkShapes(readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape)));
    return super.apply(inputs, kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const [x0, given] = (Array.isArray(inputs) ? inputs : [inputs]) as [tf.Tensor, tf.Tensor?];
      const x = given ?? x0;
      // Tensors without numbers are no business of matrix kernels.
      if (x.size === 0) return x.clone();
      return x0.mul(this.#weigh(x)).add(x);
    });
  }

  /** preActivation(x W + b) + diagScale x. */
  #weigh(x: tf.Tensor): tf.Tensor {
    const dim = x.shape.at(-1)!;
    const flat = x.reshape<tf.Tensor2D>([x.size / dim, dim]);
    const projected = this.#projection === null ? flat : flat.matMul(this.#projection.read() as tf.Tensor2D);
    const product = projected.matMul(this.#kernel!.read() as tf.Tensor2D);
    const biased = this.#bias === null ? product : product.add(this.#bias.read());
    const weighed = this.preActivation.apply(biased).reshape(x.shape);
    return this.diagScale === 0 ? weighed : weighed.add(x.mul(this.diagScale));
  }

  /** That of x0. */
  override computeMask(_inputs: tf.Tensor | tf.Tensor[], mask?: tf.Tensor | tf.Tensor[]): tf.Tensor | tf.Tensor[] {
    return ((Array.isArray(mask) ? mask[0] : mask) ?? null) as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const config = {
      ...super.getConfig(),
      projectionDim: this.projectionDim,
      diagScale: this.diagScale,
      useBias: this.useBias,
      preActivation: this.preActivation.getClassName(),
      kernelInitializer: serializeRegistered(this.kernelInitializer),
      biasInitializer: serializeRegistered(this.biasInitializer),
      kernelRegularizer: serializeRegistered(this.kernelRegularizer),
      biasRegularizer: serializeRegistered(this.biasRegularizer),
    };
    return config as unknown as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config or from one of Keras RS, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const args = readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]);
    checkKerasActivation(args);
    return new cls(args as tf.serialization.ConfigDict);
  }
}
