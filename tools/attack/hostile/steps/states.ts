/** Numbers, weights, optimizers, losses, kernels and batches that change between steps. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { layer, layersOf, put, scale, type Fields, type HostileStep, type Training } from './hostile_step.js';
import { ROWS, type ModelName } from './models.js';

const WHEN = ['first', 'later'] as const;
const both = (step: Omit<HostileStep, 'when'>): HostileStep[] => WHEN.map((when) => ({ ...step, when }));
const nothing = (): void => undefined;

const field = (
  model: ModelName,
  kind: string,
  path: readonly string[],
  value: (now: unknown) => unknown,
): HostileStep[] =>
  both({
    name: `${path.join('.')} of a layer ${kind}`,
    model,
    act: (training) => {
      const holder = path
        .slice(0, -1)
        .reduce<Fields>((found, name) => found[name] as Fields, layer(training.model, kind));
      const last = path.at(-1)!;
      holder[last] = value(holder[last]);
    },
  });

/** The first number of a list of any depth becomes another one, in place. */
const inPlace = (list: unknown): unknown => {
  let deepest = list as unknown[];
  while (Array.isArray(deepest[0])) deepest = deepest[0] as unknown[];
  (deepest as number[])[0]! += 1;
  return list;
};

const fields: readonly HostileStep[] = [
  field('pictures', 'zero_padding2d', ['padding'], inPlace),
  field('pictures', 'zero_padding2d', ['padding'], () => [[2, 0], [0, 2]]), // prettier-ignore
  field('pictures', 'max_pooling2d', ['strides'], inPlace),
  field('bent', 'leaky', ['alpha'], () => 0.7),
  field('bent', 'elu', ['alpha'], () => 0.1),
  field('dropped', 'dropout', ['rate'], () => 0.6),
  field('dropped', 'dropout', ['seed'], () => 9),
  field('normalized', 'batch_normalization', ['momentum'], () => 0.1),
  field('normalized', 'batch_normalization', ['epsilon'], () => 0.5),
  field('normalized', 'layer_normalization', ['epsilon'], () => 0.5),
  field('tables', 'embedding', ['combiner'], () => 'sum'),
  field('tables', 'embedding', ['maxNorm'], () => 0.01),
  field('tables', 'embedding', ['maskZero'], () => true),
  field('tables', 'embedding', ['table', 'regularizer', 'l2'], () => 0.7),
  field('tables', 'embedding', ['table', 'regularizer'], () => tf.regularizers.l2({ l2: 0.9 })),
  field('frozen', 'embedding', ['table', 'regularizer', 'l2'], () => 0.7),
  field('shared', 'embedding', ['table', 'regularizer', 'l1'], () => 0.7),
  field('tables', 'dense', ['kernelRegularizer', 'l2'], () => 0.7),
  field('tables', 'dense', ['kernelRegularizer'], () => null),
  field('tables', 'dense', ['useBias'], () => false),
  field('tables', 'dense', ['bias'], () => null),
  field('tables', 'dense', ['kernel'], () => new tf.LayerVariable(tf.ones([20, 4]))),
  field('crossed', 'feature_cross', ['diagScale'], () => 0.5),
  field('interacting', 'dot_interaction', ['selfInteraction'], () => true),
  field('distributed', 'distributed_embedding', ['lookups', 'features', '0', 'combiner'], () => 'mean'),
  field('distributed', 'distributed_embedding', ['lookups', 'tables', '0', 'table', 'regularizer', 'l2'], () => 0.7),
  field('lstm', 'lstm', ['goBackwards'], () => true),
  field('lstm', 'lstm', ['cell', 'dropout'], () => 0.5),
  field('wrapped', 'bidirectional', ['mergeMode'], () => 'mul'),
  field('merged', 'concatenate', ['axis'], () => 1),
  field('nested', 'dense', ['inputSpec'], () => [{ ndim: 5 }]),
  field('convolved', 'conv1d', ['dilationRate'], inPlace),
].flat();

