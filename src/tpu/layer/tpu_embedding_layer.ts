/** The layer of TPU tables for models of tfjs. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { devicesInUse } from '../../backends/registry.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, checkName, isSymbolic, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { initializerOf } from '../../tables/initial_values.js';
import { nextName } from '../../base/layer_names.js';
import { refusePositional } from '../../base/positional.js';
import { readOptions } from '../../base/options.js';
import { OutputCache } from '../../layers/distributed_embedding/output_cache.js';
import { fedTensors } from '../../layers/distributed_embedding/inputs.js';
import { addIdDetails } from '../../ids/id_out_of_range.js';
import { adopt } from '../../tfjs/models/own_models.js';
import { fedPlace, disableInputCast } from '../../tfjs/uncast_inputs.js';
import { areReplaced, beforeReads, watchReplacements } from '../../tfjs/layer_weights.js';
import { isTapeOn, withoutTape } from '../../tfjs/lazy_gradient.js';
import { checkSymbolicIds } from '../../tfjs/symbolic_ids.js';
import type { FeatureConfig } from '../config/feature_config.js';
import { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import { layerBags, layerShape } from '../embedding/layer_bags.js';
import type { FeatureLookup } from '../embedding/table_lookups.js';
import { inputIds } from '../features/padded_ids.js';
import { FeatureNest, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { hasKernel } from '../optimizers/kernel_step.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { EmbeddingTables } from '../tables/embedding_tables.js';
import { readTables } from '../tables/read_tables.js';
import { ARGUMENTS, readSavedLayer, savedFeatures, savedOptimizer, savedSettings } from './layer_config.js';
import { RowTables, type LayerTables } from './layer_tables.js';
import { SparseCoreTables, checkSparseCores, hasSparseCores } from './sparse_core_tables.js';
import { TrainingPass } from './training_pass.js';

export interface TPUEmbeddingLayerArgs {
  /** FeatureConfigs in objects and arrays of any depth. */
  featureConfig: NestedFeatureConfigs;
  /** Of tables that have none: it steps the tables, whatever optimizer the model is compiled with. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  /** 1 (the default): tables as `TPUEmbedding` keeps them; 2: on SparseCores, as `TPUEmbeddingV2` does. */
  version?: 1 | 2 | undefined;
  /** Of version 2: how tables are stacked, and limits, which are an error where a batch exceeds them. Default: no limits. */
  sparseCoreEmbeddingConfig?: SparseCoreEmbeddingConfig | null | undefined;
  name?: string | undefined;
  trainable?: boolean | undefined;
}

const OUTSIDE_NAMES = /[^-A-Za-z0-9._/]/g;

type AddWeight = (...args: unknown[]) => tf.LayerVariable;

function readVersion(version: unknown): 1 | 2 {
  if (version === undefined || version === null) return 1;
  if (typeof version !== 'number') throw new ArgumentTypeError('version', '1 or 2', version);
  if (version === 1 || version === 2) return version;
  throw new ValueError('version', '1 or 2', version);
}

function readSettings(settings: unknown, version: 1 | 2): SparseCoreEmbeddingConfig | null {
  if (settings === undefined || settings === null) return null;
  const argument = 'sparseCoreEmbeddingConfig';
  if (!(settings instanceof SparseCoreEmbeddingConfig)) {
    throw new ArgumentTypeError(argument, 'an emb.tpu.SparseCoreEmbeddingConfig', settings);
  }
  if (version === 1) throw new ValueError(argument, 'version: 2 beside it', described('version 1'));
  return settings;
}

/** Only SparseCores run a function of the user's. */
function checkKernels({ tables }: EmbeddingTables): void {
  for (const { name, optimizer } of tables) {
    if (optimizer === null || hasKernel(optimizer)) continue;
    const received = described('a CustomOptimizer');
    throw new RuntimeError('optimizer', `another one for table ${name}`, received, 'version: 2 runs it.');
  }
}

