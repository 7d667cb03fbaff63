/** The optimizer of what is no table: made, stepped, saved and given up beside the row-sparse one. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { readSettings } from '../../src/rules/optimizer_settings.js';
import { DensePart } from '../../src/optimizers/dense_part.js';
import type { NamedTensor } from '../../src/base/types.js';

type Optimizer = ReturnType<typeof emb.train.sgd>;

/** One step of w with the gradient 1. */
function step(optimizer: tf.Optimizer, w: tf.Variable): number {
  const before = w.dataSync()[0]!;
  optimizer.minimize(() => w.sum() as tf.Scalar, false, [w]);
  return before - w.dataSync()[0]!;
}

function withDense(name: string, state: Record<string, number>): NamedTensor[] {
  return Object.entries(state).map(([key, value]) => ({ name: `${name}${key}`, tensor: tf.scalar(value) }));
}

describe('DensePart', () => {
  let tensors: number;
  beforeEach(async () => {
    await tf.setBackend('cpu');
    tensors = tf.memory().numTensors;
  });
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  // How far w goes at each of two steps, by hand; the rate is 0.5 at the first and 0.25 at the second.
  const STEPS: Record<emb.OptimizerName, [first: number, second: number]> = {
    sgd: [0.5, 0.25],
    adagrad: [0.5 / Math.sqrt(1.1), 0.25 / Math.sqrt(2.1)],
    rowWiseAdagrad: [0.5 / Math.sqrt(1.1), 0.25 / Math.sqrt(2.1)],
    adagradMomentum: [0.5, 0.25 * 1.9],
    adam: [0.5, 0.25],
    ftrl: [0.5 / Math.sqrt(1.1), 0.25 / Math.sqrt(2.1)],
    rmsprop: [0.5 / Math.sqrt(0.1), 0.25 / Math.sqrt(0.19)],
    adamW: [0.5 + 0.004 * 0.5, 0.25 + 0.004 * 0.25 * 0.498],
  };
  for (const name of Object.keys(STEPS) as emb.OptimizerName[]) {
    it(`takes the rate in force at each step: ${name}`, () => {
      const w = tf.tidy(() => tf.variable(tf.scalar(1)));
      const optimizer = emb.train[name]({
        learningRate: 0.5,
        ...(name === 'adagradMomentum' ? { momentum: 0.9 } : {}),
      });
      const first = step(optimizer, w);
      optimizer.setLearningRate(0.25);
      expect(first).toBeCloseTo(STEPS[name][0], 5);
      expect(step(optimizer, w)).toBeCloseTo(STEPS[name][1], 5);
      optimizer.dispose();
      w.dispose();
    });
  }

  it('asks no function for a rate of its own: once a step, and never to save or load', async () => {
    const w = tf.tidy(() => tf.variable(tf.scalar(1)));
    const asked: number[] = [];
    const rate = (taken: number): number => (asked.push(taken), 0.5);
    const optimizer = emb.train.adam({ learningRate: rate });
    for (const saved of [0, 1, 2]) {
      expect(step(optimizer, w)).toBeCloseTo(0.5, 4);
      expect(asked).toEqual([0, 1, 2].slice(0, saved + 1));
    }
    const other = emb.train.adam({ learningRate: rate });
    const state = (await optimizer.getWeights()).map(({ name, tensor }) => ({ name, tensor: tensor.clone() }));
    await other.setWeights(state);
    tf.dispose(state.map(({ tensor }) => tensor));
    expect(asked).toEqual([0, 1, 2]);
    expect(step(other, w)).toBeCloseTo(0.5, 4);
    expect(asked).toEqual([0, 1, 2, 3]);
    optimizer.dispose();
    other.dispose();
    w.dispose();
  });

  it('is the one that the user gave, at its own rate, and the user ends it', () => {
    const w = tf.tidy(() => tf.variable(tf.scalar(1)));
    const dense = tf.train.momentum(0.125, 0.5);
    const optimizer = emb.train.adam({ learningRate: 0.5, dense });
    expect(step(optimizer, w)).toBe(0.125);
    optimizer.setLearningRate(2);
    expect(step(optimizer, w)).toBe(0.125 * 1.5);
    optimizer.dispose();
    expect(step(dense, w)).toBe(0.125 * 1.75);
    dense.dispose();
    (dense as unknown as { m: tf.Scalar; c: tf.Scalar }).m.dispose();
    (dense as unknown as { m: tf.Scalar; c: tf.Scalar }).c.dispose();
    w.dispose();
  });

  it('comes back from a config with what the user gave, and is then ended with the optimizer', () => {
    const w = tf.tidy(() => tf.variable(tf.scalar(1)));
    const dense = tf.train.adagrad(0.5, 3);
    const optimizer = emb.train.sgd({ learningRate: 0.1, dense });
    const cls = optimizer.constructor as unknown as { fromConfig(cls: unknown, config: unknown): Optimizer };
    const copy = cls.fromConfig(cls, JSON.parse(JSON.stringify(optimizer.getConfig())));
    expect(copy.getConfig()).toEqual(optimizer.getConfig());
    expect((copy.getConfig()['dense'] as tf.serialization.ConfigDict)['className']).toBe('Adagrad');
    expect(step(copy, w)).toBeCloseTo(0.25, 6);
    copy.dispose();
    optimizer.dispose();
    w.dispose();
  });

  it('leaves state that is not its own to others', async () => {
    const w = tf.tidy(() => tf.variable(tf.scalar(1)));
    const settings = readSettings('adagrad', {});
    const part = new DensePart('adagrad', settings, null);
    const gradient = tf.scalar(1);
    part.apply(
      [{ name: w.name, tensor: gradient }],
      () => 0.1,
      () => 1,
    );
    const saved = await part.save();
    expect(saved.map(({ name }) => name)).toEqual([`dense/${w.name}/accumulator`]);
    expect(part.names).toEqual(saved.map(({ name }) => name));
    const others = withDense('', { iter: 3, 'table/accumulators': 1 });
    const again = new DensePart('adagrad', settings, null);
    expect(await again.load([...others, ...saved], 3)).toEqual(others);
    expect(await again.load(others, 3)).toEqual(others);
    again.dispose();
    part.dispose();
    tf.dispose([gradient, ...others.map(({ tensor }) => tensor)]);
    w.dispose();
  });

  it('knows the state that each default optimizer needs', () => {
    const missing = (name: emb.OptimizerName, ...given: string[]): string[] => {
      const part = new DensePart(name, readSettings(name, {}), null);
      const names = part.missing(given);
      part.dispose();
      return names;
    };
    expect(missing('adagrad', 'dense/a/accumulator', 'dense/b/accumulator', 'iter')).toEqual([]);
    expect(missing('adagrad', 'dense/a/accumulator', 'dense/b/accumulator_2')).toEqual(['dense/b/accumulator']);
    expect(missing('ftrl', 'dense/b/other')).toEqual(['dense/b/accumulator']);
    expect(missing('adagradMomentum', 'dense/a/b/velocity')).toEqual(['dense/a/b/momentum']);
    expect(missing('adam', 'dense/a/m')).toEqual(['dense/a/v', 'dense/accBeta1', 'dense/accBeta2']);
    expect(missing('adam', 'dense/a/m', 'dense/a/v', 'dense/accBeta1', 'dense/accBeta2')).toEqual([]);
    expect(missing('adam', 'iter', 'table/momenta')).toEqual([]);
    expect(missing('sgd', 'dense/a/m')).toEqual([]);
  });
});
