/** The base of all `emb.train` optimizers: rows of tables by update kernels, everything else by a dense optimizer. */
import * as tf from '@tensorflow/tfjs';
import { packHyper } from '../backends/hyper.js';
import { brand } from '../brand.js';
import { ArgumentTypeError } from '../errors.js';
import { reading } from '../options.js';
import type { OptimizerName } from '../types.js';
import { warnOnce } from '../warn_once.js';
import { DensePart } from './dense_part.js';
import { GradientQueue } from './gradient_queue.js';
import { withLookupScope } from '../ops/lookup_scope.js';
import {
  checkLearningRate,
  fieldsOf,
  hyperOf,
  learningRateAt,
  readSettings,
  type LearningRate,
  type Settings,
  type SparseOptimizerConfig,
} from '../ops/optimizer_settings.js';
import { SlotStore } from './slots.js';
import { stepTables } from './table_step.js';
import { tableSettings } from '../ops/table_settings.js';

/** Hyper-parameters of an `emb.train` optimizer and the optimizer for everything that is not a table. */
export interface TrainConfig extends SparseOptimizerConfig {
  /** Trains the dense variables; by default the matching stock optimizer with the same hyper-parameters. */
  dense?: tf.Optimizer | null | undefined;
}

interface NamedTensor {
  name: string;
  tensor: tf.Tensor;
}

type Gradients = Record<string, tf.Tensor | null | undefined> | NamedTensor[];

/**
 * A `tf.Optimizer` whose steps on embedding tables cost what the batch touches.
 *
 * `computeGradients` opens a scope in which lookups queue ids and pooled gradients; `applyGradients` runs one fused
 * kernel per table on that queue. Works wherever tfjs takes an optimizer: compile and fit, fitDataset, trainOnBatch,
 * minimize. State is saved and restored with `includeOptimizer`.
 */
export abstract class SparseOptimizer extends tf.Optimizer {
  static {
    brand(this, 'SparseOptimizer');
  }
  /** Which update kernel it runs. */
  abstract readonly optimizerName: OptimizerName;

  readonly #settings: Settings;
  readonly #dense: DensePart;
  readonly #slots = new SlotStore();
  #anchor: tf.Variable | null = null;
  #queue: GradientQueue | null = null;
  #savedIterations: tf.Tensor | null = null;

  constructor(name: OptimizerName, config: TrainConfig = {}) {
    super();
    if (config === null || typeof config !== 'object') {
      throw new ArgumentTypeError('config', 'an object of hyper-parameters', config);
    }
    this.#settings = readSettings(name, config);
    this.#dense = new DensePart(name, this.#settings, checkDense(config.dense));
  }

