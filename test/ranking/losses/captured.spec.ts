/** Losses in `fit`: their steps are captured, and equal those op by op. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, expectCaptured } from '../../capture/training.js';
import { numbersOf, twins } from '../../capture/twins.js';
import { Random } from '../../helpers/random.js';
import { ITEMS, USERS, drawn, scorer, sharedScorer } from '../scores.js';

const ROWS = 64;
const BATCH = 16;
const ITEMS_EACH = 5;

type Loss = emb.losses.Loss | string;

/** What `yTrue` holds: the ids of the items, or labels from 0 to 3. */
type Targets = 'ids' | 'labels';

const PROBABILITIES = Array.from({ length: ITEMS }, (_, id) => (1 + id) / 500);

const LOSSES: Readonly<Record<string, readonly [loss: () => Loss, targets: Targets, model?: () => tf.LayersModel]>> = {
  'bpr, by name': [() => 'bpr', 'ids'],
  'bpr without a look at ids': [() => emb.losses.bpr({ removeAccidentalHits: false }), 'ids'],
  'bpr of labels': [() => emb.losses.bpr(), 'labels'],
  'sampled softmax, by name': [() => 'sampledSoftmax', 'ids'],
  'sampled softmax, corrected': [
    () => emb.losses.sampledSoftmax({ temperature: 0.5, samplingProbabilities: PROBABILITIES }),
    'ids',
  ],
  'cosine contrastive': [() => emb.losses.cosineContrastive({ margin: 0.1, negativeWeight: 3 }), 'ids'],
  'bpr of shared negatives': [() => 'bpr', 'ids', () => sharedScorer('negatives')],
  'sampled softmax of shared negatives': [
    () => emb.losses.sampledSoftmax({ samplingProbabilities: PROBABILITIES }),
    'ids',
    () => sharedScorer('negatives'),
  ],
  'in-batch softmax, by name': [() => 'inBatchSoftmax', 'ids', () => sharedScorer('batch')],
  'in-batch softmax, corrected': [
    () => emb.losses.inBatchSoftmax({ temperature: 0.5, samplingProbabilities: PROBABILITIES }),
    'ids',
    () => sharedScorer('batch'),
  ],
  'pairwise logistic, by name': [() => 'pairwiseLogistic', 'labels'],
  'pairwise hinge': [() => emb.losses.pairwiseHinge({ temperature: 2 }), 'labels'],
  'pairwise mean squared': [() => emb.losses.pairwiseMeanSquared(), 'labels'],
  'pairwise soft zero-one': [() => emb.losses.pairwiseSoftZeroOne(), 'labels'],
  'list softmax': [() => emb.losses.listSoftmax(), 'labels'],
  'ListMLE, by name': [() => 'listMLE', 'labels'],
  'sigmoid cross-entropy, by name': [() => 'sigmoidCrossEntropyFromLogits', 'labels'],
};

describeSteps('Losses of ranking in fit', () => {
  for (const [what, [loss, targets, build = scorer]] of Object.entries(LOSSES)) {
    it(`are captured: ${what}`, async () => {
      await expectCaptured(
        twins(
          () => build(),
          async (model) => {
            model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: loss() });
            const random = new Random(3);
            const users = drawn(random, ROWS, 1, USERS);
            const items = drawn(random, ROWS, ITEMS_EACH, ITEMS);
            const y = targets === 'ids' ? items : tf.tidy(() => drawn(random, ROWS, ITEMS_EACH, 4).toFloat());
            const history = await model.fit([users, items], y, { batchSize: BATCH, epochs: 3, verbose: 0 });
            tf.dispose([users, items, y]);
            return numbersOf(history);
          },
        ),
      );
    });
  }
});
