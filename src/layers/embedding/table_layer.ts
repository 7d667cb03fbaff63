/** What the layers on one table share: the weight, its penalties and settings, and being saved. */
import * as tf from '@tensorflow/tfjs';
import { fromPlatform } from '../../base/platform.js';
import { readKerasConfig } from '../../base/keras_config.js';
import { tableOf } from '../../backends/table.js';
import { ArgumentTypeError, RuntimeError, ValueError, describe, described } from '../../base/errors.js';
import { checkCombiner, checkMaxNorm, checkOutOfRange } from '../../lookup/arguments.js';
import { touchedRowsPenalty } from '../../optimizers/penalty.js';
import { readOptions } from '../../base/options.js';
import type { IdsInput } from '../../ids/parse_ids.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import { isWeighing, type Combiner, type OutOfRange } from '../../base/types.js';
import {
  EmbeddingTable,
  TABLE_ARGUMENTS,
  TABLE_SETTINGS,
  isTable,
  type OwnTableArgs,
  type SharedTableArgs,
  type TableArgs,
} from '../../tables/embedding_table.js';
import {
  checkDense,
  featureShape,
  type Feature,
  type FeatureKind,
  checkWeights,
  joinWeights,
  type LayerInputs,
} from './layer_inputs.js';
import { lookFeaturesAhead, lookUpFeatures } from './feature_lookup.js';
import { adopt } from '../../tfjs/models/own_models.js';
import { isStandIn } from '../../tfjs/stand_ins.js';
import { LOOK_AHEAD } from '../../tfjs/training/look_ahead.js';
import { disableInputCast } from '../../tfjs/uncast_inputs.js';
import { OpenTable } from '../../tables/keys/open_table.js';
import { OPEN_TABLE_FIELDS, type OpenTableArgs } from '../../tables/keys/open_table_args.js';
import { keyedLookUp, markKeyInput, maskOfKeys } from './key_lookup.js';
import { zerosOf } from '../../tables/initial_values.js';
import type { Initializer } from '../../tables/initializers.js';
import {
  LAYER_OPTIONS,
  checkBoolean,
  checkDtype,
  checkInputLength,
  checkName,
  checkObject,
  isSymbolic,
  readInputShape,
  refuseActivityRegularizer,
  type LayerOptions,
  type SymbolicShape,
} from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { nextName } from '../../base/layer_names.js';
import { LayerOfTables } from '../layer_of_tables.js';
import { asPenalty } from '../../tfjs/layers/penalties.js';
import { disposeWithMask } from '../../tfjs/layers/masks.js';
import { tableOfLoad } from '../../tfjs/shared_tables_on_load.js';
import type { LookedUp, WithWeights } from './looked_up.js';
import { notYetPenalized } from '../../tfjs/shared_weights.js';
import type { ExtendArgs } from '../../tables/extension.js';
import { readTableValues, tableTensor } from '../../tables/pretrained.js';
import { checkSymbolicIds } from '../../tfjs/symbolic_ids.js';
import type { TableHolder } from '../../tables/table_holder.js';
import { checkTableTraining } from '../../tables/table_training.js';

/** How a layer looks up its table. */
interface LookupArgs<C extends Combiner | null> extends LayerOptions {
  /** How the rows of the innermost axis become one; null (default): they stay apart. */
  combiner?: C | undefined;
  /**
   * The id 0 is padding. Without a combiner it is masked; with one it counts neither in the sum nor in the divisor.
   * Default: false.
   */
  maskZero?: boolean | undefined;
  /** Length of the ids, or one length per axis, where it is constant. Default: null. */
  inputLength?: number | SymbolicShape | null | undefined;
  /** Rows are scaled to at most this L2 norm when they are looked up; null (default): off. */
  maxNorm?: number | null | undefined;
  /** What an id beyond the table does: `'error'` (default), or `'zero'`, a row of zeros. */
  outOfRange?: OutOfRange | undefined;
  /** Not supported: tfjs applies no activity regularizers. */
  activityRegularizer?: null | undefined;
}

