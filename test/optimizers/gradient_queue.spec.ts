import * as tf from '@tensorflow/tfjs';
import { GradientQueue } from '../../src/optimizers/step_gradients.js';
import { tableOf } from '../../src/backends/table.js';

describe('GradientQueue', () => {
  let tensors: number;
  beforeEach(async () => {
    await tf.setBackend('cpu');
    tensors = tf.memory().numTensors;
  });
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('gives the ids of lookups once, in their order, and keeps them until it ends', () => {
    const [anchor, table, other] = [0, 5, 5].map((rows) => tf.tidy(() => tf.variable(tf.zeros([rows, 2]))));
    const queue = new GradientQueue(anchor!, null);
    const touch = (...ids: number[]): void => tf.tidy(() => queue.touch(tableOf(table!), tf.tensor1d(ids, 'int32')));
    touch(4, 0, -1, 4);
    touch(5, 2, -7, 100, 0);
    const lists = queue.takeTouched(tableOf(table!))!.map((ids) => Array.from(ids.dataSync()));
    expect(lists).toEqual([
      [4, 0, -1, 4],
      [5, 2, -7, 100, 0],
    ]);
    expect(queue.takeTouched(tableOf(table!))).toBeNull();
    expect(queue.takeTouched(tableOf(other!))).toEqual([]);
    queue.dispose();
    tf.dispose([anchor!, table!, other!]);
  });

  it('manages the trainable tables that it was given, or all', () => {
    const [anchor, table, other] = [0, 5, 5].map((rows) => tf.tidy(() => tf.variable(tf.zeros([rows, 2]))));
    const some = new GradientQueue(anchor!, [table!]);
    const all = new GradientQueue(anchor!, null);
    const managed = (): boolean[] =>
      [some, all].flatMap((queue) => [queue.manages(tableOf(table!)), queue.manages(tableOf(other!))]);
    expect(managed()).toEqual([true, false, true, true]);
    table!.trainable = false;
    expect(managed()).toEqual([false, false, false, true]);
    tf.dispose([anchor!, table!, other!]);
  });
});
