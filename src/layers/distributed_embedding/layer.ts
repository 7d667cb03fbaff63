/** The layer `DistributedEmbedding`: many tables on many devices, by a plan. */
import type * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, RuntimeError, described } from '../../base/errors.js';
import { refusePositional } from '../../base/positional.js';
import { touchedRowsPenalties } from '../../optimizers/penalty.js';
import { readOptions } from '../../base/options.js';
import type { EmbeddingPlan } from '../../partition/plan.js';
import { ARGUMENTS, checkKept, checkSeed, checkWeighted, readAll, type DistributedEmbeddingArgs } from './arguments.js';
import { distributedConfig, readDistributedConfig } from './config.js';
import { featureNames, type DistributedFeatures } from './features.js';
import {
  checkSameWeighted,
  featuresByDevice,
  fedTensors,
  idPathsByDevice,
  readInputs,
  spreadWeights,
  type FeatureInputs,
  type InputForm,
} from './inputs.js';
import { PlanInForce, planRequest, readForcedPlan, type ForcedPlan } from './plan.js';
import { checkOutput, joined, joinedShape, type OutputForm } from './joined_output.js';
import { DistributedWeights, type WeightOwner } from './weights.js';
import { featureShapes } from '../embedding/layer_inputs.js';
import { lookFeaturesAhead, lookUpFeatures, type FeatureBatch } from '../embedding/feature_lookup.js';
import { adopt } from '../../tfjs/models/own_models.js';
import { LOOK_AHEAD } from '../../tfjs/training/look_ahead.js';
import { featurePaths, packAs } from './structure.js';
import type { AllLookedUp, AnyStructure, FeatureKwargs, Given, GivenIds, Symbolic } from './feature_types.js';
import { disableInputCast } from '../../tfjs/uncast_inputs.js';
import { OutputCache } from './output_cache.js';
import { checkBoolean, checkDtype, checkName, isSymbolic, shapesOf } from '../../base/layer_arguments.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { nextName } from '../../base/layer_names.js';
import { LayerOfTables } from '../layer_of_tables.js';
import { notYetPenalized } from '../../tfjs/shared_weights.js';
import { clearTopologyCache } from '../../tfjs/topology_cache.js';
import { checkSymbolicIds } from '../../tfjs/symbolic_ids.js';
import { checkTableTraining, penalizedOf } from '../../tables/table_training.js';
import { sourcesByName, sourcesInOrder, writeTables, type TableSource } from '../../tables/writes.js';

export type { DistributedEmbeddingArgs } from './arguments.js';

/** Under which weights travel through tfjs to `call`. */
const WEIGHTS = 'weights';

/**
 * A layer of many embedding tables, which a plan places on the devices of the backend (`tpu-emulator`); elsewhere they
 * lie in the memory of the backend, and everything gives the same.
 *
 * Either `embeddings`, a list of unbuilt embedding layers or of {inputDim, outputDim, combiner, …}: takes a list with the
 * ids of each input (by default one per item; `inputTableMap` gives the item of each input) and returns a list, as those
 * layers would each by itself. Or `features`, `FeatureConfig`s in objects and arrays of any depth: takes ids and
 * returns results in that structure, [batch, dim] each, whatever the form of the ids. Ids may be tensors, RaggedTensors,
 * sparse ids, arrays and {values, rowSplits}, mixed in any order; `apply(ids, {weights})` takes weights in the structure
 * of the ids, null where a feature has none. `output: 'concat'` gives one tensor with the results side by side. All ids of a call have one batch size, which need not divide by the number
 * of devices. With `dpInput: false`, `inputs[device]` lists that device's features in the order of
 * `layer.plan.ranks[device].tableParallel.inputIdsGlobal`; weights stay in the structure of the features.
 *
 * There is one weight per table, float32 [inputDim, outputDim], saved as `<layer>/<table>/embeddings` in the global
 * layout: a model that was saved on 8 devices loads on 3, or on none, with equal bits. Initial values depend on the
 * seed, the row and the column alone. `plan` is the plan in force; where the number of devices changes, tables move at
 * the next call. No masks are passed on.
 * Source: DistributedEmbedding of NVIDIA distributed-embeddings 23.06 and of Keras RS 0.4.
 *
 * @throws TypeError for missing or wrongly typed arguments and ids; ValueError for unknown names, parts of the structure
 * that are missing or too many, batches of different sizes, plans that do not fit, and all that `Embedding` refuses.
 *
 * @example
 * const layer = emb.layers.distributedEmbedding({
 *   embeddings: [{inputDim: 1000, outputDim: 8, combiner: 'sum'}, {inputDim: 50, outputDim: 8, combiner: 'mean'}],
 *   strategy: 'memory_balanced',
 * });
 * const [users, items] = layer.apply([[[3, 1], [4, 4]], [[7], [8]]]); // [2, 8] each
 */