/**
 * Tables of the TPU embedding API as a layer of `tf.model`.
 *
 * Takes int32 ids in the structure of `featureConfig`: [batch], [batch, ids], or with more axes, of which the last is
 * combined; negative ids stand for nothing. Gives activations in that structure: [batch, …, dim], or
 * [batch, maxSequenceLength, dim] for sequences; batches may be of any size. `apply` takes ragged and sparse ids too.
 * On `tpu-emulator` it trains in `fit` under any optimizer of `compile`: that one steps the dense part of the model, and each
 * table is stepped by its own optimizer where its rows lie, when the backward pass ends. Elsewhere it predicts, and refuses
 * to train; version 2 also on a number of cores that is no power of two.
 * Weights: the tables, then their slots, none of them trainable by others, then `gradient_variable`, a single zero by which
 * gradients are found. All are saved with the model in the global layout and load on any number of devices, and in either
 * version. Version 2 keeps them on the host, and trains copies on the SparseCores, from which they are read when needed.
 * Source: tfrs.layers.embedding.TPUEmbedding (TensorFlow Recommenders 0.7), over the API of TensorFlow 2.21.
 *
 * @throws TypeError and ValueError, which name the feature, for configs and ids that do not fit, and for ids beyond the
 * limits of `sparseCoreEmbeddingConfig`; RuntimeError for training without the emulator.
 *
 * @example
 * const table = new emb.tpu.TableConfig({vocabularySize: 1000, dim: 8, combiner: 'mean', name: 'movies'});
 * const layer = emb.layers.tpuEmbedding({
 *   featureConfig: [new emb.tpu.FeatureConfig({table})],
 *   optimizer: new emb.tpu.Adagrad({learningRate: 0.1}),
 * });
 * const seen = tf.input({shape: [10], dtype: 'int32'});
 * const [pooled] = layer.apply([seen]); // [null, 8]
 */
