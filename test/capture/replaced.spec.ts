/** Functions that users put in the place of those of tfjs and of this package run in every step. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, modelOf, trainTwins, type Between, type Head } from './training.js';
import { expectEqual } from './twins.js';

type Functions = Record<string, (...args: unknown[]) => unknown>;

const head: Head = (x) =>
  tf.layers.dense({ units: 1, activation: 'sigmoid', kernelRegularizer: 'l1l2' }).apply(x) as tf.SymbolicTensor;
const build = (): tf.LayersModel => modelOf(head);

/** Puts a function in place of one, which halves what that gives from its 9th call on; returns what puts it back. */
function halving(holder: object, name: string): () => void {
  const functions = holder as Functions;
  const isOwn = Object.hasOwn(holder, name);
  const former = functions[name]!;
  let calls = 0;
  functions[name] = function (...args) {
    return tf.tidy(() => tf.mul(former.apply(this, args) as tf.Tensor, calls++ < 8 ? 1 : 0.5));
  };
  return () => {
    if (isOwn) functions[name] = former;
    else delete functions[name];
  };
}

const output = (model: tf.LayersModel): object => model.layers.at(-1)!;
const part = (model: tf.LayersModel, name: string): object =>
  (output(model) as unknown as Record<string, object>)[name]!;
const prototype = (object: object): object => Object.getPrototypeOf(object) as object;

const PLACES: Readonly<Record<string, (model: tf.LayersModel) => [object, string]>> = {
  'the call of a layer': (model) => [output(model), 'call'],
  'its apply': (model) => [output(model), 'apply'],
  'the call of its class': (model) => [prototype(output(model)), 'call'],
  'an activation': (model) => [part(model, 'activation'), 'apply'],
  'the apply of its class': (model) => [prototype(part(model, 'activation')), 'apply'],
  'a regularizer': (model) => [part(model, 'kernelRegularizer'), 'apply'],
  'a loss': (model) => [(model as unknown as { lossFunctions: object }).lossFunctions, '0'],
  'a metric': (model) => [(model as unknown as { metricsTensors: object[] }).metricsTensors[0]!, '0'],
};

