/** The layer `MultiHeadAttention`. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, checkDimension, isSymbolic, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { brand } from '../../base/per_process.js';
import { refusePositional } from '../../base/positional.js';
import { readInitializerOf, type Initializer, type InitializerInput } from '../../tables/initializers.js';
import { serializeRegistered } from '../../tables/registered_objects.js';
import { readRegularizer, type Regularizer, type RegularizerInput } from '../../tables/regularizers.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { distinct } from '../merge/with_mask.js';
import { axesOf } from '../operations/operand.js';
import { dropped } from '../dropped.js';
import { adopt } from '../../tfjs/models/own_models.js';
import { FAR_BELOW, causalMask, checkRate, joinedMask, masksOf, windowMask } from './masked_softmax.js';

export interface MultiHeadAttentionArgs extends FloatLayerArgs {
  /** Number of heads. */
  numHeads: number;
  /** Size of the queries and keys of a head. */
  keyDim: number;
  /** Size of the values of a head. Default: `keyDim`. */
  valueDim?: number | null | undefined;
  /** How many weights of attention are dropped in training, in [0, 1). Default: 0. */
  dropout?: number | undefined;
  /** Whether projections have a bias. Default: true. */
  useBias?: boolean | undefined;
  /** Whether what a head gives is multiplied by a gate of the query. Default: false. */
  useGate?: boolean | undefined;
  /** Shape of what is given for each query. Default: the size of the query. */
  outputShape?: number | readonly number[] | null | undefined;
  /** The axes that attention goes over. Default: all but the first and the last one. */
  attentionAxes?: number | readonly number[] | null | undefined;
  /** Keys that are so many places or more away do not count. Default: all count. */
  slidingWindow?: number | null | undefined;
  /** Of all kernels. Default: 'glorotUniform'. */
  kernelInitializer?: InitializerInput | null | undefined;
  /** Of all biases. Default: 'zeros'. */
  biasInitializer?: InitializerInput | null | undefined;
  /** Penalty on all kernels. Default: none. */
  kernelRegularizer?: RegularizerInput | null | undefined;
  /** Penalty on all biases. Default: none. */
  biasRegularizer?: RegularizerInput | null | undefined;
  /** Whether a query sees no keys behind it; in Keras an argument of the call. Default: false. */
  useCausalMask?: boolean | undefined;
  /** Whether the weights of attention are given too; in Keras an argument of the call. Default: false. */
  returnAttentionScores?: boolean | undefined;
  /** Whether a query that sees no key weighs none; else all alike. Default: as Keras 3; Keras 2 never does. */
  zeroesMasked?: boolean | null | undefined;
}

export const MULTI_HEAD_FIELDS = [
  'numHeads',
  'keyDim',
  'valueDim',
  'dropout',
  'useBias',
  'useGate',
  'outputShape',
  'attentionAxes',
  'slidingWindow',
  'kernelInitializer',
  'biasInitializer',
  'kernelRegularizer',
  'biasRegularizer',
  'useCausalMask',
  'returnAttentionScores',
  'zeroesMasked',
] as const satisfies readonly (keyof MultiHeadAttentionArgs)[];

const EXPECTED = '[query, value], [query, value, key] or [query, value, key, attentionMask]';

function optionalSize(value: unknown, argument: string): number | null {
  return value === undefined || value === null ? null : checkDimension(value, argument);
}

function readOutputShape(value: unknown): number[] | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' && !Array.isArray(value)) {
    throw new ArgumentTypeError('outputShape', 'a size or a list of sizes', value);
  }
  const sizes = [value].flat() as unknown[];
  if (sizes.length === 0) throw new ValueError('outputShape', 'at least one size', sizes);
  return sizes.map((size) => checkDimension(size, 'outputShape'));
}

function readAxes(value: unknown): number[] | null {
  if (value === undefined || value === null) return null;
  const axes = [value].flat() as unknown[];
  if (!axes.every((axis) => typeof axis === 'number')) {
    throw new ArgumentTypeError('attentionAxes', 'an axis or a list of axes', value);
  }
  if (!axes.every(Number.isInteger)) throw new ValueError('attentionAxes', 'whole numbers', value);
  return axes;
}

/** A projection: a kernel, and a bias where the layer has them. */
interface Projection {
  readonly kernel: tf.LayerVariable;
  readonly bias: tf.LayerVariable | null;
}

