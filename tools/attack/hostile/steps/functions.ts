/** Functions of users in the place of those of tfjs and of this package, which read a number that changes. */
import * as tf from '@tensorflow/tfjs';
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

type Find = (model: tf.LayersModel) => object;
const of =
  (kind: string, ...path: string[]): Find =>
  (model) =>
    path.reduce<Fields>((found, name) => found[name] as Fields, layer(model, kind)) as object;
const itself: Find = (model) => model;

/** What computes, where it is found, and its methods. */
const METHODS: readonly (readonly [ModelName, string, Find, readonly string[]])[] = [
  ['tables', 'an embedding', of('embedding'), ['call', 'apply', 'calculateLosses']],
  ['tables', 'a dense layer', of('dense'), ['call', 'apply', 'calculateLosses']],
  ['tables', 'an activation', of('dense', 'activation'), ['apply']],
  ['tables', 'a regularizer', of('dense', 'kernelRegularizer'), ['apply']],
  ['tables', 'a weight', of('dense', 'kernel'), ['read']],
  ['tables', 'a model', itself, ['calculateLosses']],
  ['frozen', 'a regularizer of a frozen table', of('embedding', 'table', 'regularizer'), ['apply']],
  ['lstm', 'a cell', of('lstm', 'cell'), ['call']],
  ['gru', 'the activation of a cell', of('gru', 'cell', 'recurrentActivation'), ['apply']],
  ['convolved', 'a convolution', of('conv1d'), ['call']],
  ['crossed', 'a cross', of('feature_cross'), ['call']],
  ['interacting', 'an interaction', of('dot_interaction'), ['call']],
  ['distributed', 'a distributed embedding', of('distributed_embedding'), ['calculateLosses']],
  ['nested', 'a model within a model', of('model'), ['call', 'calculateLosses']],
  ['merged', 'a layer that merges', of('multiply'), ['mergeFunction']],
  ['merged', 'a dot', of('dot'), ['mergeFunction']],
  ['normalized', 'a normalization', of('batch_normalization'), ['call']],
  ['dropped', 'a dropout', of('dropout'), ['call']],
  ['wrapped', 'a wrapper', of('time_distributed'), ['call']],
  ['pictures', 'a pooling', of('max_pooling2d'), ['poolingFunction']],
];

const WHEN = ['first', 'later'] as const;

const replaced = METHODS.flatMap(([model, what, find, methods]) =>
  methods.flatMap((method) =>
    WHEN.flatMap((when) => {
      const at = (depth: number, isHidden: boolean): HostileStep['act'] => {
        return (training) => scale(training, prototypeOf(find(training.model), depth), method, isHidden);
      };
      const name = `the ${method} of ${what}`;
      return [
        { name, model, when, act: at(0, false) },
        { name: `${name}, hidden`, model, when, act: at(0, true) },
        { name: `${name}'s class`, model, when, act: at(1, false) },
      ];
    }),
  ),
);

/** Methods of the classes from which all others derive. */
const BASES: readonly (readonly [string, () => object, string])[] = [
  ['all layers', () => tf.layers.Layer.prototype, 'apply'],
  ['all layers', () => tf.layers.Layer.prototype, 'calculateLosses'],
  ['all models', () => prototypeOf(tf.LayersModel.prototype), 'call'],
  ['all models', () => prototypeOf(tf.LayersModel.prototype), 'calculateLosses'],
  ['all weights', () => tf.LayerVariable.prototype, 'read'],
  ['all tensors', () => tf.Tensor.prototype, 'mul'],
  ['all tensors', () => tf.Tensor.prototype, 'add'],
  ['all tensors', () => tf.Tensor.prototype, 'reshape'],
];

const bases = BASES.flatMap(([what, holder, method]) =>
  WHEN.flatMap((when) =>
    (['tables', 'crossed'] as const).map((model): HostileStep => ({
      name: `the ${method} of ${what}`,
      model,
      when,
      act: (training) => scale(training, holder(), method),
    })),
  ),
);

/** Objects and functions that users put where parts of layers are. */
const objectOf = (training: Training): object => ({
  apply: (x: tf.Tensor) => tf.mul(x, training.factor()),
  getClassName: () => 'linear',
  getConfig: () => ({}),
});

