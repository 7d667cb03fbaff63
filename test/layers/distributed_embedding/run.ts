/** Runs a generated use of `DistributedEmbedding` on the backend in use, and notes everything that can be compared. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { currentBackend } from '../../../src/backends/registry.js';
import type { TableLayout } from '../../../src/partition/table_layout.js';
import { RULES } from '../../../src/rules/rules.js';
import { Random } from '../../helpers/random.js';
import type { DistributedCase, OptimizerCase, TableCase } from './generated_case.js';
import { givenInput } from './forms.js';

/** Numbers under a name. */
export interface Noted {
  readonly name: string;
  readonly values: Float32Array;
}

/** The result of one feature. */
export interface NotedOutput {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** What is there after the layer was built (step 0) and after each step. */
export interface Moment {
  /** In the order of features, before the step. */
  readonly outputs: readonly NotedOutput[];
  readonly tables: readonly Noted[];
  /** Slots of tables by `<table>/<slot>`, and what else the optimizer keeps. */
  readonly state: readonly Noted[];
  /** How each table lies, by name; null where there are no devices. */
  readonly kinds: ReadonlyMap<string, TableLayout['kind'] | null>;
}

function initializerOf(number: number): emb.DistributedItemArgs['embeddingsInitializer'] {
  return [
    () => 'randomUniform',
    () => tf.initializers.randomNormal({ mean: 0, stddev: 0.5, seed: 3 }),
    () => tf.initializers.truncatedNormal({ seed: 4 }),
    () => tf.initializers.varianceScaling({ scale: 2, mode: 'fanOut', distribution: 'normal' }),
    () => 'ones',
    () => tf.initializers.orthogonal({ gain: 1, seed: 5 }),
    () => 'glorotUniform',
  ][number]!() as emb.DistributedItemArgs['embeddingsInitializer'];
}

function makeOptimizer({ name, config }: OptimizerCase): tf.Optimizer {
  switch (name) {
    case 'tf.sgd':
      return tf.train.sgd(0.1);
    case 'tf.adagrad':
      return tf.train.adagrad(0.1);
    case 'tf.adam':
      return tf.train.adam(0.1, 0.9, 0.99, 0.1);
    default:
      return emb.train[name](config);
  }
}

function configOptimizer(given: OptimizerCase | null): NonNullable<emb.TableConfigArgs['optimizer']> | null {
  if (given === null) return null;
  const { name, config } = given;
  if (given.given === 'name') return name as NonNullable<emb.TableConfigArgs['optimizer']>;
  if (given.given === 'keras') return { className: RULES[name as emb.OptimizerName].keras!.className, config };
  return makeOptimizer(given) as unknown as NonNullable<emb.TableConfigArgs['optimizer']>;
}

function tableArgs(table: TableCase): emb.EmbeddingTableArgs {
  const { rows, columns, initializer, optimizer, constraint, isRegularized } = table;
  return {
    inputDim: rows,
    outputDim: columns,
    embeddingsInitializer: initializerOf(initializer),
    embeddingsConstraint: constraint === 'maxNorm' ? tf.constraints.maxNorm({ maxValue: 0.4, axis: 1 }) : constraint,
    embeddingsRegularizer: isRegularized ? tf.regularizers.l2({ l2: 0.05 }) : null,
    optimizer: optimizer === null ? null : (makeOptimizer(optimizer) as never),
  };
}

function itemsOf({ tables, items }: DistributedCase): emb.DistributedItemArgs[] {
  const shared = tables.map((table) => {
    const { name, isFrozen, isShared } = table;
    return isShared || isFrozen ? emb.embeddingTable({ ...tableArgs(table), name, trainable: !isFrozen }) : null;
  });
  return items.map(({ table: number, ...rule }) => {
    const table = shared[number]!;
    const own = { name: tables[number]!.name, ...tableArgs(tables[number]!) };
    return { ...rule, ...(table === null ? own : { table }) };
  });
}

/** Puts parts, one per feature, into the structure of a case. */
function pack<T>({ structure }: DistributedCase, parts: readonly T[]): unknown {
  switch (structure) {
    case 'list':
      return [...parts];
    case 'single':
      return parts[0];
    case 'record':
      return Object.fromEntries(parts.map((part, i) => [`feature_${i}`, part]));
    case 'deep':
      return { 'first one': parts[0], rest: [parts[1], { others: parts.slice(2).map((part) => ({ part })) }] };
  }
}

function unpack({ structure }: DistributedCase, value: unknown): unknown[] {
  switch (structure) {
    case 'list':
      return value as unknown[];
    case 'single':
      return [value];
    case 'record':
      return Object.values(value as object);
    case 'deep': {
      const { 'first one': first, rest } = value as { 'first one': unknown; rest: [unknown, { others: object[] }] };
      return [first, rest[0], ...rest[1].others.flatMap((other) => Object.values(other) as unknown[])];
    }
  }
}

function featuresOf(example: DistributedCase): unknown {
  const tables = example.tables.map(({ name, rows, columns, combiner, initializer, optimizer }) => {
    return new emb.TableConfig({
      name,
      vocabularySize: rows,
      embeddingDim: columns,
      combiner,
      initializer: initializerOf(initializer) ?? null,
      optimizer: configOptimizer(optimizer),
    });
  });
  const features = example.inputs.map(({ item }, i) => {
    const table = tables[example.items[item]!.table]!;
    return new emb.FeatureConfig({
      name: `f${i}`,
      table,
      inputShape: [null, 3],
      outputShape: [null, table.embeddingDim],
    });
  });
  return pack(example, features);
}

function layerOf(given: DistributedCase): emb.DistributedEmbedding {
  const { wishes, hasMap, inputs, isConfig } = given;
  const content = isConfig
    ? { features: featuresOf(given) as emb.NestedFeatures }
    : { embeddings: itemsOf(given), inputTableMap: hasMap ? inputs.map(({ item }) => item) : null };
  return emb.layers.distributedEmbedding({ name: 'layer', ...content, ...wishes });
}

const noted = (name: string, tensor: tf.Tensor): Noted => ({ name, values: tensor.dataSync<'float32'>().slice() });

function notedOutput(output: unknown): NotedOutput {
  if (output instanceof tf.Tensor) return { shape: output.shape, values: output.dataSync<'float32'>().slice() };
  const ragged = output as emb.RaggedTensor;
  const lengths = ragged.nestedRowSplits.flatMap((splits) => [...splits]);
  return { shape: [...lengths, ...ragged.innerShape], values: Float32Array.from(ragged.values) };
}

/** A layer of a case, with its optimizer. */
class Trained {
  readonly layer: emb.DistributedEmbedding;
  private readonly optimizer: tf.Optimizer;
  /** Trained beside the tables. */
  private readonly bias = tf.tidy(() => tf.variable(tf.tensor1d([0.5, -2])));

