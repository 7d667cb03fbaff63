/** TPUEmbeddingV2: tables in stacks on SparseCores, with the host preprocessing of ids as a step of its own. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import type { DevicesBackend } from '../../backends/devices/devices_backend.js';
import { currentEmulator, emulatedMachine } from '../../backends/emulator/register.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import type { SaveOptions } from '../checkpoint/checkpoint.js';
import { truth, readFields } from '../config/fields.js';
import { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import { coreOf } from '../embedding/device_claim.js';
import { FeatureNest, type InStructure, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { BatchPlan } from './batch_plan.js';
import { configTables } from './config_tables.js';
import type { Partitioned } from './csr_batches.js';
import { GlobalTables } from './global_tables.js';
import type { SparseCoreLayout } from './layouts.js';
import { shardCount } from './numbers.js';
import type { PlannedTable } from './stack_plan.js';
import { StackPipeline } from './stack_pipeline.js';
import { SparseCoreVariables } from './stack_variables.js';
import { computeSparseCoreStats, type SparseCoreStats, type SparseCoreStatsArgs } from './sparse_core_stats.js';

export interface TPUEmbeddingV2Args<F = NestedFeatureConfigs> {
  /** FeatureConfigs in objects and lists of any depth, or one alone. */
  featureConfig: F;
  /** For tables that have none of their own. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  /** Lookups overlap the step before them: they read tables that are one step old. */
  pipelineExecutionWithTensorCore?: boolean | undefined;
  sparseCoreEmbeddingConfig?: SparseCoreEmbeddingConfig | null | undefined;
}

const FIELDS = ['featureConfig', 'optimizer', 'pipelineExecutionWithTensorCore', 'sparseCoreEmbeddingConfig'] as const;

/** What a lookup gives: activations in the structure of the features, and what `applyGradients` wants to see again. */
export type SparseCoreLookup<F = NestedFeatureConfigs> = [
  activations: InStructure<F, tf.Tensor>,
  preserved: Partitioned,
];

/** Options of `enqueue`. */
export interface SparseCoreEnqueueOptions {
  /** '/device:TPU:k': these are the samples of core k. */
  device?: string | null | undefined;
}

/**
 * Embedding tables on the SparseCores of the `tpu-emulator` backend.
 *
 * Tables are padded and stacked, and rows dealt out over all cores (`embeddingLayouts`). A step is: `enqueue` turns the
 * features of the whole batch into the CSR of each stack on the host, `dequeue` looks it up on the cores,
 * `applyGradients` steps the rows that were looked up. `embeddingLookup` is the first two. Numbers of samples are those
 * of `outputShape`, or of the first batch, and are multiples of the cores. The user's configs are not changed.
 *
 * With `pipelineExecutionWithTensorCore` each lookup reads tables as they were before the last `applyGradients`.
 * Source: tf.tpu.experimental.embedding.TPUEmbeddingV2 (TensorFlow 2.21); here every option of the optimizers counts,
 * custom ones run, and gradients may be null for padded tables too.
 *
 * @throws RuntimeError where the backend is not `tpu-emulator`; ValueError for what is no optimizer, for two tables of
 * one name, for numbers of samples that the cores do not divide, and for a number of cores that is no power of two.
 *
 * @example
 * const table = new emb.tpu.TableConfig({vocabularySize: 100, dim: 8, name: 'movies'});
 * const watched = new emb.tpu.FeatureConfig({table, outputShape: [16]});
 * const embedding = new emb.tpu.TPUEmbeddingV2({featureConfig: {watched}, optimizer: new emb.tpu.SGD({learningRate: 0.1})});
 * const [activations, preserved] = embedding.embeddingLookup({watched: ids});
 * embedding.applyGradients({watched: gradient}, preserved);
 */
export class TPUEmbeddingV2<F = NestedFeatureConfigs> {
  static {
    brand(this, 'tpu.TPUEmbeddingV2');
  }
  readonly pipelineExecutionWithTensorCore: boolean;
  readonly sparseCoreEmbeddingConfig: SparseCoreEmbeddingConfig;
  private readonly nest: FeatureNest;
  private readonly tables: ReadonlyMap<object, PlannedTable>;
  private readonly machine: DevicesBackend;
  private readonly batch: BatchPlan;
  private built: SparseCoreVariables | null = null;
  private readonly pipeline: StackPipeline;

