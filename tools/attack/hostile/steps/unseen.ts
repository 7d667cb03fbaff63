/** What changes between steps without anybody being told: lists, symbols, tfjs itself, optimizers, batches, loops within loops. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import {
  layer,
  layersOf,
  prototypeOf,
  put,
  scale,
  type Fields,
  type HostileStep,
  type Training,
} from './hostile_step.js';
import { ROWS, WIDTH, type ModelName } from './models.js';

type Act = HostileStep['act'];
type Batch = NonNullable<HostileStep['batch']>;
const both = (name: string, model: ModelName, act: Act): HostileStep[] =>
  (['first', 'later'] as const).map((when) => ({ name, model, when, act }));
const always = (name: string, model: ModelName, act: Act): HostileStep => ({ name, model, when: 'always', act });
const nothing = (): void => undefined;
const fed = (name: string, model: ModelName, batch: Batch): HostileStep => ({
  name,
  model,
  when: 'first',
  act: nothing,
  batch,
});

const variable = (model: tf.LayersModel, at = 0): tf.Variable =>
  (model.weights.at(at) as unknown as { val: tf.Variable }).val;
const named = (model: tf.LayersModel, kind: string): Fields[] =>
  layersOf(model).filter(({ name }) => name.startsWith(kind)) as unknown as Fields[];
/** Calls of two layers whose results another layer takes side by side. */
const merging = (model: tf.LayersModel): Fields[] =>
  ['add', 'average'].map((kind) => (layer(model, kind)['inboundNodes'] as Fields[])[0]!);
const swap = ([a, b]: readonly Fields[], field: string): void => {
  [a![field], b![field]] = [b![field], a![field]];
};
const scaled = ({ factor }: Training, x: tf.Tensor): tf.Tensor => tf.tidy(() => tf.mul(x, factor()));

/** The regularizer of a table. */
const penaltyOf = (model: tf.LayersModel): object =>
  named(model, 'embedding').flatMap((each) => (each['table'] as { regularizer: object | null }).regularizer ?? [])[0]!;

/** A list with a method of its own. */
const ownMap = (training: Training, list: object): void =>
  put(training, list, 'map', {
    value(this: readonly (() => tf.Tensor)[], f: (each: () => tf.Tensor) => tf.Tensor) {
      return Array.from(this, (each) => scaled(training, f(each)));
    },
  });

const graph: readonly HostileStep[] = [
  ...both('a list of losses with a map of its own', 'tables', (training) =>
    ownMap(training, layer(training.model, 'dense')['_losses'] as object),
  ),
  ...both('a loss behind a getter', 'normalized', (training) => {
    const functions = (training.model as unknown as { lossFunctions: unknown[] }).lossFunctions;
    const [stock] = functions;
    put(training, functions, 0, {
      get: () => (training.factor() === 1 ? stock : tf.losses.absoluteDifference),
      enumerable: true,
    });
  }),
  ...both('a symbol with the id of another', 'merged', ({ model }) => {
    const [a, b] = merging(model).map((node) => (node['outputTensors'] as Fields[])[0]!);
    a!['id'] = b!['id'];
  }),
  ...both('two nodes that change what they give', 'merged', ({ model }) => swap(merging(model), 'outputTensors')),
  ...both('two nodes that change what they give, in their lists', 'merged', ({ model }) =>
    swap(merging(model).map((node) => node['outputTensors'] as Fields), '0'),
  ),
  ...both('a list of another class', 'tables', ({ model }) => {
    const losses = layer(model, 'dense')['_losses'] as object;
    Object.setPrototypeOf(losses, class extends Array<() => tf.Tensor> {
      override map<T>(): T[] { return []; }
    }.prototype);
  }),
]; // prettier-ignore

/** Methods of what every step computes by. */
const computing: readonly HostileStep[] = [
  ...both('kernels that are run by a function of the engine', 'normalized', (training) => {
    const engine = tf.engine() as unknown as Fields;
    const run = engine['runKernel'] as (name: string, ...rest: unknown[]) => tf.Tensor;
    const value = (name: string, ...rest: unknown[]): tf.Tensor => {
      const result = run.call(engine, name, ...rest);
      return name === 'Softplus' ? tf.mul(result, training.factor()) : result;
    };
    put(training, engine, 'runKernel', { value, writable: true });
  }),
  ...both('ops that are run by a function of the backend', 'normalized', (training) => {
    const backend = tf.backend() as unknown as Fields;
    const run = backend['executeSingleOutput'] as (name: string, ...rest: unknown[]) => tf.Tensor;
    const value = (name: string, ...rest: unknown[]): tf.Tensor => {
      const result = run.call(backend, name, ...rest);
      return name === 'Softplus' ? tf.mul(result, training.factor()) : result;
    };
    put(training, backend, 'executeSingleOutput', { value, writable: true });
  }),
  ...both('methods of the class of the backend', 'normalized', (training) => {
    const prototype = prototypeOf(tf.backend());
    put(training, prototype, 'executeSingleInput', { value: (prototype as Fields)['executeSingleInput'] });
    scale(training, prototype, 'executeSingleInput');
  }),
];

