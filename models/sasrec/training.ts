/** Trains SASRec by a captured step: at each place the next item, against negatives that all places share. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { ItemsOfUsers } from '../interactions.js';
import { Random } from '../random.js';
import { paddedOf, type SasRec } from './model.js';
import type { Options } from './options.mjs';

/** What a step takes. */
interface Batch {
  readonly [name: string]: tf.Tensor;
  /** int32 [sequences, length], -1 where there is no item. */
  readonly sequences: tf.Tensor2D;
  /** The item after each, int32 [sequences, length]. */
  readonly nextItems: tf.Tensor2D;
  /** int32 [1, negatives]. */
  readonly negatives: tf.Tensor2D;
}

export interface Trainer {
  /** One pass over all sequences in random order; gives the mean loss. */
  epoch(): { readonly loss: number; readonly steps: number };
  readonly info: emb.StepInfo;
  dispose(): void;
}

export function trainerOf(model: SasRec, train: ItemsOfUsers, numItems: number, options: Options): Trainer {
  const { batch, sampled, length, dim, rate, seed } = options;
  const random = new Random(seed);
  const optimizer = emb.train.adam({ learningRate: rate });
  const lossOf = emb.losses.sampledSoftmax();
  const step = emb.capture(({ sequences, nextItems, negatives }: Batch) =>
    optimizer.minimize(() => {
      const vectors = (of: tf.Tensor): tf.Tensor2D => of.reshape<tf.Tensor2D>([-1, dim]);
      const found = vectors(model.everywhere.apply(sequences, { training: true }) as tf.Tensor);
      const [wanted, others] = [nextItems, negatives].map((ids) => vectors(model.items.apply(ids))) as [
        tf.Tensor2D,
        tf.Tensor2D,
      ];
      const scores = tf.concat([found.mul(wanted).sum(1, true), tf.matMul(found, others, false, true)], 1);
      // By the ids the loss knows negatives that are the item itself.
      const ids = tf.concat([nextItems.reshape([-1, 1]), negatives.tile([found.shape[0], 1])], 1);
      const counted = nextItems.reshape([-1]).greaterEqual(0).cast('float32');
      return lossOf(ids, scores, counted).sum().div(counted.sum()).asScalar();
    }, true)!,
  );
  const long = train.filter((row) => row.length > 1);
  return {
    epoch() {
      const order = Array.from(random.permutation(long.length), (at) => long[at]!);
      let [loss, steps] = [0, 0];
      for (let start = 0; start < order.length; start += batch, steps++) {
        const rows = order.slice(start, start + batch);
        const found = tf.tidy(() => {
          const negatives = Int32Array.from({ length: sampled }, () => random.below(numItems));
          return step({
            sequences: paddedOf(
              rows.map((row) => row.subarray(0, -1)),
              length,
            ),
            nextItems: paddedOf(
              rows.map((row) => row.subarray(1)),
              length,
            ),
            negatives: tf.tensor2d(negatives, [1, sampled], 'int32'),
          });
        });
        loss += (found.dataSync()[0]! * rows.length) / order.length;
        found.dispose();
      }
      return { loss, steps };
    },
    get info() {
      return step.info;
    },
    dispose: () => void [step, optimizer].forEach((each) => each.dispose()),
  };
}
