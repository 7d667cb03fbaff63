/** Captured functions that are given keys of open tables: beside the same ones op by op, and what is refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { describeSteps } from '../training.js';

type Step = (keys: BigInt64Array, y: tf.Tensor2D) => tf.Tensor | null;
type Making = (open: emb.OpenTable, optimizer: emb.SparseOptimizer) => Step;

const lookUp = (open: emb.OpenTable, keys: BigInt64Array): tf.Tensor2D =>
  emb.embeddingLookup(open, keys) as tf.Tensor2D;

function trainer(open: emb.OpenTable, optimizer: emb.SparseOptimizer): Step {
  return (keys, y) => optimizer.minimize(() => lookUp(open, keys).sub(y).square().mean<tf.Scalar>(), true);
}

/** Calls a function made by `make` so often, captured or not; what it returned, and the table after it. */
function run(make: Making, args: Partial<emb.OpenTableArgs>, isCaptured: boolean, calls = 30) {
  const open = emb.openTable({ name: 'items', outputDim: 3, capacity: 12, seed: 3, ...args });
  const optimizer = emb.train.adam({ learningRate: 0.1 });
  const made = make(open, optimizer);
  const captured = emb.capture(made);
  const step = isCaptured ? captured : made;
  const random = new Random(2);
  const results: number[][] = [];
  for (let call = 0; call < calls; call++) {
    const keys = BigInt64Array.from({ length: 4 }, () => BigInt(random.whole(0, 4 + call)) - 2n);
    const y = tf.tensor2d(random.floats(12, -1, 1), [4, 3]);
    const result = step(keys, y);
    results.push([...(result?.dataSync() ?? [])]);
    y.dispose();
    result?.dispose();
  }
  const { info } = captured;
  const stats = { ...open.stats() };
  const agrees = captured.verify();
  const after = { ...open.stats() };
  captured.dispose();
  optimizer.dispose();
  open.dispose();
  return { results, stats, after, info, agrees };
}

const MAKERS: Readonly<Record<string, [Making, Partial<emb.OpenTableArgs>]>> = {
  'trains a table, whose keys come and go': [trainer, {}],
  'counts keys before they have rows': [trainer, { admit: { after: 2 } }],
  'trains rows that unknown keys share': [trainer, { admit: { after: 3 }, unknown: { shared: 5, hashes: 2 } }],
  'leaves keys without a row out': [trainer, { admit: { after: 2 }, unknown: 'drop', paddingKey: 0 }],
  'looks the same keys up beside its step': [
    (open, optimizer) => (keys, y) => {
      optimizer.minimize(() => lookUp(open, keys).sub(y).abs().mean<tf.Scalar>());
      return y.mul(2);
    },
    {},
  ],
};

describeSteps('Functions that are given keys', () => {
  for (const [what, [make, args]] of Object.entries(MAKERS)) {
    it(`give the same bits as op by op: one that ${what}`, () => {
      const before = tf.memory().numTensors;
      const [ours, plain] = [run(make, args, true), run(make, args, false)];
      expect(ours.info.reason).toBeNull();
      expect(ours.info.captured).toBeTrue();
      expect(ours.results).toEqual(plain.results);
      expect(ours.stats).toEqual(plain.stats);
      // A comparison counts nothing.
      expect([ours.agrees, ours.after]).toEqual([true, ours.stats]);
      expect(tf.memory().numTensors).toBe(before);
    });
  }

  it('only find rows where they take no step', () => {
    const open = emb.openTable({ outputDim: 3, capacity: 12, seed: 3 });
    const rows = tf.tensor2d([[1, 2, 3]]);
    open.upsert([5n], rows);
    const step = emb.capture((keys: BigInt64Array) => tf.tidy(() => lookUp(open, keys).mul(2)));
    for (let call = 0; call < 8; call++) {
      const result = step(BigInt64Array.of(BigInt(call), 5n));
      expect([...result.dataSync()]).toEqual([...(call === 5 ? [2, 4, 6] : [0, 0, 0]), 2, 4, 6]);
      result.dispose();
    }
    expect(step.info.captured).toBeTrue();
    expect([open.size(), open.stats().admitted]).toEqual([1, 1]);
    step.dispose();
    tf.dispose(rows);
    open.dispose();
  });

  it('take back what a failed call counted', () => {
    const open = emb.openTable({ outputDim: 3, capacity: 12, seed: 3, admit: { after: 3 } });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const step = emb.capture(trainer(open, optimizer));
    const [y, wrong] = [tf.zeros([2, 3]) as tf.Tensor2D, tf.zeros([4, 4]) as tf.Tensor2D];
    for (let call = 0; call < 6; call++) step(BigInt64Array.of(1n, 2n), y)!.dispose();
    expect(step.info.captured).toBeTrue();
    const before = { ...open.stats() };
    for (let call = 0; call < 4; call++) expect(() => step(BigInt64Array.of(8n, 9n), wrong)).toThrow();
    expect({ ...open.stats(), unknownShare: 0 }).toEqual({ ...before, unknownShare: 0 });
    expect(open.has([8n, 9n])).toEqual([false, false]);
    step.dispose();
    optimizer.dispose();
    tf.dispose([y, wrong]);
    open.dispose();
  });

  it('run op by op where an array is no key, or a table is stepped twice', () => {
    const open = emb.openTable({ outputDim: 3, capacity: 12, seed: 3 });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const y = tf.zeros([2, 3]) as tf.Tensor2D;
    const sums = emb.capture((keys: BigInt64Array) => tf.scalar(Number(keys[0])));
    for (let call = 0; call < 5; call++) {
      const result = sums(BigInt64Array.of(BigInt(call)));
      expect(result.dataSync()[0]).toBe(call);
      result.dispose();
    }
    expect(sums.info.reason).toContain('an array of 64-bit numbers that no open table looks up');
    const train = trainer(open, optimizer);
    const twice = emb.capture((keys: BigInt64Array) => {
      train(keys, y)!.dispose();
      return train(keys, y);
    });
    for (let call = 0; call < 5; call++) twice(BigInt64Array.of(1n, 2n))!.dispose();
    expect(twice.info.reason).toContain('for several training steps of table');
    expect(twice.info.captured).toBeFalse();
    sums.dispose();
    twice.dispose();
    optimizer.dispose();
    tf.dispose(y);
    open.dispose();
  });

  it('learn no keys of a table that was frozen since', () => {
    const open = emb.openTable({ outputDim: 3, capacity: 12, seed: 3 });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const weight = tf.tidy(() => tf.variable(tf.ones([3])));
    const y = tf.zeros([2, 3]) as tf.Tensor2D;
    const step = emb.capture((keys: BigInt64Array) =>
      optimizer.minimize(() => lookUp(open, keys).mul(weight).sub(y).square().mean<tf.Scalar>(), true),
    );
    for (let call = 0; call < 6; call++) step(BigInt64Array.of(1n, 2n))!.dispose();
    open.trainable = false;
    for (let call = 0; call < 6; call++) step(BigInt64Array.of(3n, BigInt(call)))!.dispose();
    expect(open.has([1n, 2n, 3n])).toEqual([true, true, false]);
    open.trainable = true;
    step(BigInt64Array.of(3n, 4n))!.dispose();
    expect(open.has([3n, 4n])).toEqual([true, true]);
    step.dispose();
    optimizer.dispose();
    tf.dispose([weight, y]);
    open.dispose();
  });
});
