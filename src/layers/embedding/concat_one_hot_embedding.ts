/** The layer `ConcatOneHotEmbedding`: one id per feature, the rows of all features in one table. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import { stepOps } from '../../backends/registry.js';
import { embeddingBag } from '../../lookup/embedding_bag.js';
import { outOfRangeError } from '../../ids/id_out_of_range.js';
import { readOptions } from '../../base/options.js';
import { parseIds, type DenseIds, type IdsInput } from '../../ids/parse_ids.js';
import { densePlace } from '../../ids/id_place.js';
import type { NestedRows } from '../../ids/nested_rows.js';
import { uniformSplits } from '../../ids/row_splits.js';
import { INT32_MAX } from '../../base/types.js';
import { TABLE_SETTINGS, type TableArgs } from '../../tables/embedding_table.js';
import { addLayerDetails } from '../../tfjs/uncast_inputs.js';
import type { ExtendArgs } from '../../tables/extension.js';
import { zerosOf } from '../../tables/initial_values.js';
import type { Initializer } from '../../tables/initializers.js';
import {
  LAYER_OPTIONS,
  checkDimension,
  shapesOf,
  type LayerOptions,
  type SymbolicShape,
} from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { LayerOfTables } from '../layer_of_tables.js';
import { asWholeIds, hostIds } from './feature_lookup.js';
import { readEmbeddingInputs, type LayerInputs } from './layer_inputs.js';
import { TableLayer } from './table_layer.js';

export interface ConcatOneHotEmbeddingArgs extends LayerOptions, Partial<Omit<TableArgs, 'inputDim' | 'outputDim'>> {
  /** Number of rows of each feature: ids of feature f are in [0, featureSizes[f]). */
  featureSizes: readonly number[];
  /** Number of columns. */
  embeddingWidth: number;
}

const FIELDS = [
  'featureSizes',
  'embeddingWidth',
  ...TABLE_SETTINGS,
  ...LAYER_OPTIONS,
] as const satisfies readonly (keyof ConcatOneHotEmbeddingArgs)[];

/** First row of each feature, and after the last the number of all rows. */
function offsetsOf(sizes: unknown): Int32Array {
  const expected = 'a list of positive whole numbers, one per feature';
  if (!Array.isArray(sizes)) throw new ArgumentTypeError('featureSizes', expected, sizes);
  if (sizes.length === 0) throw new ValueError('featureSizes', expected, sizes);
  let rows = 0;
  const offsets = sizes.map((size, f) => (rows += checkDimension(size, `featureSizes[${f}]`)));
  if (rows > INT32_MAX) throw new ValueError('featureSizes', 'at most 2^31 - 1 rows in all', described(`${rows}`));
  return Int32Array.of(0, ...offsets);
}

/**
 * A layer that maps one int32 id per feature to a row of that feature, all features in one trained table.
 *
 * Takes ids [batch, features] as a tensor or nested arrays; returns float32 [batch, features, embeddingWidth]. The table
 * [sum(featureSizes), embeddingWidth] is the one weight, `<layer>/params`, Glorot uniform unless told otherwise; the rows
 * of feature f begin after those of the features before it (`offsets`). One lookup and, under `emb.train.*`, one update
 * by rows serve all features. As the first layer of a model it takes int32 ids of shape [features].
 * Source: ConcatOneHotEmbedding of NVIDIA distributed-embeddings 23.06.
 *
 * @throws TypeError for missing or wrongly typed arguments and ids that are no numbers; ValueError for sizes below 1, ids
 * of another shape, fractions, and an id outside its own feature, which the error names.
 *
 * @example
 * const layer = emb.layers.concatOneHotEmbedding({featureSizes: [3, 5, 7], embeddingWidth: 4});
 * layer.apply([[2, 4, 6], [0, 0, 0]]).shape; // [2, 3, 4]
 */
export class ConcatOneHotEmbedding extends TableLayer {
  static {
    brand(this, 'ConcatOneHotEmbedding');
  }
  static readonly className: string = 'TfjsEmbeddings>ConcatOneHotEmbedding';
  protected override readonly kind = 'embedding';
  readonly featureSizes: readonly number[];
  /** First row of each feature. */
  readonly offsets: readonly number[];

  /** @param args - See `ConcatOneHotEmbeddingArgs`. */
  constructor(args: ConcatOneHotEmbeddingArgs);
  constructor(...all: [ConcatOneHotEmbeddingArgs]) {
    refusePositional('emb.layers.concatOneHotEmbedding', ['featureSizes', 'embeddingWidth'], all);
    const { featureSizes, embeddingWidth, ...given } = readOptions<ConcatOneHotEmbeddingArgs>(all[0], FIELDS, 'args');
    const offsets = offsetsOf(featureSizes);
    const outputDim = checkDimension(embeddingWidth, 'embeddingWidth');
    const embeddingsInitializer = given.embeddingsInitializer ?? 'glorotUniform';
    const table = { inputDim: offsets.at(-1)!, outputDim, embeddingsInitializer };
    super({ ...given, ...table, inputLength: featureSizes!.length }, 'concat_one_hot_embedding', false);
    this.featureSizes = Array.from(featureSizes!);
    this.offsets = Array.from(offsets.subarray(0, -1));
  }

