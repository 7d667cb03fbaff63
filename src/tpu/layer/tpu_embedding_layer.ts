/** The layer of TPU tables for models of tfjs. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../brand.js';
import { backendPart } from '../../backends/registry.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../errors.js';
import { checkBoolean, checkName, isSymbolic, shapesOf, type SymbolicShape } from '../../layers/layer_arguments.js';
import { initializerOf } from '../../layers/table/initial_values.js';
import { nextName } from '../../layers/layer_names.js';
import { refusePositional } from '../../positional.js';
import { readOptions } from '../../options.js';
import { isTapeOn, withoutTape } from '../../tfjs_patches/lazy_gradient.js';
import { checkSymbolicIds } from '../../tfjs_patches/symbolic_ids.js';
import { feedAsIs, markFeeding } from '../../tfjs_patches/uncast_inputs.js';
import { tpuEmbeddingActivations } from '../activations/tpu_embedding_activations.js';
import type { FeatureConfig } from '../config/feature_config.js';
import { featureBags } from '../embedding/feature_bags.js';
import { isSequence } from '../embedding/output_shapes.js';
import { StepPipeline } from '../embedding/step_pipeline.js';
import { FeatureNest, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { hasKernel } from '../optimizers/kernel_step.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { EmbeddingTables } from '../tables/embedding_tables.js';
import { readTables } from '../tables/read_tables.js';
import { ARGUMENTS, readSavedLayer, savedFeatures, savedOptimizer } from './layer_config.js';
import { OpenSteps } from './open_steps.js';
import { inputIds } from './padded_ids.js';

export interface TPUEmbeddingLayerArgs {
  /** FeatureConfigs in objects and arrays of any depth. */
  featureConfig: NestedFeatureConfigs;
  /** Of tables that have none: it steps the tables, whatever optimizer the model is compiled with. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  /** 1: as `TPUEmbedding` keeps its tables. */
  version?: 1 | undefined;
  name?: string | undefined;
  trainable?: boolean | undefined;
}

const OUTSIDE_NAMES = /[^-A-Za-z0-9._/]/g;

type AddWeight = (...args: unknown[]) => tf.LayerVariable;

function checkVersion(version: unknown): 1 {
  if (version === undefined || version === null || version === 1) return 1;
  throw new ValueError('version', '1; tables of TPUEmbeddingV2 train outside of layers', version);
}

