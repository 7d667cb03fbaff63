/** Code of users that runs in the middle of a step or beside it: rates, losses, regularizers, metrics, scopes, other models. */
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
import type { ModelName } from './models.js';

const WHEN = ['first', 'later'] as const;
type Act = (training: Training) => void | Promise<void>;
type Batch = NonNullable<HostileStep['batch']>;
const both = (name: string, model: ModelName, act: Act): HostileStep[] =>
  WHEN.map((when) => ({ name, model, when, act }));
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
const shrink = (of: tf.Variable, by = 0.9): void => tf.tidy(() => of.assign(of.mul(by)));

/** What a learning rate function does while it is called. */
const RATES: Readonly<Record<string, (training: Training) => void>> = {
  'changes a table': ({ model }) => shrink(variable(model)),
  'changes the last weight': ({ model }) => shrink(variable(model, -1)),
  'changes all weights': ({ model }) => model.weights.forEach((_, at) => shrink(variable(model, at))),
  'sets weights': ({ model }) => tf.tidy(() => model.setWeights(model.getWeights().map((each) => each.mul(0.95)))),
  'gives one weight the tensor of another': ({ model }) => {
    const bias = variable(model, -1);
    const other = tf.tidy(() => tf.variable(bias.mul(0.5)));
    bias.assign(other);
  },
  'steps a table in place': ({ model }) => tf.tidy(() => {
    const table = variable(model);
    emb.train.sgd({ learningRate: 0.1 }).applyGradients([{ name: table.name, tensor: tf.onesLike(table) }]);
  }),
  'predicts': ({ model }) => void model.predictOnBatch(tf.zeros([3, 4], 'int32')),
  'makes tensors': () => tf.tidy(() => void tf.ones([3]).mul(2).dataSync()),
  'freezes a layer': ({ model }) => void (layer(model, 'dense')['trainable'] = false),
  'changes an activation': ({ model }) => {
    layer(model, 'dense')['activation'] = (tf.layers.activation({ activation: 'tanh' }) as unknown as Fields)['activation'];
  },
  'sets another rate': ({ optimizer }) => optimizer.setLearningRate(0.01),
  'changes a setting': ({ optimizer }) => void ((optimizer.settings as unknown as Fields)['beta1'] = 0.5),
}; // prettier-ignore

const rates = Object.entries(RATES).flatMap(([what, change]) => [
  ...both(`a rate by a function that ${what}`, 'tables', (training) =>
    training.optimizer.setLearningRate(() => (change(training), 0.02)),
  ),
  ...both(`a rate by a function that ${what} now and then`, 'tables', (training) => {
    let calls = 0;
    training.optimizer.setLearningRate((step) => {
      if (++calls % 4 === 3) change(training);
      return 0.02 / (1 + step);
    });
  }),
]);

const throwing = both('a rate by a function that throws at the 4th call', 'tables', ({ optimizer }) => {
  let calls = 0;
  optimizer.setLearningRate(() => {
    if (++calls === 4) throw new Error('no rate');
    return 0.02 / calls;
  });
});

/** Methods that those of derived classes call. */
const BASES: readonly (readonly [string, ModelName, string, number, string])[] = [
  ['of what all recurrent layers are', 'lstm', 'lstm', 2, 'call'],
  ['of what all recurrent layers are', 'gru', 'gru', 2, 'call'],
  ['of what all convolutions are', 'convolved', 'conv1d', 2, 'call'],
  ['of what all merging layers are', 'merged', 'add', 2, 'call'],
  ['of what all poolings are', 'pictures', 'max_pooling2d', 2, 'call'],
  ['of what all wrappers are', 'wrapped', 'bidirectional', 2, 'call'],
];

const bases = BASES.flatMap(([what, model, kind, depth, method]) =>
  both(`the ${method} ${what}`, model, (training) =>
    scale(training, prototypeOf(layer(training.model, kind), depth), method),
  ),
);

const behindGetter = (training: Training): PropertyDescriptor => {
  const value = training.model.layers[1];
  return { get: () => value, enumerable: true };
};

