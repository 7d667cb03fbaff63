/** Scores of users for the items of a batch. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../helpers/errors.js';

const { candidateScores } = emb.layers;

describe('CandidateScores', () => {
  let tensors: number;
  beforeEach(() => void (tensors = tf.memory().numTensors));
  afterEach(() => void expect(tf.memory().numTensors).toBe(tensors));

  it('multiplies users with the items of all rows', () => {
    tf.tidy(() => {
      const users = tf.tensor2d([[1, 0], [0, 1]]); // prettier-ignore
      const items = tf.tensor3d([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]); // prettier-ignore
      const positives = items.slice([0, 0, 0], [-1, 1, -1]).reshape([2, 2]);
      expect(candidateScores().apply([users, positives]).arraySync()).toEqual([[1, 5], [2, 6]]); // prettier-ignore
      expect(candidateScores().apply([users, items]).arraySync()).toEqual([[1, 5, 3, 7], [2, 6, 4, 8]]); // prettier-ignore
      const shared = candidateScores({ candidates: 'negatives' }).apply([users, items]);
      expect(shared.arraySync()).toEqual([[1, 3, 7], [6, 4, 8]]); // prettier-ignore
    });
  });

  it('has a config', () => {
    const layer = candidateScores({ candidates: 'negatives', name: 'scores' });
    const again = emb.CandidateScores.fromConfig(emb.CandidateScores as never, layer.getConfig());
    expect(again.getConfig()).toEqual(layer.getConfig());
    const [users, items] = [tf.input({ shape: [4] }), tf.input({ shape: [3, 4] })];
    expect((layer.apply([users, items]) as tf.SymbolicTensor).shape).toEqual([null, null]);
  });

  it('refuses what are no users and items', () => {
    tf.tidy(() => {
      expectError(() => candidateScores({ candidates: 'all' as never }), 'ValueError', 'candidates', '"all"');
      expectError(() => candidateScores({ candidates: 1 as never }), 'TypeError', 'candidates', '1');
      const users = tf.zeros([2, 3]);
      expectError(() => candidateScores().apply([users]), 'ValueError', 'inputs', '[2, 3]');
      expectError(() => candidateScores().apply([users, tf.zeros([2, 4])]), 'ValueError', 'inputs', '[2, 4]');
      expectError(() => candidateScores().apply([users, tf.zeros([1, 3])]), 'ValueError', 'inputs', '[1, 3]');
      expectError(() => candidateScores().apply([users, tf.zeros([2, 3], 'int32')]), 'TypeError', 'inputs[1]');
      const negatives = candidateScores({ candidates: 'negatives' });
      expectError(() => negatives.apply([users, users]), 'ValueError', 'inputs', '1 items');
    });
  });
});
