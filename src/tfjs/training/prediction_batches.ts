/** Batches of samples, as `predict` of tfjs cuts them. */
import * as tf from '@tensorflow/tfjs';

type Tensors = readonly tf.Tensor[];

export interface BatchPredictor {
  /** `count` samples of the inputs, from `start` on. */
  rowsOf(inputs: Tensors, start: number, count: number): Tensors;
  /** One tensor per output. */
  predict(batch: Tensors): tf.Tensor[];
}

/** Predicts as many samples at a time as `batchSize` says; returns one tensor per output, over all samples. */
export function inBatches(inputs: Tensors, batchSize: number, by: BatchPredictor): tf.Tensor[] {
  const samples = inputs[0]!.shape[0]!;
  if (samples <= batchSize) return tf.tidy(() => by.predict(inputs));
  return tf.tidy(() => {
    const batches: tf.Tensor[][] = [];
    for (let start = 0; start < samples; start += batchSize) {
      const count = Math.min(batchSize, samples - start);
      batches.push(tf.tidy(() => by.predict(by.rowsOf(inputs, start, count))));
    }
    return batches[0]!.map((_, output) =>
      tf.concat(
        batches.map((outputs) => outputs[output]!),
        0,
      ),
    );
  });
}
