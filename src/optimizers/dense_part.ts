/** The dense optimizer beside the row-sparse one: it trains every variable that is not a table. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { DEFAULTS } from '../rules/fields.js';
import { RULES, updateOf, type OptimizerName } from '../rules/rules.js';
import type { NamedTensor } from '../base/types.js';
import { growAtEnd, withRowsOf } from '../backends/stores/table_rows.js';
import { refuseRecording, live } from '../backends/recordings.js';
import { denseHyper, type Settings } from '../rules/optimizer_settings.js';
import { RuleOptimizer } from './rule_optimizer.js';
import {
  POWERS,
  disposeStock,
  keepMomentumScalar,
  runningPowers,
  setStockRate,
  stateOf,
  type RunningPowers,
  stateFor,
  beforeStockSteps,
  type StockStep,
  withEpsilon,
} from '../tfjs/stock_optimizer_state.js';
import { isAnonymous, knownTable } from '../backends/table.js';
import { stepOps } from '../backends/registry.js';
import { DENSE_HYPER_FIELDS, type DenseHyper, type DenseOptimizerName } from '../backends/step_ops.js';
import { bytesText } from '../base/units.js';
import { warnOnce } from '../base/warn_once.js';

/** Looks at the steps of stock optimizers from now on. */
export function watchStockSteps(): void {
  beforeStockSteps(checkStep);
}

function checkStep({ variable, state, start }: StockStep): void {
  const table = knownTable(variable);
  if (!table?.settings) return;
  const { name, optimizer } = table.settings;
  const { shape, size } = variable;
  if (optimizer !== null) {
    throw new ValueError(
      'optimizer',
      `an emb.train optimizer in compile, because table ${name} has an optimizer of its own`,
      described('a stock optimizer, which trains every variable itself'),
    );
  }
  warnOnce(
    `table ${name} [${shape.join(', ')}] is trained by a stock optimizer: each step builds and applies a dense ` +
      `gradient of ${bytesText(4 * size)}, whatever the batch (said for the first such table only). Optimizers of ` +
      `emb.train touch only the rows of the batch: sgd and adagrad train the same, adam with \`lazy: false\`.`,
    'dense gradient',
  );
  // Stock optimizers are not told that a table has got more rows.
  for (const each of state()) {
    const before = each.shape[0]!;
    if (!table.hadRows(before)) continue;
    const values = withRowsOf<tf.Tensor>(each, shape[0]! - before, start);
    growAtEnd([{ variable: each, values }]);
    values.dispose();
  }
}

const NAMES: Readonly<Record<string, DenseOptimizerName>> = {
  SGD: 'sgd',
  Momentum: 'momentum',
  Adagrad: 'adagrad',
  Adam: 'adam',
};

interface Entry {
  readonly name: string;
  readonly tensor: tf.Tensor | null;
}