/** x [..., n axes that the kernel begins with] times the kernel [n axes, ...more], plus the bias. */
function project(x: tf.Tensor, { kernel, bias }: Projection, n: number): tf.Tensor {
  const weights = kernel.read();
  const [given, made] = [weights.shape.slice(0, n), weights.shape.slice(n)];
  const size = (shape: readonly number[]): number => shape.reduce((all, each) => all * each, 1);
  const rows = x.reshape<tf.Tensor2D>([x.size / size(given), size(given)]);
  const product = rows.matMul(weights.reshape<tf.Tensor2D>([size(given), size(made)]));
  const biased = bias === null ? product : product.add(bias.read().flatten());
  return biased.reshape([...x.shape.slice(0, x.rank - n), ...made]);
}

/**
 * A layer of attention with several heads: for each query a mean of values, weighted by how well keys fit the query.
 *
 * Takes `[query, value]`, `[query, value, key]` (by default the value is the key) or `[query, value, key, attentionMask]`:
 * float32 [batch, T, dim] and [batch, S, dim], the mask [batch, T, S] or what broadcasts to it, true where a key counts.
 * Returns float32 [batch, T, dim of the query] or `[..., ...outputShape]`; with `returnAttentionScores` a list of that and
 * the weights [batch, numHeads, T, S]. Masks of query, value and key leave out what they leave out in Keras; the mask of
 * the query is passed on. A query that sees no key weighs all of them alike, or not at all where there is dropout or the
 * weights are returned, as in Keras. Weights: kernel and bias of query, key, gate, value and output.
 * Source: keras.layers.MultiHeadAttention (Keras 3.15).
 *
 * @throws TypeError for missing or wrongly typed arguments and inputs; ValueError for sizes below 1, another number of
 * inputs, ranks that differ, axes that are not there, and a value and key of different lengths.
 *
 * @example
 * const x = tf.input({shape: [20, 32]});
 * const y = emb.layers.multiHeadAttention({numHeads: 2, keyDim: 16, useCausalMask: true}).apply([x, x]);
 */
export class MultiHeadAttention extends tf.layers.Layer {
  static {
    brand(this, 'MultiHeadAttention');
  }
  static readonly className: string = 'TfjsEmbeddings>MultiHeadAttention';
  /** The masks of all inputs reach the call. */
  readonly takesMasks = true;
  readonly numHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly dropout: number;
  readonly useBias: boolean;
  readonly useGate: boolean;
  readonly outputSizes: readonly number[] | null;
  readonly attentionAxes: readonly number[] | null;
  readonly slidingWindow: number | null;
  readonly kernelInitializer: Initializer;
  readonly biasInitializer: Initializer;
  readonly kernelRegularizer: Regularizer | null;
  readonly biasRegularizer: Regularizer | null;
  readonly useCausalMask: boolean;
  readonly returnAttentionScores: boolean;
  readonly zeroesMasked: boolean | null;
  #query: Projection | null = null;
  #key!: Projection;
  #gate: Projection | null = null;
  #value!: Projection;
  #output!: Projection;

  /** @param args - See `MultiHeadAttentionArgs`. */
  constructor(args: MultiHeadAttentionArgs);
  constructor(...all: [MultiHeadAttentionArgs]) {
    refusePositional('emb.layers.multiHeadAttention', MULTI_HEAD_FIELDS, all);
    const { given, base } = readFloatLayerArgs<MultiHeadAttentionArgs>(
      all[0],
      MULTI_HEAD_FIELDS,
      'multi_head_attention',
    );
    super(base as never);
    adopt(this);
    this.numHeads = checkDimension(given.numHeads, 'numHeads');
    this.keyDim = checkDimension(given.keyDim, 'keyDim');
    this.valueDim = optionalSize(given.valueDim, 'valueDim') ?? this.keyDim;
    this.dropout = checkRate(given.dropout, 'dropout');
    this.useBias = checkBoolean(given.useBias, 'useBias', true);
    this.useGate = checkBoolean(given.useGate, 'useGate', false);
    this.outputSizes = readOutputShape(given.outputShape);
    this.attentionAxes = readAxes(given.attentionAxes);
    this.slidingWindow = optionalSize(given.slidingWindow, 'slidingWindow');
    this.kernelInitializer = readInitializerOf('kernelInitializer', given.kernelInitializer, 'glorotUniform');
    this.biasInitializer = readInitializerOf('biasInitializer', given.biasInitializer, 'zeros');
    this.kernelRegularizer = readRegularizer(given.kernelRegularizer, 'kernelRegularizer');
    this.biasRegularizer = readRegularizer(given.biasRegularizer, 'biasRegularizer');
    this.useCausalMask = checkBoolean(given.useCausalMask, 'useCausalMask', false);
    this.returnAttentionScores = checkBoolean(given.returnAttentionScores, 'returnAttentionScores', false);
    const { zeroesMasked = null } = given;
    this.zeroesMasked = zeroesMasked === null ? null : checkBoolean(zeroesMasked, 'zeroesMasked', false);
    this.supportsMasking = true;
  }