  constructor(private readonly example: DistributedCase) {
    this.layer = layerOf(example);
    this.layer.build();
    this.optimizer = makeOptimizer(example.optimizer);
  }

  /** The results of the features, in their order. Call inside a tidy. */
  private lookUp(step: number): unknown[] {
    const { example, layer } = this;
    const given = example.inputs.map((input) => givenInput(input, input.batches[step]!));
    const ids = given.map((each) => each.ids);
    const hasWeights = given.some(({ weights }) => weights !== null);
    const weights = hasWeights ? pack(example, given.map((each) => each.weights)) : null; // prettier-ignore
    const byDevice = example.wishes.dpInput === false;
    const inputs = byDevice
      ? layer.plan!.ranks.map((rank) => rank.tableParallel!.inputIdsGlobal.map((input) => ids[input]))
      : pack(example, ids);
    return unpack(example, layer.apply(inputs, { weights }));
  }

  /** A loss whose gradient with respect to the outputs is the same whatever these are. */
  private loss(step: number, outputs: readonly unknown[]): tf.Scalar {
    const { example, layer } = this;
    const random = new Random(1000 * example.seed + step);
    const weighted = (tensor: tf.Tensor): tf.Scalar =>
      tensor.mul(tf.tensor(random.floats(tensor.size), tensor.shape)).sum() as tf.Scalar;
    const terms = [weighted(this.bias as unknown as tf.Tensor)];
    example.inputs.forEach(({ isInLoss }, i) => {
      const output = outputs[i];
      // A sum of nothing fails on webgl (4.22).
      if (isInLoss && output instanceof tf.Tensor && output.size > 0) terms.push(weighted(output));
    });
    for (const [name, table] of this.variables()) {
      const { isTied } = example.tables.find((each) => each.name === name)!;
      if (isTied) terms.push(weighted(table));
    }
    return tf.addN([...terms, ...layer.calculateLosses()]);
  }

