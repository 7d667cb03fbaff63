/** `TPUEmbedding`: tables on virtual devices, with lookups and steps in the order of a TPU. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import type { Devices } from '../../backends/contract.js';
import { devicesInUse } from '../../backends/registry.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { loadVariables, saveVariables, type SaveOptions } from '../checkpoint/checkpoint.js';
import { readShape, type PartialShape } from '../config/feature_config.js';
import { readFields, truth, wholeNumber } from '../config/fields.js';
import type { GivenTableConfig } from '../config/table_config.js';
import { readFeatureIds } from '../features/feature_ids.js';
import { FeatureNest, type InStructure, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { copyIds, joinIds, type HostIds } from '../features/host_ids.js';
import { hasKernel } from '../optimizers/kernel_step.js';
import { readOptimizer } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { EmbeddingTables } from '../tables/embedding_tables.js';
import { readTables } from '../tables/read_tables.js';
import { BatchQueue } from './batch_queue.js';
import { claimDevices, coreOf, currentDevices, releaseDevices } from './device_claim.js';
import { featureBags } from './feature_bags.js';
import { featureGradient } from './feature_gradients.js';
import { OutputShapes, outputOfBatchSize, outputOfIds, outputOfInputShape } from './output_shapes.js';
import { StepPipeline } from './step_pipeline.js';

export interface TPUEmbeddingArgs<F = NestedFeatureConfigs> {
  /** FeatureConfigs in objects and arrays of any depth. */
  featureConfig: F;
  /** Of tables that have none. null is permitted without the emulator, where tables are not trained. */
  optimizer?: TPUEmbeddingOptimizer | null | undefined;
  /** true: lookups overlap with the dense part of the model, so that activations are one step behind. */
  pipelineExecutionWithTensorCore?: boolean | undefined;
}

export interface EnqueueOptions {
  /** false: no gradients follow. */
  training?: boolean | undefined;
  /** Of the queue; `dequeue` and `applyGradients` take the same. */
  name?: string | null | undefined;
  /** '/device:TPU:k': these are the samples of core k; the batch is complete once those of all cores are there. */
  device?: string | null | undefined;
}

export interface QueueOptions {
  name?: string | null | undefined;
}

const ARGS = ['featureConfig', 'optimizer', 'pipelineExecutionWithTensorCore'] as const;

/**
 * Embedding tables on the virtual devices of the backend `tpu-emulator`: ids are enqueued, activations dequeued, gradients
 * applied. Rows of each table are dealt out to the devices modulo.
 *
 * `enqueue(features, weights?, {training, name, device})` takes ids in the structure of `featureConfig`: int32 tensors and
 * arrays of shape [batch], or [batch, …, 1]; sparse ids of rank 2 and more, ragged ids of rank 2, with weights of the same
 * kind. `dequeue({name})` returns activations [...outputShape, dim], float32, in that structure; they are the caller's to
 * dispose. `applyGradients(gradients, {name})` takes gradients of the same shapes, null for zeros, and steps each table once.
 * Batches go first in, first out; `enqueue` may run ahead. Each training batch must get its gradients before the next one is
 * dequeued, with pipelining before the one after that. With pipelining a lookup reads the tables as they were before the
 * step of the batch before it.
 * Output shapes come from FeatureConfig, then from `build`, then from what is enqueued, and every batch must have them:
 * `outputShapes` tells them. `embeddingTables` is a Map from TableConfig to its variable, in the global layout. `dispose()`
 * frees everything; another object can be built on the devices then.
 * Source: tf.tpu.experimental.embedding.TPUEmbedding (TensorFlow 2.21), which may deadlock where calls are missing.
 *
 * @throws TypeError and ValueError, which name the feature, for ids, weights, shapes and structures that do not fit;
 * RuntimeError without the emulator, for a second object on the same devices and for calls out of order, which name the
 * call that is missing.
 *
 * @example
 * await tf.setBackend('tpu-emulator');
 * const table = new emb.tpu.TableConfig({vocabularySize: 8, dim: 4, combiner: 'sum'});
 * const featureConfig = {seen: new emb.tpu.FeatureConfig({table})};
 * const embedding = new emb.tpu.TPUEmbedding({featureConfig, optimizer: new emb.tpu.SGD({learningRate: 0.1})});
 * embedding.enqueue({seen: emb.RaggedTensor.fromRows([[1, 3], [5]])});
 * const {seen} = embedding.dequeue(); // [2, 4]
 * embedding.applyGradients({seen: tf.onesLike(seen)});
 */