/** Arguments of a layer with a table of its own. */
export interface TableLayerArgs<C extends Combiner | null = Combiner | null> extends LookupArgs<C>, OwnTableArgs {}

/** Arguments of a layer on a table that it shares with others. */
export interface SharedTableLayerArgs<C extends Combiner | null = Combiner | null>
  extends LookupArgs<C>, SharedTableArgs {}

/** Arguments of a layer with an open table of its own, which is named as the layer is. */
export interface OpenTableLayerArgs<C extends Combiner | null = Combiner | null>
  extends LookupArgs<C>, Omit<OpenTableArgs, 'name' | 'trainable'> {
  table?: null | undefined;
}

/** Either `inputDim` and `outputDim`, or `capacity` and `outputDim`, or `table`. */
export type AnyTableLayerArgs<C extends Combiner | null = Combiner | null> =
  TableLayerArgs<C> | SharedTableLayerArgs<C> | OpenTableLayerArgs<C>;

/** Arguments of a layer in any of these forms. */
type GivenArgs = Omit<TableLayerArgs, 'table'> & Partial<OpenTableArgs> & { table?: EmbeddingTable | null | undefined };

const LAYER_FIELDS: readonly (keyof GivenArgs)[] = [
  ...TABLE_ARGUMENTS,
  'table',
  'combiner',
  'maskZero',
  'inputLength',
  'maxNorm',
  'outOfRange',
  'activityRegularizer',
  ...OPEN_TABLE_FIELDS,
  ...LAYER_OPTIONS,
];

/** Throws for settings of a table that come beside one: it has them already. */
export function refuseBesideTable(args: object, fields: readonly string[]): void {
  for (const field of fields) {
    const value: unknown = (args as Record<string, unknown>)[field];
    if (value === undefined || value === null) continue;
    const message = `\`${field}\` cannot be set together with \`table\`; pass it to emb.embeddingTable().`;
    throw new ValueError(field, 'nothing beside `table`', described(describe(value), message));
  }
}

/** The fields of an open table; an error for those that only such a one has, where there is no `capacity`. */
function openTableOf(args: GivenArgs, name: string): OpenTable | null {
  const given = OPEN_TABLE_FIELDS.filter((field) => (args[field] ?? null) !== null);
  if (given.length === 0) return null;
  if ((args.capacity ?? null) === null) {
    throw new ArgumentTypeError('capacity', `a number of rows, beside \`${given[0]}\``, args.capacity);
  }
  if ((args.inputDim ?? null) !== null) throw new ValueError('inputDim', 'nothing beside `capacity`', args.inputDim);
  if ((args.weights ?? null) !== null)
    throw new ValueError('weights', 'nothing beside `capacity`', described('weights'));
  const { trainable: _ofLayer, ...own } = args;
  return new OpenTable(own, name);
}

function readTable(args: GivenArgs, name: string): EmbeddingTable {
  const { table } = args;
  if (table === undefined || table === null) {
    const { trainable: _ofLayer, ...own } = args;
    return openTableOf(args, name) ?? new EmbeddingTable(own as TableArgs, false, name);
  }
  if (!isTable(table))
    throw new ArgumentTypeError('table', 'a table made by emb.embeddingTable or emb.openTable', table);
  for (const field of ['inputDim', 'outputDim'] as const) {
    const given = args[field];
    if (given !== undefined && given !== table[field]) {
      throw new ValueError(field, `${table[field]}, as in table ${table.name}, or nothing`, given);
    }
  }
  refuseBesideTable(args, [...TABLE_SETTINGS, ...OPEN_TABLE_FIELDS]);
  return table;
}

/** Arguments as the base class of tfjs takes them; ids are int32, so a model that begins here asks for int32. */
function baseArgs(args: GivenArgs, name: string, inputLength: number | SymbolicShape | null, leastAxes: 0 | 1): object {
  const trainable = checkBoolean(args.trainable, 'trainable', true);
  return { name, trainable, batchInputShape: readInputShape(args, inputLength, leastAxes), dtype: 'int32' };
}

