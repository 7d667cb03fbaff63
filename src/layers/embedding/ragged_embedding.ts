/** The layer `RaggedEmbedding`: rows of ids of different lengths. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ValueError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import { parseIds, type IdBatch, type IdsInput, type WeightsInput } from '../../ids/parse_ids.js';
import type { Combiner } from '../../base/types.js';
import { checkWeightsShape, readRaggedInputs, type LayerInputs } from './layer_inputs.js';
import { shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { raggedRowsOf } from '../../tfjs/stand_ins.js';
import { maskOfRows } from './feature_lookup.js';
import type { LookedUp, WithWeights } from './looked_up.js';
import { OpenTable } from '../../tables/keys/open_table.js';
import { TableLayer, type AnyTableLayerArgs, type TableLayerArgs } from './table_layer.js';

export type RaggedEmbeddingArgs<C extends Combiner | null = Combiner | null> = TableLayerArgs<C>;

/** Flat ids, the splits of their rows, and flat weights. */
type PairWithWeights = readonly [values: tf.Tensor, rowSplits: tf.Tensor, weights: WeightsInput];

/** The forms in which ids enter a model: a padded batch, or values and row splits; each with or without weights. */
interface SymbolicForm {
  readonly kind: 'padded' | 'pair';
  readonly ids: SymbolicShape;
  readonly weights: SymbolicShape | null;
}

const FORMS = 'a padded batch [batch, maxLength] or [values, rowSplits], then, if any, weights';

function formOf(shapes: SymbolicShape[]): SymbolicForm {
  const [first, second, third] = shapes as [SymbolicShape, SymbolicShape?, SymbolicShape?];
  const received = described(shapes.map((shape) => `[${shape.map(String).join(', ')}]`).join(' and '));
  if (first.length >= 2 && shapes.length <= 2) {
    if (second !== undefined) checkWeightsShape(second, first);
    return { kind: 'padded', ids: first, weights: second ?? null };
  }
  if (first.length !== 1 || second?.length !== 1 || shapes.length > 3) throw new ValueError('inputs', FORMS, received);
  if (third !== undefined) checkWeightsShape(third, first);
  return { kind: 'pair', ids: first, weights: third ?? null };
}

/**
 * A layer that maps rows of int32 ids, of different lengths, to rows of a trained table [inputDim, outputDim].
 *
 * Applied directly it takes a RaggedTensor, {values, rowSplits} or sparse ids: with a combiner the result is
 * [batch, outputDim], without one a RaggedTensor of rows. A model takes the same in `fit`, `predict` and the like, for an
 * input [null], or padded ids, int32 [batch, maxLength], where negative ones are absent (`ragged.toPadded()`): with a
 * combiner [batch, outputDim], without one [batch, maxLength, outputDim] with zeros and a mask at absent places. Values
 * and row splits as two inputs of rank 1 are for `model.apply` and `optimizer.minimize`. Weights follow as one more input,
 * in the form of the ids.
 * An empty row is zeros for every combiner. `maskZero` leaves out id 0 as well.
 * Errors as in `Embedding`; ValueError also for row splits that do not fit.
 * Source: tf.keras.layers.Embedding on ragged ids (Keras 2); Embedding of NVIDIA distributed-embeddings 23.06.
 *
 * @example
 * const layer = emb.layers.raggedEmbedding({inputDim: 10, outputDim: 4, combiner: 'mean'});
 * layer.apply(emb.RaggedTensor.fromRows([[3, 1], [], [4]])).print(); // [3, 4], the second row zeros
 */
export class RaggedEmbedding<C extends Combiner | null = Combiner | null> extends TableLayer<C> {
  static {
    brand(this, 'RaggedEmbedding');
  }
  static readonly className: string = 'TfjsEmbeddings>RaggedEmbedding';
  protected override readonly kind = 'ragged';

  /** Whether the call in progress comes from a model, which can only pass tensors on. */
  #inModel = false;

  /** @param args - See `RaggedEmbeddingArgs`. */
  constructor(args: AnyTableLayerArgs<C>);
  constructor(...given: [AnyTableLayerArgs<C>]) {
    refusePositional('emb.layers.raggedEmbedding', ['inputDim', 'outputDim', 'combiner'], given);
    super(given[0], 'ragged_embedding', false);
    this.supportsMasking = this.combiner === null;
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const { kind, ids, weights } = formOf(shapesOf(inputShape));
    this.checkCombiner(weights !== null);
    if (kind === 'padded') return this.shapeOfResult(ids, weights);
    return this.combiner === null ? [null, null, this.outputDim] : [null, this.outputDim];
  }

  protected override readInputs(inputs: unknown): LayerInputs {
    const given = readRaggedInputs(inputs);
    this.checkCombiner(given.weights !== null);
    const { ids } = given;
    if (ids instanceof tf.Tensor && ids.rank < 2) {
      throw new ValueError('ids', `${FORMS}; a RaggedTensor; or sparse ids`, ids);
    }
    return given;
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply<Ids extends IdsInput>(inputs: Ids, kwargs?: Kwargs): LookedUp<C, Ids>;
  override apply<Ids extends IdsInput>(inputs: WithWeights<Ids> | PairWithWeights, kwargs?: Kwargs): LookedUp<C, Ids>;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: unknown, kwargs?: Record<string, unknown>): unknown {
    // A model passes its inputs as a list and always some kwargs.
    this.#inModel = this.inboundNodes.length > 0 && Array.isArray(inputs) && kwargs !== undefined;
    return super.apply(inputs as AnyTensors, kwargs);
  }

  protected override givesTensor(inputs: unknown[]): boolean {
    const isRaggedResult = this.combiner === null && !this.#inModel && (inputs[0] as tf.Tensor).rank === 1;
    return super.givesTensor(inputs) && !isRaggedResult;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor | tf.Tensor[] {
    return this.lookUp(inputs, kwargs, this.#inModel) as tf.Tensor;
  }

  /** Ragged ids whose rows a model takes side by side, since it passes on tensors only; else null. */
  #spreadIds(ids: unknown): IdBatch | null {
    if (this.combiner !== null || !this.#inModel) return null;
    const batch = parseIds(ids as IdsInput);
    return batch.kind === 'ragged' ? batch : null;
  }

  /** Without a combiner: where there is an id (with `maskZero`, other than 0). */
  override computeMask(inputs: tf.Tensor | tf.Tensor[], _mask?: tf.Tensor | tf.Tensor[]): tf.Tensor | tf.Tensor[] {
    const none = null as unknown as tf.Tensor;
    if (this.combiner !== null) return none;
    const { ids } = readRaggedInputs(inputs);
    if (this.table instanceof OpenTable) return this.maskOfOpen(this.table, ids, true) ?? none;
    const rows = raggedRowsOf(ids);
    if (rows !== null) return maskOfRows(rows, this.maskZero);
    if (ids instanceof tf.Tensor) return tf.tidy(() => ids.greaterEqual(this.maskZero ? 1 : 0));
    const spread = this.#spreadIds(ids);
    if (spread === null) return none;
    return tf.tidy(() => {
      const { values, rowSplits } = spread;
      const flat = values instanceof tf.Tensor ? values.as1D() : tf.tensor1d(values, 'int32');
      return maskOfRows({ values: flat, rowSplits: tf.tensor1d(rowSplits!, 'int32') }, this.maskZero);
    });
  }
}