export class DistributedEmbedding<S = AnyStructure, I = S> extends LayerOfTables {
  static {
    brand(this, 'DistributedEmbedding');
  }
  static readonly className: string = 'TfjsEmbeddings>DistributedEmbedding';
  readonly #all: DistributedFeatures;
  readonly #args: Partial<DistributedEmbeddingArgs>;
  readonly #plan: PlanInForce;
  readonly #forced: ForcedPlan | null;
  readonly #weights: DistributedWeights;
  readonly #dpInput: boolean;
  readonly #outputForm: OutputForm;
  /** What the ids and the weights of each feature are called in errors. */
  readonly #paths: { readonly ids: readonly string[]; readonly weights: readonly string[] };
  /** What each feature looks up, in errors. */
  readonly #names: readonly string[];
  #weighted: readonly number[] | null;
  #layerVariables: tf.LayerVariable[] = [];
  #isReady = false;
  readonly #outputCache = new OutputCache();

  /** @param args - See `DistributedEmbeddingArgs`. */
  constructor(args: DistributedEmbeddingArgs);
  constructor(...passed: [DistributedEmbeddingArgs]) {
    refusePositional('emb.layers.distributedEmbedding', ['embeddings', 'inputTableMap'], passed);
    const given = readOptions<DistributedEmbeddingArgs>(passed[0], ARGUMENTS, 'args');
    checkDtype(given.dtype, 'dtype');
    const name = checkName(given.name) ?? nextName('distributed_embedding');
    const trainable = checkBoolean(given.trainable, 'trainable', true);
    const seed = checkSeed(given.seed);
    checkKept(given);
    const all = readAll(given);
    super({ name, trainable } as never);
    adopt(this);
    this.#all = all;
    this.#args = given;
    this.#paths = { ids: featurePaths(all.structure, 'inputs'), weights: featurePaths(all.structure, WEIGHTS) };
    this.#names = featureNames(all);
    this.#dpInput = checkBoolean(given.dpInput, 'dpInput', true);
    this.#outputForm = checkOutput(given.output);
    this.#weighted = checkWeighted(given.weightedFeatures, all.features.length);
    const request = planRequest(all, given);
    this.#forced = readForcedPlan(given.plan, request);
    this.#plan = new PlanInForce(request, this.#forced, all.tables);
    this.#weights = new DistributedWeights(this.#owner(), this.#plan, all.tables, seed);
  }

  /** The plan in force; null before the layer is built. */
  get plan(): EmbeddingPlan | null {
    return this.#isReady ? this.#plan.plan : null;
  }

  /** Names of the tables, in the order of `getWeights()`. */
  get tableNames(): string[] {
    return this.#all.tables.map(({ name }) => name);
  }

  /**
   * What is looked up where: tables, features, and the structure in which their results come.
   *
   * @internal
   */
  get lookups(): DistributedFeatures {
    return this.#all;
  }

  /** Whether results come in the structure of the features, or side by side in one tensor. */
  get outputForm(): OutputForm {
    return this.#outputForm;
  }

  /** Features that have weights in a symbolic graph: their weights follow the ids of all features. */
  get weightedFeatures(): readonly number[] {
    return this.#weighted ?? [];
  }