const formers = both({
  name: 'the first regularizer of a layer that has another one now',
  model: 'tables',
  act: ({ model, step }) => {
    const found = layer(model, 'dense');
    const { kernelRegularizer } = found as { kernelRegularizer: Fields };
    found['kernelRegularizer'] = tf.regularizers.l2({ l2: 0.01 });
    kernelRegularizer['l2'] = 0.02 * (step + 1);
  },
});

const getters = both({
  name: 'a rate by a getter',
  model: 'dropped',
  act: (training) => {
    put(training, layer(training.model, 'dropout'), 'rate', {
      get: () => 0.3 * training.factor(),
      enumerable: true,
    });
  },
});

const weightOf = (model: tf.LayersModel): { val: tf.Variable } => model.weights[0] as unknown as { val: tf.Variable };

const weights: readonly HostileStep[] = (['tables', 'shared', 'normalized', 'lstm', 'sequential'] as const).flatMap(
  (model) =>
    [
      { name: 'weights that are set', model, when: 'always', act: (training) => tf.tidy(() => {
    if (training.step % 3 === 2) training.model.setWeights(training.model.getWeights().map((each) => each.mul(0.9)));
  }) }, // prettier-ignore
      { name: 'a variable that is assigned', model, when: 'always', act: ({ model: its, step }) => tf.tidy(() => {
    const { val } = weightOf(its);
    if (step % 4 === 3) val.assign(val.mul(0.8));
  }) }, // prettier-ignore
      ...both({ name: 'a weight that is another variable', model, act: ({ model: its }) => {
    const weight = weightOf(its);
    weight.val = tf.tidy(() => tf.variable(weight.val.mul(0.5)));
  } }), // prettier-ignore
      ...both({ name: 'a frozen layer', model, act: ({ model: its }) => { its.layers[1]!.trainable = false; } }), // prettier-ignore
      { name: 'layers that are frozen in turns', model, when: 'always', act: ({ model: its, step }) => {
    its.layers.forEach((each, i) => (each.trainable = (i + step) % 3 > 0));
  } }, // prettier-ignore
      ...both({ name: 'a variable that is not trainable', model, act: ({ model: its }) => { weightOf(its).val.trainable = false; } }), // prettier-ignore
      { name: 'a weight that is disposed at the end', model, when: 'always', act: ({ model: its, step }) => {
    if (step === 8) weightOf(its).val.dispose();
  } }, // prettier-ignore
    ] as HostileStep[],
);

const optimizers: readonly HostileStep[] = [
  { name: 'a rate that is set', model: 'tables', when: 'always', act: ({ optimizer, step }) => optimizer.setLearningRate(0.1 / (1 + step)) },
  ...both({ name: 'a rate by a function that counts', model: 'tables', act: ({ optimizer }) => {
    let calls = 0;
    optimizer.setLearningRate(() => 0.1 / ++calls);
  } }),
  ...both({ name: 'a rate by a function that reads a number', model: 'tables', act: ({ optimizer, factor }) => optimizer.setLearningRate(() => 0.1 * factor()) }),
  ...['beta1', 'beta2', 'epsilon', 'weightDecay', 'clipNorm'].flatMap((name) =>
    both({ name: `the setting ${name}`, model: 'tables', act: ({ optimizer }) => {
      (optimizer.settings as unknown as Fields)[name] = 0.3;
    } })),
  ...['minimize', 'computeGradients', 'applyGradients'].flatMap((name) =>
    both({ name: `the ${name} of an optimizer`, model: 'tables', act: (training) => scale(training, training.optimizer, name) })),
  ...both({ name: 'a model that is compiled anew', model: 'tables', act: ({ model }) => {
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  } }),
  ...both({ name: 'another optimizer', model: 'tables', act: ({ model }) => {
    (model as unknown as Fields)['optimizer_'] = emb.train.sgd({ learningRate: 0.2 });
  } }),
  ...both({ name: 'a stock optimizer', model: 'normalized', act: ({ model }) => {
    (model as unknown as Fields)['optimizer_'] = tf.train.sgd(0.2);
  } }),
  ...both({ name: 'state of the optimizer that is loaded', model: 'tables', act: async ({ optimizer }) => {
    const state = (await optimizer.getWeights()).map(({ name, tensor }) => ({ name, tensor: tensor.clone() }));
    await optimizer.setWeights(state);
  } }),
]; // prettier-ignore