/**
 * Tables of the TPU embedding API as a layer of `tf.model`.
 *
 * Takes int32 ids in the structure of `featureConfig`: [batch], [batch, ids], or with more axes, of which the last is
 * combined; negative ids stand for nothing. Gives activations in that structure: [batch, …, dim], or
 * [batch, maxSequenceLength, dim] for sequences; batches may be of any size. `apply` takes ragged and sparse ids too.
 * On `tpu-emulator` it trains in `fit` under any optimizer of `compile`: that one steps the dense part of the model, and each
 * table is stepped by its own optimizer where its rows lie. Elsewhere it predicts, and refuses to train.
 * Weights: the tables, then their slots, none of them trainable by others, then `gradient_variable`, a single zero by which
 * gradients are found. All are saved with the model in the global layout and load on any number of devices.
 * Source: tfrs.layers.embedding.TPUEmbedding (TensorFlow Recommenders 0.7), over the API of TensorFlow 2.21.
 *
 * @throws TypeError and ValueError, which name the feature, for configs and ids that do not fit; RuntimeError for
 * training without the emulator.
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
  readonly version: 1;
  readonly #nest: FeatureNest;
  readonly #optimizer: TPUEmbeddingOptimizer | null;
  readonly #tableOf: readonly number[];
  readonly #tables: EmbeddingTables;
  readonly #pipeline: StepPipeline;
  readonly #steps: OpenSteps;
  readonly #paths: readonly string[];
  #gradientVariable: tf.Variable | null = null;
  #weights: tf.LayerVariable[] = [];

  constructor(args: TPUEmbeddingLayerArgs);
  constructor(...passed: [TPUEmbeddingLayerArgs]) {
    refusePositional('emb.layers.tpuEmbedding', ARGUMENTS, passed);
    const given = readOptions<TPUEmbeddingLayerArgs>(passed[0], ARGUMENTS, 'args');
    const version = checkVersion(given.version);
    const optimizer = readOptimizer(given.optimizer);
    const nest = new FeatureNest(given.featureConfig);
    const { tables, tableOf } = readTables(nest.features, optimizer);
    for (const table of tables) {
      if (table.optimizer === null || hasKernel(table.optimizer)) continue;
      const note = 'TPUEmbeddingV2 runs it.';
      throw new RuntimeError('optimizer', `another one for table ${table.name}`, described('a CustomOptimizer'), note);
    }
    super({
      name: checkName(given.name) ?? nextName('tpu_embedding'),
      trainable: checkBoolean(given.trainable, 'trainable', true),
    } as never);
    this.version = version;
    this.#optimizer = optimizer;
    this.#nest = nest;
    this.#tableOf = tableOf;
    this.#paths = nest.paths('inputs');
    this.#tables = new EmbeddingTables(tables, (name, made) => this.#adopt(name, made));
    this.#pipeline = new StepPipeline(this.#tables, false);
    this.#steps = new OpenSteps(this.#pipeline);
  }

  override build(_inputShape?: SymbolicShape | SymbolicShape[]): void {
    if (this.built) return;
    this.#tables.make();
    const weight = this.#addWeight('gradient_variable', [1], tf.initializers.zeros(), true);
    this.#gradientVariable = weight.read() as tf.Variable;
    this.#weights = this.#inOrder(weight);
    this.#watchSteps(this.#gradientVariable);
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
    return weight.read() as tf.Variable;
  }

  /** Optimizers assign the variable, unchanged, at the end of a step: gradients of activations have all come then. */
  #watchSteps(variable: tf.Variable): void {
    const assign = variable.assign.bind(variable);
    variable.assign = (value): void => {
      assign(value);
      this.#steps.flush();
    };
  }

  override apply(inputs: unknown, kwargs: Record<string, unknown> = {}): never {
    this.assertNotDisposed();
    const { ids: flat, isFlat } = this.#flat(inputs);
    const isSome = flat.some(isSymbolic);
    if (isSome) {
      flat.forEach((ids, i) => {
        if (!isSymbolic(ids)) throw new ArgumentTypeError(this.#paths[i]!, 'a symbolic tensor, as the others', ids);
        checkSymbolicIds(ids, this.#nest.features[i]!.table.vocabularySize, this.#paths[i]!);
      });
      markFeeding();
      for (const ids of flat) feedAsIs(ids as tf.SymbolicTensor);
    }
    const found: unknown = super.apply(flat as tf.Tensor[], kwargs as never);
    const outputs = Array.isArray(found) ? (found as unknown[]) : [found];
    const asList = isFlat && this.#nest.structure.kind !== 'feature';
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
    this.#steps.flush();
    const isTraining = kwargs['training'] === true && this.trainable && isTapeOn();
    if (isTraining) this.#checkTraining();
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const { features } = this.#nest;
      const shapes: number[][] = [];
      const lookups = withoutTape(() =>
        features.map((feature, i) => {
          const table = this.#tables.tables[this.#tableOf[i]!]!;
          const ids = inputIds(list[i], table.config.vocabularySize, this.#paths[i]!, `table ${table.name}`);
          const shape = concreteShape(feature, ids.shape as number[]);
          shapes.push([...shape, table.config.dim]);
          return { table: this.#tableOf[i]!, bags: featureBags(ids, feature, shape, this.#paths[i]!) };
        }),
      );
      const { pooled, step } = this.#pipeline.lookUp(lookups, isTraining);
      const activations = withoutTape(() => pooled.map((rows, i) => rows.reshape(shapes[i]!)));
      if (step === null) return activations;
      const tableId = this.#steps.add(step, features.length);
      const variable = this.#gradientVariable!;
      return activations.map((each, lookupId) => tpuEmbeddingActivations(variable, each, { tableId, lookupId }));
    });
  }

  #checkTraining(): void {
    if (backendPart().devices === undefined) {
      const note = `await tf.setBackend('tpu-emulator') first, or set trainable to false.`;
      const received = described(`the backend ${tf.getBackend()}`);
      throw new RuntimeError('training', 'the backend tpu-emulator', received, note);
    }
    const bare = this.#tables.tables.find(({ optimizer }) => optimizer === null);
    if (bare !== undefined) throw new ValueError('optimizer', `an optimizer for table ${bare.name}`, null);
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape[] {
    return shapesOf(inputShape).map((shape, i) => {
      const feature = this.#nest.features[i]!;
      return [...symbolicShape(feature, shape), feature.table.dim];
    });
  }

  /** Ids may have any rank, so nothing is said about the shapes of inputs. */
  protected override warnOnIncompatibleInputShape(_inputShape: SymbolicShape): void {}

  /** The weights as they are after the last step. */
  override getWeights(trainableOnly = false): tf.Tensor[] {
    this.#steps.flush(true);
    return super.getWeights(trainableOnly);
  }

  /** The variable of each table, float32 [vocabularySize, dim], as it is after the last step. */
  get embeddingTables(): ReturnType<EmbeddingTables['byConfig']> {
    this.build();
    this.#steps.flush(true);
    return this.#tables.byConfig();
  }

  override dispose(): ReturnType<tf.layers.Layer['dispose']> {
    const counted = this as unknown as { _refCount: number | null };
    // tfjs counts uses, and knows none of a layer that was built by hand.
    if (this.built) counted._refCount ??= 1;
    return super.dispose();
  }

  protected override disposeWeights(): number {
    this.#steps.dispose();
    this.#pipeline.dispose();
    const freed = super.disposeWeights();
    this.#tables.dispose();
    this.#weights = [];
    return freed;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { dtype: _none, ...base } = super.getConfig();
    const own = { featureConfig: savedFeatures(this.#nest), optimizer: savedOptimizer(this.#optimizer), version: 1 };
    return { ...base, ...own } as unknown as tf.serialization.ConfigDict;
  }

  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readSavedLayer(config) as unknown as tf.serialization.ConfigDict);
  }
}

/** The shape of activations without their columns, for ids of the shape [batch, …, ids] or [batch]. */
function symbolicShape(feature: FeatureConfig, shape: SymbolicShape): SymbolicShape {
  if (feature.outputShape !== null) return [...feature.outputShape];
  const [batch = null] = shape;
  if (shape.length <= 2) return isSequence(feature) ? [batch, feature.maxSequenceLength] : [batch];
  return shape.slice(0, -1);
}

function concreteShape(feature: FeatureConfig, shape: number[]): number[] {
  const found = symbolicShape(feature, shape);
  // Sizes that a config leaves open are those of the batch.
  return found.map((size, axis) => size ?? shape[axis] ?? 1);
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
