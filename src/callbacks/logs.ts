/** What callbacks are told: numbers, or scalars that are still to be read. */
import type * as tf from '@tensorflow/tfjs';

export type Logs = Readonly<Record<string, number | tf.Tensor>>;

export async function numberOf(value: number | tf.Tensor): Promise<number> {
  return typeof value === 'number' ? value : (await value.data())[0]!;
}
