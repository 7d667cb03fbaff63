/** The layers `Attention` and `AdditiveAttention`: of one head, with at most a scale as weight. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { brand } from '../../base/per_process.js';
import { refusePositional } from '../../base/positional.js';
import { readInitializerOf } from '../../tables/initializers.js';
import { FLOAT_LAYER_FIELDS, readFloatInputs, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { dropped } from '../dropped.js';
import { distinct } from '../merge/with_mask.js';
import { adopt } from '../../tfjs/models/own_models.js';
import { FAR_BELOW, causalMask, checkRate, joinedMask, masksOf } from './masked_softmax.js';

export interface AdditiveAttentionArgs extends FloatLayerArgs {
  /** Whether scores are scaled by a weight. Default: true for `AdditiveAttention`, false for `Attention`. */
  useScale?: boolean | undefined;
  /** How many weights of attention are dropped in training, in [0, 1). Default: 0. */
  dropout?: number | undefined;
  /** Whether a query sees no keys behind it; in Keras an argument of the call. Default: false. */
  useCausalMask?: boolean | undefined;
  /** Whether the weights of attention are given too; in Keras an argument of the call. Default: false. */
  returnAttentionScores?: boolean | undefined;
}

export interface AttentionArgs extends AdditiveAttentionArgs {
  /** Scores are products ('dot') or sums of tanh(query + key) ('concat'). Default: 'dot'. */
  scoreMode?: 'dot' | 'concat' | undefined;
}

const OWN = ['useScale', 'dropout', 'useCausalMask', 'returnAttentionScores'] as const;
const FIELDS = [...OWN, 'scoreMode'] as const;
const EXPECTED = '[query, value] or [query, value, key], float32 [batch, length, dim]';

function checkScoreMode(value: unknown): 'dot' | 'concat' {
  if (value === undefined || value === null || value === 'dot') return 'dot';
  if (value === 'concat') return value;
  if (typeof value !== 'string') throw new ArgumentTypeError('scoreMode', `'dot' or 'concat'`, value);
  throw new ValueError('scoreMode', `'dot' or 'concat'`, value);
}

function checkShapes(shapes: readonly SymbolicShape[]): [SymbolicShape, SymbolicShape, SymbolicShape] {
  if (shapes.length < 2 || shapes.length > 3)
    throw new ValueError('inputs', EXPECTED, described(`${shapes.length} inputs`));
  const [query, value, key = value] = shapes as [SymbolicShape, SymbolicShape, SymbolicShape?];
  shapes.forEach((shape, i) => {
    if (shape.length !== 3) throw new ValueError(`inputs[${i}]`, 'rank 3', described(`rank ${shape.length}`));
  });
  const differs = (a: number | null, b: number | null): boolean => a !== null && b !== null && a !== b;
  if (differs(query[2]!, key[2]!)) {
    throw new ValueError(`inputs[${shapes.length - 1}]`, `${query[2]} features, as the query`, described(`${key[2]}`));
  }
  if (differs(value[1]!, key[1]!)) {
    throw new ValueError('inputs[2]', `a length of ${value[1]}, as the value`, described(`${key[1]}`));
  }
  return [query, value, key];
}

/** What both have in common. */
abstract class OneHead extends tf.layers.Layer {
  /** The masks of all inputs reach the call. */
  readonly takesMasks = true;
  readonly useScale: boolean;
  readonly dropout: number;
  readonly useCausalMask: boolean;
  readonly returnAttentionScores: boolean;

  constructor(given: Partial<AdditiveAttentionArgs>, base: object, scales: boolean) {
    super(base as never);
    adopt(this);
    this.useScale = checkBoolean(given.useScale, 'useScale', scales);
    this.dropout = checkRate(given.dropout, 'dropout');
    this.useCausalMask = checkBoolean(given.useCausalMask, 'useCausalMask', false);
    this.returnAttentionScores = checkBoolean(given.returnAttentionScores, 'returnAttentionScores', false);
    this.supportsMasking = true;
  }

  /** Of float32 [batch, T, dim] and [batch, S, dim]: [batch, T, S]. */
  protected abstract scores(query: tf.Tensor, key: tf.Tensor): tf.Tensor;

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[] {
    const [query, value] = checkShapes(shapesOf(inputShape));
    const output = [query[0]!, query[1]!, value[2]!];
    return this.returnAttentionScores ? [output, [query[0]!, query[1]!, value[1]!]] : output;
  }

  override apply(inputs: tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    if (!Array.isArray(inputs)) throw new ArgumentTypeError('inputs', EXPECTED, inputs);
    checkShapes(readFloatInputs(inputs, EXPECTED).map(({ shape }) => shape));
    return super.apply(distinct(inputs), kwargs as never);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor | tf.Tensor[] {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const [query, value, key = value] = inputs as [tf.Tensor, tf.Tensor, tf.Tensor?];
      const masks = masksOf(kwargs['mask'], 2) as [tf.Tensor | null, tf.Tensor | null];
      const scores = this.scores(query, key);
      const seen = joinedMask(() => [
        masks[1]?.expandDims(1) ?? null,
        this.useCausalMask ? causalMask(query.shape[1]!, key.shape[1]!) : null,
      ]);
      // Scores that do not count stay apart from one another, as in Keras: where none counts, they all do.
      const weights = tf.softmax(seen === null ? scores : tf.where(seen, scores, scores.add(FAR_BELOW)));
      const drops = this.dropout > 0 && kwargs['training'] === true;
      const kept = drops ? dropped(weights, () => this.dropout) : weights;
      const pooled = tf.matMul(kept, value);
      const [mask] = masks;
      const output = mask === null ? pooled : tf.where(mask.cast('bool').expandDims(2), pooled, tf.scalar(0));
      return this.returnAttentionScores ? [output, kept] : output;
    });
  }

  /** That of the query. */
  override computeMask(_inputs: tf.Tensor | tf.Tensor[], mask?: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return masksOf(mask, 1)[0] as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const own = Object.fromEntries(OWN.map((field) => [field, this[field]]));
    return { ...super.getConfig(), ...own };
  }
}

