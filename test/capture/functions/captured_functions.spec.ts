/** Functions of users by `emb.capture`: programs beside the same ones op by op, what is refused, and what is noticed. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { expectError } from '../../helpers/errors.js';
import { describeSteps } from '../training.js';
import { MODELS, MODELS_REFUSED } from './model_programs.js';
import { ORIGINS, ORIGINS_REFUSED } from './origin_programs.js';
import { Bench, CAPTURED, lookUp, REFUSED, square, type Program } from './user_programs.js';
import { ours } from '../../tfjs/models/own_models.js';

async function numbersOf(result: unknown): Promise<unknown> {
  if (result instanceof tf.Tensor)
    return { shape: result.shape, dtype: result.dtype, values: [...(await result.data())] };
  if (Array.isArray(result)) return Promise.all(result.map(numbersOf));
  if (result === null || typeof result !== 'object') return result;
  const fields = Object.entries(result).map(async ([name, each]) => [name, await numbersOf(each)] as const);
  return Object.fromEntries(await Promise.all(fields));
}

const CALLS = 12;

describeSteps('Functions of users', () => {
  type Captured = emb.CapturedFunction<unknown[], unknown>;

  async function run(program: Program, isCaptured: boolean): Promise<{ results: unknown[]; infos: emb.StepInfo[] }> {
    const bench = new Bench();
    const captured: Captured[] = [];
    const call = program(bench, (f) => {
      if (!isCaptured) return f;
      const made = emb.capture(f as unknown as (...args: unknown[]) => unknown);
      captured.push(made);
      return made as unknown as typeof f;
    });
    const results: unknown[] = [];
    for (let step = 0; step < CALLS; step++) {
      tf.engine().startScope();
      const result = call(step);
      results.push(await numbersOf(result));
      tf.engine().endScope();
    }
    for (const variable of bench.variables) results.push(await numbersOf(variable));
    const infos = captured.map(({ info }) => info);
    for (const each of captured) {
      expect(each.verify()).toBeTrue();
      each.dispose();
    }
    bench.dispose();
    return { results, infos };
  }

  /** Products of graphs may round otherwise in their last bit. */
  function expectClose(a: unknown, b: unknown, where: string): void {
    if (typeof a === 'number' && typeof b === 'number') {
      if (!(Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b)))) fail(`${where}: ${a} beside ${b}`);
    } else if (a !== null && typeof a === 'object') {
      const [given, expected] = [Object.entries(a), Object.entries(b as object)];
      expect(given.map(([name]) => name))
        .withContext(where)
        .toEqual(expected.map(([name]) => name));
      given.forEach(([name, each], i) => expectClose(each, expected[i]?.[1], `${where}.${name}`));
    } else {
      expect(a).withContext(where).toEqual(b);
    }
  }

  describe('are captured with the numbers that they have op by op:', () => {
    for (const [name, program] of Object.entries({ ...CAPTURED, ...MODELS, ...ORIGINS })) {
      it(name, async () => {
        const [captured, plain] = [await run(program, true), await run(program, false)];
        expectClose(captured.results, plain.results, name);
        for (const info of captured.infos) {
          expect(info).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
        }
      });
    }
  });

  describe('run op by op, and say why:', () => {
    for (const [name, [program, reason]] of Object.entries({ ...REFUSED, ...MODELS_REFUSED, ...ORIGINS_REFUSED })) {
      it(name, async () => {
        const isRandom = name.startsWith('random');
        const [captured, plain] = [await run(program, true), await run(program, false)];
        if (!isRandom) expectClose(captured.results, plain.results, name);
        for (const info of captured.infos) {
          expect(info.captured).toBeFalse();
          expect(info.reason).toMatch(/^Calls run op by op, because .+\.$/);
          expect(info.reason).toMatch(reason);
        }
      });
    }

    it('on other backends', async () => {
      await tf.setBackend('cpu');
      const step = emb.capture((x: tf.Tensor) => tf.neg(x));
      const x = tf.scalar(1);
      for (let i = 0; i < 4; i++) step(x).dispose();
      expect(step.info.reason).toMatch(/the backend is cpu/);
      step.dispose();
      x.dispose();
      await tf.setBackend('tensorflow');
    });

    it('where setCapture or dispose said so, and with a promise or a RaggedTensor', async () => {
      const x = tf.scalar(1);
      const step = emb.capture((given: unknown) => given);
      const rows = emb.RaggedTensor.fromRows([[1], []]);
      expect(step(rows)).toBe(rows);
      const later = emb.capture(() => Promise.resolve(3));
      expect(await later()).toBe(3);
      expect(await later()).toBe(3);
      expect(later.info.reason).toMatch(/asynchronous/);
      const once = emb.capture((given: tf.Tensor) => tf.neg(given));
      once.dispose();
      once(x).dispose();
      expect(once.info.reason).toMatch(/disposed/);
      emb.setCapture(false);
      try {
        expect(emb.capture((given: tf.Tensor) => tf.neg(given)).info.reason).toMatch(/setCapture/);
      } finally {
        emb.setCapture(true);
      }
      x.dispose();
    });
  });

  it('leave variables, optimizers and tensors as they are when they are verified', async () => {
    const bench = new Bench();
    const table = bench.table(20, 4);
    const optimizer = bench.keep(emb.train.adam({ learningRate: 0.1 }));
    const ids = bench.keep(bench.ids());
    const step = emb.capture((given: tf.Tensor1D) => optimizer.minimize(() => square(lookUp(table, given)), true)!);
    for (let i = 0; i < 5; i++) step(ids).dispose();
    const before = [...(await table.data())];
    const [{ iterations }, { numTensors }] = [optimizer, tf.memory()];
    expect(step.verify()).toBeTrue();
    expect([...(await table.data())]).toEqual(before);
    expect(optimizer.iterations).toBe(iterations);
    expect(tf.memory().numTensors).toBe(numTensors);
    step.dispose();
    bench.dispose();
  });

  it('keep nothing alive that only their lives reach', async () => {
    const graphs = loadAddon().graphCount();
    class Trainer {
      rate = 2;
      readonly giveRate = (): number => this.rate;
      readonly step = emb.capture((x: tf.Tensor) => tf.tidy(() => tf.mul(x, emb.live(this.giveRate))));
    }
    const ref = (() => {
      const trainer = new Trainer();
      const x = tf.scalar(1);
      for (let i = 0; i < 6; i++) trainer.step(x).dispose();
      expect(trainer.step.info.captured).toBeTrue();
      x.dispose();
      return new WeakRef(trainer);
    })();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let tries = 0; tries < 50 && (ref.deref() !== undefined || loadAddon().graphCount() > graphs); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collect();
    }
    expect(ref.deref()).toBeUndefined();
    expect(loadAddon().graphCount()).toBe(graphs);
  });

  it('are parts of gradients and of other captured functions', async () => {
    const x = tf.tensor1d([1, 2]);
    const inner = emb.capture((given: tf.Tensor) => tf.tidy(() => tf.sum(tf.square(given))));
    for (let i = 0; i < 4; i++) inner(x).dispose();
    const gradient = tf.grad((given) => inner(given))(x);
    expect([...(await gradient.data())]).toEqual([2, 4]);
    const outer = emb.capture((given: tf.Tensor) => tf.tidy(() => tf.mul(2, inner(given))));
    for (let i = 0; i < 5; i++) {
      const result = outer(x);
      expect((await result.data())[0]).toBe(10);
      result.dispose();
    }
    expect(outer.info.captured).toBeTrue();
    tf.dispose([x, gradient]);
    inner.dispose();
    outer.dispose();
  });

  it('record the ops of models that are captured themselves', async () => {
    const model = ours.sequential({
      layers: [tf.layers.dense({ units: 2, inputShape: [3], kernelInitializer: 'ones' })],
    });
    const x = tf.ones([4, 3]);
    for (let i = 0; i < 5; i++) tf.dispose(model.predict(x));
    expect(emb.stepInfo(model).captured).toBeTrue();
    const call = emb.capture((given: tf.Tensor) => tf.tidy(() => tf.sum(model.predict(given) as tf.Tensor)));
    for (let i = 0; i < 8; i++) {
      // Its own graphs go; those of the function hold its ops.
      if (i === 5) emb.setCapture(false, model);
      const sum = call(x);
      expect((await sum.data())[0]).toBe(24);
      sum.dispose();
    }
    expect(call.info.captured).toBeTrue();
    call.dispose();
    model.dispose();
    x.dispose();
  });

  it('keep the graphs of 16 kinds of calls', async () => {
    const call = emb.capture((given: tf.Tensor) => tf.sum(given));
    spyOn(console, 'warn');
    for (let size = 1; size <= 18; size++) {
      const x = tf.ones([size]);
      for (let i = 0; i < 4; i++) call(x).dispose();
      x.dispose();
    }
    expect(call.info).toEqual(jasmine.objectContaining({ captured: true, signatures: 16, evictions: 2 }));
    call.dispose();
  });

  it('take a variable that is frozen for another kind of step', async () => {
    const bench = new Bench();
    const [weights, others] = [bench.table(4, 3), bench.table(4, 3)];
    const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.5 }));
    const step = emb.capture(() => optimizer.minimize(() => square(tf.mul(weights, others)), true)!);
    for (let i = 0; i < 5; i++) step().dispose();
    weights.trainable = false;
    const [frozen, trained] = [await weights.data(), await others.data()];
    step().dispose();
    expect(await weights.data()).toEqual(frozen);
    expect(await others.data()).not.toEqual(trained);
    step.dispose();
    bench.dispose();
  });

  it('run op by op where they keep a tensor that no later call reads', async () => {
    const kept: tf.Tensor[] = [];
    const call = emb.capture((x: tf.Tensor) => tf.tidy(() => (kept.push(tf.keep(tf.neg(x))), tf.exp(x))));
    const x = tf.scalar(1);
    for (let i = 0; i < 5; i++) call(x).dispose();
    expect(kept.length).toBe(5);
    expect(call.info.reason).toMatch(/beside those that it returns/);
    tf.dispose([kept, x]);
    call.dispose();
  });

  it('tell 0 from -0', async () => {
    const call = emb.capture((x: tf.Tensor, by: number) => tf.tidy(() => tf.div(x, by)));
    const x = tf.scalar(1);
    for (const by of [0, -0, 0, -0, 0, -0, 0, -0]) {
      const found = call(x, by);
      expect((await found.data())[0]).toBe(1 / by);
      found.dispose();
    }
    expect(call.info.signatures).toBe(2);
    x.dispose();
    call.dispose();
  });

  it('take a new rate of a stock optimizer for another kind of step', async () => {
    const bench = new Bench();
    const weights = bench.table(4, 3);
    const optimizer = bench.keep(tf.train.sgd(0.5));
    const x = bench.keep(bench.floats(5, 4)) as tf.Tensor2D;
    const step = emb.capture(() =>
      optimizer.minimize(() => square(tf.matMul(x, weights as unknown as tf.Tensor2D)), true)!,
    );
    for (let i = 0; i < 6; i++) step().dispose();
    const before = await weights.data();
    optimizer.setLearningRate(0);
    for (let i = 0; i < 6; i++) step().dispose();
    expect(await weights.data()).toEqual(before);
    step.dispose();
    bench.dispose();
  });

  describe('as losses marked by emb.pure', () => {
    let factor: number;
    function trained(loss: tf.ModelCompileArgs['loss']): tf.LayersModel {
      const ids = tf.input({ shape: [3], dtype: 'int32' });
      const rows = emb.layers.embedding({ inputDim: 20, outputDim: 4, combiner: 'mean' }).apply(ids);
      const outputs = tf.layers.dense({ units: 1 }).apply(rows as tf.SymbolicTensor) as tf.SymbolicTensor;
      const model = tf.model({ inputs: ids, outputs });
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss });
      return model;
    }
    const scaled =
      () =>
      (yTrue: tf.Tensor, yPred: tf.Tensor): tf.Tensor =>
        tf.mul(tf.mean(tf.square(tf.sub(yTrue, yPred)), -1), factor);
    beforeEach(() => (factor = 1));

    it('are captured, and told at the end of fit where they read a number that has changed', async () => {
      const warned: string[] = [];
      spyOn(console, 'warn').and.callFake((text: string) => void warned.push(text));
      const model = trained(emb.pure(scaled()));
      const [x, y] = [tf.zeros([64, 3], 'int32'), tf.ones([64, 1])];
      await model.fit(x, y, { batchSize: 8, epochs: 1, verbose: 0 });
      expect(emb.stepInfo(model)).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
      const onEpochBegin = (): void => void (factor = 2);
      // Steps 9 to 13: none of them is compared, the end of fit is.
      const [fewX, fewY] = [x.slice(0, 40), y.slice(0, 40)];
      await model.fit(fewX, fewY, {
        batchSize: 8,
        epochs: 1,
        verbose: 0,
        callbacks: { onEpochBegin },
      });
      expect(warned.length).toBe(1);
      expect(emb.stepInfo(model).reason).toMatch(/emb\.pure.+since step 9/);
      await model.fit(x, y, { batchSize: 8, epochs: 1, verbose: 0 });
      model.optimizer.dispose();
      // What another loss promises is another matter.
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: emb.pure(scaled()) });
      await model.fit(x, y, { batchSize: 8, epochs: 1, verbose: 0 });
      expect(emb.stepInfo(model).captured).toBeTrue();
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y, fewX, fewY]);
    });

    it('stay captured from fit to fit, with validation, and over data sets', async () => {
      const warn = spyOn(console, 'warn');
      const model = trained(emb.pure(scaled()));
      const [x, y] = [tf.zeros([40, 3], 'int32'), tf.ones([40, 1])];
      const dataset = tf.data.zip({
        xs: tf.data.array((await x.array()) as number[][]),
        ys: tf.data.array((await y.array()) as number[][]),
      });
      for (let round = 0; round < 3; round++) {
        await model.fit(x, y, { batchSize: 8, epochs: 2, verbose: 0, validationData: [x, y] });
        await model.fitDataset(dataset.batch(8) as never, { epochs: 2, verbose: 0 });
      }
      expect(warn).not.toHaveBeenCalled();
      expect(emb.stepInfo(model)).toEqual(jasmine.objectContaining({ captured: true, reason: null }));
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });

    it('run op by op without the mark, which the reason names', async () => {
      const model = trained(scaled() as never);
      const [x, y] = [tf.zeros([8, 3], 'int32'), tf.ones([8, 1])];
      await model.fit(x, y, { epochs: 3, verbose: 0 });
      expect(emb.stepInfo(model).reason).toMatch(/marked by emb\.pure/);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });
  });

  it('are refused by name', () => {
    expectError(() => emb.capture(3 as never), 'TypeError', 'f', '3');
    expectError(() => emb.capture(() => 1, null as never), 'TypeError', 'options');
    expectError(() => emb.capture(() => 1, { only: true } as never), 'ValueError', 'options', /only/);
    expectError(() => emb.capture(() => 1, { check: 'never' as never }), 'ValueError', 'check');
    expectError(() => emb.capture(() => 1, { onlyCaptured: 1 as never }), 'TypeError', 'onlyCaptured');
    expectError(() => emb.pure(3 as never), 'TypeError', 'f');
    expectError(() => emb.live(3 as never), 'TypeError', 'give');
    expectError(() => emb.live(() => 'a' as never), 'TypeError', 'give');
  });
});