export class TPUEmbedding<F = NestedFeatureConfigs> {
  static {
    brand(this, 'tpu.TPUEmbedding');
  }
  readonly pipelineExecutionWithTensorCore: boolean;
  readonly #nest: FeatureNest;
  readonly #paths: readonly string[];
  readonly #tableOf: readonly number[];
  readonly #tables: EmbeddingTables;
  readonly #shapes: OutputShapes;
  readonly #pipeline: StepPipeline;
  readonly #queues = new Map<string, BatchQueue>();
  #devices: Devices | null = null;
  #isBuilt = false;

  /** @param args - The features and the optimizer of their tables; see `TPUEmbeddingArgs`. */
  constructor(args: TPUEmbeddingArgs<F>);
  constructor(...passed: [TPUEmbeddingArgs<F>]) {
    const given = readFields<TPUEmbeddingArgs<F>>('new emb.tpu.TPUEmbedding', ARGS, passed);
    const optimizer = readOptimizer(given.optimizer);
    this.pipelineExecutionWithTensorCore = truth(
      given.pipelineExecutionWithTensorCore,
      'pipelineExecutionWithTensorCore',
      false,
    );
    this.#nest = new FeatureNest(given.featureConfig);
    this.#paths = this.#nest.paths('features');
    const { tables, tableOf } = readTables(this.#nest.features, optimizer);
    this.#tableOf = tableOf;
    this.#tables = new EmbeddingTables(tables);
    this.#shapes = new OutputShapes(this.#nest.features, this.#paths);
    this.#pipeline = new StepPipeline(this.#tables, this.pipelineExecutionWithTensorCore);
    if (devicesInUse() !== null) this.#checkOptimizers();
  }

  /**
   * Makes the tables and fixes the output shapes; does nothing when that was done. Without it, the first `enqueue` does it.
   * `perReplicaInputShapes`: shapes of ids in the structure of the features, null where a size is not known, or a number of
   * samples; `perReplicaBatchSize`: the same number.
   *
   * @param perReplicaInputShapes - Shapes of the inputs of one core, in the structure of the features.
   * @param perReplicaBatchSize - Instead of shapes: samples of one core.
   * @throws ValueError for a shape without axes, and where output shapes disagree or are not fully known.
   */
  build(perReplicaInputShapes: unknown = null, perReplicaBatchSize: number | null = null): void {
    if (this.#isBuilt) return;
    this.#build(this.#givenShapes(perReplicaInputShapes, perReplicaBatchSize));
  }

  #givenShapes(shapes: unknown, batchSize: unknown): (PartialShape | null)[] {
    const { features } = this.#nest;
    const size = typeof shapes === 'number' ? shapes : batchSize;
    if (size !== null && size !== undefined) {
      const argument = typeof shapes === 'number' ? 'perReplicaInputShapes' : 'perReplicaBatchSize';
      const samples = wholeNumber(size, argument, 1);
      return features.map((feature) => outputOfBatchSize(samples, feature));
    }
    if (shapes === null || shapes === undefined) return features.map(() => null);
    const paths = this.#nest.paths('perReplicaInputShapes');
    return this.#nest.flatten(shapes, 'perReplicaInputShapes').map((shape, i) => {
      return outputOfInputShape(readShape(shape, paths[i]!), features[i]!, paths[i]!);
    });
  }

  #build(incoming: readonly (PartialShape | null)[]): void {
    const devices = devicesInUse();
    if (devices !== null) {
      this.#checkOptimizers();
      this.#shapes.take(incoming, true);
    }
    this.#makeTables(devices);
    this.#isBuilt = true;
  }

  #makeTables(devices: Devices | null): void {
    if (this.#tables.areMade) return;
    if (devices !== null) claimDevices(devices, this);
    try {
      this.#tables.make();
      this.#devices = devices;
    } catch (error) {
      if (devices !== null) releaseDevices(devices, this);
      throw error;
    }
  }

  #checkOptimizers(): void {
    for (const { name, optimizer } of this.#tables.tables) {
      if (optimizer === null) {
        throw new ValueError('optimizer', `an optimizer for table ${name} on the emulator`, null);
      }
      if (!hasKernel(optimizer)) {
        const note = 'TPUEmbeddingV2 runs it.';
        throw new RuntimeError('optimizer', `another one for table ${name}`, described('a CustomOptimizer'), note);
      }
    }
  }

  /** The devices, which must be those on which this was built. */
  #ready(method: string): Devices {
    const devices = currentDevices(method);
    if (this.#devices === null && this.#tables.areMade) {
      throw new RuntimeError(method, 'tables that were made on the emulator', described('tables of another backend'));
    }
    if (this.#devices !== null && this.#devices !== devices) {
      throw new RuntimeError(method, 'the devices on which it was built', described('others'), 'dispose() it first.');
    }
    return devices;
  }

  #queue(name: unknown, devices: Devices): BatchQueue {
    if (name !== undefined && name !== null && typeof name !== 'string') {
      throw new ValueError('name', 'a string or null', name);
    }
    const key = (name as string | null | undefined) ?? '';
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const ahead = this.pipelineExecutionWithTensorCore ? 1 : 0;
    const queue = new BatchQueue(key, devices.count, ahead);
    this.#queues.set(key, queue);
    return queue;
  }

  /**
   * Puts a batch, or the part of one core, into the queue; builds the tables where that was not done.
   *
   * @param features - The ids, in the structure of the features: dense, sparse or ragged.
   * @param weights - In the same structure, null where there are none.
   * @param options - Training or not, the queue, and the core whose part this is.
   */
  enqueue(features: unknown, weights: unknown = null, options: EnqueueOptions = {}): void {
    const devices = this.#ready('enqueue');
    const { training, name, device } = readOptions<EnqueueOptions>(options, ['training', 'name', 'device']);
    const isTraining = truth(training, 'training', true);
    const ids = this.#readIds(features, weights);
    const queue = this.#queue(name, devices);
    if (device === undefined || device === null) {
      this.#admit(queue, ids, isTraining);
      return;
    }
    const parts = queue.addPart(coreOf(device, devices), { isTraining, ids });
    if (parts === null) return;
    if (parts.some((part) => part.isTraining !== isTraining)) {
      throw new RuntimeError('enqueue', 'one value of training for all cores', described('several'));
    }
    const joined = this.#paths.map((path, i) => {
      return joinIds(
        parts.map((part) => part.ids[i]!),
        path,
      );
    });
    this.#admit(queue, joined, isTraining);
  }

  #readIds(features: unknown, weights: unknown): HostIds[] {
    const flat = this.#nest.flatten(features, 'features');
    const noWeights = weights === null || weights === undefined;
    const perFeature = noWeights ? flat.map(() => null) : this.#nest.flatten(weights, 'weights', 'features');
    const weightPaths = this.#nest.paths('weights');
    return withoutTape(() =>
      flat.map((ids, i) => {
        const { config, name } = this.#tables.tables[this.#tableOf[i]!]!;
        const batch = readFeatureIds(ids, perFeature[i], this.#paths[i]!, weightPaths[i]!);
        return copyIds(batch, config.vocabularySize, this.#paths[i]!, `table ${name}`);
      }),
    );
  }

  #admit(queue: BatchQueue, ids: readonly HostIds[], isTraining: boolean): void {
    const { features } = this.#nest;
    const incoming = ids.map((each, i) => outputOfIds(each, features[i]!, this.#paths[i]!));
    if (!this.#isBuilt) this.#checkOptimizers();
    // A batch that is refused fixes no shape.
    const bags = this.#shapes.takeFor(incoming, () => {
      const shapes = this.#shapes.complete;
      const found = ids.map((each, i) => featureBags(each, features[i]!, shapes[i]!, this.#paths[i]!));
      if (!this.#isBuilt) this.#build(incoming);
      return found;
    });
    queue.waiting.push({ isTraining, features: bags.map((each, i) => ({ table: this.#tableOf[i]!, bags: each })) });
  }

  /**
   * The activations of the batch that was enqueued first.
   *
   * @param options - Which queue.
   * @returns float32 tensors in the structure of the features; the caller disposes them.
   */
  dequeue(options: QueueOptions = {}): InStructure<F, tf.Tensor> {
    const devices = this.#ready('dequeue');
    const { name } = readOptions<QueueOptions>(options, ['name']);
    this.#checkBuilt('dequeue');
    const queue = this.#queue(name, devices);
    const { features, isTraining } = queue.head();
    const { pooled, step } = this.#pipeline.lookUp(features, isTraining);
    queue.waiting.shift();
    if (step !== null) queue.outstanding.push(step);
    const shapes = this.#activationShapes;
    const activations = pooled.map((rows, i) => {
      const shaped = withoutTape(() => rows.reshape(shapes[i]!));
      rows.dispose();
      return shaped;
    });
    return this.#nest.pack(activations) as InStructure<F, tf.Tensor>;
  }

  get #activationShapes(): number[][] {
    return this.#shapes.complete.map((shape, i) => [...shape, this.#nest.features[i]!.table.dim]);
  }

  /**
   * Steps the tables with the gradients of the activations that were dequeued first; they stay the caller's.
   *
   * @param gradients - float32 tensors in the structure and shapes of the activations; null where there are none.
   * @param options - Which queue.
   */
  applyGradients(gradients: unknown, options: QueueOptions = {}): void {
    const devices = this.#ready('applyGradients');
    const { name } = readOptions<QueueOptions>(options, ['name']);
    this.#checkBuilt('applyGradients');
    const flat = this.#nest.flatten(gradients, 'gradients', 'features');
    const paths = this.#nest.paths('gradients');
    const shapes = this.#activationShapes;
    const queue = this.#queue(name, devices);
    tf.tidy(() =>
      withoutTape(() => {
        const rows = flat.map((gradient, i) => featureGradient(gradient, shapes[i]!, paths[i]!));
        this.#pipeline.apply(queue.due(), rows);
      }),
    );
    queue.outstanding.shift();
  }

  #checkBuilt(method: string): void {
    if (this.#isBuilt) return;
    throw new RuntimeError(method, 'tables that were built', described('none'), 'Call enqueue or build first.');
  }

  /** The variable of each table, float32 [vocabularySize, dim]; makes the tables where they are not there. */
  get embeddingTables(): Map<GivenTableConfig, tf.Variable> {
    this.#settled();
    return this.#tables.byConfig();
  }

  /** Tables and slots as they are after the last step. */
  #settled(): EmbeddingTables {
    const devices = devicesInUse();
    this.#makeTables(devices);
    this.#pipeline.settle();
    return this.#tables;
  }

  /** The shape of each activation without its columns, in the structure of the features. */
  get outputShapes(): InStructure<F, number[]> {
    if (!this.#isBuilt || this.#devices === null) {
      throw new RuntimeError('outputShapes', 'tables that were built on the emulator', described('none'));
    }
    return this.#nest.pack(this.#shapes.complete) as InStructure<F, number[]>;
  }

  /**
   * The variables: all tables in their order, then their slots.
   *
   * @returns The variables themselves, not copies.
   */
  getWeights(): tf.Variable[] {
    return this.#settled()
      .named()
      .map(({ variable }) => variable);
  }

  /**
   * Sets tables and slots, in the order of `getWeights`: tensors, typed or nested arrays, or paths of .npy files; as many as
   * there are tables, and slots stay as they are, or all. Nothing is written where anything is wrong.
   *
   * @param weights - One value for each weight.
   */
  setWeights(weights: readonly unknown[]): void {
    this.#settled().write(weights);
    this.#pipeline.catchUp();
  }

  /**
   * Saves tables and slots in a folder, or at a URL of tfjs; in the format 'npy' a file for each. They are saved in the
   * global layout, and load on any number of devices, and without any.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @param options - `format`: 'tfjs' (the default) holds all values in memory while it writes, for handlers of tfjs take
   * them at once; 'npy' writes a piece at a time.
   * @returns Resolves when all of them are written.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    await saveVariables(this.#settled().named(), directory, options);
  }

  /**
   * Loads tables and slots that were saved in either format, before or after `build`. Nothing is written where one is missing.
   *
   * @param directory - A folder, or a URL of tfjs.
   * @returns Resolves when all of them are set.
   */
  async load(directory: string): Promise<void> {
    const tables = this.#settled();
    await loadVariables(tables.named(), directory);
    tables.place();
    this.#pipeline.catchUp();
  }

  /** Frees tables, slots and all that waits; the object can be built again, and so can another one. */
  dispose(): void {
    for (const { outstanding } of this.#queues.values()) {
      for (const step of outstanding) this.#pipeline.abandon(step);
    }
    this.#queues.clear();
    this.#pipeline.dispose();
    this.#tables.dispose();
    this.#shapes.reset();
    if (this.#devices !== null) releaseDevices(this.#devices, this);
    this.#devices = null;
    this.#isBuilt = false;
  }
}