  /** @param args - The features, the optimizer of their tables and the SparseCores; see `TPUEmbeddingV2Args`. */
  constructor(args: TPUEmbeddingV2Args<F>);
  constructor(...passed: [TPUEmbeddingV2Args<F>]) {
    const given = readFields<TPUEmbeddingV2Args<F>>('new emb.tpu.TPUEmbeddingV2', FIELDS, passed);
    this.machine = currentEmulator('TPUEmbeddingV2');
    this.nest = new FeatureNest(given.featureConfig);
    const optimizer = readOptimizer(given.optimizer);
    this.pipelineExecutionWithTensorCore = truth(
      given.pipelineExecutionWithTensorCore,
      'pipelineExecutionWithTensorCore',
      false,
    );
    this.pipeline = new StackPipeline(this.machine, this.pipelineExecutionWithTensorCore);
    const config = given.sparseCoreEmbeddingConfig ?? new SparseCoreEmbeddingConfig();
    if (!(config instanceof SparseCoreEmbeddingConfig)) {
      throw new ArgumentTypeError('sparseCoreEmbeddingConfig', 'an emb.tpu.SparseCoreEmbeddingConfig', config);
    }
    this.sparseCoreEmbeddingConfig = config;
    this.tables = configTables(this.nest.features, optimizer);
    for (const table of this.tables.values()) {
      if (table.optimizer === null) {
        throw new ValueError('optimizer', `an optimizer for the table ${table.name}`, described('none'));
      }
    }
    const settings = emulatedMachine('TPUEmbeddingV2');
    shardCount(settings.chips, settings.coresPerChip, 'chips');
    this.batch = new BatchPlan(this.nest, this.tables, settings, config);
  }

  /** Makes the variables on the cores; does nothing where they are there. ValueError while shapes are not known. */
  build(): void {
    this.variablesOf('build');
  }

  /**
   * Returns the ids of a batch as the CSR of each stack, by its name. `features` has the structure of `featureConfig`;
   * each is dense (one id for each sample), sparse (samples along all axes but the last, or all along the first) or
   * ragged. `weights` has the same structure, or is null; single entries may be null. With `device`, such as
   * `/device:TPU:1`, features hold the samples of that core alone, and `dequeue` takes the result of any core once all
   * cores have theirs.
   *
   * @param features - The ids, in the structure of the features.
   * @param weights - In the same structure, null where there are none.
   * @param options - The core whose part of the batch this is.
   * @returns The CSR of each stack, by its name.
   * @throws TypeError and ValueError for another structure; ValueError for ids of unknown type or outside their table,
   * for weights of another type, for other numbers of samples, for a device that is none, and where ids exceed
   * `maxIdsPerTable`, `maxUniqueIdsPerTable` or the slots of a chip.
   */
  enqueue(features: unknown, weights?: unknown, options: SparseCoreEnqueueOptions = {}): Partitioned {
    this.checkMachine('enqueue');
    const inputs = this.nest.flatten(features, 'features');
    const hasWeights = weights !== undefined && weights !== null;
    const ofInputs = hasWeights ? this.nest.flatten(weights, 'weights', 'features') : [];
    const { device = null } = readOptions<SparseCoreEnqueueOptions>(options, ['device']);
    const core = device === null ? null : coreOf(device, { count: this.cores });
    return this.batch.partition(inputs, ofInputs, core);
  }

  /**
   * Returns the activations, float32 [...outputShape, dim] in the structure of the features, and the CSR that gave them.
   *
   * @param partitioned - What `enqueue` gave.
   * @returns The activations and the CSR that gave them.
   * @throws ValueError for anything but what `enqueue` gave; RuntimeError while a core has not been enqueued.
   */
  dequeue(partitioned: Partitioned): SparseCoreLookup<F> {
    this.checkMachine('dequeue');
    const variables = this.variablesOf('dequeue');
    const whole = this.batch.whole(partitioned, 'partitioned');
    const found = this.pipeline.lookUp(variables, this.batch.batches(whole, 'partitioned'));
    const activations = this.nest.pack(this.batch.activations(found));
    return [activations as InStructure<F, tf.Tensor>, whole];
  }

  /**
   * `enqueue`, then `dequeue`.
   *
   * @param features - The ids, in the structure of the features.
   * @param weights - In the same structure, null where there are none.
   * @returns The activations and the CSR that gave them.
   */
  embeddingLookup(features: unknown, weights?: unknown): SparseCoreLookup<F> {
    return this.dequeue(this.enqueue(features, weights));
  }

  /**
   * The same as `embeddingLookup`.
   *
   * @param features - The ids, in the structure of the features.
   * @param weights - In the same structure, null where there are none.
   * @returns The activations and the CSR that gave them.
   */
  call(features: unknown, weights?: unknown): SparseCoreLookup<F> {
    return this.embeddingLookup(features, weights);
  }

  /**
   * Steps the rows that a lookup read. `gradients` has the structure of the features, with the shapes of the activations;
   * null, anywhere in it, stands for zeros. `preserved` is the second result of the same lookup.
   *
   * @param gradients - float32 tensors in the structure of the features; null where there are none.
   * @param preserved - The CSR that the lookup gave back.
   * @throws RuntimeError before the first lookup or `build`; TypeError and ValueError for another structure, for what
   * is no tensor, and for other shapes.
   */
  applyGradients(gradients: unknown, preserved: Partitioned): void {
    this.checkMachine('applyGradients');
    if (this.built === null) {
      throw new RuntimeError('applyGradients', 'a TPUEmbeddingV2 that is built', described('an unbuilt one'));
    }
    const given = this.nest.flatten(gradients, 'gradients', 'features');
    const whole = this.batch.whole(preserved, 'preserved');
    const batches = this.batch.batches(whole, 'preserved');
    this.pipeline.apply(this.batch.gradients(given, batches, this.built), whole);
  }