function readLayerArgs(args: unknown, prefix: string): { args: GivenArgs; name: string } {
  const checked = readOptions<GivenArgs>(args, LAYER_FIELDS, 'args');
  checkDtype(checked.dtype, 'dtype');
  checkDtype(checked.inputDType, 'inputDType');
  refuseActivityRegularizer(checked.activityRegularizer);
  return { args: checked as GivenArgs, name: checkName(checked.name) ?? nextName(prefix) };
}

/** What ids and weights are called in errors. */
const PATHS = { ids: 'ids', weights: 'weights' };

/** The list of weights that are never trained, which tfjs keeps to itself. */
function withState(layer: object): { readonly _nonTrainableWeights: tf.LayerVariable[] } {
  return layer as { _nonTrainableWeights: tf.LayerVariable[] };
}

export abstract class TableLayer<C extends Combiner | null = Combiner | null>
  extends LayerOfTables
  implements TableHolder
{
  protected abstract readonly kind: FeatureKind;
  readonly table: EmbeddingTable;
  readonly combiner: C;
  readonly maskZero: boolean;
  readonly inputLength: number | SymbolicShape | null;
  readonly maxNorm: number | null;
  readonly outOfRange: OutOfRange;
  /** The table's weight, once the layer is built. */
  embeddings: tf.LayerVariable | null = null;

  /** `takesSingles`: ids may be one per sample where no combiner is given. */
  constructor(given: AnyTableLayerArgs<C>, prefix: string, takesSingles: boolean) {
    const { args, name } = readLayerArgs(given, prefix);
    const inputLength = checkInputLength(args.inputLength);
    const leastAxes = takesSingles && (args.combiner ?? null) === null ? 0 : 1;
    super(baseArgs(args, name, inputLength, leastAxes) as never);
    adopt(this);
    this.inputLength = inputLength;
    const { combiner } = args;
    this.combiner = (combiner === undefined || combiner === null ? null : checkCombiner(combiner)) as C;
    this.maskZero = checkBoolean(args.maskZero, 'maskZero', false);
    this.maxNorm = checkMaxNorm(args.maxNorm) || null;
    this.outOfRange = checkOutOfRange(args.outOfRange);
    this.table = readTable(args, name);
    if (this.table instanceof OpenTable) this.#checkOpen(this.table);
  }

  /** The rows that unknown keys share are added, which no maximum and no norm of a row allows. */
  #checkOpen({ lookups }: OpenTable): void {
    if (this.outOfRange !== 'error') {
      throw new ValueError(
        'outOfRange',
        'nothing: `unknown` of the table says what keys without a row give',
        this.outOfRange,
      );
    }
    if (lookups === 1) return;
    const expected = 'where unknown keys are the sum of several rows';
    if (this.combiner === 'max') throw new ValueError('combiner', `not 'max' ${expected}`, this.combiner);
    if (this.maxNorm !== null) throw new ValueError('maxNorm', `null ${expected}`, this.maxNorm);
  }

  get inputDim(): number {
    return this.table.inputDim;
  }

  get outputDim(): number {
    return this.table.outputDim;
  }

  /** For the table, when this layer is the first to be built. */
  createWeight(initializer: Initializer): tf.LayerVariable {
    const { table } = this;
    const { weightForm } = table;
    const { shape, dtype } = weightForm;
    return this.addWeight('embeddings', shape, dtype, table.packing(initializer), undefined, true, undefined, () =>
      zerosOf(weightForm),
    );
  }

  /** For an open table, beside `createWeight`. */
  createState(name: string, shape: number[]): tf.LayerVariable {
    const weight = this.addWeight(name, shape, 'int32', tf.initializers.zeros(), undefined, false);
    // `build` lists it, as for the layers that share it.
    withState(this)._nonTrainableWeights.splice(withState(this)._nonTrainableWeights.indexOf(weight), 1);
    return weight;
  }

  override build(_inputShape: SymbolicShape | SymbolicShape[]): void {
    if (this.embeddings !== null) return;
    const weight = this.table.attach(this);
    this.embeddings = weight;
    if (this.table.listsWeight && !this._trainableWeights.includes(weight)) this._trainableWeights.push(weight);
    if (this.table instanceof OpenTable) withState(this)._nonTrainableWeights.push(this.table.stateWeight!);
    const { regularizer } = this.table;
    if (regularizer !== null && this.table.rowCodec.training !== null) {
      this.addLoss(asPenalty(() => touchedRowsPenalty(tableOf(weight.read()), regularizer), regularizer) as never);
    }
    this.built = true;
  }

  /** The table, once the layer is built. */
  protected get variable(): tf.Variable {
    const { variable } = this.table;
    if (variable === null || this.embeddings === null) {
      throw new RuntimeError('layer', 'a layer that was built', described(`${this.name}, never applied`));
    }
    return variable;
  }

  override get trainable(): boolean {
    return super.trainable;
  }

  override set trainable(trainable: boolean) {
    super.trainable = trainable;
    this.table.refresh();
  }

  /**
   * For the table, when a model is quantized.
   *
   * @internal
   */
  freeze(): void {
    this.trainable = false;
  }

  override calculateLosses(): tf.Scalar[] {
    return notYetPenalized([this.table]).length === 0 ? [] : super.calculateLosses();
  }

  override getWeights(): tf.Tensor[] {
    const isOpen = this.table instanceof OpenTable;
    if (this.table.listsWeight && !isOpen) return super.getWeights();
    const received = described(`layer ${this.name} on ${isOpen ? 'open' : 'disk'} table ${this.table.name}`);
    throw new RuntimeError('getWeights', 'a table whose rows stay; use `table.export()`', received);
  }

  /** Sets the table from [tensor], or from nested or typed arrays; one of packed rows from their words too. */
  override setWeights(weights: readonly unknown[]): void {
    const { inputDim, outputDim } = this;
    const { embeddings, table } = this;
    if (!table.listsWeight) {
      const received = described(`layer ${this.name} on disk table ${table.name}`);
      throw new RuntimeError('setWeights', 'a table in memory', received);
    }
    const values = readTableValues(weights, inputDim, outputDim, table.form);
    if (embeddings === null) throw new RuntimeError('setWeights', 'a layer that was built', described(this.name));
    tf.tidy(() => {
      embeddings.write(tableTensor(values, inputDim, outputDim));
    });
  }

  /**
   * Adds rows at the end of the table, also between steps of a training: for users and items that are new. What
   * `emb.train` optimizers and those of tfjs hold for the table grows too, and begins as in a new table; training goes
   * on as if the table had been of that size with these rows. `inputDim`, configs, and what is saved or exported from then on
   * are of the new size, and captured steps are captured anew.
   *
   * An initializer is asked for a table of the new size, whose last rows are taken: a seeded one gives the rows that a
   * table of that size would have begun with. A tensor [rows, outputDim] is the rows themselves, such as those that
   * `emb.foldIn` finds. A table that layers share grows for all of them.
   *
   * @param args - `{rows, initializer}`; see `ExtendArgs`.
   * @throws TypeError for wrong types; ValueError for rows that are not whole or below 1, more than 2^31 - 1 in all, and
   * tensors of another shape; RuntimeError for a layer that was not built or is disposed, within a step, for tables that
   * a plan places, and for layers over several tables or the features of `ConcatOneHotEmbedding`.
   *
   * @example
   * layer.extend({ rows: 100 });
   * layer.extend({ rows: 1, initializer: 'zeros' });
   */
  override extend(args: ExtendArgs): void {
    this.table.extend(args, this.name);
  }

  protected override disposeWeights(): number {
    return this.table.release(this);
  }

  /** Ids may have any rank, so nothing is said about the shape of the first input. */
  protected override warnOnIncompatibleInputShape(_inputShape: SymbolicShape): void {}

  /**
   * Applies the layer to symbolic or concrete inputs. Beyond what tfjs layers take, concrete ids may be a RaggedTensor,
   * sparse ids or arrays. Weights of ids go beside them, `[ids, weights]`, or into `kwargs.weights`.
   */
  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply<Ids extends IdsInput>(inputs: Ids, kwargs?: Kwargs): LookedUp<C, Ids>;
  override apply<Ids extends IdsInput>(inputs: WithWeights<Ids>, kwargs?: Kwargs): LookedUp<C, Ids>;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(given: unknown, options?: Record<string, unknown>): unknown {
    const { weights, ...rest } = options ?? {};
    const inputs = joinWeights(given, weights, (each) => this.readInputs(each));
    const kwargs = options && rest;
    const { ids } = this.readInputs(inputs);
    if (ids instanceof tf.Tensor) checkDense(this.feature, ids.shape, PATHS.ids);
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as unknown[];
    if (list.some(isSymbolic)) {
      this.#checkSymbolic(list);
      disableInputCast(list[0] as tf.SymbolicTensor);
      return super.apply(inputs as tf.SymbolicTensor[], kwargs as never);
    }
    if (this.givesTensor(list)) {
      return disposeWithMask(super.apply(inputs as tf.Tensor[], kwargs as never) as tf.Tensor);
    }
    // tfjs would hang a mask on the result, which a RaggedTensor does not take.
    const { supportsMasking } = this;
    this.supportsMasking = false;
    try {
      return super.apply(inputs as tf.Tensor[], kwargs as never);
    } finally {
      this.supportsMasking = supportsMasking;
    }
  }

  /** Whether the result for these concrete inputs can carry a mask. */
  protected givesTensor(inputs: unknown[]): boolean {
    return inputs.length > 0 && inputs.every((item) => item instanceof tf.Tensor);
  }

  /** Where keys are none that stand for nothing, of rows that stay apart; null: no mask. `masks`: dense rows have one. */
  protected maskOfOpen(table: OpenTable, ids: unknown, masks: boolean): tf.Tensor | null {
    if (this.combiner !== null) return null;
    return maskOfKeys({ table, skipZero: this.maskZero }, ids, masks);
  }

  /** Checks at the start of a training pass that runs under a stock optimizer. */
  protected checkTraining(kwargs: Record<string, unknown> | undefined): void {
    checkTableTraining(this.table, this.name, kwargs);
  }

  /** The ids of a call and their weights. Throws for inputs of a wrong form. */
  protected abstract readInputs(inputs: unknown): LayerInputs;

  /**
   * How this layer looks ids up, as one feature among others.
   *
   * @internal
   */
  get feature(): Feature {
    const { kind, combiner, maskZero, maxNorm, outOfRange, inputLength } = this;
    return { kind, combiner, maskZero, maxNorm, outOfRange, inputLength };
  }

  /** Throws for weights that no combiner takes. */
  protected checkCombiner(isWeighted: boolean): void {
    if (!isWeighted || isWeighing(this.combiner)) return;
    throw new ValueError('combiner', `'sum', 'mean' or 'sqrtn' when weights are given`, this.combiner);
  }

  /** The shape of the result for dense ids, and weights, of these shapes. */
  protected shapeOfResult(ids: SymbolicShape, weights: SymbolicShape | null): SymbolicShape {
    return featureShape(this.feature, this.outputDim, ids, weights, PATHS);
  }

  /** The lookup of a call. `spreads`: ragged rows without a combiner come as a tensor. */
  protected lookUp(inputs: unknown, kwargs: Kwargs, spreads = false): tf.Tensor | RaggedTensor {
    const { table } = this;
    const { ids, weights } = this.readInputs(inputs);
    const call = (): void => {
      this.invokeCallHook(inputs as tf.Tensor, kwargs as never);
      this.checkTraining(kwargs);
    };
    if (!(table instanceof OpenTable)) return this.#lookUpRows({ ids, weights }, spreads, this.feature, call);
    const use = { table, skipZero: this.maskZero };
    const feature: Feature = {
      ...this.feature,
      outOfRange: 'zero',
      maskZero: false,
      keysPad: table.pads || this.maskZero,
    };
    return keyedLookUp(use, ids, (rows) => this.#lookUpRows({ ids: rows, weights }, spreads, feature, call));
  }

  #lookUpRows(
    { ids, weights: given }: LayerInputs,
    spreads: boolean,
    feature: Feature,
    call: () => void,
  ): tf.Tensor | RaggedTensor {
    const isDense = ids instanceof tf.Tensor && !isStandIn(ids);
    const weights = isDense ? checkWeights(given, ids.shape) : given;
    const paths = { ids: [PATHS.ids], weights: [PATHS.weights] };
    const names = [this.table.isShared ? `table ${this.table.name}` : null];
    const asked = { owner: this, ids: [ids], weights: [weights], paths, names, spreads };
    const [result] = lookUpFeatures([feature], [this.variable], asked, call);
    return result!;
  }

  #checkSymbolic(inputs: unknown[]): void {
    for (const input of inputs) {
      if (!isSymbolic(input)) throw new ArgumentTypeError('inputs', 'symbolic tensors only, or none', input);
    }
    const [ids] = inputs as [tf.SymbolicTensor];
    if (this.table instanceof OpenTable) markKeyInput(ids, this.table);
    else checkSymbolicIds(ids, this.inputDim, 'inputs');
  }

  /** Begins with the rows of a batch to come, where they lie in a file. */
  get [LOOK_AHEAD](): ((inputs: readonly tf.Tensor[]) => void) | undefined {
    const { table } = this;
    if (table.listsWeight || this.embeddings === null) return undefined;
    return (inputs) => {
      const { ids, weights } = this.readInputs(inputs);
      const asked = { owner: this, ids: [ids], weights: [weights], names: [null] };
      const paths = { ids: [PATHS.ids], weights: [PATHS.weights] };
      lookFeaturesAhead([this.feature], [this.variable], { ...asked, paths });
    };
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { dtype: _ofIds, ...base } = super.getConfig();
    const { isShared } = this.table;
    const { optimizer, ...table } = this.table.tableConfig();
    const config = {
      ...table,
      activityRegularizer: null,
      maskZero: this.maskZero,
      inputLength: this.inputLength,
      combiner: this.combiner,
      maxNorm: this.maxNorm,
      outOfRange: this.outOfRange,
      optimizer: isShared ? null : optimizer,
      table: isShared ? this.table.getConfig() : null,
      ...base,
    };
    return config as unknown as tf.serialization.ConfigDict;
  }

  /**
   * Makes the layer from its own config, or from one of Keras 2 or 3, NVIDIA's distributed-embeddings or Keras RS
   * (EmbedReduce), with snake_case or camelCase keys.
   */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const args = readKerasConfig(config) as Record<string, unknown>;
    const { table } = args;
    if (table === undefined || table === null) return new cls(args as tf.serialization.ConfigDict);
    const fields = checkObject(table, 'table');
    const name = checkName(fields['name'], 'table.name') ?? nextName('embedding_table');
    const shared = tableOfLoad(name, () =>
      'file' in fields
        ? (fromPlatform('openDiskTable', 'table', 'A disk table')(fields, name) as EmbeddingTable)
        : 'capacity' in fields
          ? OpenTable.fromConfig(fields, name)
          : new EmbeddingTable(fields as unknown as TableArgs, true, name),
    );
    const own: Record<string, unknown> = { ...args, table: shared };
    for (const field of [...TABLE_SETTINGS, ...OPEN_TABLE_FIELDS]) delete own[field];
    return new cls(own as tf.serialization.ConfigDict);
  }
}
