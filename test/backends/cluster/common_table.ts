/** A table that several clients train. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const [ROWS, DIM] = [30, 4];

interface Form {
  readonly rows?: number;
  readonly dim?: number;
  readonly rowSliceThreshold?: number | null;
}

/** A layer of one table of zeros, whose rows are dealt out to all servers. */
export function commonTable({ rows = ROWS, dim = DIM, rowSliceThreshold = 1 }: Form = {}): emb.DistributedEmbedding {
  const layer = emb.layers.distributedEmbedding({
    name: 'common',
    embeddings: [{ name: 'common', inputDim: rows, outputDim: dim, combiner: 'sum', embeddingsInitializer: 'zeros' }],
    rowSliceThreshold,
  });
  layer.build([[null, rows]]);
  return layer;
}
commonTable.rows = ROWS;
commonTable.dim = DIM;

/** Takes steps that each add 1 to every number of the table. */
export function stepUp(layer: emb.DistributedEmbedding, steps: number): void {
  const optimizer = emb.train.sgd({ learningRate: 1 });
  stepBy(optimizer, layer, steps);
  optimizer.dispose();
}

/** Takes steps by a gradient of -1 for every number of the table; the optimizer, and its slots, stay. */
export function stepBy(optimizer: tf.Optimizer, layer: emb.DistributedEmbedding, steps: number): void {
  for (let step = 0; step < steps; step++) {
    tf.tidy(() => {
      const ids = tf.range(0, ROWS, 1, 'int32').reshape([1, ROWS]);
      optimizer.minimize(() => (layer.apply([ids]) as tf.Tensor[])[0]!.sum().neg().asScalar());
    });
  }
}