  /** The variables of the tables by stack: [rows, padded dim], shard after shard. */
  get embeddingTables(): Map<string, tf.Variable> {
    return new Map([...this.settled('embeddingTables').stacks].map(([name, { parameters }]) => [name, parameters]));
  }

  /** What each core holds of each stack: its device, and its rows, which the caller disposes. */
  get embeddingTableShards(): Map<string, [device: string, shard: tf.Tensor2D][]> {
    const { stacks } = this.settled('embeddingTableShards');
    return new Map(
      [...stacks].map(([name, { parameters, plan }]) => {
        const shards = Array.from({ length: this.cores }, (_, core): [string, tf.Tensor2D] => {
          const values = this.machine.readRows(parameters, core * plan.rowsPerShard, plan.rowsPerShard);
          return [`/device:TPU:${core}`, tf.tensor2d(values, [plan.rowsPerShard, plan.columns])];
        });
        return [name, shards];
      }),
    );
  }

  /** Where each table lies, by its name. */
  get embeddingLayouts(): Map<string, SparseCoreLayout> {
    return new Map(this.batch.of('embeddingLayouts').layouts);
  }

  /** All variables by stack, then by name: `parameters` and the slots. */
  get variables(): Map<string, Map<string, tf.Variable>> {
    return new Map([...this.settled('variables').stacks].map(([name, stack]) => [name, stack.named()]));
  }

  /**
   * Copies of the tables without padding, [vocabularySize, dim] each, as features name them first, then of their slots.
   *
   * @returns The copies; the caller disposes them.
   */
  getWeights(): tf.Tensor2D[] {
    return this.globalTables('getWeights').read();
  }

  /**
   * Sets tables and slots, in the order of `getWeights`: tensors, typed or nested arrays, or paths of .npy files; as many
   * as there are tables, and slots stay as they are, or all. Nothing is written where anything is wrong.
   *
   * @param weights - One value for each weight.
   */
  setWeights(weights: readonly unknown[]): void {
    this.globalTables('setWeights').write(weights);
    this.pipeline.catchUp();
  }

  /**
   * Saves tables and slots in the global layout, as TPUEmbedding and TPUEmbeddingForServing do: each reads the others'.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @param options - `format`: 'tfjs' (the default) holds all values in memory while it writes, for handlers of tfjs take
   * them at once; 'npy' writes a piece at a time.
   * @returns Resolves when all of them are written.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    await this.globalTables('save').save(directory, options);
  }

  /**
   * Loads tables and slots that were saved in either format, on any number of cores. Nothing is written where one is
   * missing. Where the variables are not there yet, they are made without asking initializers.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @returns Resolves when all of them are set.
   */
  async load(directory: string): Promise<void> {
    if (this.built === null) await this.buildFrom(directory);
    else await this.globalTables('load').load(directory);
    this.pipeline.catchUp();
  }

  /** Frees the variables and forgets parts of batches and shapes that batches told; the object can be built again. */
  dispose(): void {
    this.pipeline.dispose();
    this.built?.dispose();
    this.built = null;
    this.batch.reset();
  }

  /**
   * Returns the most ids, and the most different ids, that one core asks of another for these features, by stack: limits
   * for `SparseCoreEmbeddingConfig`. Needs no backend.
   *
   * @param args - Features, weights and cores; see `SparseCoreStatsArgs`.
   * @returns For each stack the most ids and the most different ids.
   */
  static computeSparseCoreStats(args: SparseCoreStatsArgs): SparseCoreStats {
    return computeSparseCoreStats(args);
  }

  private get cores(): number {
    return this.machine.count;
  }

  private variablesOf(argument: string): SparseCoreVariables {
    this.checkMachine(argument);
    return (this.built ??= new SparseCoreVariables(this.machine, this.batch.of(argument)));
  }

  /** The variables with all steps made; the next lookup still reads them one step old. */
  private settled(argument: string): SparseCoreVariables {
    const variables = this.variablesOf(argument);
    this.pipeline.settle(variables);
    return variables;
  }

  private async buildFrom(directory: string): Promise<void> {
    this.checkMachine('load');
    const made = new SparseCoreVariables(this.machine, this.batch.of('load'), 'written');
    try {
      await new GlobalTables([...this.tables.values()], made).load(directory);
    } catch (error) {
      made.dispose();
      throw error;
    }
    // Another call may have built meanwhile.
    this.pipeline.dispose();
    this.built?.dispose();
    this.built = made;
  }

  private globalTables(argument: string): GlobalTables {
    return new GlobalTables([...this.tables.values()], this.settled(argument));
  }

  private checkMachine(argument: string): void {
    if (currentEmulator(argument) === this.machine) return;
    const note = 'Its tables were lost with the machine that held them.';
    throw new RuntimeError(argument, 'the tpu-emulator that it was made on', described('another one'), note);
  }
}
