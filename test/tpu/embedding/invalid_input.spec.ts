import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { ROWS, fixture, onCores, ragged, sparse } from './fixture.js';

const { tpu } = emb;

type AnyEmbedding = emb.tpu.TPUEmbedding;

describe('TPUEmbedding, invalid input', () => {
  let embedding: AnyEmbedding;
  const within = (body: () => void) => (): Promise<void> =>
    onCores(2, () => {
      const optimizer = new tpu.SGD({ learningRate: 0.1 });
      embedding = new tpu.TPUEmbedding({ featureConfig: fixture().features, optimizer }) as unknown as AnyEmbedding;
      try {
        body();
      } finally {
        embedding.dispose();
      }
    });
  const enqueue =
    (features: unknown, weights: unknown = null) =>
    () =>
      embedding.enqueue(features, weights);
  const IDS = ROWS.map(ragged);
  const HALVES = ROWS.map((rows) => rows.map((ids) => ids.map(() => 0.5)));

  it(
    'of another structure is refused with its path',
    within(() => {
      expectError(enqueue(IDS.slice(1)), 'ValueError', 'features', 'a list of 2');
      expectError(enqueue({ watched: IDS[0] }), 'TypeError', 'features');
      expectError(enqueue([IDS[0], IDS[1], null]), 'TypeError', 'features[2]');
      expectError(enqueue(IDS, [null]), 'ValueError', 'weights', 'a list of 1');
      expectError(enqueue(IDS, {}), 'TypeError', 'weights');
      expectError(enqueue([IDS[0], IDS[1], 'abc']), 'TypeError', 'features[2]');
    }),
  );

  it(
    'with weights of another kind is refused with its path',
    within(() => {
      const dense = [[1], [2], [3], [0]];
      expectError(enqueue([IDS[0], IDS[1], dense], [null, null, dense]), 'ValueError', 'weights[2]', 'dense');
      expectError(enqueue(IDS, [null, sparse(HALVES[1]!), null]), 'ValueError', 'weights[1]', 'sparse');
      expectError(enqueue(ROWS.map(sparse), [ragged(HALVES[0]!), null, null]), 'ValueError', 'weights[0]', 'ragged');
      expectError(enqueue(IDS, [[0.5], null, null]), 'ValueError', 'weights[0]', 'dense');
      const short = ragged([[0.5], [0.5], [0.5], [0.5]]);
      expectError(enqueue(IDS, [short, null, null]), 'ValueError', 'weights[0]');
    }),
  );

  it(
    'with ids outside the table is refused with its path and place, at once',
    within(() => {
      const outside = ragged([[1], [2, 8], [1], [1]]);
      expectError(
        enqueue([outside, IDS[1], IDS[2]]),
        'ValueError',
        'features[0]',
        '8 at row 1, position 1 (table video',
      );
      const negative = ragged([[1], [-1], [1], [1]]);
      expectError(enqueue([IDS[0], IDS[1], negative]), 'ValueError', 'features[2]', '-1');
    }),
  );

  it(
    'of gradients is refused with its path, and the step goes on waiting',
    within(() => {
      embedding.enqueue(IDS);
      const found = embedding.dequeue() as tf.Tensor[];
      const ones = found.map((each) => tf.onesLike(each));
      const apply = (gradients: unknown) => () => embedding.applyGradients(gradients);
      expectError(apply(ones.slice(1)), 'ValueError', 'gradients', 'a list of 2');
      expectError(apply({ a: ones[0] }), 'TypeError', 'gradients');
      expectError(apply([ones[0], 3, ones[2]]), 'ValueError', 'gradients[1]', '3');
      expectError(apply([ones[0], ones[1], ones[1]]), 'ValueError', 'gradients[2]', '[4, 4]');
      embedding.applyGradients(ones);
      tf.dispose([found, ones]);
    }),
  );
});