describeSteps('Functions that were replaced', () => {
  for (const [what, placeOf] of Object.entries(PLACES)) {
    it(`run in every step: ${what}, before or after steps were captured`, async () => {
      for (const at of [0, 1, 6]) {
        const putBack: (() => void)[] = [];
        const between: Between = (model, step) => {
          if (step === at) putBack.push(halving(...placeOf(model)));
        };
        const restoring: Between = async (model, step) => {
          await between(model, step);
          if (step === 19) putBack.pop()!();
        };
        const found = await trainTwins(build, { between: restoring, steps: 20, metrics: ['mse'] });
        expectEqual(found);
        expect(found.captured.info.captured).withContext(`step ${at}`).toBeFalse();
        if (/loss|metric/.test(what))
          expect(found.captured.info.reason).toMatch(/are others than those it was compiled/);
      }
    });
  }

  // Steps that run op by op take other ops in the place of these: sums of slices, cross-entropies, products.
  for (const kernel of ['Sum', 'Mean', 'Log', 'ClipByValue', 'BatchMatMul', 'UnsortedSegmentSum', 'Multiply']) {
    it(`run from the next step on: a kernel ${kernel}, before or after steps were captured`, async () => {
      const normalized: Head = (x) => head(tf.layers.layerNormalization().apply(x) as tf.SymbolicTensor);
      for (const at of [1, 2, 3, 6]) {
        const stock = tf.getKernel(kernel, 'tensorflow');
        const put = (config: tf.KernelConfig): void => {
          tf.unregisterKernel(kernel, 'tensorflow');
          tf.registerKernel(config);
        };
        const kernelFunc: tf.KernelFunc = (args) => {
          const x = stock.kernelFunc(args) as tf.TensorInfo;
          if (x.dtype !== 'float32') return x;
          const bent = tf.getKernel('Atan', 'tensorflow').kernelFunc({ inputs: { x }, backend: args.backend });
          tf.backend().disposeData(x.dataId);
          return bent;
        };
        const between: Between = (_, step) => {
          if (step === 0) put(stock);
          if (step === at) put({ ...stock, kernelFunc });
        };
        const optimizer = (): tf.Optimizer => emb.train.sgd({ learningRate: 0.1 });
        const found = await trainTwins(() => modelOf(normalized), { between, optimizer, steps: 9 }).finally(() =>
          put(stock),
        );
        expectEqual(found, 1e-5);
        expect(found.captured.info.reason)
          .withContext(`step ${at}`)
          .toMatch(`the kernel tensorflow_${kernel} was replaced`);
      }
    });
  }

  it('run in every step: a loss that is added to a layer, those of the model, the minimize of an optimizer', async () => {
    const added: Between = (model, step) => {
      let calls = 0;
      if (step === 6) model.layers.at(-1)!.addLoss(() => tf.scalar(calls++ < 8 ? 1 : 2));
    };
    const losses: Between = (model, step) => {
      let calls = 0;
      const own = { calculateLosses: () => [tf.scalar(calls++ < 8 ? 1 : 2)] };
      if (step === 6) Object.assign(model, own);
    };
    const minimize: Between = ({ optimizer }, step) => {
      if (step !== 6) return;
      const former = optimizer.minimize.bind(optimizer);
      let calls = 0;
      optimizer.minimize = (f, ...rest) => former(() => tf.tidy(() => f().mul(calls++ < 8 ? 1 : 0.1)), ...rest);
    };
    for (const between of [added, losses, minimize]) {
      const found = await trainTwins(build, { between, steps: 20 });
      expectEqual(found);
      expect(found.captured.info.captured).toBeFalse();
    }
  });

  it('are known before the first step: the losses and metrics of a compiled model, and how many there are', async () => {
    type Compiled = Record<'lossFunctions' | 'metricsTensors' | 'loss' | 'metrics', unknown>;
    const changes: ((model: Compiled) => void)[] = [
      (model) => (model.lossFunctions = [...(model.lossFunctions as unknown[])].map(() => tf.losses.huberLoss)),
      (model) => (model.metricsTensors = []),
      (model) => (model.loss = 'meanSquaredError'),
      (model) => (model.metrics = ['mae']),
    ];
    for (const change of changes) {
      const between: Between = (model, step) => {
        if (step === 0) change(model as unknown as Compiled);
      };
      const found = await trainTwins(build, { between, steps: 5, metrics: ['mse'] });
      expectEqual(found);
      expect(found.captured.info.captured).toBeFalse();
      expect(found.captured.info.reason).toMatch(/its losses or metrics are others than those it was compiled with/);
    }
  });

  it('are forgotten by the next compile', async () => {
    const between: Between = (model, step) => {
      if (step === 0) (model as unknown as { lossFunctions: unknown[] }).lossFunctions = [tf.losses.huberLoss];
      if (step !== 5) return;
      model.optimizer.dispose();
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    };
    const { captured } = await trainTwins(build, { between });
    expect(captured.info).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
  });

  it('are called: a hook that a layer is given after steps were captured', async () => {
    let seen = 0;
    const between: Between = (model, step) => {
      if (step === 6) model.layers.at(-1)!.setCallHook(() => void seen++);
    };
    const { captured } = await trainTwins(build, { between, steps: 16 });
    expect(seen).toBe(20);
    expect(captured.info.reason).toMatch(/_callHook/);
  });

  it('are known as such within models of other classes', async () => {
    class Halving extends tf.LayersModel {
      static override className = 'HalvingModel';
    }
    const nested: Head = (x) => {
      const input = tf.input({ shape: x.shape.slice(1) });
      return new Halving({ inputs: input, outputs: head(input) } as never).apply(x) as tf.SymbolicTensor;
    };
    const { captured } = await trainTwins(() => modelOf(nested), { steps: 4 });
    expect(captured.info.reason).toMatch(/of the class Halving/);
  });

  it('leave other models captured, with models within them too', async () => {
    const nested: Head = (x) => {
      const input = tf.input({ shape: x.shape.slice(1) });
      const inner = tf.model({ inputs: input, outputs: head(input) });
      // It may be trained by itself, too.
      inner.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      return inner.apply(x) as tf.SymbolicTensor;
    };
    for (const each of [head, nested]) {
      const { captured } = await trainTwins(() => modelOf(each), {
        optimizer: () => emb.train.sgd({ learningRate: 0.1 }),
        steps: 6,
      });
      expect(captured.info).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    }
  });
});