  /** The learning rate in force at the next step. */
  get learningRate(): number {
    return learningRateAt(this.#settings.learningRate, this.iterations);
  }

  /** The hyper-parameters in force. */
  get settings(): Readonly<Settings> {
    return this.#settings;
  }

  /** Sets the learning rate, a number or a function of the step, from the next step on. */
  setLearningRate(learningRate: LearningRate): void {
    this.#settings.learningRate = checkLearningRate(learningRate);
  }

  override minimize(f: () => tf.Scalar, returnCost = false, varList?: tf.Variable[]): tf.Scalar | null {
    let cost: tf.Scalar | null = null;
    // A step that is refused leaves no gradients behind.
    tf.tidy(() => {
      cost = super.minimize(f, returnCost, varList);
      return cost ?? undefined;
    });
    return cost;
  }

  override computeGradients(
    f: () => tf.Scalar,
    varList?: tf.Variable[],
  ): { value: tf.Scalar; grads: tf.NamedTensorMap } {
    this.#queue?.dispose();
    this.#anchor ??= tf.tidy(() => tf.variable(tf.scalar(0), true));
    const queue = new GradientQueue(this.#anchor, varList ?? null);
    const variables = varList && [...varList, this.#anchor];
    try {
      const result = withLookupScope(queue, () => tf.variableGrads(f, variables));
      this.#queue = queue;
      return result as { value: tf.Scalar; grads: tf.NamedTensorMap };
    } catch (error) {
      queue.dispose();
      releaseTape();
      throw error;
    } finally {
      queue.close();
    }
  }

  override applyGradients(variableGradients: Gradients): void {
    const queue = this.#queue;
    this.#queue = null;
    this.#slots.prune();
    try {
      const byTable = queue?.byTable() ?? new Map<tf.Variable, never[]>();
      const dense: NamedTensor[] = [];
      const denseOfTable = new Map<tf.Variable, tf.Tensor2D>();
      for (const { name, tensor } of named(variableGradients)) {
        const variable = tf.engine().registeredVariables[name];
        if (variable === undefined || variable === this.#anchor) continue;
        if (this.#isTable(variable, byTable)) denseOfTable.set(variable, tensor as tf.Tensor2D);
        else dense.push({ name, tensor });
      }
      const step = this.iterations + 1;
      this.#dense.setLearningRate(this.learningRate);
      // Everything that can be refused is asked for before the first table is written.
      const updates = [...new Set([...byTable.keys(), ...denseOfTable.keys()])].map((table) => {
        const own = tableSettings(table)?.optimizer ?? this;
        const hyper = hyperOf(own.optimizerName, own.settings, step, tableSettings(table)?.constraint ?? null);
        const slots = this.#slots.of(table, own.optimizerName, own.settings.initialAccumulatorValue);
        const entries = byTable.get(table) ?? [];
        const dense = denseOfTable.get(table) ?? null;
        return { optimizer: own.optimizerName, table, slots, entries, dense, hyper: packHyper(hyper) };
      });
      stepTables(updates);
      this.#dense.apply(dense);
      this.incrementIterations();
    } finally {
      queue?.dispose();
    }
  }

  /** A variable is stepped by rows once it was looked up through this package. */
  #isTable(variable: tf.Variable, byTable: ReadonlyMap<tf.Variable, unknown>): boolean {
    return byTable.has(variable) || this.#slots.has(variable) || tableSettings(variable) !== undefined;
  }

  override async getWeights(): Promise<NamedTensor[]> {
    this.#slots.prune();
    this.#savedIterations?.dispose();
    this.#savedIterations = tf.keep(tf.scalar(this.iterations, 'int32'));
    const slots = this.#slots.save((table) => (tableSettings(table)?.optimizer ?? this).optimizerName);
    return [{ name: 'iter', tensor: this.#savedIterations }, ...slots, ...(await this.#dense.save())];
  }

  override async setWeights(weightValues: NamedTensor[]): Promise<void> {
    const rest = (await this.extractIterations(weightValues)) as NamedTensor[];
    this.#slots.load(await this.#dense.load(rest, this.iterations));
  }

  override getConfig(): tf.serialization.ConfigDict {
    const settings = this.#settings;
    const config: Record<string, unknown> = {};
    for (const field of fieldsOf(this.optimizerName)) config[field] = settings[field];
    if (typeof settings.learningRate === 'function') {
      config.learningRate = this.learningRate;
      warnOnce(
        'a learning rate that is a function cannot be saved; the rate of the next step is saved in its place. ' +
          'After loading, give the function to setLearningRate again.',
      );
    }
    const { given } = this.#dense;
    if (given !== null) config.dense = { className: given.getClassName(), config: given.getConfig() };
    return config as tf.serialization.ConfigDict;
  }

  /** Frees slots, loaded state and the default dense optimizer's state. */
  override dispose(): void {
    this.#queue?.dispose();
    this.#queue = null;
    this.#slots.dispose();
    this.#dense.dispose();
    this.#anchor?.dispose();
    this.#anchor = null;
    this.#savedIterations?.dispose();
    this.#savedIterations = null;
  }
}

/** Frees what a tape kept for a backward pass that a failed forward pass never reaches; tfjs itself leaves it behind. */
function releaseTape(): void {
  const engineState = tf.engine().state as unknown as {
    gradientDepth: number;
    activeTape: { saved?: tf.Tensor[] }[] | null;
  };
  // An outer tape still needs what it kept.
  if (engineState.gradientDepth > 0 || !Array.isArray(engineState.activeTape)) return;
  for (const { saved } of engineState.activeTape) saved?.forEach((tensor) => tensor.dispose());
  engineState.activeTape = null;
}

function checkDense(dense: unknown): tf.Optimizer | null {
  if (dense === undefined || dense === null) return null;
  const expected = 'a tf.Optimizer, such as tf.train.adam(0.001)';
  // tfjs defines `instanceof tf.Optimizer` by the presence of its methods.
  if (reading('dense', expected, dense, () => typeof dense === 'object' && dense instanceof tf.Optimizer)) {
    return dense as tf.Optimizer;
  }
  throw new ArgumentTypeError('dense', expected, dense);
}

/** Gradients that are there, by variable name. */
function named(gradients: Gradients): NamedTensor[] {
  const list = Array.isArray(gradients)
    ? gradients
    : Object.entries(gradients).map(([name, tensor]) => ({ name, tensor }));
  return list.filter(({ tensor }) => tensor !== null && tensor !== undefined) as NamedTensor[];
}
