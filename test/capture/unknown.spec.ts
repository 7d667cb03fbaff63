/** A step that reaches anything that is not known runs op by op: what it may depend on shows in no recording. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, modelOf, sigmoid, trainTwins, type Between, type Head } from './training.js';
import { expectEqual } from './twins.js';

const through = (...layers: tf.layers.Layer[]): Head => {
  return (x) => sigmoid(layers.reduce((y, layer) => layer.apply(y) as tf.SymbolicTensor, x));
};

/** A number that user code reads, and that changes in the middle of a training. */
let factor = 1;
const changing = { apply: (x: tf.Tensor) => tf.mul(x, factor), getClassName: () => 'linear' };
const STEPS = 12;

type Fields = Record<string, unknown>;
const layerOf = (model: tf.LayersModel, kind: string): Fields =>
  model.layers.find(({ name }) => name.startsWith(kind)) as unknown as Fields;

/** The prototype of the class of a layer: models of this package have one of their own in between. */
const classOf = (layer: Fields): object => (layer.constructor as unknown as { prototype: object }).prototype;

interface Program {
  readonly build?: () => tf.LayersModel;
  /** Before the first step; what it returns runs after the last one. */
  readonly first?: (model: tf.LayersModel) => (() => void) | void;
  /** Before the 7th. */
  readonly later?: (model: tf.LayersModel) => void;
  readonly reason: RegExp | null;
}

const dense = (): tf.LayersModel => modelOf(through(tf.layers.dense({ units: 3, name: `dense_${++number}` })));
let number = 0;

/** Two layers whose results another one takes side by side. */
const merging = (): tf.LayersModel =>
  modelOf((x) => {
    const pairs = [0, 1].map(() => {
      const pair = [0, 1].map(() => tf.layers.dense({ units: 3 }).apply(x) as tf.SymbolicTensor);
      return tf.layers.multiply().apply(pair) as tf.SymbolicTensor;
    });
    return sigmoid(tf.layers.concatenate().apply(pairs) as tf.SymbolicTensor);
  });
const penalized = (): tf.LayersModel => {
  const l2 = tf.regularizers.l2({ l2: 0.01 });
  return modelOf(through(tf.layers.dense({ units: 3, kernelRegularizer: l2 })), { embeddingsRegularizer: l2 });
};
const penaltyOf = (model: tf.LayersModel): Fields =>
  (model.layers as { table?: emb.EmbeddingTable }[]).flatMap(({ table }) => table?.regularizer ?? [])[0] as never;
/** The first calls of the layers of one kind. */
const nodesOf = (model: tf.LayersModel, kind: string): Fields[] =>
  model.layers.filter(({ name }) => name.startsWith(kind)).map(({ inboundNodes }) => inboundNodes[0] as never);
const swap = ([a, b]: readonly Fields[], field: string): void => {
  [a![field], b![field]] = [b![field], a![field]];
};

/** Puts another value into a field until the training is over. */
function replace(holder: object, field: string, value: unknown): void {
  const fields = holder as Fields;
  const stock = fields[field];
  fields[field] = value;
  ends.push(() => void (fields[field] = stock));
}

