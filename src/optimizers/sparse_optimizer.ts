/** The base of all `emb.train` optimizers: rows of tables by update kernels, everything else by a dense optimizer. */
import * as tf from '@tensorflow/tfjs';
import { packHyper, type Hyper } from '../rules/hyper.js';
import { live, refuseRecording } from '../backends/recordings.js';
import { roundingKey } from '../backends/rounding.js';
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { updateOf, type OptimizerName } from '../rules/rules.js';
import { warnOnce } from '../base/warn_once.js';
import type { NamedTensor } from '../base/types.js';
import { DensePart, checkDense } from './dense_part.js';
import {
  GradientQueue,
  readGradients,
  type GradientMap,
  type Gradients,
  checkTraining,
  clipStep,
  clipTables,
  sortGradients,
  type StepGradients,
  StepRates,
  slicesOf,
  stepTables,
} from './step_gradients.js';
import { knownTable, type Table, tablesNamed, type TableOptimizer } from '../backends/table.js';
import { lookupScope, withLookupScope } from '../lookup/lookup.js';
import {
  checkLearningRate,
  fieldsOf,
  hyperOf,
  learningRateAt,
  readSettings,
  type ConfigOf,
  type LearningRate,
  type Settings,
  type RowConstraint,
} from '../rules/optimizer_settings.js';
import { checkNothingMissing, missingSlots } from './saved_state.js';
import { SlotStore } from './slots.js';
import { asOwnRun } from '../tfjs/engine/own_runs.js';
import { releaseFailedTape } from '../tfjs/failed_tape.js';

/** What `f` gives, which is to be differentiated. */
function scalarOf(f: unknown): tf.Scalar {
  const expected = 'a function that returns a scalar';
  if (typeof f !== 'function') throw new ArgumentTypeError('f', expected, f);
  const value: unknown = f();
  if (!(value instanceof tf.Tensor)) throw new ArgumentTypeError('f', expected, value);
  if (value.rank !== 0) throw new ValueError('f', expected, described(`one of shape [${value.shape.join(', ')}]`));
  return value as tf.Scalar;
}

/** Hyper-parameters of an `emb.train` optimizer and the optimizer for everything that is not a table. */
export type TrainConfig<N extends OptimizerName = OptimizerName> = ConfigOf<N> & {
  /** Trains the dense variables; by default the matching stock optimizer with the same hyper-parameters. */
  dense?: tf.Optimizer | null | undefined;
};

/** What a saved config holds beside hyper-parameters. */
export interface SavedParts {
  /** Makes the dense optimizer. */
  readonly dense?: (() => tf.Optimizer) | null;
  /** The names of the state that was saved with it. */
  readonly state?: readonly string[] | null;
}