const structures: readonly HostileStep[] = [
  ...both('a list of layers with a getter', 'normalized', (training) => put(training, training.model.layers, 1, behindGetter(training))),
  ...both('a list of layers of another class', 'normalized', ({ model }) => void Object.setPrototypeOf(model.layers, Object.create(Array.prototype) as object)),
  ...both('a list of nodes behind a Proxy', 'tables', ({ model }) => {
    const found = layer(model, 'dense');
    found['inboundNodes'] = new Proxy(found['inboundNodes'] as object, {});
  }),
  ...both('a model with a prototype of its own', 'tables', ({ model }) => void Object.setPrototypeOf(model, Object.create(prototypeOf(model)) as object)),
  ...both('an optimizer with a field more', 'tables', ({ optimizer }) => void ((optimizer as unknown as Fields)['note'] = () => 1)),
  ...both('a symbol as a field of a layer', 'tables', ({ model }) => void (layer(model, 'dense')[Symbol('note')] = 1)),
  ...both('two layers that change places', 'nested', ({ model }) => void model.layers.reverse()),
  ...both('two layers that change kernels', 'merged', ({ model }) => {
    const [a, b] = layersOf(model).filter(({ name }) => name.startsWith('dense')) as unknown as [Fields, Fields];
    [a['kernel'], b['kernel']] = [b['kernel'], a['kernel']];
  }),
  ...both('an initializer of a user', 'tables', ({ model }) => void (layer(model, 'dense')['kernelInitializer'] = { apply: () => tf.zeros([1]) })),
  ...both('a constraint of a user', 'tables', ({ model, factor }) => {
    (layer(model, 'dense')['kernel'] as Fields)['constraint'] = { apply: (w: tf.Tensor) => w.mul(factor()) };
  }),
  ...both('a loss that a layer adds and that counts', 'normalized', ({ model }) => {
    let calls = 0;
    (layer(model, 'dense') as unknown as tf.layers.Layer).addLoss(() => tf.scalar(++calls));
  }),
  ...both('updates that a layer adds', 'normalized', ({ model }) => {
    (layer(model, 'dense')['_updates'] as unknown[] | undefined)?.push(() => shrink(variable(model)));
  }),
]; // prettier-ignore

const scopes: readonly HostileStep[] = [
  always('scopes that are begun and not ended', 'tables', () => tf.engine().startScope()),
  always('a scope around two steps', 'tables', ({ step }) => (step % 2 === 0 ? tf.engine().startScope() : tf.engine().endScope())),
  always('another backend for a while', 'normalized', async ({ step, ends }) => {
    if (step === 4) ends.push(() => void tf.setBackend('tensorflow'));
    await tf.setBackend(step === 4 || step === 7 ? 'cpu' : 'tensorflow');
  }),
  always('a model on the same layers, trained in turns', 'tables', async ({ model, step }) => {
    if (step % 3 !== 1) return;
    const twin = tf.model({ inputs: model.inputs, outputs: model.outputs });
    twin.compile({ optimizer: emb.train.sgd({ learningRate: 0.05 }), loss: 'meanSquaredError' });
    await twin.trainOnBatch(tf.zeros([3, 4], 'int32'), tf.ones([3, 1]));
  }),
  always('a step of the optimizer by hand', 'tables', ({ model, optimizer, step }) => {
    if (step % 3 === 2) tf.tidy(() => void optimizer.minimize(() => variable(model, -1).square().sum().asScalar()));
  }),
  always('capturing that is switched off and on', 'tables', ({ step, model }) => {
    if (emb.stepInfo(model).captured && step === 5) { emb.setCapture(false, model); emb.setCapture(true, model); }
  }),
  always('variables that are made and disposed', 'tables', ({ step }) => { for (let i = 0; i < step; i++) tf.variable(tf.ones([2])).dispose(); }),
]; // prettier-ignore

const batches: readonly HostileStep[] = [
  fed('a batch that is disposed and made again', 'sequential', (_, x, y) => [tf.tensor2d(x.dataSync(), x.shape as [number, number]), y]),
  fed('one tensor in all steps, written by nobody', 'sequential', ({ model, step }, x, y) => [step === 0 ? x : x.mul(model.weights.length), y]),
  fed('a typed array that changes under the tensor', 'sequential', ({ step }, x, y) => {
    const shared = Float32Array.from(x.dataSync());
    const given = tf.tensor2d(shared, x.shape as [number, number]);
    shared[0] = step;
    return [given, y];
  }),
  fed('targets that are a view of a bias', 'sequential', (training, x, y) => {
    const bias = variable(training.model, 1);
    return [x, training.step % 3 === 2 ? bias.reshape([12, 1]) : y];
  }),
  fed('a batch of no rows now and then', 'sequential', ({ step }, x, y) => step % 4 === 3 ? [x.slice([0, 0], [1, -1]), y.slice([0, 0], [1, -1])] : [x, y]),
  fed('values of NaN and infinity now and then', 'sequential', ({ step }, x, y) => [step > 6 ? x.div(0) : x, y]),
]; // prettier-ignore

const metrics: readonly HostileStep[] = WHEN.map((when) => {
  let seen = 0;
  const counts = (y: tf.Tensor, p: tf.Tensor): tf.Tensor => tf.tidy(() => tf.losses.absoluteDifference(y, p).mul(++seen));
  return { name: 'a metric with a state', model: 'tables', when, act: nothing, compile: () => ((seen = 0), { metrics: [counts as never] }) };
}); // prettier-ignore

export const CALLBACKS: readonly HostileStep[] = [
  ...rates,
  ...throwing,
  ...bases,
  ...structures,
  ...scopes,
  ...batches,
  ...metrics,
];