  /** Shapes of query, value and key. Throws ValueError where they do not fit. */
  #checkShapes(all: readonly SymbolicShape[]): [SymbolicShape, SymbolicShape, SymbolicShape] {
    if (all.length < 2 || all.length > 4) throw new ValueError('inputs', EXPECTED, described(`${all.length} inputs`));
    const [query, value, key = value] = all as [SymbolicShape, SymbolicShape, SymbolicShape?];
    [query, value, key].forEach((shape, i) => {
      if (shape.length >= 3 && shape.length === query.length && shape.at(-1) !== null) return;
      const expected =
        i === 0 ? 'rank 3 at least, with a last axis of known size' : `rank ${query.length}, that of the query`;
      throw new ValueError(`inputs[${i}]`, expected, described(`shape [${shape.map(String).join(', ')}]`));
    });
    this.#axes(query.length);
    const differs = value.slice(1, -1).some((size, i) => size !== null && key[i + 1] !== null && size !== key[i + 1]);
    if (!differs) return [query, value, key];
    const expected = `[${value.map(String).join(', ')}] but for the last axis, as the value`;
    throw new ValueError('inputs[2]', expected, described(`shape [${key.map(String).join(', ')}]`));
  }

  /** The axes that attention goes over, of inputs of this rank. */
  #axes(rank: number): number[] {
    if (this.attentionAxes === null) return Array.from({ length: rank - 2 }, (_, i) => i + 1);
    const axes = axesOf([...this.attentionAxes], rank, 'attentionAxes');
    const wrong = axes.find((axis) => axis === 0 || axis === rank - 1);
    if (wrong === undefined) return axes;
    throw new ValueError('attentionAxes', `axes in [1, ${rank - 2}]`, [...this.attentionAxes]);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.#query !== null) return;
    const [query, value, key] = this.#checkShapes(shapesOf(inputShape)).map((shape) => shape.at(-1)!) as [
      number,
      number,
      number,
    ];
    const { numHeads, keyDim, valueDim } = this;
    const add = (name: string, shape: number[], made: number): Projection => {
      const [ofKernel, ofBias] = [this.kernelRegularizer ?? undefined, this.biasRegularizer ?? undefined];
      const kernel = this.addWeight(`${name}_kernel`, shape, 'float32', this.kernelInitializer, ofKernel as never);
      if (!this.useBias) return { kernel, bias: null };
      const sizes = shape.slice(made);
      return { kernel, bias: this.addWeight(`${name}_bias`, sizes, 'float32', this.biasInitializer, ofBias as never) };
    };
    this.#query = add('query', [query, numHeads, keyDim], 1);
    this.#key = add('key', [key, numHeads, keyDim], 1);
    if (this.useGate) this.#gate = add('gate', [query, numHeads, valueDim], 1);
    this.#value = add('value', [value, numHeads, valueDim], 1);
    this.#output = add('output', [numHeads, valueDim, ...(this.outputSizes ?? [query])], 2);
    this.built = true;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[] {
    const [query, value] = this.#checkShapes(shapesOf(inputShape));
    const output = [...query.slice(0, -1), ...(this.outputSizes ?? [query.at(-1)!])];
    if (!this.returnAttentionScores) return output;
    const axes = this.#axes(query.length);
    const batch = query.slice(0, -1).filter((_, i) => !axes.includes(i));
    const of = (shape: SymbolicShape): SymbolicShape => axes.map((axis) => shape[axis]!);
    return [output, [...batch, this.numHeads, ...of(query), ...of(value)]];
  }

  override apply(inputs: tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    const list: unknown = inputs;
    if (!Array.isArray(list)) throw new ArgumentTypeError('inputs', EXPECTED, list);
    list.forEach((each: unknown, i) => {
      if (!(each instanceof tf.Tensor) && !isSymbolic(each))
        throw new ArgumentTypeError(`inputs[${i}]`, 'a tensor', each);
      if (i < 3 && each.dtype !== 'float32') throw new ArgumentTypeError(`inputs[${i}]`, 'float32', each.dtype);
    });
    this.#checkShapes((list as tf.Tensor[]).map(({ shape }) => shape));
    return super.apply(distinct(inputs), kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor | tf.Tensor[] {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const [query, value, key = value, given] = inputs as [tf.Tensor, tf.Tensor, tf.Tensor?, tf.Tensor?];
      const axes = this.#axes(query.rank);
      const rest = query.shape
        .map((_, i) => i)
        .slice(0, -1)
        .filter((axis) => !axes.includes(axis));
      // [...rest, heads, places of attention, size]: one product of matrices for each head.
      const order = [...rest, query.rank - 1, ...axes, query.rank];
      const arranged = (x: tf.Tensor, projection: Projection): tf.Tensor => {
        const moved = project(x, projection, 1).transpose(order);
        return moved.reshape([...moved.shape.slice(0, rest.length + 1), -1, moved.shape.at(-1)!]);
      };
      const q = arranged(query, this.#query!).mul(1 / Math.sqrt(this.keyDim));
      const scores = tf.matMul(q, arranged(key, this.#key), false, true);
      const weights = this.#weigh(scores, axes.length, masksOf(kwargs['mask'], 3), given ?? null);
      const drops = this.dropout > 0 && kwargs['training'] === true;
      const kept = drops ? dropped(weights, () => this.dropout) : weights;
      const [flat, sizes] = [tf.matMul(kept, arranged(value, this.#value)), axes.map((axis) => query.shape[axis]!)];
      const heads = flat.reshape([...flat.shape.slice(0, rest.length + 1), ...sizes, this.valueDim]);
      const back = heads.transpose(order.map((_, axis) => order.indexOf(axis)));
      const gated = this.#gate === null ? back : back.mul(tf.sigmoid(project(query, this.#gate, 1)));
      const output = project(gated, this.#output, 2);
      if (!this.returnAttentionScores) return output;
      const keys = axes.map((axis) => value.shape[axis]!);
      return [output, weights.reshape([...weights.shape.slice(0, -2), ...sizes, ...keys])];
    });
  }

  /** The softmax of scores [..., heads, T, S] along the keys that count. */
  #weigh(scores: tf.Tensor, n: number, masks: (tf.Tensor | null)[], given: tf.Tensor | null): tf.Tensor {
    const [T, S] = scores.shape.slice(-2) as [number, number];
    const mask = joinedMask(() => {
      const [query, value, key] = masks.map((each) => {
        if (each === null || each.rank === 2) return each;
        throw new ValueError('mask', 'masks [batch, length]', described(`rank ${each.rank}`));
      }) as [tf.Tensor | null, tf.Tensor | null, tf.Tensor | null];
      const seen = [query?.expandDims(2) ?? null, value?.expandDims(1) ?? null, key?.expandDims(1) ?? null];
      if (n > 1 && seen.some((each) => each !== null)) {
        throw new ValueError('attentionAxes', 'one axis where inputs have masks', described(`${n} axes`));
      }
      return [
        ...seen.map((each) => spread(each, scores.rank, T, S)),
        spread(given, scores.rank, T, S, n),
        this.useCausalMask ? causalMask(T, S) : null,
        this.slidingWindow === null ? null : windowMask(T, S, this.slidingWindow),
      ];
    });
    if (mask === null) return tf.softmax(scores);
    const weights = tf.softmax(tf.where(mask, scores, tf.scalar(FAR_BELOW)));
    // Keras 3 has two kernels: the fused one, of batches of steps, weighs keys alike where none counts.
    const isFused = this.dropout === 0 && !this.returnAttentionScores && n === 1 && scores.rank === 4;
    return (this.zeroesMasked ?? !isFused) ? tf.where(mask, weights, tf.scalar(0)) : weights;
  }

  /** That of the query. */
  override computeMask(_inputs: tf.Tensor | tf.Tensor[], mask?: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return masksOf(mask, 1)[0] as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    // The output shape of a layer of tfjs is another thing, which is not there before it is called.
    const fields = MULTI_HEAD_FIELDS.filter((field) => field !== 'outputShape');
    const own = Object.fromEntries(fields.map((field) => [field, (this as Kwargs)[field]]));
    const config = {
      ...super.getConfig(),
      ...own,
      outputShape: this.outputSizes,
      kernelInitializer: serializeRegistered(this.kernelInitializer),
      biasInitializer: serializeRegistered(this.biasInitializer),
      kernelRegularizer: serializeRegistered(this.kernelRegularizer),
      biasRegularizer: serializeRegistered(this.biasRegularizer),
    };
    return config as unknown as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config or from one of Keras, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(
      readLayerConfig(config, [...MULTI_HEAD_FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict,
    );
  }
}

/** A mask [batch, queries, keys] for scores [batch, ..., heads, T, S]; with n axes of attention each of both is n axes. */
function spread(mask: tf.Tensor | null, rank: number, T: number, S: number, n = 1): tf.Tensor | null {
  if (mask === null) return null;
  const lead = mask.shape.slice(0, Math.max(0, mask.rank - 2 * n));
  const places = n === 1 ? mask.shape.slice(-2) : [T, S];
  const missing = Array<number>(Math.max(0, rank - 2 - lead.length)).fill(1);
  return mask.reshape([...lead, ...missing, ...places]);
}