type Loss = (y: tf.Tensor, p: tf.Tensor) => tf.Tensor;
const squares: Loss = (y, p) => tf.losses.meanSquaredError(y, p);

const LOSSES: Readonly<Record<string, (factor: () => number) => Loss>> = {
  'reads a number': (factor) => (y, p) => tf.tidy(() => squares(y, p).mul(factor())),
  'draws a number': () => (y, p) => tf.tidy(() => squares(y, p).mul(Math.random())),
  'draws a tensor': () => (y, p) => tf.tidy(() => squares(y, p.add(tf.randomNormal(p.shape, 0, 0.1, 'float32', 7)))),
  'looks at the clock': () => (y, p) => tf.tidy(() => squares(y, p).mul(Date.now() > 0 ? 0.5 : 1)),
  counts: () => {
    let calls = 0;
    return (y, p) => tf.tidy(() => squares(y, p).mul(1 / ++calls));
  },
};

const losses: readonly HostileStep[] = Object.entries(LOSSES).flatMap(([what, loss]) => [
  { name: `a loss that ${what}`, model: 'tables', when: 'first', act: nothing, compile: (factor) => ({ loss: loss(factor) as never }) },
  { name: `a metric that ${what}`, model: 'tables', when: 'first', act: nothing, compile: (factor) => ({ metrics: [loss(factor) as never] }) },
  ...both({ name: `a loss that was replaced by one that ${what}`, model: 'normalized', act: ({ model, factor }) => {
    (model as unknown as { lossFunctions: Loss[] }).lossFunctions[0] = loss(factor);
  } }),
] as HostileStep[]); // prettier-ignore

/** Kernels and gradients are registered for all models, until the training is over. */
function registerKernel(training: Training, kernelName: string): void {
  const stock = tf.getKernel(kernelName, 'tensorflow');
  const kernelFunc: tf.KernelFunc = (args) => {
    const result = stock.kernelFunc(args) as tf.TensorInfo;
    return tf.tidy(() => tf.engine().makeTensorFromTensorInfo(result).mul(training.factor()));
  };
  const swap = (config: tf.KernelConfig): void => {
    tf.unregisterKernel(kernelName, 'tensorflow');
    tf.registerKernel(config);
  };
  swap({ ...stock, kernelFunc });
  training.ends.push(() => swap(stock));
}

function registerGradient(training: Training, kernelName: string): void {
  const stock = tf.getGradient(kernelName);
  const gradFunc: tf.GradFunc = (dy, saved, attrs) => {
    const given = stock.gradFunc(dy, saved, attrs);
    const scaled = ([name, make]: [string, () => tf.Tensor]): [string, () => tf.Tensor] => [name, () => tf.tidy(() => tf.mul(make(), training.factor()))];
    return Object.fromEntries(Object.entries(given).map((each) => scaled(each as never))) as never;
  };
  const swap = (config: tf.GradConfig): void => {
    tf.unregisterGradient(kernelName);
    tf.registerGradient(config);
  };
  swap({ ...stock, gradFunc });
  training.ends.push(() => swap(stock));
} // prettier-ignore

const kernels: readonly HostileStep[] = [
  ...['Softplus', 'Mean', 'Sum'].flatMap((name) => both({ name: `the kernel ${name}`, model: 'normalized', act: (training) => registerKernel(training, name) })),
  ...['Softplus', 'Relu', 'Reshape', 'Tanh'].flatMap((name) => both({ name: `the gradient of ${name}`, model: name === 'Softplus' ? 'normalized' : 'convolved', act: (training) => registerGradient(training, name) })),
]; // prettier-ignore