  #owner(): WeightOwner {
    const layer = this as unknown as { addWeight(...args: unknown[]): tf.LayerVariable };
    return {
      name: this.name,
      get trainable() {
        return (layer as unknown as tf.layers.Layer).trainable;
      },
      freeze: () => {
        this.trainable = false;
      },
      makeWeight: (name, { shape, dtype }, initializer, fast) =>
        layer.addWeight(name, shape, dtype, initializer, null, true, null, () => fast),
    };
  }

  override build(_inputShape?: SymbolicShape | SymbolicShape[]): void {
    if (this.#isReady) return;
    this.#plan.refresh();
    try {
      this.#layerVariables = this.#weights.attach();
    } catch (error) {
      // The layer may be built again, on a larger machine.
      this.#weights.release();
      this._trainableWeights = [];
      (this as unknown as { _addedWeightNames: string[] })._addedWeightNames = [];
      throw error;
    }
    for (const weight of this.#layerVariables) {
      if (!this._trainableWeights.includes(weight)) this._trainableWeights.push(weight);
    }
    this.#isReady = true;
    this.built = true;
    this.#plan.tell(this, this.name, () => this.#weights.variables);
  }

  /** Brings plan and tables in line with the backend in use, which may have changed. */
  #follow(): void {
    if (!this.#plan.refresh()) return;
    try {
      this.#weights.placeTables();
    } catch (error) {
      this.#plan.forget();
      throw error;
    }
    this.#plan.tell(this, this.name, () => this.#weights.variables);
  }

  override get trainable(): boolean {
    return super.trainable;
  }

  override set trainable(trainable: boolean) {
    super.trainable = trainable;
    this.#weights.refresh();
  }

  override calculateLosses(): tf.Scalar[] {
    if (!this.#isReady) return [];
    const tables = notYetPenalized(this.#all.tables.map(({ table }) => table));
    return touchedRowsPenalties(tables.flatMap(penalizedOf));
  }

  get #byDevice(): number[][] | null {
    return this.#dpInput || this.#plan.plan === null ? null : featuresByDevice(this.#plan.plan);
  }

  get #idPaths(): readonly string[] {
    const byDevice = this.#byDevice;
    return byDevice === null ? this.#paths.ids : idPathsByDevice(byDevice);
  }

  #form(): InputForm {
    if (!this.#dpInput) this.#plan.refresh();
    const byDevice = this.#byDevice;
    const { structure, features } = this.#all;
    return { structure, count: features.length, weighted: this.#weighted, byDevice };
  }

  /**
   * Applies the layer to symbolic or concrete inputs, in the structure of its features. `kwargs.weights`: weights in the
   * same structure, null where a feature has none.
   */
  override apply<Ids extends Given<I, tf.SymbolicTensor>>(inputs: Ids, kwargs?: FeatureKwargs<S>): Symbolic<S, Ids>;
  override apply<Ids extends GivenIds<I>>(inputs: Ids, kwargs?: FeatureKwargs<S>): AllLookedUp<S, Ids>;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: unknown, kwargs?: Kwargs): unknown {
    this.assertNotDisposed();
    // A plan that is only looked at must not count as a change of devices that #follow has seen.
    if (this.#isReady) this.#follow();
    const fed = fedTensors(inputs, kwargs?.[WEIGHTS]);
    const isTraining = kwargs?.['training'] === true;
    const known = fed === null ? null : this.#outputCache.outputsOf(fed, isTraining);
    if (known !== null) return known;
    const given = readInputs(inputs, kwargs?.[WEIGHTS], this.#form());
    const { [WEIGHTS]: _taken, ...rest } = kwargs ?? {};
    const someSymbolic = [...given.ids, ...given.weights].some(isSymbolic);
    const outputs = someSymbolic ? this.#applySymbolic(given, rest) : this.#applyConcrete(given, rest);
    const { structure } = this.#all;
    if (this.#outputForm === 'concat') return outputs[0];
    const packed = given.isFlat && structure.kind !== 'feature' ? outputs : packAs(structure, outputs);
    if (fed !== null && Array.isArray(packed)) this.#outputCache.keep(fed, packed, isTraining);
    return packed;
  }

  #applySymbolic(given: FeatureInputs, kwargs: Record<string, unknown>): unknown[] {
    const weighted = given.weights.flatMap((weights, feature) => (weights === null ? [] : [feature]));
    const flat = [...given.ids, ...weighted.map((feature) => given.weights[feature])];
    for (const input of flat) {
      if (!isSymbolic(input)) throw new ArgumentTypeError('inputs', 'symbolic tensors only, or none', input);
    }
    const [before, paths] = [this.#weighted, this.#idPaths];
    checkSameWeighted(before, weighted);
    given.ids.forEach((ids, feature) => {
      const { table } = this.#all.tables[this.#all.features[feature]!.table]!;
      checkSymbolicIds(ids as tf.SymbolicTensor, table.inputDim, paths[feature]!);
    });
    this.#weighted = weighted;
    try {
      for (const ids of given.ids) disableInputCast(ids as tf.SymbolicTensor);
      const outputs = super.apply(flat as tf.SymbolicTensor[], kwargs as never);
      return Array.isArray(outputs) ? outputs : [outputs];
    } catch (error) {
      this.#weighted = before;
      throw error;
    }
  }

  #applyConcrete(given: FeatureInputs, kwargs: Record<string, unknown>): unknown[] {
    const result: unknown = super.apply(given.ids as tf.Tensor[], { ...kwargs, [WEIGHTS]: given.weights } as never);
    return Array.isArray(result) ? (result as unknown[]) : [result];
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor | tf.Tensor[] {
    const { features, tables } = this.#all;
    const { batch, variables } = this.#asked((Array.isArray(inputs) ? inputs : [inputs]) as unknown[], kwargs[WEIGHTS]);
    const results = lookUpFeatures(features, variables, batch, () => {
      this.invokeCallHook(inputs, kwargs as never);
      for (const { table } of tables) checkTableTraining(table, this.name, kwargs);
    }) as tf.Tensor[];
    return this.#outputForm === 'concat' ? joined(results, batch.paths.ids) : results;
  }

  /**
   * Starts the lookups of a batch to come.
   *
   * @internal
   */
  [LOOK_AHEAD](inputs: readonly tf.Tensor[]): void {
    if (!this.#isReady) return;
    const { batch, variables } = this.#asked(inputs, undefined);
    lookFeaturesAhead(this.#all.features, variables, batch);
  }

  /** What a call asks for. */
  #asked(list: readonly unknown[], given: unknown): { batch: FeatureBatch; variables: tf.Variable[] } {
    const { features } = this.#all;
    const weights = (given as unknown[] | undefined) ?? spreadWeights(list, features.length, this.#weighted ?? []);
    const variables = features.map(({ table }) => this.#weights.variable(table));
    const paths = { ...this.#paths, ids: this.#idPaths };
    const asked = { owner: this, ids: list.slice(0, features.length), weights, paths, names: this.#names };
    return { batch: { ...asked, idsArePlaced: !this.#dpInput, isReported: true, sizesMayDiffer: true }, variables };
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[] {
    const { features, tables } = this.#all;
    const dims = features.map(({ table }) => tables[table]!.table.outputDim);
    const paths = { ...this.#paths, ids: this.#idPaths };
    const shapes = featureShapes(features, dims, shapesOf(inputShape), this.#weighted ?? [], paths);
    return this.#outputForm === 'concat' ? joinedShape(shapes, paths.ids) : shapes;
  }

  /** Ids may have any rank, so nothing is said about the shapes of inputs. */
  protected override warnOnIncompatibleInputShape(_inputShape: SymbolicShape): void {}

  /** The tables in their order, as in `layer.weights`. */
  override getWeights(trainableOnly = false): tf.Tensor[] {
    const weights = trainableOnly ? this.trainableWeights : this.#layerVariables;
    return weights.map((weight) => weight.read());
  }

  /**
   * Sets all tables, in their order: tensors, typed or nested arrays, or paths of .npy files, which are read in pieces
   * of at most `chunkElements`. Nothing is written where anything is wrong.
   * Source: set_weights of NVIDIA distributed-embeddings 23.06.
   *
   * @throws RuntimeError before the layer is built; TypeError and ValueError for values that do not fit.
   */
  override setWeights(weights: readonly unknown[], options?: { chunkElements?: number }): void {
    this.#checkReady('setWeights');
    this.#write(sourcesInOrder(weights, this.tableNames), options);
  }

  /**
   * Returns the ids of each device, in the order in which a layer with `dpInput: false` takes them: those of a feature go
   * to every device that holds columns or rows of its table.
   *
   * @param inputs - The ids of all features, in their structure, as a layer with `dpInput: true` takes them.
   * @returns A list for each device of the plan.
   * @throws RuntimeError on backends without devices; TypeError and ValueError for inputs that do not fit the features. Source: dp_input=False of NVIDIA distributed-embeddings 23.06.
   *
   * @example
   * layer.apply(layer.splitByDevice([users, items]));
   */
  splitByDevice(inputs: unknown): unknown[][] {
    this.#plan.refresh();
    const { plan } = this.#plan;
    if (plan === null) {
      const note = 'Without devices apply takes ids as they are.';
      throw new RuntimeError('splitByDevice', 'a backend with devices', described('none'), note);
    }
    const { structure, features } = this.#all;
    const form = { structure, count: features.length, weighted: this.#weighted, byDevice: null };
    const { ids } = readInputs(inputs, null, form);
    return featuresByDevice(plan).map((own) => own.map((feature) => ids[feature]));
  }

  /**
   * Copies of all tables by name, in the global layout; they are the caller's to dispose.
   *
   * @returns A copy of each table, [rows, dim] float32.
   */
  getTables(): Record<string, tf.Tensor2D> {
    this.#checkReady('getTables');
    this.#follow();
    return this.#weights.copies();
  }

  /**
   * Sets tables by name, from all that `setWeights` takes; those without a name in `tables` stay as they are.
   *
   * @param tables - Values by the name of their table.
   * @param options - How many rows are written at a time.
   * @throws ValueError for a name of no table.
   */
  setTables(tables: Readonly<Record<string, unknown>>, options?: { chunkElements?: number }): void {
    this.#checkReady('setTables');
    this.#write(sourcesByName(tables, this.tableNames), options);
  }

  #write(sources: readonly TableSource[], options: { chunkElements?: number } | undefined): void {
    this.#follow();
    writeTables(
      sources.map((source) => {
        const { name, table } = this.#all.tables[source.table]!;
        const weight = this.#layerVariables[source.table]!;
        const { inputDim: rows, outputDim: columns } = table;
        return { ...source, name, rows, columns, weight, devices: this.#plan.devices };
      }),
      options,
    );
  }

  #checkReady(what: string): void {
    this.assertNotDisposed();
    if (this.#isReady) return;
    const note = 'Apply it first, or call build().';
    throw new RuntimeError(what, 'a layer that was built', described(`${this.name}, which was not`), note);
  }

  override dispose(): ReturnType<tf.layers.Layer['dispose']> {
    const counted = this as unknown as { _refCount: number | null };
    // tfjs counts uses, and knows none of a layer that was built by hand.
    if (this.#isReady) counted._refCount ??= 1;
    return super.dispose();
  }

  protected override disposeWeights(): number {
    this.#outputCache.forget();
    this.#plan.release(this);
    clearTopologyCache();
    return this.#weights.release();
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { dtype: _none, ...base } = super.getConfig();
    const weightedFeatures = this.#weighted;
    const own = distributedConfig(this.#all, this.#args, { plan: this.#forced?.plan ?? null, weightedFeatures });
    return { ...own, ...base } as unknown as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its own config or from one of Keras RS, with snake_case or camelCase keys. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readDistributedConfig(config) as unknown as tf.serialization.ConfigDict);
  }
}
