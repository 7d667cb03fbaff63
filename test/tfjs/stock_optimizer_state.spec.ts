/** What stock optimizers keep, and what of it tfjs loses. */
import * as tf from '@tensorflow/tfjs';
import {
  disposeStock,
  freeCount,
  keepMomentumScalar,
  runningPowers,
  setStockRate,
  stateFor,
  stateOf,
  withEpsilon,
} from '../../src/tfjs/stock_optimizer_state.js';
import { leakFree, useCpu } from '../layers/setup.js';

const MAKERS: Readonly<Record<string, () => tf.Optimizer>> = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  adagrad: () => tf.train.adagrad(0.1, 0.25),
  adam: () => tf.train.adam(0.1),
  rmsprop: () => tf.train.rmsprop(0.1),
  adamax: () => tf.train.adamax(0.1),
  adadelta: () => tf.train.adadelta(0.1),
};

/** A step whose gradient is 1 everywhere. */
function step(optimizer: tf.Optimizer, ...variables: tf.Variable[]): void {
  optimizer.minimize(() => tf.addN(variables.map((each) => tf.sum(each))) as tf.Scalar, false, variables);
}

function reset(variable: tf.Variable): void {
  const ones = tf.ones([2]);
  variable.assign(ones);
  ones.dispose();
}

describe('the state of stock optimizers', () => {
  beforeAll(useCpu);

  let [a, b]: tf.Variable[] = [];
  beforeEach(() => {
    [a, b] = ['first', 'second'].map((name) =>
      tf.tidy(() => tf.variable(tf.ones([2]), true, `${name}_${Math.random()}`)),
    );
  });
  afterEach(() => tf.dispose([a!, b!]));

  const kinds: Readonly<Record<string, readonly (readonly [kind: string, start: number])[]>> = {
    sgd: [],
    momentum: [['momentum', 0]],
    adagrad: [['accumulator', 0.25]],
    adam: [
      ['m', 0],
      ['v', 0],
    ],
  };
  for (const [name, known] of Object.entries(kinds)) {
    it(
      `is made as ${name} would make it, and stepped on`,
      leakFree(() => {
        const [optimizer, twin] = [MAKERS[name]!(), MAKERS[name]!()];
        const state = stateFor(optimizer, [a, b])!;
        expect(state.map((list) => list.map(({ originalName }) => originalName))).toEqual(
          known.map(([kind]) => [`${a!.name}/${kind}`, `${b!.name}/${kind}`]),
        );
        known.forEach(([, start], i) => {
          for (const { variable } of state[i]!) {
            expect([variable.shape, variable.trainable, ...variable.dataSync()]).toEqual([[2], false, start, start]);
          }
        });
        expect(stateOf(optimizer).map(({ tensor }) => tensor)).toEqual(state.flat().map(({ variable }) => variable));
        step(optimizer, a!, b!);
        // Numbers of the variables that are there: another optimizer makes the same of them.
        const after = [...a!.dataSync()];
        reset(a!);
        step(twin, a!, b!);
        expect([...a!.dataSync()]).toEqual(after);
        const made = stateOf(twin).map(({ name: each, tensor }) => [each, ...tensor.dataSync()]);
        expect(stateOf(optimizer).map(({ name: each, tensor }) => [each, ...tensor.dataSync()])).toEqual(made);
        [optimizer, twin].forEach(disposeStock);
      }),
    );
  }

  it(
    'is what was loaded where a variable is not there',
    leakFree(() => {
      const optimizer = tf.train.adam(0.1);
      const first = stateFor(optimizer, [a, b])!;
      const again = stateFor(optimizer, [undefined, b])!;
      expect(again.map((list) => list.map(({ variable }) => variable))).toEqual(
        first.map((list) => list.map(({ variable }) => variable)),
      );
      disposeStock(optimizer);
    }),
  );

  it(
    'is not known of other optimizers',
    leakFree(() => {
      for (const name of ['rmsprop', 'adamax', 'adadelta']) {
        const optimizer = MAKERS[name]!();
        expect(stateFor(optimizer, [a]))
          .withContext(name)
          .toBeNull();
        disposeStock(optimizer);
      }
    }),
  );

  it(
    'has running powers in Adam alone',
    leakFree(() => {
      for (const [name, make] of Object.entries(MAKERS)) {
        const optimizer = make();
        const powers = runningPowers(optimizer);
        if (name === 'adam') {
          expect(powers!.accBeta1.dataSync()[0]).toBeCloseTo(0.9, 6);
          expect(powers!.accBeta2.dataSync()[0]).toBeCloseTo(0.999, 6);
        } else expect(powers).withContext(name).toBeNull();
        disposeStock(optimizer);
      }
    }),
  );

  it(
    'takes another rate, and steps by it',
    leakFree(() => {
      for (const [name, make] of Object.entries(MAKERS)) {
        const [optimizer, twin] = [make(), make()];
        setStockRate(optimizer, 0.5);
        expect((optimizer as unknown as { learningRate: number }).learningRate)
          .withContext(name)
          .toBe(0.5);
        if (name === 'sgd' || name === 'momentum') {
          reset(a!);
          step(optimizer, a!);
          expect([...a!.dataSync()])
            .withContext(name)
            .toEqual([0.5, 0.5]);
        }
        // The same rate is no change: nothing is made anew.
        const before = tf.memory().numTensors;
        setStockRate(twin, 0.1);
        expect(tf.memory().numTensors).toBe(before);
        [optimizer, twin].forEach(disposeStock);
      }
    }),
  );

  it(
    'outlives a tidy in which momentum was made',
    leakFree(() => {
      const made: tf.MomentumOptimizer[] = [];
      tf.tidy(() => {
        const optimizer = tf.train.momentum(0.5, 0.9);
        keepMomentumScalar(optimizer);
        tf.keep((optimizer as unknown as { c: tf.Tensor }).c);
        made.push(optimizer);
      });
      const [optimizer] = made as [tf.MomentumOptimizer];
      step(optimizer, a!);
      step(optimizer, a!);
      // 1 - 0.5, then - 0.5 * 1.9.
      a!.dataSync().forEach((each) => expect(each).toBeCloseTo(-0.45, 6));
      disposeStock(optimizer);
    }),
  );

  it(
    'runs a step with another epsilon, and no longer',
    leakFree(() => {
      const { epsilon } = tf.backend();
      const seen: number[] = [];
      withEpsilon(0.5, () => seen.push(tf.backend().epsilon()));
      expect(() => withEpsilon(0.25, () => { throw new Error(`${tf.backend().epsilon()}`); })).toThrowError('0.25'); // prettier-ignore
      withEpsilon(null, () => seen.push(tf.backend().epsilon()));
      expect(seen).toEqual([0.5, epsilon.call(tf.backend())]);
      expect(tf.backend().epsilon()).toBe(epsilon.call(tf.backend()));
    }),
  );

  it(
    'has a count that is made for each call, and freed',
    leakFree(async () => {
      const optimizer = tf.train.adam(0.1);
      step(optimizer, a!);
      const state = await optimizer.getWeights();
      freeCount(state);
      expect(state.filter(({ tensor }) => tensor.isDisposed).map(({ name }) => name)).toEqual(['iter']);
      // A variable of that name is in use.
      freeCount([{ name: 'iter', tensor: a! }]);
      expect(a!.isDisposed).toBeFalse();
      disposeStock(optimizer);
    }),
  );
});