  private kinds(): Moment['kinds'] {
    const { devices } = currentBackend().store;
    return new Map(this.variables().map(([name, table]) => [name, devices?.layoutOf(table)?.kind ?? null] as const));
  }

  /** The tables by name; `layer.weights` lists frozen ones last. */
  private variables(): [name: string, table: tf.Tensor][] {
    const { tableNames } = this.layer;
    return this.layer.getWeights().map((table, i) => [tableNames[i]!, table]);
  }

  private tables(): Noted[] {
    return this.variables().map(([name, table]) => noted(name, table));
  }

  /** What the optimizer keeps; slots of a table under its name. */
  private async state(): Promise<Noted[]> {
    const { example, layer, optimizer } = this;
    const nameOf = new Map(this.variables().map(([table, variable]) => [variable, table]));
    const named = new Map(layer.weights.map((weight) => [weight.originalName, nameOf.get(weight.read())!]));
    const isStock = example.optimizer.name.startsWith('tf.');
    const weights = await optimizer.getWeights();
    const state = weights.map(({ name, tensor }, place) => {
      const end = name.lastIndexOf('/');
      const table = named.get(name.slice(0, end));
      // Stock optimizers number their slots.
      const known = isStock || name.startsWith('dense/') ? `${place}` : name;
      return noted(table === undefined ? known : `${table}${name.slice(end)}`, tensor);
    });
    // Stock optimizers make this one for each caller.
    if (isStock) weights[0]!.tensor.dispose();
    return state;
  }

  private look(): Pick<Moment, 'outputs' | 'kinds'> {
    let outputs: NotedOutput[] = [];
    tf.tidy(() => {
      outputs = this.lookUp(0).map(notedOutput);
    });
    return { outputs, kinds: this.kinds() };
  }

  private step(step: number): Pick<Moment, 'outputs' | 'kinds'> {
    let found: Pick<Moment, 'outputs' | 'kinds'> | undefined;
    this.optimizer.minimize(() => {
      const outputs = this.lookUp(step);
      found = { outputs: outputs.map(notedOutput), kinds: this.kinds() };
      return this.loss(step, outputs);
    });
    return found!;
  }

  async moment(step: number): Promise<Moment> {
    const found = step === 0 ? this.look() : this.step(step);
    return { ...found, tables: this.tables(), state: [...(await this.state()), noted('bias', this.bias)] };
  }

  dispose(): void {
    this.layer.dispose();
    this.optimizer.dispose();
    this.bias.dispose();
  }
}

/** Looks up once, then trains, on the backend in use. */
export async function runCase(example: DistributedCase): Promise<Moment[]> {
  const trained = new Trained(example);
  const moments: Moment[] = [];
  try {
    for (let step = 0; step <= example.steps; step++) moments.push(await trained.moment(step));
  } finally {
    trained.dispose();
  }
  return moments;
}