/** What a step needs of the fields of stock optimizers. */
interface StockFields {
  readonly momentum?: number;
  readonly useNesterov?: boolean;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

/** `own`: the epsilon that the user gave, of an optimizer that takes the backend's. */
function hyperOf(stock: StockFields, learningRate: number, own: number | null): Float32Array {
  const { momentum = 0, useNesterov = false, beta1 = 0, beta2 = 0 } = stock;
  const hyper: DenseHyper = {
    learningRate,
    momentum,
    useNesterov: useNesterov ? 1 : 0,
    beta1,
    oneMinusBeta1: 1 - beta1,
    beta2,
    oneMinusBeta2: 1 - beta2,
    // Adagrad has none of its own and takes the backend's.
    epsilon: stock.epsilon ?? own ?? tf.backend().epsilon(),
  };
  return Float32Array.from(DENSE_HYPER_FIELDS, (field) => hyper[field]);
}

/** Whether the op may step a variable with this gradient. Loaded state may wait for a variable that is frozen. */
function isPlain(variable: tf.Variable | undefined, gradient: tf.Tensor | null): boolean {
  if (gradient === null) return true;
  if (variable === undefined) return false;
  const areFloats = variable.dtype === 'float32' && gradient.dtype === 'float32';
  return areFloats && tf.util.arraysEqual(variable.shape, gradient.shape);
}

/**
 * Takes the step of a stock optimizer: variables, state and values are those that it would leave. Returns false where
 * nothing was done, because the backend has no such op or the gradients are not what it takes.
 */
export function stepInOneOp(
  optimizer: tf.Optimizer,
  list: readonly Entry[],
  learningRate: () => number,
  epsilon: number | null = null,
): boolean {
  const name = NAMES[optimizer.getClassName()];
  const ops = stepOps();
  if (name === undefined || ops === null) return false;
  const { registeredVariables } = tf.engine();
  const all = list.map((entry) => registeredVariables[entry.name]);
  if (all.some((variable, i) => !isPlain(variable, list[i]!.tensor))) return false;
  const state = stateFor(optimizer, all);
  if (state === null) return false;
  const stepped = list.flatMap(({ tensor }, i) => (tensor === null ? [] : [i]));
  if (stepped.length === 0) return false;
  const powers = runningPowers(optimizer);
  ops.denseApply({
    optimizer: name,
    variables: stepped.map((i) => all[i]!),
    slots: state.map((entries) => stepped.map((i) => entries[i]!.variable)),
    powers: powers === null ? [] : [powers.accBeta1, powers.accBeta2],
    gradients: stepped.map((i) => list[i]!.tensor!),
    hyper: live(() => hyperOf(optimizer as unknown as StockFields, learningRate(), epsilon)),
  });
  return true;
}

interface Place {
  name: string;
  /** The shape of loaded state that still waits for its variable; null once it has one. */
  waits: readonly number[] | null;
}

/** tfjs adds a number to a name that is taken, such as that of the model which was saved. */
function withoutNumber(name: string): string {
  return name.replace(/_\d+$/, '');
}

/** State by kind, from names `<variable>/<kind>`; null where kinds are not of one length, as stock ones are. */
function byKind(state: readonly NamedTensor[]): Map<string, NamedTensor[]> | null {
  const kinds = new Map<string, NamedTensor[]>();
  for (const entry of state) {
    const kind = entry.name.slice(entry.name.lastIndexOf('/') + 1);
    kinds.set(kind, [...(kinds.get(kind) ?? []), entry]);
  }
  const lengths = new Set([...kinds.values()].map(({ length }) => length));
  return lengths.size > 1 ? null : kinds;
}

export class DenseOrder {
  readonly #places: Place[] = [];
  /** Names of variables that have a place. */
  readonly #placed = new Set<string>();

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  clear(): void {
    this.#places.length = 0;
    this.#placed.clear();
  }

  /** One entry per place, with a null gradient for those that have none now: stock optimizers skip it. */
  arrange(gradients: readonly NamedTensor[]): { name: string; tensor: tf.Tensor | null }[] {
    const byName = new Map(gradients.map(({ name, tensor }) => [name, tensor]));
    const fresh = gradients.filter(({ name }) => !this.#placed.has(name));
    // A model that was built anew may have other names throughout: then places go by order and shape.
    const areKnown = fresh.some((each) => this.#waitingFor(each, true) !== undefined);
    for (const each of fresh) {
      const place = this.#waitingFor(each, areKnown);
      this.#placed.add(each.name);
      if (place === undefined) this.#places.push({ name: each.name, waits: null });
      else [place.name, place.waits] = [each.name, null];
    }
    return this.#places.map(({ name, waits }) => ({
      name,
      tensor: waits === null ? (byName.get(name) ?? null) : null,
    }));
  }

  /** The loaded place of a variable. */
  #waitingFor({ name, tensor }: NamedTensor, byName: boolean): Place | undefined {
    const fits = this.#places.filter(
      ({ waits }) => waits !== null && tf.util.arraysEqual(waits as number[], tensor.shape),
    );
    if (!byName) return fits[0];
    if (isAnonymous(name)) return fits.find((place) => isAnonymous(place.name));
    const stem = withoutNumber(name);
    return fits.find((place) => place.name === name) ?? fits.find((place) => withoutNumber(place.name) === stem);
  }

  /** State under the names of its variables; without that of variables that are gone. */
  named(state: readonly NamedTensor[]): NamedTensor[] {
    const kinds = byKind(state);
    if (kinds === null) return [...state];
    const { registeredVariables } = tf.engine();
    return [...kinds].flatMap(([kind, entries]) =>
      entries.flatMap(({ name, tensor }, at) => {
        const place = this.#places[at];
        if (place === undefined) return [{ name, tensor }];
        const isGone = place.waits === null && registeredVariables[place.name] === undefined;
        return isGone ? [] : [{ name: `${place.name}/${kind}`, tensor }];
      }),
    );
  }

  /** Takes the places of loaded state. */
  restore(state: readonly NamedTensor[]): void {
    this.clear();
    const first = [...(byKind(state)?.values() ?? [])][0] ?? [];
    for (const { name, tensor } of first) {
      this.#places.push({ name: name.slice(0, name.lastIndexOf('/')), waits: [...tensor.shape] });
    }
  }
}

