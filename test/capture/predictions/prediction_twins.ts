/** What is predicted, by the same model captured and op by op. */
import * as tf from '@tensorflow/tfjs';
import { Random } from '../../helpers/random.js';
import { ROWS } from '../training.js';
import { drawIds, expectEqual, twins, type Twins } from '../twins.js';

/** All numbers of a prediction, which is disposed. */
export function numbersIn(predicted: tf.Tensor | tf.Tensor[]): number[] {
  const all = [predicted].flat();
  const numbers = all.flatMap((each) => [...each.shape, ...Array.from(each.dataSync())]);
  tf.dispose(all);
  return numbers;
}

export type Predict = (model: tf.LayersModel, ids: tf.Tensor, round: number) => number[];
const plain: Predict = (model, ids) => numbersIn(model.predict(ids));

export interface Options {
  readonly predict?: Predict;
  readonly between?: (model: tf.LayersModel, round: number) => void | Promise<void>;
  readonly rounds?: number;
  readonly batch?: number;
  readonly ids?: (random: Random, batch: number, round: number) => tf.Tensor;
}

/** Predicts other ids in each round, captured and op by op. */
export function predictTwins(build: () => tf.LayersModel, options: Options = {}): Promise<Twins> {
  const { predict = plain, between, rounds = 8, batch = 20 } = options;
  const { ids = (random, size) => drawIds(random, size, 2, ROWS) } = options;
  return twins(build, async (model) => {
    const random = new Random(3);
    const found: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await between?.(model, round);
      const x = ids(random, batch, round);
      found.push(...predict(model, x, round));
      x.dispose();
    }
    return found;
  });
}

export async function expectPredicted(result: Promise<Twins>, signatures = 1): Promise<void> {
  const found = await result;
  expect(found.captured.info).toEqual({ captured: true, reason: null, signatures, evictions: 0 });
  expect(found.eager.info.captured).toBeFalse();
  // Products of small matrices are ours, whose sums may be rounded otherwise in the last bits.
  expectEqual(found, 1e-6);
}