export class TPUEmbeddingLayer extends tf.layers.Layer {
  static {
    brand(this, 'tpu.TPUEmbeddingLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>TPUEmbedding';
  readonly version: 1 | 2;
  readonly #nest: FeatureNest;
  readonly #optimizer: TPUEmbeddingOptimizer | null;
  readonly #tableOf: readonly number[];
  readonly #tables: EmbeddingTables;
  readonly #rowTables: RowTables;
  readonly #sparseCores: SparseCoreTables | null;
  readonly #settings: SparseCoreEmbeddingConfig | null;
  readonly #pass = new TrainingPass(() => this.#gradientVariable!);
  readonly #outputs = new OutputCache();
  readonly #paths: readonly string[];
  #gradientVariable: tf.Variable | null = null;
  #weights: tf.LayerVariable[] = [];

  constructor(args: TPUEmbeddingLayerArgs);
  constructor(...passed: [TPUEmbeddingLayerArgs]) {
    refusePositional('emb.layers.tpuEmbedding', ARGUMENTS, passed);
    const given = readOptions<TPUEmbeddingLayerArgs>(passed[0], ARGUMENTS, 'args');
    const version = readVersion(given.version);
    const settings = readSettings(given.sparseCoreEmbeddingConfig, version);
    const optimizer = readOptimizer(given.optimizer);
    const nest = new FeatureNest(given.featureConfig);
    const { tables, tableOf } = readTables(nest.features, optimizer);
    super({
      name: checkName(given.name) ?? nextName('tpu_embedding'),
      trainable: checkBoolean(given.trainable, 'trainable', true),
    } as never);
    watchReplacements();
    adopt(this);
    this.version = version;
    this.#optimizer = optimizer;
    this.#nest = nest;
    this.#tableOf = tableOf;
    this.#paths = nest.paths('inputs');
    this.#settings = settings;
    this.#tables = new EmbeddingTables(tables, (name, made) => this.#adopt(name, made));
    if (version === 1) checkKernels(this.#tables);
    this.#rowTables = new RowTables(this.#tables);
    this.#sparseCores = version === 1 ? null : new SparseCoreTables(this.#tables, this.#paths, settings);
  }

  override build(_inputShape?: SymbolicShape | SymbolicShape[]): void {
    if (this.built) return;
    // On SparseCores tables have copies, which are those that count there.
    this.#tables.make(this.#sparseCores !== null && hasSparseCores() ? 'host' : 'devices');
    const weight = this.#addWeight('gradient_variable', [1], tf.initializers.zeros(), true);
    this.#gradientVariable = weight.read() as tf.Variable;
    this.#weights = this.#inOrder(weight);
    this.built = true;
  }

  /** Tables, then slots, then the gradient variable. */
  #inOrder(last: tf.LayerVariable): tf.LayerVariable[] {
    const byVariable = new Map(this.#weights.map((weight) => [weight.read(), weight]));
    return [...this.#tables.named().map(({ variable }) => byVariable.get(variable)!), last];
  }

  override get weights(): tf.LayerVariable[] {
    return [...this.#weights];
  }

  /**
   * What each input is looked up as, and the weight that is its table. Of a built layer.
   *
   * @internal
   */
  get features(): readonly { readonly feature: FeatureConfig; readonly table: tf.LayerVariable }[] {
    return this.#nest.features.map((feature, i) => ({ feature, table: this.#weights[this.#tableOf[i]!]! }));
  }

  #addWeight(name: string, shape: readonly number[], initializer: unknown, trainable: boolean): tf.LayerVariable {
    const add = (this as unknown as { addWeight: AddWeight }).addWeight.bind(this);
    return add(name, shape, 'float32', initializer, null, trainable, null, () => initializer);
  }

  /** Makes a variable one of the weights of the layer. */
  #adopt(name: string, made: tf.Variable): tf.Variable {
    const plain = name.replace(OUTSIDE_NAMES, '_');
    const saved = /^[A-Za-z0-9]/.test(plain) ? plain : `table${plain}`;
    const weight = this.#addWeight(
      saved,
      made.shape,
      initializerOf(() => made.clone()),
      false,
    );
    made.dispose();
    this.#weights.push(weight);
    const variable = weight.read() as tf.Variable;
    beforeReads(weight, () => {
      if (!areReplaced()) this.#settle();
    });
    return variable;
  }

  override apply(inputs: unknown, kwargs: Record<string, unknown> = {}): never {
    this.assertNotDisposed();
    const fed = fedTensors(inputs, null);
    const isTraining = kwargs['training'] === true;
    const known = fed === null ? null : this.#outputs.outputsOf(fed, isTraining);
    if (known !== null) return known as never;
    const { ids: flat, isFlat } = this.#flat(inputs);
    const isSome = flat.some(isSymbolic);
    if (isSome) {
      flat.forEach((ids, i) => {
        if (!isSymbolic(ids)) throw new ArgumentTypeError(this.#paths[i]!, 'a symbolic tensor, as the others', ids);
        checkSymbolicIds(ids, this.#nest.features[i]!.table.vocabularySize, this.#paths[i]!);
      });
      for (const ids of flat) disableInputCast(ids as tf.SymbolicTensor);
    }
    const found: unknown = super.apply(flat as tf.Tensor[], kwargs as never);
    const outputs = Array.isArray(found) ? (found as unknown[]) : [found];
    const asList = isFlat && this.#nest.structure.kind !== 'feature';
    if (fed !== null && asList) this.#outputs.keep(fed, outputs, isTraining);
    return (asList ? outputs : this.#nest.pack(outputs)) as never;
  }

  /** One entry per feature: from the structure, or from the flat list in which a model hands them on. */
  #flat(inputs: unknown): { ids: unknown[]; isFlat: boolean } {
    const list: unknown[] = Array.isArray(inputs) ? inputs : [inputs];
    const areTensors = list.every((each) => each instanceof tf.Tensor || isSymbolic(each));
    const isFlat = areTensors && list.length === this.#nest.features.length;
    return { ids: isFlat ? list : this.#nest.flatten(inputs, 'inputs'), isFlat };
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>): tf.Tensor[] {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as unknown[];
    const isTraining = kwargs['training'] === true && this.trainable && isTapeOn();
    if (isTraining) this.#checkTraining();
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const { activations, call } = withoutTape(() => {
        const { lookups, shapes } = this.#lookups(list);
        const found = this.#engine().lookUp(lookups, isTraining);
        return { activations: found.pooled.map((rows, i) => rows.reshape(shapes[i]!)), call: found.call };
      });
      return call === null ? activations : this.#pass.add(call, activations);
    });
  }

  /** What is looked up for each feature, and the shape of its activations. */
  #lookups(inputs: readonly unknown[]): { lookups: FeatureLookup[]; shapes: number[][] } {
    const shapes: number[][] = [];
    const lookups = this.#nest.features.map((feature, i): FeatureLookup => {
      const [table, path] = [this.#tableOf[i]!, this.#paths[i]!];
      const { config, name } = this.#tables.tables[table]!;
      const range = { rows: config.vocabularySize, owner: `table ${name}` };
      const ids = addIdDetails(
        () => inputIds(inputs[i], range, path),
        (known) => fedPlace(this, i, inputs[i], known),
      );
      const { bags, shape } = layerBags(ids, feature, path);
      shapes.push([...shape, config.dim]);
      return { table, bags };
    });
    return { lookups, shapes };
  }

  /** What runs on the backend in use. */
  #engine(): LayerTables {
    if (this.#sparseCores === null || hasSparseCores()) return this.#sparseCores ?? this.#rowTables;
    this.#settle();
    return this.#rowTables;
  }

  #settle(): void {
    this.#sparseCores?.settle();
  }

