/** The layer `Embedding`: ids to rows, combined or not. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ValueError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import type { Combiner } from '../../base/types.js';
import { shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import type { Kwargs } from '../layer_calls.js';
import { readEmbeddingInputs, type LayerInputs } from './layer_inputs.js';
import { raggedRowsOf } from '../../tfjs/stand_ins.js';
import { maskOfRows } from './feature_lookup.js';
import { OpenTable } from '../../tables/keys/open_table.js';
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
 * Negative ids of a tensor are padding, which is absent: left out of sum and divisor, or a row of zeros. `maskZero` with a
 * combiner leaves out id 0 as well; a row without ids is zeros.
 * As the first layer of a model it takes int32 ids of shape `inputShape` or [inputLength]. With `inputShape: []`, without a
 * combiner, samples are single ids, and the model is fed vectors.
 * Source: tf.layers.embedding (TensorFlow.js 4.22); Embedding of NVIDIA distributed-embeddings 23.06; EmbedReduce
 * (Keras RS 0.3).
 *
 * @throws TypeError for missing or wrongly typed arguments and ids that are no numbers; ValueError for sizes below 1,
 * unknown names, rank-1 ids with a combiner, weights without a combiner or of another shape, fractions, and ids
 * outside the table.
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
  protected override readonly kind = 'embedding';

  /** @param args - See `EmbeddingArgs`. */
  constructor(args: AnyTableLayerArgs<C>);
  constructor(...given: [AnyTableLayerArgs<C>]) {
    refusePositional('emb.layers.embedding', ['inputDim', 'outputDim', 'combiner'], given);
    super(given[0], 'embedding', true);
    this.supportsMasking = this.maskZero;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    const [ids, weights] = shapes as [SymbolicShape, SymbolicShape?];
    if (shapes.length > 2)
      throw new ValueError('inputs', 'ids, or [ids, weights]', described(`${shapes.length} inputs`));
    this.checkCombiner(weights !== undefined);
    return this.shapeOfResult(ids, weights ?? null);
  }

  protected override readInputs(inputs: unknown): LayerInputs {
    const given = readEmbeddingInputs(inputs);
    this.checkCombiner(given.weights !== null);
    return given;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor | tf.Tensor[] {
    return this.lookUp(inputs, kwargs) as tf.Tensor;
  }

  /** Without a combiner: where there is an id other than 0. With one the masked axis is gone; a mask of the axis above remains. */
  override computeMask(inputs: tf.Tensor | tf.Tensor[], _mask?: tf.Tensor | tf.Tensor[]): tf.Tensor | tf.Tensor[] {
    const { ids } = readEmbeddingInputs(inputs);
    const none = null as unknown as tf.Tensor;
    if (this.table instanceof OpenTable) return this.maskOfOpen(this.table, ids, this.maskZero) ?? none;
    const rows = raggedRowsOf(ids);
    // Rows without a combiner come side by side, whatever stands for nothing.
    if (rows !== null) return this.combiner === null ? maskOfRows(rows, this.maskZero) : none;
    if (!this.maskZero || !(ids instanceof tf.Tensor)) return none;
    return tf.tidy(() => {
      const present = tf.greater(ids, tf.zerosLike(ids));
      if (this.combiner === null) return present;
      return ids.rank < 3 ? none : present.any(-1);
    });
  }
}