/**
 * A `tf.Optimizer` whose steps on embedding tables cost what the batch touches.
 *
 * A step opens a scope in which lookups queue ids and pooled gradients, and runs one fused kernel per table on that
 * queue. Works wherever tfjs takes an optimizer: compile and fit, fitDataset, trainOnBatch, minimize, and
 * `computeGradients` with `applyGradients` for gradients that are changed in between. State is saved and restored with
 * `includeOptimizer`.
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
  readonly #rates = new StepRates();
  #anchor: tf.Variable | null = null;
  /** Tables of the passes so far; a variable that only some pass has looked up may come back as a tensor. */
  readonly #lookedUp = new WeakSet<Table>();
  #savedIterations: tf.Tensor | null = null;
  #stateVersion = 0;
  /** The names of state that a loaded model is to bring; null once it is there. */
  #due: readonly string[] | null = null;

  constructor(name: OptimizerName, config: TrainConfig = {}, saved: SavedParts = {}) {
    super();
    if (config === null || typeof config !== 'object') {
      throw new ArgumentTypeError('config', 'an object of hyper-parameters', config);
    }
    this.#settings = readSettings(name, config);
    this.#dense = new DensePart(name, this.#settings, saved.dense ?? checkDense(config.dense));
    this.#due = saved.state ?? null;
  }

  /** The learning rate in force at the next step. */
  get learningRate(): number {
    return learningRateAt(this.#settings.learningRate, this.iterations);
  }

  /** The hyper-parameters in force. */
  get settings(): Readonly<Settings> {
    return this.#settings;
  }

  /** Another number whenever slots and other state were replaced as a whole: loaded or disposed. */
  get stateVersion(): number {
    return this.#stateVersion;
  }

  /** Whether the dense optimizer is one that the user gave. */
  get hasGivenDense(): boolean {
    return this.#dense.given !== null;
  }

  /**
   * Sets the learning rate, a number, a function of the step or a schedule of Keras, from the next step on. A function
   * that sets it within its calls is not captured.
   *
   * @param learningRate - The new rate.
   */
  setLearningRate(learningRate: LearningRate): void {
    refuseRecording('it sets the learning rate');
    this.#settings.learningRate = checkLearningRate(learningRate);
  }

  override minimize(f: () => tf.Scalar, returnCost = false, varList?: tf.Variable[]): tf.Scalar | null {
    let cost: tf.Scalar | null = null;
    // A step that is refused leaves no gradients behind.
    tf.tidy(() => {
      // Making an anchor for each step would cost as much as a small lookup.
      this.#anchor ??= tf.variable(tf.scalar(0), true);
      const { value, queue, gradients } = this.#differentiate(f, varList);
      try {
        this.#step(gradients);
        queue.end(true);
      } finally {
        queue.dispose();
      }
      if (returnCost) cost = value;
      return cost ?? undefined;
    });
    return cost;
  }

  /**
   * Returns the value of `f` and its gradients by variable name: `IndexedSlices` for every table that `f` looks up
   * (the sum over all its uses, penalties of regularizers included), tensors for all other variables that `f` depends
   * on. Frozen variables and those that are not in `varList` have no entry. All tensors are the caller's to dispose:
   * `tf.dispose([value, grads])`, or a `tf.tidy` around the whole step.
   *
   * @throws TypeError for what is no function, or returns no tensor; ValueError for one that is no scalar.
   *
   * @example
   * const { value, grads } = optimizer.computeGradients(() => loss());
   * optimizer.applyGradients(grads);
   * tf.dispose([value, grads]);
   */
  override computeGradients(f: () => tf.Scalar, varList?: tf.Variable[]): { value: tf.Scalar; grads: GradientMap } {
    return tf.tidy(() => {
      const { value, queue, gradients } = this.#differentiate(f, varList);
      try {
        const grads: GradientMap = {};
        for (const [table, gradient] of gradients.tables) grads[table.variable.name] = slicesOf(table, gradient);
        for (const { name, tensor } of gradients.dense) grads[name] = tensor;
        queue.end(true);
        return { value, grads };
      } finally {
        queue.dispose();
      }
    });
  }

  /**
   * Takes one step with the gradients that it is given: `IndexedSlices` or a tensor of its shape for a table, tensors
   * for all else, by variable name or as a list of `{name, tensor}`. A variable without an entry stays as it is, slots
   * included; a tensor steps every row of its table. The gradients stay the caller's to dispose.
   *
   * @throws TypeError for wrong types; ValueError for unknown variables, wrong shapes and several gradients of one
   * variable; RuntimeError for disposed gradients. Nothing is written then.
   */
  override applyGradients(gradients: Gradients): void {
    const found = readGradients(gradients);
    tf.tidy(() =>
      this.#step(
        sortGradients(found, new Map(), (variable) => this.#isTable(variable)),
        true,
      ),
    );
  }

  /** Gradients of `f`. What came through lookups lives until the queue is disposed. */
  #differentiate(
    f: () => tf.Scalar,
    varList: tf.Variable[] | undefined,
  ): { value: tf.Scalar; queue: GradientQueue; gradients: StepGradients } {
    // A pass within a pass: what the outer one looked up counts for the inner one too.
    const shared = lookupScope()?.anchor ?? this.#anchor;
    const anchor = shared ?? newAnchor();
    const queue = new GradientQueue(anchor, varList ?? null);
    const variables = varList && [...varList, anchor];
    try {
      const { value, grads } = asOwnRun(() => {
        return withLookupScope(queue, () => tf.variableGrads(() => scalarOf(f), variables));
      });
      delete grads[anchor.name];
      const entries = queue.byTable();
      for (const table of entries.keys()) this.#lookedUp.add(table);
      return { value, queue, gradients: sortGradients(readGradients(grads), entries, (each) => this.#isTable(each)) };
    } catch (error) {
      queue.dispose();
      releaseFailedTape();
      throw error;
    } finally {
      queue.close();
      if (shared === null) anchor.dispose();
    }
  }

  /** `areGiven`: by the caller, from lookups of another time. */
  #step(gradients: StepGradients, areGiven = false): void {
    // Drop rates cached by a step that threw.
    this.#rates.forget();
    this.#checkLoaded();
    this.#slots.prune();
    const { tables, dense } = this.#clipped(gradients);
    const rateOf = ({ settings }: TableOptimizer): number => this.#rates.of(settings, this.iterations);
    this.#dense.setLearningRate(rateOf(this));
    // Everything that can be refused is asked for before the first table is written.
    const step = (): number => this.iterations + 1;
    const hypers = new StepHypers(step, rateOf);
    const updates = [...tables].map(([table, gradient]) => {
      const own = this.#optimizerOf(table);
      if (areGiven || gradient.dense !== null || !own.settings.lazy) table.changesOthers = true;
      table.checkConstraint();
      checkTraining(table, own.settings.lazy);
      const hyper = hypers.of(own, table);
      const optimizer = updateOf(own, stepsByRow(table));
      const slots = this.#slots.of(table, optimizer, own.settings.initialAccumulatorValue);
      return { optimizer, table, slots, ...gradient, hyper };
    });
    stepTables(updates);
    this.#dense.apply(dense, () => rateOf(this), step);
    this.incrementIterations();
  }

  /** Clipped by the norm over everything, then tables with an optimizer of their own as that one asks for. */
  #clipped(gradients: StepGradients): StepGradients {
    const { globalClipNorm } = this.#settings;
    let clipped = globalClipNorm === null ? gradients : clipStep(gradients, globalClipNorm);
    const owners = new Set([...gradients.tables.keys()].map((table) => this.#optimizerOf(table)));
    owners.delete(this);
    for (const owner of owners) {
      const most = owner.settings.globalClipNorm;
      if (most !== null) clipped = clipTables(clipped, most, (table) => this.#optimizerOf(table) === owner);
    }
    return clipped;
  }

  /** What steps a table: its own optimizer, or this one. */
  #optimizerOf(table: Table | undefined): TableOptimizer {
    return table?.settings?.optimizer ?? this;
  }

  /** A variable is stepped by rows once it was looked up through this package. */
  #isTable(variable: tf.Variable): boolean {
    const table = knownTable(variable);
    if (table === undefined) return false;
    return this.#lookedUp.has(table) || this.#slots.has(table) || table.settings !== null;
  }

  /** tfjs does not ask for state where a file holds none. */
  #checkLoaded(): void {
    if (this.#due === null) return;
    throw new RuntimeError(
      'optimizer state',
      `${this.#due.join(', ')}, as it was saved`,
      described('a model without it'),
      'Compile the model with a new optimizer to train it from a fresh state.',
    );
  }

  /** The names of all state, in the order of `getWeights`. */
  #stateNames(): string[] {
    this.#slots.prune();
    const slots = this.#slots.save((table) => this.#optimizerOf(table));
    return ['iter', ...slots.map(({ name }) => name), ...this.#dense.names];
  }

  /** Also called after each replay of a captured step. */
  protected override incrementIterations(): void {
    super.incrementIterations();
    this.#rates.forget();
  }

  override async getWeights(): Promise<NamedTensor[]> {
    this.#checkLoaded();
    this.#slots.prune();
    this.#savedIterations?.dispose();
    this.#savedIterations = tf.keep(tf.scalar(this.iterations, 'int32'));
    const slots = this.#slots.save((table) => this.#optimizerOf(table));
    return [{ name: 'iter', tensor: this.#savedIterations }, ...slots, ...(await this.#dense.save())];
  }

  override async setWeights(weightValues: NamedTensor[]): Promise<void> {
    const names = weightValues.map(({ name }) => name);
    const missing = [
      ...missingSlots(names, (name) => {
        const [table] = tablesNamed(name);
        return updateOf(this.#optimizerOf(table), stepsByRow(table));
      }),
      ...this.#dense.missing(names),
    ];
    const due = this.#due ?? ['iter', ...missing];
    checkNothingMissing(due, names, this.#due === null ? [] : names.filter((name) => !due.includes(name)));
    const iterations = weightValues.find(({ name }) => name === 'iter')!;
    const others = weightValues.filter((each) => each !== iterations);
    const rest = (await this.extractIterations([iterations, ...others])) as NamedTensor[];
    this.#stateVersion += 1;
    this.#slots.load(await this.#dense.load(rest, this.iterations));
    this.#due = null;
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
    // So that a file from which some of it is gone does not pass for one that never had it.
    const state = this.#stateNames();
    if (this.iterations > 0 || state.length > 1) config.state = state.map((name) => ({ name }));
    return config as tf.serialization.ConfigDict;
  }

  /** Frees slots, loaded state and the default dense optimizer's state. */
  override dispose(): void {
    this.#stateVersion += 1;
    this.#slots.dispose();
    this.#dense.dispose();
    this.#anchor?.dispose();
    this.#anchor = null;
    this.#savedIterations?.dispose();
    this.#savedIterations = null;
  }
}

/** Whether the rows of a table count their own steps. */
function stepsByRow(table: Table | undefined): boolean {
  return table?.settings?.stepsByRow === true;
}

type Known = Map<TableOptimizer, Map<RowConstraint | null, Float32Array>>;

/** The numbers of the update kernels in one step: tables that are stepped alike share them. */
class StepHypers {
  readonly #known: readonly Known[] = [new Map(), new Map()];

  constructor(
    private readonly step: () => number,
    private readonly rateOf: (own: TableOptimizer) => number,
  ) {}

  of(own: TableOptimizer, table: Table): Float32Array {
    if (table.codec.training === 'rounded') return this.#ofRounded(own, table);
    const constraint = table.settings?.constraint ?? null;
    const all = this.#known[Number(stepsByRow(table))]!;
    const known = all.get(own) ?? new Map<RowConstraint | null, Float32Array>();
    all.set(own, known);
    const hyper = known.get(constraint) ?? live(() => packHyper(this.#now(own, table)));
    known.set(constraint, hyper);
    return hyper;
  }

  /** Each table is rounded by a key of its own. */
  #ofRounded(own: TableOptimizer, table: Table): Float32Array {
    const { rows, dim } = table;
    const seed = table.settings?.roundingSeed ?? 0;
    return live(() => packHyper({ ...this.#now(own, table), ...roundingKey({ seed, step: this.step(), rows, dim }) }));
  }

  #now(own: TableOptimizer, table: Table): Hyper {
    const { optimizerName, settings } = own;
    const constraint = table.settings?.constraint ?? null;
    return hyperOf(optimizerName, settings, this.step(), constraint, this.rateOf(own), stepsByRow(table));
  }
}

/** What stands for all tables on the tape of one pass; its name takes none of the numbers of nameless variables. */
function newAnchor(): tf.Variable {
  return tf.tidy(() => tf.variable(tf.scalar(0), true, 'tfjs-embeddings/anchor'));
}
