/** Update steps through the public API, on every implementation, against values of TensorFlow 2.21. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import * as emb from 'tfjs-embeddings/node';
import type { OptimizerName } from '../../src/rules/rules.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectNoLeak } from '../helpers/tensors.js';

interface GoldenUpdate {
  name: string;
  optimizer: string;
  learning_rate: number;
  hyper: Record<string, number | boolean>;
  slots_initial: Record<string, number>;
  slot_names: string[];
  clip_w?: [number, number];
  clip_g?: [number, number];
  steps: Record<string, number[][]>[];
}

interface Goldens {
  table: number[][];
  batches: { ids: number[]; grads: number[][] }[];
  cases: GoldenUpdate[];
}

const goldens = JSON.parse(readFileSync(new URL('../goldens/optimizers.json', import.meta.url), 'utf8')) as Goldens;

const NAMES: Record<string, OptimizerName> = { adagrad_momentum: 'adagradMomentum' };
const FIELDS: Record<string, string> = {
  use_nesterov: 'useNesterov',
  beta_1: 'beta1',
  beta_2: 'beta2',
  sum_inside_sqrt: 'sumInsideSqrt',
  lazy_adam: 'lazy',
  learning_rate_power: 'learningRatePower',
  l1_regularization_strength: 'l1',
  l2_regularization_strength: 'l2',
  multiply_linear_by_learning_rate: 'multiplyLinearByLearningRate',
};

/** Hyper-parameters of a golden in the names of this package; the TPU forms have no epsilon and no bias correction. */
function hyperOf(golden: GoldenUpdate): Record<string, unknown> {
  const named = Object.entries(golden.hyper)
    .filter(([key]) => key !== 'allow_zero_accumulator')
    .map(([key, value]) => [FIELDS[key] ?? key, value]);
  const tpu = { adagrad: { epsilon: 0 }, adam: { biasCorrection: false } }[golden.optimizer] ?? {};
  return {
    learningRate: golden.learning_rate,
    ...tpu,
    ...Object.fromEntries(named),
    ...(golden.clip_g && { clipValue: golden.clip_g }),
    ...(golden.clip_w && { clipWeightMin: golden.clip_w[0], clipWeightMax: golden.clip_w[1] }),
  };
}

function expectRows(variable: tf.Variable, expected: number[][], what: string): void {
  const actual = variable.dataSync();
  expected.flat().forEach((value, i) => {
    const error = Math.abs(actual[i]! - value);
    expect(error)
      .withContext(`${what}, element ${i}: ${actual[i]} for ${value}`)
      .toBeLessThanOrEqual(3e-6 * (1 + Math.abs(value)));
  });
}