const penalties: readonly HostileStep[] = [
  ...both('the apply of the regularizer of a table', 'tables', (training) =>
    scale(training, penaltyOf(training.model), 'apply'),
  ),
  ...both('the apply of the regularizer of a table, hidden', 'tables', (training) =>
    scale(training, penaltyOf(training.model), 'apply', true),
  ),
  ...both('the factor of a regularizer of a table and a layer', 'penalized', ({ model }) => {
    (layer(model, 'dense')['kernelRegularizer'] as Fields)['l2'] = 0.8;
  }),
  always('a factor that is a variable', 'normalized', ({ model, step }) => {
    const { kernelRegularizer } = layer(model, 'dense') as { kernelRegularizer: Fields };
    if (step === 0) kernelRegularizer['l2'] = tf.tidy(() => tf.variable(tf.scalar(0.01)));
    if (step === 5) tf.tidy(() => (kernelRegularizer['l2'] as tf.Variable).assign(tf.scalar(0.7)));
  }),
  always('a factor that is a tensor', 'normalized', ({ model, step }) => {
    const { kernelRegularizer } = layer(model, 'dense') as { kernelRegularizer: Fields };
    if (step % 5 === 0) kernelRegularizer['l2'] = tf.scalar(0.01 * (1 + step));
  }),
  ...both('the factors of a table by getters', 'tables', (training) => {
    const holder = penaltyOf(training.model);
    put(training, holder, 'l2', { get: () => 0.5 * training.factor(), enumerable: true });
  }),
];

const optimizers: readonly HostileStep[] = [
  ...both('a number of steps that is set', 'tables', ({ optimizer }) => void ((optimizer as unknown as Fields)['iterations_'] = 50)),
  ...both('an optimizer that is disposed', 'tables', ({ optimizer }) => optimizer.dispose()),
  ...both('an optimizer of a derived class', 'tables', (training) => {
    const derived = Object.create(prototypeOf(training.optimizer)) as object;
    Object.setPrototypeOf(training.optimizer, derived);
    scale(training, derived, 'minimize');
    Object.defineProperty(derived, 'learningRate', { get: () => 0.5 });
  }),
  ...both('a rate that is drawn', 'tables', ({ optimizer }) => optimizer.setLearningRate(() => 0.02 * Math.random())),
  ...both('settings behind a getter', 'tables', (training) =>
    put(training, training.optimizer.settings, 'beta1', { get: () => 0.9 * training.factor(), enumerable: true })),
  always('an optimizer of two models, trained in turns', 'tables', async ({ model, optimizer, step, notes }) => {
    if (step % 3 !== 1) return;
    const input = tf.input({ shape: [3] });
    const other = tf.model({ inputs: input, outputs: tf.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(input) as tf.SymbolicTensor });
    emb.setCapture(!/setCapture/.test(emb.stepInfo(model).reason ?? ''), other);
    other.compile({ optimizer, loss: 'meanSquaredError' });
    for (let i = 0; i < 4; i++) notes.push((await other.trainOnBatch(tf.ones([2, 3]), tf.ones([2, 1]))) as number);
  }),
  ...both('the rate of a table of its own', 'own', ({ model }) => {
    const { optimizer } = layer(model, 'embedding')['table'] as { optimizer: emb.SparseOptimizer };
    optimizer.setLearningRate((taken) => 0.3 / (1 + taken));
  }),
  ...both('a setting of the optimizer of a table', 'own', ({ model }) => {
    const { optimizer } = layer(model, 'embedding')['table'] as { optimizer: emb.SparseOptimizer };
    (optimizer.settings as unknown as Fields)['epsilon'] = 0.7;
  }),
]; // prettier-ignore