/** Hides a method of an object behind one that nobody enumerates, whose tensors are times the number. */
function hide(holder: object, method: string): void {
  const stock = (holder as Record<string, (...args: unknown[]) => unknown>)[method]!;
  let isWithin = false;
  const value = function (this: unknown, ...args: unknown[]): unknown {
    const result = stock.apply(this, args);
    if (isWithin || !(result instanceof tf.Tensor) || result.dtype !== 'float32') return result;
    // The product may come by here itself.
    isWithin = true;
    try {
      return tf.mul(result, factor);
    } finally {
      isWithin = false;
    }
  };
  const former = Object.getOwnPropertyDescriptor(holder, method);
  Object.defineProperty(holder, method, { value, configurable: true, writable: true });
  ends.push(() => {
    if (former === undefined) Reflect.deleteProperty(holder, method);
    else Object.defineProperty(holder, method, former);
  });
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  'an activation of a layer that is an object with apply': {
    build: () => modelOf(through(tf.layers.activation({ activation: 'linear' }))),
    first: (model) => void (layerOf(model, 'activation')['activation'] = changing),
    reason: /the activation of layer activation\w+ \(Activation\) has a function apply of its own/,
  },
  'the activation of a dense layer that is one': {
    build: dense,
    first: (model) => void (layerOf(model, 'dense')['activation'] = changing),
    reason: /the activation of layer dense_\w+ \(Dense\) has a function apply of its own/,
  },
  'the activation of a cell that is one': {
    build: () => modelOf(through(tf.layers.reshape({ targetShape: [4, 3] }), tf.layers.lstm({ units: 3 }))),
    first: (model) => void ((layerOf(model, 'lstm')['cell'] as Fields)['activation'] = changing),
    reason: /the activation of layer \w+ \(LSTMCell\) has a function apply of its own/,
  },
  'the activation before a cross that is one': {
    build: () => modelOf(through(emb.layers.featureCross())),
    first: (model) => void (layerOf(model, 'feature_cross')['preActivation'] = changing),
    reason: /the preActivation of layer feature_cross\w+ \(FeatureCross\) has a function apply of its own/,
  },
  'an activation that is one from the 7th step on': {
    build: dense,
    later: (model) => void (layerOf(model, 'dense')['activation'] = changing),
    reason: /the activation of layer dense_\w+ \(Dense\) has a function apply of its own/,
  },
  'a loss that is added to a layer of ours': {
    first: (model) => (layerOf(model, 'embedding') as unknown as tf.layers.Layer).addLoss(() => tf.scalar(factor)),
    reason: /layer embedding\w+ \(Embedding\) adds a loss of the user's own/,
  },
  'the regularizer of a frozen table, whose factor changes': {
    build: () => modelOf(sigmoid, { embeddingsRegularizer: tf.regularizers.l2({ l2: 0.1 }), trainable: false }),
    later: (model) => {
      for (const { table } of model.layers as { table?: emb.EmbeddingTable }[])
        if (table?.regularizer) (table.regularizer as unknown as Fields)['l2'] = 0.5;
    },
    reason: null,
  },
  "a user's regularizer of a frozen table": {
    build: () => {
      class Own extends tf.serialization.Serializable {
        static className = 'OwnRegularizer';
        apply(x: tf.Tensor): tf.Scalar {
          return tf.tidy(() => x.square().sum().mul(factor).asScalar());
        }
        override getConfig(): tf.serialization.ConfigDict {
          return {};
        }
      }
      return modelOf(sigmoid, { embeddingsRegularizer: new Own() as never, trainable: false });
    },
    reason: /the regularizer of layer \w+ \(Embedding\) is of the class Own/,
  },
  'the first regularizer of a layer that has another one now': {
    build: () => modelOf(through(tf.layers.dense({ units: 3, kernelRegularizer: tf.regularizers.l2({ l2: 0.1 }) }))),
    first: (model) => {
      const layer = layerOf(model, 'dense');
      former = layer['kernelRegularizer'] as Fields;
      layer['kernelRegularizer'] = tf.regularizers.l2({ l2: 0.1 });
    },
    later: () => void (former!['l2'] = 2),
    reason: null,
  },
  'how a layer merges, replaced for its class': {
    build: () => {
      const merge: Head = (x) => {
        const [a, b] = [3, 3].map((units) => tf.layers.dense({ units }).apply(x) as tf.SymbolicTensor);
        return sigmoid(tf.layers.multiply().apply([a!, b!]) as tf.SymbolicTensor);
      };
      return modelOf(merge);
    },
    first: (model) => {
      const prototype = classOf(layerOf(model, 'multiply')) as Record<string, (x: tf.Tensor[]) => tf.Tensor>;
      const { mergeFunction } = prototype;
      prototype['mergeFunction'] = function (inputs) {
        return tf.tidy(() => mergeFunction!.call(this, inputs).mul(factor));
      };
      return () => (prototype['mergeFunction'] = mergeFunction!);
    },
    reason: /is of the class Multiply, whose mergeFunction was replaced/,
  },
  'a method that those of a layer call in the class that it derives from': {
    build: () => modelOf(through(tf.layers.reshape({ targetShape: [4, 3] }), tf.layers.lstm({ units: 3 }))),
    later: (model) => {
      const base = Object.getPrototypeOf(classOf(layerOf(model, 'lstm'))) as Record<
        string,
        (...args: unknown[]) => tf.Tensor
      >;
      const { call } = base;
      ends.push(() => (base['call'] = call!));
      base['call'] = function (...args) {
        return tf.tidy(() => call!.apply(this, args).mul(factor));
      };
    },
    reason: /is of the class RNN, whose call was replaced/,
  },
  'the losses of all layers': {
    first: () => {
      const { prototype } = tf.layers.Layer;
      const { calculateLosses } = prototype;
      prototype.calculateLosses = function () {
        return [...calculateLosses.call(this), tf.scalar(factor)];
      };
      return () => (prototype.calculateLosses = calculateLosses);
    },
    reason: /whose calculateLosses was replaced/,
  },
  'how a layer merges, by a hidden function from the 7th step on': {
    build: merging,
    later: (model) => hide(layerOf(model, 'multiply'), 'mergeFunction'),
    reason: /has a function mergeFunction of its own/,
  },
  'a list of losses with a map of its own': {
    build: penalized,
    later: (model) => {
      const losses = layerOf(model, 'dense')['_losses'] as (() => tf.Tensor)[];
      const value = (): tf.Tensor[] => Array.from(losses, (loss) => tf.tidy(() => loss().mul(factor)));
      Object.defineProperty(losses, 'map', { value });
    },
    reason: /the _losses of layer dense\w+ \(Dense\) is a list of another class, or has methods of its own/,
  },
  'a list of losses with an iterator of its own': {
    build: penalized,
    later: (model) => {
      const losses = layerOf(model, 'dense')['_losses'] as (() => tf.Tensor)[];
      const value = (): Iterator<() => tf.Tensor> => losses.slice().values();
      Object.defineProperty(losses, Symbol.iterator, { value });
    },
    reason: /the _losses of layer dense\w+ \(Dense\) is a list of another class, or has methods of its own/,
  },
  'two layers that change what they give': {
    build: merging,
    later: (model) => swap(nodesOf(model, 'multiply'), 'outputTensors'),
    reason: null,
  },
  'two layers that change the tensors in the lists of what they give': {
    build: merging,
    later: (model) =>
      swap(
        nodesOf(model, 'multiply').map((node) => node['outputTensors'] as Fields),
        '0',
      ),
    reason: null,
  },
  'a symbol with the number of another': {
    build: merging,
    later: (model) => {
      const [a, b] = nodesOf(model, 'multiply').map((node) => (node['outputTensors'] as Fields[])[0]!);
      a!['id'] = b!['id'];
    },
    reason: null,
  },
  'kernels that a function on the engine runs': {
    later: () => hide(tf.engine(), 'runKernel'),
    reason: /the engine of tfjs has a function runKernel of its own/,
  },
  'ops that a function on the backend runs': {
    later: () => hide(tf.backend(), 'executeSingleInput'),
    reason: /the backend has a function executeSingleInput of its own/,
  },
  'ops that a method of the class of the backend runs': {
    later: () => hide(Object.getPrototypeOf(tf.backend()) as object, 'executeSingleInput'),
    reason: /the backend is of the class NodeJSKernelBackend, whose executeSingleInput was replaced/,
  },
  'a kernel whose function was put into its config': {
    later: () => {
      const [{ kernelFunc: atan }, config] = [
        tf.getKernel('Atan', 'tensorflow'),
        tf.getKernel('Sigmoid', 'tensorflow'),
      ];
      const { kernelFunc } = config;
      replace(config, 'kernelFunc', (args: Parameters<tf.KernelFunc>[0]) => {
        const x = kernelFunc(args) as tf.TensorInfo;
        const bent = atan({ inputs: { x }, backend: args.backend });
        tf.backend().disposeData(x.dataId);
        return bent;
      });
    },
    reason: /the kernel tensorflow_Sigmoid was replaced/,
  },
  'a gradient whose function was put into its config': {
    later: () => replace(tf.getGradient('Sigmoid'), 'gradFunc', tf.getGradient('Tanh').gradFunc),
    reason: /the gradient Sigmoid was replaced/,
  },
  'a backend behind a Proxy': {
    later: () => replace(tf.engine(), 'backendInstance', new Proxy(tf.backend(), { set: () => true })),
    reason: /the backend is a Proxy/,
  },
  'what the backend is bound to, behind a Proxy': {
    later: () => {
      const backend = tf.backend() as unknown as { binding: object };
      replace(backend, 'binding', new Proxy(backend.binding, {}));
    },
    reason: /what the backend is bound to was replaced/,
  },
  'another variable under the name of one that is stepped': {
    later: (model) => {
      const { val: bias } = model.weights.at(-1) as unknown as { val: tf.Variable };
      const other = tf.tidy(() => tf.variable(bias.mul(0.5)));
      replace(tf.engine().registeredVariables, bias.name, other);
      ends.unshift(() => other.dispose());
    },
    reason: null,
  },
  'the apply of the regularizer of a table': {
    build: () => modelOf(sigmoid, { embeddingsRegularizer: tf.regularizers.l2({ l2: 0.1 }) }),
    later: (model) => hide(penaltyOf(model), 'apply'),
    reason: /the regularizer of layer embedding\w+ \(Embedding\) has a function apply of its own/,
  },
  'the factor of a regularizer that a table and a layer have': {
    build: penalized,
    later: (model) => void (penaltyOf(model)['l2'] = 0.7),
    reason: null,
  },
  'a loss behind a getter': {
    later: (model) => {
      const { lossFunctions } = model as unknown as { lossFunctions: unknown[] };
      const [stock] = lossFunctions;
      Object.defineProperty(lossFunctions, 0, { get: () => stock });
    },
    reason: /its losses or metrics are others than those it was compiled with/,
  },
  'a number in a list of lists': {
    build: () => {
      const padded = tf.layers.zeroPadding2d({
        padding: [
          [1, 1],
          [1, 1],
        ] as never,
      });
      return modelOf(
        through(tf.layers.reshape({ targetShape: [4, 3, 1] }), padded, tf.layers.globalAveragePooling2d({})),
      );
    },
    later: (model) => void ((layerOf(model, 'zero_padding2d')['padding'] as number[][])[0]![0] = 4),
    reason: null,
  },
};
let former: Fields | null = null;
/** What puts things back after a training. */
const ends: (() => void)[] = [];

