import * as tf from '@tensorflow/tfjs';
import { GradientQueue } from '../../src/optimizers/step_gradients.js';

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
    const touch = (...ids: number[]): void => tf.tidy(() => queue.touch(table!, tf.tensor1d(ids, 'int32')));
    touch(4, 0, -1, 4);
    touch(5, 2, -7, 100, 0);
    const lists = queue.takeTouched(table!)!.map((ids) => Array.from(ids.dataSync()));
    expect(lists).toEqual([
      [4, 0, -1, 4],
      [5, 2, -7, 100, 0],
    ]);
    expect(queue.takeTouched(table!)).toBeNull();
    expect(queue.takeTouched(other!)).toEqual([]);
    queue.dispose();
    tf.dispose([anchor!, table!, other!]);
  });

  it('manages the trainable tables that it was given, or all', () => {
    const [anchor, table, other] = [0, 5, 5].map((rows) => tf.tidy(() => tf.variable(tf.zeros([rows, 2]))));
    const some = new GradientQueue(anchor!, [table!]);
    const all = new GradientQueue(anchor!, null);
    const managed = (): boolean[] => [some, all].flatMap((queue) => [queue.manages(table!), queue.manages(other!)]);
    expect(managed()).toEqual([true, false, true, true]);
    table!.trainable = false;
    expect(managed()).toEqual([false, false, false, true]);
    tf.dispose([anchor!, table!, other!]);
  });
});
