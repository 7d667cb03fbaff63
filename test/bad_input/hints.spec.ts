/** Messages that must let a newcomer mend a mistake at once. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

describe('hints in messages', () => {
  beforeAll(() => tf.setBackend('cpu'));

  const cases: [string, () => unknown, RegExp][] = [
    [
      'name the row whose weights are too few',
      () => emb.embeddingLookup(tf.ones([4, 2]), [[1, 2], [3]], { combiner: 'sum', weights: [[0.5], [2]] }),
      /Row 0 has 2 ids and 1 weights/,
    ],
    [
      'name the argument that was meant',
      () => emb.layers.embedding({ inputDim: 4, output_dim: 2 } as never),
      /Did you mean outputDim\?/,
    ],
    [
      'name the hyper-parameter that was meant',
      () => emb.train.adam({ lerningRate: 0.1 } as never),
      /Did you mean learningRate\?/,
    ],
    ['name it for those who know Keras', () => emb.train.adam({ learning_rate: 0.1 } as never), /mean learningRate\?/],
    [
      'name the optimizer that a hyper-parameter belongs to',
      () => emb.train.ftrl({ momentum: 0.9 } as never),
      /momentum is a field of emb\.train\.sgd, adagradMomentum, rmsprop\./,
    ],
    [
      'write the call for whoever gives arguments by position',
      () => emb.train.adam(0.02 as never),
      /Write emb\.train\.adam\(\{learningRate: 0\.02\}\)\./,
    ],
    [
      'write it with a rate where none was given',
      () => emb.train.sgd('momentum' as never),
      /Write emb\.train\.sgd\(\{learningRate: 0\.01\}\)\./,
    ],
    [
      'lead from padding to what takes it',
      () => emb.embeddingLookup(tf.ones([4, 2]), [[1, -1]], { combiner: 'mean' }),
      /raggedEmbedding, or safeEmbeddingLookup/,
    ],
    [
      'tell rows of ids from a pair',
      () =>
        emb.layers.raggedEmbedding({ inputDim: 4, outputDim: 2, combiner: 'sum' }).apply([
          [0, 2],
          [3, 1],
        ] as never),
      /RaggedTensor\.fromRows/,
    ],
  ];
  for (const [title, run, hint] of cases) {
    it(title, () => {
      tf.tidy(() => {
        expect(messageOf(run)).toMatch(hint);
      });
    });
  }
});