const PARTS: readonly (readonly [ModelName, Find, string])[] = [
  ['tables', of('dense'), 'activation'],
  ['normalized', of('activation'), 'activation'],
  ['lstm', of('lstm', 'cell'), 'activation'],
  ['lstm', of('lstm', 'cell'), 'recurrentActivation'],
  ['gru', of('gru', 'cell'), 'activation'],
  ['convolved', of('conv1d'), 'activation'],
  ['crossed', of('feature_cross'), 'preActivation'],
  ['wrapped', of('time_distributed', 'layer'), 'activation'],
  ['wrapped', of('bidirectional', 'forwardLayer', 'cell'), 'activation'],
  ['sequential', of('dense'), 'activation'],
];

const parts = PARTS.flatMap(([model, find, field]) =>
  WHEN.flatMap((when) => {
    const asObject: HostileStep['act'] = (training) => {
      (find(training.model) as Fields)[field] = objectOf(training);
    };
    const asProxy: HostileStep['act'] = (training) => {
      const holder = find(training.model) as Fields;
      const stock = holder[field] as { apply(x: tf.Tensor): tf.Tensor };
      holder[field] = new Proxy(stock, {
        get: (target, name) =>
          name === 'apply'
            ? (x: tf.Tensor) => tf.tidy(() => target.apply(x).mul(training.factor()))
            : (Reflect.get(target, name) as unknown),
      });
    };
    const asGetter: HostileStep['act'] = (training) => {
      const holder = find(training.model) as Fields;
      const stock = holder[field];
      const get = (): unknown => (training.factor() === 1 ? stock : objectOf(training));
      put(training, holder, field, { get, enumerable: true });
    };
    const derived: HostileStep['act'] = (training) => {
      const stock = (find(training.model) as Fields)[field] as { apply(x: tf.Tensor): tf.Tensor };
      const prototype = Object.create(prototypeOf(stock)) as Fields;
      prototype['apply'] = (x: tf.Tensor) => tf.mul(x, training.factor());
      Object.setPrototypeOf(stock, prototype);
    };
    const name = `the ${field} of ${model}`;
    return [
      { name: `${name}, an object`, model, when, act: asObject },
      { name: `${name}, a Proxy`, model, when, act: asProxy },
      { name: `${name}, by a getter`, model, when, act: asGetter },
      { name: `${name}, of a class derived from its own`, model, when, act: derived },
    ];
  }),
);

/** Losses that are added to layers of every kind. */
const LOSING: readonly (readonly [ModelName, string])[] = [
  ['tables', 'embedding'],
  ['tables', 'dense'],
  ['frozen', 'embedding'],
  ['distributed', 'distributed_embedding'],
  ['crossed', 'feature_cross'],
  ['nested', 'model'],
  ['wrapped', 'bidirectional'],
  ['sequential', 'dense'],
];

const losing = LOSING.flatMap(([model, kind]) =>
  WHEN.map((when): HostileStep => ({
    name: `a loss added to a layer ${kind}`,
    model,
    when,
    act: (training) => {
      const found = layer(training.model, kind) as unknown as tf.layers.Layer;
      found.addLoss(() =>
        tf.tidy(() =>
          tf
            .sum(found.getWeights()[0]!)
            .mul(0.01 * training.factor())
            .asScalar(),
        ),
      );
    },
  })),
);

/** A layer of the model is another object. */
const strangers = WHEN.flatMap((when): HostileStep[] => [
  {
    name: 'a layer behind a Proxy',
    model: 'normalized',
    when,
    act: (training) => {
      const [input] = training.model.outputs as unknown as Fields[];
      const stock = input!['sourceLayer'] as tf.layers.Layer;
      const apply = (...args: Parameters<tf.layers.Layer['apply']>): unknown =>
        tf.tidy(() => (stock.apply(...args) as tf.Tensor).mul(training.factor()));
      const get = (target: object, name: PropertyKey): unknown =>
        name === 'apply' ? apply : Reflect.get(target, name, target);
      input!['sourceLayer'] = new Proxy(stock, { get });
    },
  },
  {
    name: 'a hook on every layer',
    model: 'tables',
    when,
    act: ({ model }) => {
      for (const each of layersOf(model)) each.setCallHook(() => undefined);
    },
  },
]);

export const FUNCTIONS: readonly HostileStep[] = [...replaced, ...bases, ...parts, ...losing, ...strangers];
