/** TPUEmbedding where activations have several axes: ids of every kind side by side, and shapes that differ by feature. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { onCores, ragged } from './fixture.js';

const { tpu } = emb;

/** A table whose rows hold their number, so that sums of ids are what is found. */
function make(shapes: Record<string, (number | null)[] | null>): emb.tpu.TPUEmbedding {
  const initializer = new tpu.RowIdInitializer();
  const table = new tpu.TableConfig({ vocabularySize: 16, dim: 1, combiner: 'sum', initializer });
  const featureConfig = Object.fromEntries(
    Object.entries(shapes).map(([name, outputShape]) => [name, new tpu.FeatureConfig({ table, outputShape })]),
  );
  return new tpu.TPUEmbedding({ featureConfig, optimizer: new tpu.SGD({ learningRate: 1 }) }) as emb.tpu.TPUEmbedding;
}

function dequeued(embedding: emb.tpu.TPUEmbedding): Record<string, unknown> {
  const found = embedding.dequeue() as Record<string, tf.Tensor>;
  const values = Object.entries(found).map(([name, tensor]) => [name, tensor.squeeze([-1])] as const);
  const arrays = values.map(([name, tensor]) => [name, tensor.arraySync()] as const);
  tf.dispose([found, values.map(([, tensor]) => tensor)]);
  return Object.fromEntries(arrays);
}

/** Sparse ids [2, 2, 3]: samples [[1, 2], [3]] and [[], [4, 5, 6]]. */
const SPARSE = {
  indices: [
    [0, 0, 0],
    [0, 0, 1],
    [0, 1, 2],
    [1, 1, 0],
    [1, 1, 1],
    [1, 1, 2],
  ],
  values: [1, 2, 3, 4, 5, 6],
  denseShape: [2, 2, 3],
};

describe('TPUEmbedding, ids of three axes', () => {
  it('may be dense, sparse and ragged side by side', async () => {
    await onCores(2, () => {
      const embedding = make({ dense: null, ragged: [2, 2], sparse: null });
      const ids = { dense: [[[7], [8]], [[9], [0]]], ragged: ragged([[1], [2, 3], [], [4]]), sparse: SPARSE }; // prettier-ignore
      embedding.enqueue(ids, null, { training: false });
      expect(embedding.outputShapes as unknown).toEqual({ dense: [2, 2], ragged: [2, 2], sparse: [2, 2] });
      expect(dequeued(embedding)).toEqual({
        dense: [[7, 8], [9, 0]],
        ragged: [[1, 5], [0, 4]],
        sparse: [[3, 3], [0, 15]],
      }); // prettier-ignore
      embedding.dispose();
    });
  });

  it('may have another shape for each feature, from build and from what is enqueued', async () => {
    await onCores(2, () => {
      for (const isBuilt of [true, false]) {
        const embedding = make({ flat: null, pairs: null, triples: null });
        if (isBuilt) embedding.build({ flat: [4, null], pairs: [2, 2, null], triples: [1, 3, 1] });
        const ids = { flat: ragged([[1], [2, 3], [], [4]]), pairs: SPARSE, triples: [[[5], [6], [7]]] };
        embedding.enqueue(ids, null, { training: false });
        expect(embedding.outputShapes as unknown).toEqual({ flat: [4], pairs: [2, 2], triples: [1, 3] });
        expect(dequeued(embedding)).toEqual({ flat: [1, 5, 0, 4], pairs: [[3, 3], [0, 15]], triples: [[5, 6, 7]] }); // prettier-ignore
        embedding.dispose();
      }
    });
  });

  it('follow outputShape before shapes of build, and both before the batch', async () => {
    await onCores(2, () => {
      const embedding = make({ pairs: [2, null] });
      expectError(() => embedding.build({ pairs: [3, 2, null] }), 'ValueError', 'features.pairs', '[3, 2]');
      embedding.build({ pairs: [null, 2, null] });
      expect(embedding.outputShapes as unknown).toEqual({ pairs: [2, 2] });
      const other = { ...SPARSE, denseShape: [2, 3, 3] };
      expectError(() => embedding.enqueue({ pairs: other }), 'ValueError', 'features.pairs', '[2, 3]');
      embedding.enqueue({ pairs: SPARSE }, null, { training: false });
      expect(dequeued(embedding)).toEqual({ pairs: [[3, 3], [0, 15]] }); // prettier-ignore
      embedding.dispose();
    });
  });
});