const square = (training: Training): tf.Variable => weightOf(training.model).val;
const batches: readonly HostileStep[] = [
  { name: 'a batch of other sizes', model: 'tables', when: 'first', act: nothing, batch: ({ step }, x, y) => [x.slice([0, 0], [2 + (step % 4), -1]), y.slice([0, 0], [2 + (step % 4), -1])] },
  { name: 'targets of integers now and then', model: 'normalized', when: 'first', act: nothing, batch: ({ step }, x, y) => [x, step % 3 === 2 ? y.toInt() : y] },
  { name: 'targets of booleans now and then', model: 'normalized', when: 'first', act: nothing, batch: ({ step }, x, y) => [x, step % 3 === 2 ? y.toBool() : y] },
  { name: 'ids of floats now and then', model: 'tables', when: 'first', act: nothing, batch: ({ step }, x, y) => [step % 3 === 2 ? x.toFloat() : x, y] },
  { name: 'ids out of range now and then', model: 'tables', when: 'first', act: nothing, batch: ({ step }, x, y) => [step % 5 === 4 ? x.add(ROWS).toInt() : x, y] },
  { name: 'inputs that are the targets too', model: 'sequential', when: 'first', act: nothing, batch: ({ step }, x, y) => [x, step % 3 === 2 ? x.slice([0, 0], [-1, 1]) : y] },
  ...[6, 1].map((from): HostileStep => ({ name: `a variable as a batch, from step ${from} on`, model: 'sequential', when: 'first', act: nothing,
    batch: (training, x, y) => [training.step >= from && training.step % 2 === 0 ? square(training) : x.slice([0, 0], [12, -1]), training.step % 3 === 0 && training.step >= from ? square(training).slice([0, 0], [-1, 1]) : y.slice([0, 0], [12, -1])] })),
  { name: 'a view of a variable as a batch', model: 'sequential', when: 'first', act: nothing, batch: (training, x, y) => [training.step % 2 === 0 ? square(training).reshape([12, 12]) : x.slice([0, 0], [12, -1]), y.slice([0, 0], [12, -1])] },
]; // prettier-ignore

const structures: readonly HostileStep[] = [
  ...both({ name: 'the list of losses of a layer, emptied', model: 'tables', act: ({ model }) => { (layer(model, 'dense')['_losses'] as unknown[]).length = 0; } }),
  ...both({ name: 'the nodes of a layer, emptied', model: 'tables', act: ({ model }) => { (layer(model, 'dense')['inboundNodes'] as unknown[]).length = 0; } }),
  ...both({ name: 'the nodes of a model, cleared', model: 'tables', act: ({ model }) => (model as unknown as { containerNodes: Set<string> }).containerNodes.clear() }),
  ...both({ name: 'the source of an output', model: 'merged', act: ({ model }) => {
    const symbol = layersOf(model).at(-1)!.inboundNodes[0]!.inputTensors[0] as unknown as Fields;
    symbol['sourceLayer'] = Object.assign(tf.layers.concatenate(), { built: true, axis: 1 });
  } }),
  ...both({ name: 'an activation of tfjs in the place of another', model: 'tables', act: ({ model }) => {
    layer(model, 'dense')['activation'] = (tf.layers.activation({ activation: 'sigmoid' }) as unknown as Fields)['activation'];
  } }),
  { name: 'activations of tfjs in turns', model: 'tables', when: 'always', act: ({ model, step }) => {
    const activation = step % 2 === 0 ? 'tanh' : 'relu';
    layer(model, 'dense')['activation'] = (tf.layers.activation({ activation }) as unknown as Fields)['activation'];
  } },
  ...both({ name: 'a layer that is used in another model too', model: 'nested', act: ({ model }) => {
    const input = tf.input({ shape: [12] });
    tf.model({ inputs: input, outputs: model.layers[1]!.apply(input) as tf.SymbolicTensor });
  } }),
  ...both({ name: 'the debug mode of tfjs', model: 'normalized', act: ({ ends }) => {
    tf.env().set('DEBUG', true);
    ends.push(() => tf.env().set('DEBUG', false));
  } }),
]; // prettier-ignore

export const STATES: readonly HostileStep[] = [
  ...fields,
  ...formers,
  ...getters,
  ...weights,
  ...optimizers,
  ...losses,
  ...kernels,
  ...batches,
  ...structures,
];
