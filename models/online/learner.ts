/** One step of training: how well the model would have foretold the events of a batch, then what it learns from them. */
import * as tf from '@tensorflow/tfjs';
import type { Event } from './event.js';
import { inputsOf, itemsOfBatch } from './towers.js';

/** Ranks that count as found. */
export const FOUND = 10;

/** What a step says of itself. The scores are those of before it. */
export interface StepResult {
  readonly loss: number;
  /** Of how many of the batch's other items the own one was above, ties by half; null: it has no other item. */
  readonly auc: number | null;
  /** How often the own item was among the ten best of the items of the batch. */
  readonly recall: number;
}

/** `items`: which of the batch's items are the same. */
export function measure(scores: Float32Array, items: Int32Array): Pick<StepResult, 'auc' | 'recall'> {
  const n = items.length;
  // The first place of each item stands for it.
  const places = [...items.keys()].filter((i) => items.indexOf(items[i]!) === i);
  let [area, pairs, found] = [0, 0, 0];
  for (let row = 0; row < n; row++) {
    const own = scores[row * n + row]!;
    let [above, equal] = [0, 0];
    for (const place of places) {
      if (items[place] === items[row]) continue;
      const other = scores[row * n + place]!;
      if (other > own) above++;
      else if (other === own) equal++;
    }
    const others = places.length - 1;
    area += others - above - equal / 2;
    pairs += others;
    if (above + equal / 2 < FOUND) found++;
  }
  return { auc: pairs === 0 ? null : area / pairs, recall: found / n };
}

/** Measures the model on events, then trains it on them. */
export async function learn(
  towers: tf.LayersModel,
  events: readonly Event[],
  histories: readonly (readonly string[])[],
): Promise<StepResult> {
  const inputs = inputsOf(events, histories) as never;
  const items = itemsOfBatch(events);
  const scores = tf.tidy(() =>
    (towers.predict(inputs, { batchSize: events.length }) as tf.Tensor).dataSync<'float32'>(),
  );
  const measured = measure(scores, items);
  const y = tf.tensor2d(items, [items.length, 1], 'int32');
  try {
    const loss = (await towers.trainOnBatch(inputs, y)) as number;
    return { ...measured, loss };
  } finally {
    y.dispose();
  }
}
