/** `maxNorm` of the embeddings in a DistributedEmbedding: rows are scaled as the layers alone scale them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectClose, leakFree, take } from '../setup.js';

const TABLE = [[3, 4], [0.3, -0.4], [-6, 8], [0, 0], [5, 12]]; // prettier-ignore
const IDS = [[0, 2], [1, 3], [4, 4]]; // prettier-ignore
const NORMS = [0.25, 1, 2, 100];

/** The sums of the rows of IDS, each row no longer than the norm. */
function sums(maxNorm: number): number[] {
  const rows = TABLE.map((row) => row.map((x) => x * Math.min(1, maxNorm / Math.max(Math.hypot(...row), 1e-30))));
  return IDS.flatMap((ids) => [0, 1].map((c) => ids.reduce((sum, id) => sum + rows[id]![c]!, 0)));
}

/** An item of `embeddings` in each of its forms, with its own norm. */
function items(maxNorm: number): (emb.DistributedItem | emb.Embedding)[] {
  const args = { inputDim: 5, outputDim: 2, combiner: 'sum', maxNorm, weights: [TABLE] } as const;
  const { weights: _weights, ...ofShared } = args;
  const { inputDim, outputDim, weights } = args;
  const table = emb.embeddingTable({ inputDim, outputDim, weights });
  const { inputDim: _rows, outputDim: _dim, ...shared } = ofShared;
  return [
    emb.layers.embedding(args),
    emb.layers.raggedEmbedding(args),
    args,
    emb.layers.embedding({ table, ...shared }),
    { ...args, ragged: true },
  ];
}

function expectScaled(): void {
  for (const maxNorm of NORMS) {
    const embeddings = items(maxNorm);
    const layer = emb.layers.distributedEmbedding({ embeddings: embeddings as never });
    const inputs = embeddings.map(() => tf.tensor2d(IDS, undefined, 'int32'));
    const results = layer.apply(inputs) as tf.Tensor[];
    for (const result of results) expectClose(take(result), sums(maxNorm), 1e-5);
    tf.dispose(inputs);
    layer.dispose();
  }
}

describeForBackends('maxNorm of embeddings in a DistributedEmbedding', () => {
  it('scales rows whatever the form of the item', leakFree(expectScaled));

  it(
    'of one feature is not that of another on the same table',
    leakFree(() => {
      const table = emb.embeddingTable({ inputDim: 5, outputDim: 2, weights: [TABLE] });
      const embeddings = NORMS.map((maxNorm) => emb.layers.embedding({ table, combiner: 'sum', maxNorm }));
      const layer = emb.layers.distributedEmbedding({ embeddings });
      const inputs = NORMS.map(() => tf.tensor2d(IDS, undefined, 'int32'));
      const results = layer.apply(inputs) as tf.Tensor[];
      results.forEach((result, i) => expectClose(take(result), sums(NORMS[i]!), 1e-5));
      tf.dispose(inputs);
      layer.dispose();
    }),
  );
});

describe('maxNorm of embeddings on devices', () => {
  it('scales rows', () => withTpuEmulator({ chips: 3 }, leakFree(expectScaled)));
});