/** [batch, T, S, dim]: each query plus each key, through tanh. */
function sums(query: tf.Tensor, key: tf.Tensor): tf.Tensor {
  return tf.tanh(query.expandDims(2).add(key.expandDims(1)));
}

/**
 * A layer of attention whose scores are products of query and key, or sums of tanh(query + key).
 *
 * Takes `[query, value]` or `[query, value, key]`, float32 [batch, T, dim], [batch, S, valueDim] and [batch, S, dim];
 * returns float32 [batch, T, valueDim], with `returnAttentionScores` a list of that and the weights [batch, T, S]. Masked
 * values do not count; masked queries give zeros, and their mask is passed on. Weights: a scalar `scale` with `useScale`,
 * a scalar `concat_score_weight` with `scoreMode: 'concat'`.
 * Source: keras.layers.Attention (Keras 3.15).
 *
 * @throws TypeError for wrongly typed arguments and inputs; ValueError for another rank than 3, sizes that do not fit,
 * another number of inputs, and unknown modes.
 *
 * @example
 * const pooled = emb.layers.attention({useScale: true}).apply([query, values]);
 */
export class Attention extends OneHead {
  static {
    brand(this, 'Attention');
  }
  static readonly className: string = 'TfjsEmbeddings>Attention';
  readonly scoreMode: 'dot' | 'concat';
  #scale: tf.LayerVariable | null = null;
  #concatWeight: tf.LayerVariable | null = null;

  /** @param args - See `AttentionArgs`. */
  constructor(args?: AttentionArgs);
  constructor(...all: [AttentionArgs?]) {
    refusePositional('emb.layers.attention', FIELDS, all);
    const { given, base } = readFloatLayerArgs<AttentionArgs>(all[0] ?? {}, FIELDS, 'attention');
    super(given, base, false);
    this.scoreMode = checkScoreMode(given.scoreMode);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.built) return;
    checkShapes(shapesOf(inputShape));
    const one = (name: string): tf.LayerVariable => {
      return this.addWeight(name, [], 'float32', readInitializerOf('initializer', 'ones', 'ones'));
    };
    if (this.useScale) this.#scale = one('scale');
    if (this.scoreMode === 'concat') this.#concatWeight = one('concat_score_weight');
    this.built = true;
  }

  protected scores(query: tf.Tensor, key: tf.Tensor): tf.Tensor {
    const scale = this.#scale?.read() ?? null;
    if (this.#concatWeight === null) {
      const products = tf.matMul(query, key, false, true);
      return scale === null ? products : products.mul(scale);
    }
    const joined = scale === null ? sums(query, key) : sums(query.mul(scale), key.mul(scale));
    return joined.sum(-1).mul(this.#concatWeight.read());
  }

  override getConfig(): tf.serialization.ConfigDict {
    return { ...super.getConfig(), scoreMode: this.scoreMode };
  }

  /** Makes the layer from its own config or from one of Keras, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}

/**
 * A layer of attention whose scores are sums of scale * tanh(query + key), after Bahdanau.
 *
 * Takes and returns what `Attention` does. Weight: `scale` [dim] with `useScale`.
 * Source: keras.layers.AdditiveAttention (Keras 3.15).
 *
 * @throws As `Attention`; ValueError for a last axis of unknown size with `useScale`.
 *
 * @example
 * const pooled = emb.layers.additiveAttention().apply([query, values]);
 */
export class AdditiveAttention extends OneHead {
  static {
    brand(this, 'AdditiveAttention');
  }
  static readonly className: string = 'TfjsEmbeddings>AdditiveAttention';
  #scale: tf.LayerVariable | null = null;

  /** @param args - See `AdditiveAttentionArgs`. */
  constructor(args?: AdditiveAttentionArgs);
  constructor(...all: [AdditiveAttentionArgs?]) {
    refusePositional('emb.layers.additiveAttention', OWN, all);
    const { given, base } = readFloatLayerArgs<AdditiveAttentionArgs>(all[0] ?? {}, OWN, 'additive_attention');
    super(given, base, true);
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.built) return;
    const [query] = checkShapes(shapesOf(inputShape));
    if (this.useScale) {
      if (query[2] === null) throw new ValueError('inputs[0]', 'a last axis of known size', query);
      const initializer = readInitializerOf('initializer', 'glorotUniform', 'glorotUniform');
      this.#scale = this.addWeight('scale', [query[2]!], 'float32', initializer);
    }
    this.built = true;
  }

  protected scores(query: tf.Tensor, key: tf.Tensor): tf.Tensor {
    const joined = sums(query, key);
    return (this.#scale === null ? joined : joined.mul(this.#scale.read())).sum(-1);
  }

  /** Makes the layer from its own config or from one of Keras, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...OWN, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