/** The stock optimizer that goes with a row-sparse one. */
function defaultDense(name: OptimizerName, settings: Settings, learningRate: number): tf.Optimizer {
  const dense = RULES[name].dense(tf.train, settings, learningRate);
  if (dense === null) return new RuleOptimizer(updateOf({ optimizerName: name, settings }));
  // Not by `instanceof`, which holds for every optimizer of tfjs.
  return dense.getClassName() === 'Momentum' ? keepMomentumScalar(dense as tf.MomentumOptimizer) : dense;
}

const PREFIX = 'dense/';

/** Kinds of state of the default optimizers, one of each per variable. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  SGD: [],
  Momentum: ['momentum'],
  Adagrad: ['accumulator'],
  Adam: ['m', 'v'],
};

/** The state that is missing of a default optimizer, where there is some. */
function missingOf(optimizer: tf.Optimizer, given: readonly string[]): string[] {
  const kinds = optimizer instanceof RuleOptimizer ? optimizer.kinds : (KINDS[optimizer.getClassName()] ?? []);
  const isPower = (name: string): boolean => POWERS.includes(name);
  const variables = given.filter((name) => !isPower(name)).map((name) => name.slice(0, name.lastIndexOf('/')));
  const due = [...new Set(variables)].flatMap((variable) => kinds.map((kind) => `${variable}/${kind}`));
  if (runningPowers(optimizer) !== null) due.push(...POWERS);
  return due.filter((name) => !given.includes(name));
}

export function checkDense(dense: unknown): tf.Optimizer | null {
  if (dense === undefined || dense === null) return null;
  const expected = 'a tf.Optimizer, such as tf.train.adam(0.001)';
  // tfjs defines `instanceof tf.Optimizer` by the presence of its methods.
  if (typeof dense === 'object' && dense instanceof tf.Optimizer) {
    return dense as tf.Optimizer;
  }
  throw new ArgumentTypeError('dense', expected, dense);
}

/** The dense optimizer of the user; or how to make the one of a saved config; or null: the default one. */
export type GivenDense = tf.Optimizer | (() => tf.Optimizer) | null;

export class DensePart {
  #optimizer: tf.Optimizer | null = null;
  readonly #isDefault: boolean;
  /** Makes the optimizer; null where it is the user's. */
  readonly #make: (() => tf.Optimizer) | null;
  readonly #order = new DenseOrder();
  /** The rate of the step in progress, or of the last one: steps set it, so that no function is asked for it here. */
  #rate = 0;

  constructor(
    private readonly name: OptimizerName,
    private readonly settings: Settings,
    given: GivenDense,
  ) {
    this.#isDefault = given === null;
    if (given === null) this.#make = () => defaultDense(name, settings, this.#rate);
    else this.#make = typeof given === 'function' ? given : null;
    // What a loader makes must not be made within a step, whose end frees what is new.
    if (given !== null) this.#optimizer = typeof given === 'function' ? given() : given;
  }