const memories: readonly HostileStep[] = [
  ...both('two tables with one tensor', 'interacting', ({ model }) => variable(model, 0).assign(variable(model, 1))),
  ...both('two biases with one tensor', 'nested', ({ model }) => variable(model, 1).assign(variable(model, 3))),
  ...both('two layers with one kernel', 'nested', ({ model }) => {
    const [first, second] = named(model, 'dense').slice(-2);
    second!['bias'] = first!['bias'];
  }),
  always('views of weights that are read later', 'tables', ({ model, step, notes }) => {
    const held = (model as unknown as { held?: tf.Tensor[] }).held ?? [];
    for (const each of held) notes.push(...Array.from(each.dataSync()));
    if (step % 3 !== 1) return;
    const all = model.weights.map((weight) => weight.read());
    const views = all.flatMap((each) => [each.clone(), tf.reshape(each, [-1]), tf.slice(each, 0, 1)]);
    Object.defineProperty(model, 'held', { value: views, configurable: true });
  }),
  always('a model behind a Proxy', 'tables', async ({ model, notes }) => {
    const proxy = new Proxy(model, {});
    notes.push((await proxy.trainOnBatch(tf.ones([3, 4], 'int32'), tf.ones([3, 1]))) as number);
  }),
  always('two steps at once', 'tables', async ({ model, notes }) => {
    const [x, y] = [tf.ones([12, 4], 'int32'), tf.ones([12, 1])];
    notes.push(...((await Promise.all([model.trainOnBatch(x, y), model.trainOnBatch(x, y)])) as number[]));
  }),
  always('a model whose flag is set in turns', 'tables', ({ model, step }) => { model.trainable = step % 4 !== 3; }),
  ...both('a flag by a getter', 'tables', (training) =>
    put(training, layer(training.model, 'dense'), 'trainable', { get: () => training.factor() === 1, enumerable: true })),
  ...both('a layer that keeps a state from now on', 'lstm', ({ model }) => {
    const found = layer(model, 'lstm');
    found['_stateful'] = true;
    found['stateful'] = true;
  }),
]; // prettier-ignore

/** `fit` in the middle of a training, with callbacks that change things between its batches. */
const CALLED: Readonly<Record<string, (training: Training, batch: number) => void | Promise<void>>> = {
  'sets a rate': ({ optimizer }, batch) => optimizer.setLearningRate(0.05 / (1 + batch)),
  'assigns a weight': ({ model }, batch) => {
    if (batch === 3) tf.tidy(() => variable(model).assign(variable(model).mul(0.5)));
  },
  'freezes a layer': ({ model }, batch) => void (layer(model, 'dense')['trainable'] = batch % 2 === 0),
  'changes a factor': ({ model }, batch) => {
    (layer(model, 'dense')['kernelRegularizer'] as Fields)['l2'] = batch < 3 ? 0.01 : 0.6;
  },
  'evaluates': ({ model, notes }, batch) => {
    if (batch === 2) notes.push((model.evaluate(tf.ones([4, 4], 'int32'), tf.ones([4, 1])) as tf.Scalar).dataSync()[0]!);
  },
  'trains by itself': async ({ model, notes }, batch) => {
    if (batch === 2) notes.push((await model.trainOnBatch(tf.ones([4, 4], 'int32'), tf.ones([4, 1]))) as number);
  },
  'stops': ({ model }, batch) => void (model.stopTraining = batch === 3),
}; // prettier-ignore

const fits: readonly HostileStep[] = Object.entries(CALLED).map(([what, change]) =>
  always(`fit with a callback that ${what}`, 'tables', async (training) => {
    const { model, step, notes } = training;
    if (step % 4 !== 2) return;
    const ids = tf.tensor2d(
      Int32Array.from({ length: 96 }, (_, i) => (i * 7 + step) % ROWS),
      [24, 4],
      'int32',
    );
    const labels = tf.tensor2d(
      Float32Array.from({ length: 24 }, (_, i) => i % 2),
      [24, 1],
    );
    const onBatchEnd = async (batch: number, logs?: tf.Logs): Promise<void> => {
      notes.push(logs!['loss']!);
      await change(training, batch);
    };
    const classWeight = { 0: 0.5 + step / 10, 1: 2 };
    await model.fit(ids, labels, { batchSize: 5, shuffle: false, classWeight, verbose: 0, callbacks: { onBatchEnd } });
  }),
);

const every = (step: number, at: number): boolean => step % 4 === at;
const batches: readonly HostileStep[] = [
  fed('ids with fractions now and then', 'tables', ({ step }, x, y) => [every(step, 3) ? x.toFloat().add(0.5) : x, y]),
  fed('ids that are not numbers', 'tables', ({ step }, x, y) => [step > 6 ? x.toFloat().mul(NaN) : x.toFloat(), y]),
  fed('ids of booleans now and then', 'tables', ({ step }, x, y) => [every(step, 3) ? x.toBool() : x, y]),
  fed('padding of other numbers in each batch', 'packed', ({ step }, x, y) => [tf.where(x.less(2 * step), tf.onesLike(x).neg(), x), y]),
  fed('batches of padding alone', 'packed', ({ step }, x, y) => [every(step, 3) ? tf.onesLike(x).neg() : x, y]),
  fed('targets that are one number', 'rectified', ({ step }, x, y) => [x, every(step, 3) ? y.slice([0, 0], [1, 1]) : y]),
  fed('targets with a column more', 'rectified', ({ step }, x, y) => [x, every(step, 3) ? tf.concat([y, y], 1) : y]),
  fed('a slice that shares its memory', 'rectified', ({ step }, x, y) => [tf.concat([x, x]).slice([step, 0], [12, WIDTH]), y]),
]; // prettier-ignore

export const UNSEEN: readonly HostileStep[] = [
  ...graph,
  ...computing,
  ...penalties,
  ...optimizers,
  ...memories,
  ...fits,
  ...batches,
];
