/** The layer `Embedding`: ids to rows, combined or not. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../brand.js';
import { ValueError, described } from '../errors.js';
import { embeddingLookup } from '../ops/embedding_lookup.js';
import type { IdsInput, WeightsInput } from '../ragged/door.js';
import type { RaggedTensor } from '../ragged/ragged_tensor.js';
import type { Combiner } from '../types.js';
import { shapesOf, type SymbolicShape } from './layer_arguments.js';
import { checkWeights, checkWeightsShape, readEmbeddingInputs } from './layer_inputs.js';
import { poolIds, poolPadded } from './lookups.js';
import { TableLayer, type AnyTableLayerArgs, type TableLayerArgs } from './table_layer.js';

export type EmbeddingArgs<C extends Combiner | null = Combiner | null> = TableLayerArgs<C>;

/**
 * A layer that maps int32 ids to rows of a trained table [inputDim, outputDim].
 *
 * Without a combiner ids of shape s give s + [outputDim], as in the stock layer, mask included. With one, ids of rank
 * 2 or more give s[:-1] + [outputDim]: the rows of the innermost axis become one (sum; mean; sqrtn: the sum over the
 * root of the number of ids). A second input of the shape of the ids weighs each id: `layer.apply([ids, weights])`; mean
 * then divides by the sum of the weights and sqrtn by the root of the sum of their squares.
 * Applied directly, ids may also be a RaggedTensor or sparse ids. The one weight is `<layer>/embeddings`, float32.
 * `maskZero` with a combiner leaves id 0 out of sum and divisor; a row without ids is zeros.
 * As the first layer of a model it takes int32 ids of shape `inputShape` or [inputLength].
 * Throws TypeError for missing or wrongly typed arguments and ids that are no numbers; ValueError for sizes below 1,
 * unknown names, rank-1 ids with a combiner, weights without a combiner or of another shape, fractions, and ids
 * outside the table.
 * Source: tf.layers.embedding (TensorFlow.js 4.22); Embedding of NVIDIA distributed-embeddings 23.06; EmbedReduce
 * (Keras RS 0.3).
 *
 * @example
 * const model = tf.sequential({layers: [
 *   emb.layers.embedding({inputDim: 1000, outputDim: 8, inputLength: 5, combiner: 'mean'}),
 *   tf.layers.dense({units: 1}),
 * ]});
 * model.predict(tf.tensor2d([[4, 20, 7, 7, 1]], [1, 5], 'int32')).print();
 */
export class Embedding<C extends Combiner | null = Combiner | null> extends TableLayer<C> {
  static {
    brand(this, 'Embedding');
  }
  // The prefix keeps the stock class of tfjs as it is: saved models name classes by this text.
  static readonly className: string = 'TfjsEmbeddings>Embedding';

  constructor(args: AnyTableLayerArgs<C>) {
    super(args, 'embedding');
    this.supportsMasking = this.maskZero;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    const [ids, weights] = shapes as [SymbolicShape, SymbolicShape?];
    if (shapes.length > 2)
      throw new ValueError('inputs', 'ids, or [ids, weights]', described(`${shapes.length} inputs`));
    this.#checkCombination(ids.length, weights !== undefined);
    if (weights !== undefined) checkWeightsShape(weights, ids);
    const full = this.#withInputLength(ids);
    return this.combiner === null ? [...full, this.outputDim] : [...full.slice(0, -1), this.outputDim];
  }

  #checkCombination(rank: number, isWeighted: boolean): void {
    if (this.combiner === null) {
      if (!isWeighted) return;
      throw new ValueError('combiner', `'sum', 'mean' or 'sqrtn' when weights are given`, null);
    }
    if (rank >= 2) return;
    const note = 'Ids of rank 1 are ambiguous: give them a batch axis, or use no combiner.';
    throw new ValueError('ids', 'rank 2 or more when a combiner is given', described(`rank ${rank}`), note);
  }

  /** The shape of the ids with the sizes that `inputLength` knows. */
  #withInputLength(ids: SymbolicShape): SymbolicShape {
    const { inputLength } = this;
    if (inputLength === null) return ids;
    const lengths = Array.isArray(inputLength) ? inputLength : [inputLength];
    const fits =
      lengths.length === ids.length - 1 &&
      lengths.every((length, axis) => length === null || ids[axis + 1] === null || length === ids[axis + 1]);
    if (!fits) {
      const expected = `ids of shape [batch, ${lengths.join(', ')}], as inputLength says`;
      throw new ValueError('ids', expected, described(`[${ids.join(', ')}]`));
    }
    return [ids[0]!, ...lengths.map((length, axis) => length ?? ids[axis + 1]!)];
  }

  protected override checkInputs(inputs: unknown): void {
    const { ids, weights } = readEmbeddingInputs(inputs);
    if (weights !== null && this.combiner === null) this.#checkCombination(0, true);
    if (ids instanceof tf.Tensor) this.#checkCombination(ids.rank, weights !== null);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor | tf.Tensor[] {
    const { ids, weights } = readEmbeddingInputs(inputs);
    let result: tf.Tensor | RaggedTensor | undefined;
    // A RaggedTensor stays out of the tidy's result, which would walk through all its numbers.
    const tensor = tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      this.checkTraining(kwargs);
      result = this.lookingUp(ids, () => {
        return ids instanceof tf.Tensor ? this.#lookUpDense(ids, weights) : this.#lookUpOther(ids, weights);
      });
      return result instanceof tf.Tensor ? result : undefined;
    });
    return (tensor ?? result) as tf.Tensor;
  }

  #lookUpDense(ids: tf.Tensor, weights: unknown): tf.Tensor {
    const { combiner, maxNorm, outOfRange } = this;
    const perId = checkWeights(weights, ids.shape);
    this.#checkCombination(ids.rank, perId !== null);
    this.#withInputLength(ids.shape);
    if (combiner !== null && this.maskZero) {
      return poolPadded(this.variable, ids, perId, this.#absence, { combiner, maxNorm, outOfRange });
    }
    const options = { combiner, maxNorm, outOfRange, weights: perId };
    return embeddingLookup(this.variable, ids as IdsInput, options) as tf.Tensor;
  }

  get #absence(): { zero: boolean; negative: boolean } {
    return { zero: this.maskZero, negative: false };
  }

  /** Ragged and sparse ids, and arrays. */
  #lookUpOther(ids: unknown, weights: unknown): tf.Tensor | RaggedTensor {
    const { combiner, maxNorm, outOfRange, variable } = this;
    if (combiner === null || !this.maskZero) {
      const options = { combiner, maxNorm, outOfRange, weights: weights as WeightsInput | null };
      return embeddingLookup(variable, ids as IdsInput, options);
    }
    return poolIds(variable, ids, weights, this.#absence, { combiner, maxNorm, outOfRange });
  }

  /** Without a combiner: where the id is not 0. With one the masked axis is gone; a mask of the axis above remains. */
  override computeMask(inputs: tf.Tensor | tf.Tensor[], _mask?: tf.Tensor | tf.Tensor[]): tf.Tensor | tf.Tensor[] {
    const { ids } = readEmbeddingInputs(inputs);
    const none = null as unknown as tf.Tensor;
    if (!this.maskZero || !(ids instanceof tf.Tensor)) return none;
    return tf.tidy(() => {
      const present = tf.notEqual(ids, tf.zerosLike(ids));
      if (this.combiner === null) return present;
      return ids.rank < 3 ? none : present.any(-1);
    });
  }
}