describeForBackends('sparseApply', () => {
  for (const golden of goldens.cases) {
    it(`takes five steps as TensorFlow does: ${golden.name}`, () => {
      expectNoLeak(() => {
        const name = NAMES[golden.optimizer] ?? (golden.optimizer as OptimizerName);
        const rows = goldens.table.length;
        const dim = goldens.table[0]!.length;
        const table = tf.tidy(() => tf.variable(tf.tensor2d(goldens.table), false));
        const slots = tf.tidy(() =>
          golden.slot_names.map((slot) => tf.variable(tf.fill([rows, dim], golden.slots_initial[slot]!), false)),
        );
        goldens.batches.forEach(({ ids, grads }, step) => {
          const gradient = tf.tensor2d(grads);
          const rowSplits = Int32Array.from({ length: ids.length + 1 }, (_, i) => i);
          const hyper = hyperOf(golden);
          emb.ops.sparseApply(name, { table, slots, gradient, values: ids, rowSplits, combiner: 'sum', ...hyper });
          gradient.dispose();
          const expected = golden.steps[step]!;
          expectRows(table, expected['parameters']!, `step ${step}, table`);
          golden.slot_names.forEach((slot, i) => expectRows(slots[i]!, expected[slot]!, `step ${step}, ${slot}`));
        });
        tf.dispose([table, ...slots]);
      });
    });
  }

  it('leaves table and slots untouched when an id is out of range', () => {
    const table = tf.variable(tf.ones([4, 2]), false);
    const slots = [tf.variable(tf.fill([4, 2], 0.5), false)];
    const gradient = tf.ones([2, 2]) as tf.Tensor2D;
    const step = (values: number[]): void =>
      emb.ops.sparseApply('adagrad', {
        table,
        slots,
        gradient,
        values,
        rowSplits: [0, 1, 2],
        combiner: 'sum',
        learningRate: 0.1,
      });
    expect(() => step([0, 4])).toThrowError(emb.ValueError, /4 at position 1/);
    expect(Array.from(table.dataSync())).toEqual(new Array(8).fill(1));
    expect(Array.from(slots[0]!.dataSync())).toEqual(new Array(8).fill(0.5));
    step([0, 3]);
    const [after, accumulator] = [1 - 0.1 / Math.sqrt(1.5 + 1e-7), 1.5];
    expectRows(table, [[after, after], [1, 1], [1, 1], [after, after]], 'table'); // prettier-ignore
    expectRows(slots[0]!, [[accumulator, accumulator], [0.5, 0.5], [0.5, 0.5], [accumulator, accumulator]], 'slot'); // prettier-ignore
    tf.dispose([table, gradient, ...slots]);
  });

  it('takes a slot of one number per row as a vector or as a column, and of no other shape', () => {
    const table = tf.variable(tf.ones([4, 2]), false);
    const gradient = tf.ones([1, 2]) as tf.Tensor2D;
    const step = (shape: number[]): number[] => {
      const slot = tf.variable(tf.fill(shape, 0.5), false);
      try {
        const rest = { gradient, values: [1], rowSplits: [0, 1], combiner: 'sum', learningRate: 0.1 } as const;
        emb.ops.sparseApply('rowWiseAdagrad', { table, slots: [slot], ...rest });
        return Array.from(slot.dataSync());
      } finally {
        slot.dispose();
      }
    };
    expect(step([4])).toEqual([0.5, 1.5, 0.5, 0.5]);
    expect(step([4, 1])).toEqual([0.5, 1.5, 0.5, 0.5]);
    for (const shape of [[1, 4], [4, 1, 1], [4, 2], [5], [5, 1], [3, 1]]) {
      expect(() => step(shape))
        .withContext(String(shape))
        .toThrowError(emb.ValueError, /slots\[0\]/);
    }
    tf.dispose([table, gradient]);
  });

  it('never changes a snapshot that was taken before', () => {
    const user = new Float32Array(64).fill(1);
    const source = tf.tensor2d(user, [16, 4]);
    const table = tf.variable(source, false);
    const gradient = tf.ones([3, 4]) as tf.Tensor2D;
    const step = (): void =>
      emb.ops.sparseApply('sgd', {
        table,
        gradient,
        values: [0, 7, 15],
        rowSplits: [0, 1, 2, 3],
        combiner: 'sum',
        learningRate: 0.5,
      });
    const take = (): { name: string; data: () => Float32Array; at: Float32Array }[] => {
      const tensors: Record<string, tf.Tensor> = {
        clone: table.clone(),
        reshape: table.reshape([4, 16]),
        flatten: table.flatten(),
        slice: table.slice([0, 0], [16, 4]),
        rows: table.slice([0, 0], [8, 4]),
        expandDims: table.expandDims(0),
        split: tf.split(table, 2)[0]!,
        unstack: tf.unstack(table)[7]!,
        cast: table.cast('float32'),
        stack: tf.stack([table]),
        tile: table.tile([1, 1]),
        pad: table.pad([
          [0, 0],
          [0, 0],
        ]),
        transpose: table.transpose([0, 1]),
        variable: tf.variable(table, false),
        concat: tf.concat([table]),
      };
      const typed = table.dataSync<'float32'>();
      return [
        { name: 'dataSync', data: () => typed, at: typed.slice() },
        { name: 'user array', data: () => user, at: user.slice() },
        { name: 'source tensor', data: () => source.dataSync<'float32'>(), at: source.dataSync<'float32'>().slice() },
        ...Object.entries(tensors).map(([name, tensor]) => ({
          name,
          data: (): Float32Array => tensor.dataSync<'float32'>(),
          at: tensor.dataSync<'float32'>().slice(),
        })),
      ];
    };
    const first = take();
    step();
    const second = take();
    for (let i = 0; i < 10; i++) step();
    for (const { name, data, at } of [...first, ...second]) expect(data()).withContext(name).toEqual(at);
    expect(table.dataSync()[0]).toBe(1 - 11 * 0.5);
    tf.disposeVariables();
    tf.dispose([source, gradient]);
  });
});