  #checkTraining(): void {
    if (devicesInUse() === null) {
      const note = `await tf.setBackend('tpu-emulator') first, or set trainable to false.`;
      const received = described(`the backend ${tf.getBackend()}`);
      throw new RuntimeError('training', 'the backend tpu-emulator', received, note);
    }
    const bare = this.#tables.tables.find(({ optimizer }) => optimizer === null);
    if (bare !== undefined) throw new ValueError('optimizer', `an optimizer for table ${bare.name}`, null);
    if (this.#sparseCores !== null) checkSparseCores();
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape[] {
    return shapesOf(inputShape).map((shape, i) => {
      const feature = this.#nest.features[i]!;
      return [...layerShape(feature, shape), feature.table.dim];
    });
  }

  /** Ids may have any rank, so nothing is said about the shapes of inputs. */
  protected override warnOnIncompatibleInputShape(_inputShape: SymbolicShape): void {}

  /** The variable of each table, float32 [vocabularySize, dim], as it is after the last step. */
  get embeddingTables(): ReturnType<EmbeddingTables['byConfig']> {
    this.build();
    this.#settle();
    return this.#tables.byConfig();
  }

  override dispose(): ReturnType<tf.layers.Layer['dispose']> {
    const counted = this as unknown as { _refCount: number | null };
    // tfjs counts uses, and knows none of a layer that was built by hand.
    if (this.built) counted._refCount ??= 1;
    return super.dispose();
  }

  protected override disposeWeights(): number {
    this.#pass.drop();
    this.#outputs.forget();
    this.#sparseCores?.dispose();
    const freed = super.disposeWeights();
    this.#tables.dispose();
    this.#weights = [];
    return freed;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { dtype: _none, ...base } = super.getConfig();
    const { version } = this;
    const own = { featureConfig: savedFeatures(this.#nest), optimizer: savedOptimizer(this.#optimizer), version };
    const settings = version === 1 ? {} : { sparseCoreEmbeddingConfig: savedSettings(this.#settings) };
    return { ...base, ...own, ...settings } as unknown as tf.serialization.ConfigDict;
  }

  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readSavedLayer(config) as unknown as tf.serialization.ConfigDict);
  }
}

/**
 * Returns a `TPUEmbeddingLayer`; arguments, shapes and errors as there.
 *
 * @param args - The features and the optimizer of their tables; see `TPUEmbeddingLayerArgs`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.tpuEmbedding({featureConfig: {seen: feature}, optimizer: new emb.tpu.Adagrad()});
 */
export function tpuEmbedding(args: TPUEmbeddingLayerArgs): TPUEmbeddingLayer;
export function tpuEmbedding(...given: [TPUEmbeddingLayerArgs]): TPUEmbeddingLayer {
  return new TPUEmbeddingLayer(...given);
}