  /** The optimizer, made at first use because some hold variables from birth. */
  get optimizer(): tf.Optimizer {
    return (this.#optimizer ??= this.#make!());
  }

  /** The optimizer that the user gave, in this process or before it was saved; or null. */
  get given(): tf.Optimizer | null {
    return this.#isDefault ? null : this.optimizer;
  }

  /** Sets the rate of the default optimizer for its next step; one that the user gave keeps its own. */
  setLearningRate(learningRate: number): void {
    this.#rate = learningRate;
  }

  /** `learningRate`, `step`: of the step in progress, whenever they are asked for. */
  apply(gradients: readonly NamedTensor[], learningRate: () => number, step: () => number): void {
    const list = this.#order.arrange(gradients);
    if (list.length === 0) return;
    if (this.optimizer instanceof RuleOptimizer) {
      return this.optimizer.step(list, () => denseHyper(this.name, this.settings, step(), learningRate()));
    }
    if (this.#isDefault && stepInOneOp(this.optimizer, list, learningRate, this.#epsilon)) return;
    if (list.some(({ tensor }) => tensor !== null)) {
      // Repeated, it would keep the rate of the step that was recorded.
      refuseRecording('ops of tfjs, to which the learning rate is a constant, step its dense variables');
    }
    if (this.#isDefault) setStockRate(this.optimizer, this.#rate);
    withEpsilon(this.#isDefault ? this.#epsilon : null, () => this.optimizer.applyGradients(list as never));
  }

  /** The epsilon that the user gave, where the stock optimizer has none of its own; the default is the backend's. */
  get #epsilon(): number | null {
    const { epsilon } = this.settings;
    const isAdagrads = this.optimizer.getClassName() === 'Adagrad' && this.name !== 'ftrl';
    return isAdagrads && epsilon !== DEFAULTS.epsilon ? epsilon : null;
  }

  async save(): Promise<NamedTensor[]> {
    if (this.#optimizer === null && this.#order.isEmpty) return [];
    // The first entry is a fresh scalar with the number of steps, which the row-sparse optimizer saves itself.
    const [iterations, ...state] = (await this.optimizer.getWeights()) as NamedTensor[];
    iterations!.tensor.dispose();
    const saved = this.#order.named(state).map(({ name, tensor }) => ({ name: `${PREFIX}${name}`, tensor }));
    const powers = runningPowers(this.optimizer);
    if (powers !== null) {
      saved.push({ name: `${PREFIX}accBeta1`, tensor: powers.accBeta1 });
      saved.push({ name: `${PREFIX}accBeta2`, tensor: powers.accBeta2 });
    }
    return saved;
  }

  /** The names under which `save` gives state. */
  get names(): string[] {
    if (this.#optimizer === null) return [];
    const state = this.#order.named(stateOf(this.#optimizer)).map(({ name }) => name);
    const powers = runningPowers(this.#optimizer) === null ? [] : POWERS;
    return [...state, ...powers].map((name) => `${PREFIX}${name}`);
  }

  /** Names that are missing among those of saved state. */
  missing(names: readonly string[]): string[] {
    const mine = names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    if (mine.length === 0 || !this.#isDefault) return [];
    this.#goOnWithStock(mine);
    return missingOf(this.optimizer, mine).map((name) => `${PREFIX}${name}`);
  }

  /** Files of 0.1.0 hold the state of stock Adam also where the rule steps dense variables now: it goes on with that. */
  #goOnWithStock(names: readonly string[]): void {
    if (!this.#isDefault || this.name !== 'adam' || !POWERS.some((power) => names.includes(power))) return;
    if (!(this.optimizer instanceof RuleOptimizer)) return;
    const { beta1, beta2, epsilon } = this.settings;
    this.optimizer.dispose();
    this.#optimizer = tf.train.adam(this.#rate, beta1, beta2, epsilon);
  }

  /** Takes what `save` gave, as far as it is its own; returns the rest. */
  async load(saved: readonly NamedTensor[], iterations: number): Promise<NamedTensor[]> {
    const mine = saved.filter(({ name }) => name.startsWith(PREFIX));
    const rest = saved.filter(({ name }) => !name.startsWith(PREFIX));
    if (mine.length === 0) return rest;
    const stripped = mine.map(({ name, tensor }) => ({ name: name.slice(PREFIX.length), tensor }));
    this.#goOnWithStock(stripped.map(({ name }) => name));
    const isPower = ({ name }: NamedTensor): boolean => POWERS.includes(name);
    const count = tf.scalar(iterations, 'int32');
    try {
      const state = stripped.filter((entry) => !isPower(entry));
      const given = new Set(saved.map(({ tensor }) => tensor));
      const before = stateOf(this.optimizer).filter(({ tensor }) => !given.has(tensor));
      await this.optimizer.setWeights([{ name: 'iter', tensor: count }, ...state] as never);
      this.#order.restore(state);
      // Stock optimizers forget the state that they had.
      tf.dispose(before.map(({ tensor }) => tensor));
    } finally {
      count.dispose();
    }
    const powers = runningPowers(this.optimizer);
    for (const { name, tensor } of stripped.filter(isPower)) {
      if (powers === null) throw new RuntimeError(name, 'a dense Adam optimizer', this.optimizer.getClassName());
      powers[name as keyof RunningPowers].assign(tensor as tf.Scalar);
    }
    return rest;
  }

  /** Ends the state of an optimizer that was made here; one that the user gave is the user's to dispose. */
  dispose(): void {
    if (this.#make === null || this.#optimizer === null) return;
    disposeStock(this.#optimizer);
    this.#optimizer = null;
    this.#order.clear();
  }
}