describeSteps('Steps that reach what is not known', () => {
  for (const [what, { build = () => modelOf(), first, later, reason }] of Object.entries(PROGRAMS)) {
    it(`are those op by op: ${what}`, async () => {
      let end: (() => void) | void;
      const between: Between = (model, step) => {
        factor = step < STEPS / 2 ? 1 : 0.25;
        if (step === STEPS / 2) later?.(model);
        if (step !== 0) return;
        end?.();
        for (const each of ends.splice(0)) each();
        end = first?.(model);
      };
      const found = await trainTwins(build, { between, steps: STEPS }).finally(() => {
        end?.();
        for (const each of ends.splice(0)) each();
      });
      expectEqual(found, 1e-5);
      expect(found.captured.info.captured).toBe(reason === null);
      if (reason !== null) expect(found.captured.info.reason).toMatch(reason);
    });
  }

  it('are those op by op: a batch that is a variable of the model, after steps were captured', async () => {
    const build = (): tf.LayersModel => {
      const x = emb.input({ shape: [4] });
      return tf.model({
        inputs: x,
        outputs: tf.layers.dense({ units: 4, useBias: false }).apply(x) as tf.SymbolicTensor,
      });
    };
    const found: number[][] = [];
    for (const isCaptured of [false, true]) {
      const model = build();
      emb.setCapture(isCaptured, model);
      const start = tf.tidy(() => tf.linspace(0, 1, 16).reshape([4, 4]));
      model.setWeights([start]);
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const y = tf.ones([4, 4]);
      const losses: number[] = [];
      for (let step = 0; step < STEPS; step++) {
        const own = (model.weights[0] as unknown as { val: tf.Variable }).val;
        const isOwn = (of: number): boolean => step >= STEPS / 2 && step % of === 0;
        losses.push((await model.trainOnBatch(isOwn(3) ? own : start, isOwn(4) ? own : y)) as number);
      }
      expect(emb.stepInfo(model).captured).toBe(isCaptured);
      found.push([...losses, ...model.getWeights()[0]!.dataSync()]);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([start, y]);
    }
    found[1]!.forEach((value, i) => expect(value).toBeCloseTo(found[0]![i]!, 5));
  });
});