  get embeddingWidth(): number {
    return this.outputDim;
  }

  /** Rows at the end would belong to no feature. */
  override extend(args: ExtendArgs): void {
    LayerOfTables.prototype.extend.call(this, args);
  }

  override createWeight(initializer: Initializer): tf.LayerVariable {
    const { table } = this;
    const { weightForm } = table;
    const { shape, dtype } = weightForm;
    return this.addWeight('params', shape, dtype, table.packing(initializer), undefined, true, undefined, () =>
      zerosOf(weightForm),
    );
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
    const shapes = shapesOf(inputShape);
    if (shapes.length > 1) throw new ValueError('inputs', 'ids only', described(`${shapes.length} inputs`));
    const [ids] = shapes as [SymbolicShape];
    this.#checkShape(ids);
    return [ids[0]!, this.featureSizes.length, this.outputDim];
  }

  #checkShape(shape: SymbolicShape): void {
    const { length } = this.featureSizes;
    if (shape.length === 2 && (shape[1] === null || shape[1] === length)) return;
    const expected = `ids of shape [batch, ${length}], one per feature`;
    throw new ValueError('ids', expected, described(`shape [${shape.map(String).join(', ')}]`));
  }

  protected override readInputs(inputs: unknown): LayerInputs {
    const { ids, weights } = readEmbeddingInputs(inputs);
    if (weights !== null) throw new ValueError('inputs', 'ids only', described('2 inputs'));
    if (ids instanceof tf.Tensor || ids instanceof tf.SymbolicTensor) this.#checkShape(ids.shape);
    return { ids, weights };
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: DenseIds | NestedRows, kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: unknown, kwargs?: Kwargs): unknown {
    return super.apply(inputs as AnyTensors, kwargs);
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      this.checkTraining(kwargs);
      const { ids } = readEmbeddingInputs(inputs);
      const rows = addLayerDetails(this, `layer ${this.name}`, ids, () => this.#rowsOf(ids));
      const { length } = this.featureSizes;
      const count = rows instanceof tf.Tensor ? rows.size : rows.length;
      const looked = embeddingBag(this.variable, rows, uniformSplits(count, 1), { combiner: 'sum' });
      return looked.reshape([count / length, length, this.outputDim]);
    });
  }

  /** Ids as rows of the common table; checked, since a row of the next feature would be no error later on. */
  #rowsOf(ids: unknown): tf.Tensor1D | Int32Array {
    const { values, shape } = readDense(asWholeIds(ids));
    this.#checkShape(shape);
    return this.#rowsByOp(values) ?? this.#rowsOnHost(values instanceof tf.Tensor ? hostIds(values) : values, shape);
  }

  /** The same by an op, which never shows the ids to JavaScript; null where there is none, and where it refuses them. */
  #rowsByOp(ids: tf.Tensor | Int32Array): tf.Tensor1D | null {
    const ops = stepOps();
    if (ops === null || !(ids instanceof tf.Tensor) || ids.dtype !== 'int32') return null;
    try {
      return ops.featureRows(ids.as1D(), Int32Array.from(this.featureSizes));
    } catch {
      // The host says which id it is, and where it stands.
      return null;
    }
  }

  #rowsOnHost(ids: Int32Array, shape: readonly number[]): Int32Array {
    const { featureSizes, offsets } = this;
    const { length } = featureSizes;
    return ids.map((id, position) => {
      const feature = position % length;
      const rows = featureSizes[feature]!;
      if (id >= 0 && id < rows) return id + offsets[feature]!;
      const expected = `ids in [0, ${rows}) for feature ${feature} (featureSizes[${feature}])`;
      const known = { argument: 'ids', expected, owner: null, note: undefined, batchRow: null };
      throw outOfRangeError({ id, rows, position, place: densePlace(shape, position), ...known });
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { name, trainable, batchInputShape, ...rest } = super.getConfig();
    const { embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint, optimizer, storage, seed } = rest;
    const { embeddingWidth } = this;
    const own = { featureSizes: [...this.featureSizes], embeddingWidth };
    const kept = { ...(storage === undefined ? {} : { storage }), ...(seed === undefined ? {} : { seed }) };
    const table = { embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint, optimizer, ...kept };
    const input = batchInputShape === undefined ? {} : { batchInputShape };
    return { ...own, ...table, name, trainable, ...input } as unknown as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config, or from the arguments of NVIDIA's layer, in snake_case or camelCase. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, FIELDS) as tf.serialization.ConfigDict);
  }
}

/** Ids of a tensor or of nested arrays. */
function readDense(ids: unknown): { values: tf.Tensor | Int32Array; shape: number[] } {
  const { values, idsShape } = parseIds(ids as IdsInput, null);
  if (idsShape === null) throw new ArgumentTypeError('ids', 'a tensor or nested arrays [batch, features]', ids);
  return { values, shape: [...idsShape] };
}
