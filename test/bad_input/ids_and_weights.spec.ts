/** Wherever ids and weights are accepted, the same pairs of them are, and the same are refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectFacts, thrownBy, useCpu, variable } from './wrong_arguments.js';

const TABLE = { inputDim: 5, outputDim: 2, combiner: 'mean' } as const;

/** Looks ids up, weighted or not; frees what it made on the way. */
type LookUp = (ids: unknown, weights?: unknown) => tf.Tensor;

function byLayer(make: () => tf.layers.Layer): LookUp {
  return (ids, weights) => {
    const layer = make();
    try {
      return layer.apply((weights === undefined ? ids : [ids, weights]) as tf.Tensor) as tf.Tensor;
    } finally {
      if (layer.built) layer.dispose();
    }
  };
}

function byTable(look: (table: tf.Variable, ids: never, options: object) => unknown): LookUp {
  return (ids, weights) => {
    const table = variable(5, 2);
    try {
      return look(table, ids as never, { combiner: 'mean', weights }) as tf.Tensor;
    } finally {
      table.dispose();
    }
  };
}

function distributed(args: emb.DistributedEmbeddingArgs, wrap: (value: unknown) => unknown): LookUp {
  return (ids, weights) => {
    const layer = emb.layers.distributedEmbedding(args);
    layer.build();
    try {
      const given = weights === undefined ? undefined : { weights: wrap(weights) };
      const output = layer.apply(wrap(ids), given);
      return (Array.isArray(output) ? output : Object.values(output as object))[0] as tf.Tensor;
    } finally {
      layer.dispose();
    }
  };
}

function featuresArgs(): emb.DistributedEmbeddingArgs {
  const table = new emb.TableConfig({ name: 'items', vocabularySize: 5, embeddingDim: 2 });
  const shapes = { inputShape: [null, 2], outputShape: [null, 2] };
  return { features: { seen: new emb.FeatureConfig({ name: 'seen', table, ...shapes }) } };
}

/** Who looks up, how, and what ids and weights are called in errors. */
const PLACES: readonly [string, LookUp, ids: string, weights: string][] = [
  ['embeddingLookup', byTable(emb.embeddingLookup), 'ids', 'weights'],
  ['safeEmbeddingLookup', byTable(emb.safeEmbeddingLookup), 'ids', 'weights'],
  ['embedding', byLayer(() => emb.layers.embedding(TABLE)), 'ids', 'weights'],
  ['embedding that masks 0', byLayer(() => emb.layers.embedding({ ...TABLE, maskZero: true })), 'ids', 'weights'],
  ['raggedEmbedding', byLayer(() => emb.layers.raggedEmbedding(TABLE)), 'inputs', 'weights'],
  [
    'raggedEmbedding that masks 0',
    byLayer(() => emb.layers.raggedEmbedding({ ...TABLE, maskZero: true })),
    'inputs',
    'weights',
  ],
  ['distributedEmbedding', distributed({ embeddings: [TABLE] }, (value) => [value]), 'inputs[0]', 'weights[0]'],
  [
    'distributedEmbedding of features',
    distributed(featuresArgs(), (value) => ({ seen: value })),
    'inputs.seen',
    'weights.seen',
  ],
];

describe('ids and weights', () => {
  let tensors: number;
  beforeAll(useCpu);
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).toBe(tensors));

  for (const [title, lookUp, idsName, weightsName] of PLACES) {
    it(`of ${title} may have row splits beside their values`, () => {
      const ids = { values: [1, 2, 4], rowSplits: [0, 2, 2, 3] };
      const weights = { values: Float32Array.of(1, 3, 2), rowSplits: Int32Array.of(0, 2, 2, 3) };
      for (const result of [lookUp(ids), lookUp(ids, weights), lookUp(ids, weights.values)]) {
        expect(result.shape).toEqual([3, 2]);
        result.dispose();
      }
      const [rows, splits] = [tf.tensor1d([1, 2, 4], 'int32'), tf.tensor1d([0, 2, 2, 3], 'int32')];
      const result = lookUp({ values: rows, rowSplits: splits });
      expect(result.shape).toEqual([3, 2]);
      tf.dispose([result, rows, splits]);
    });

    it(`of ${title} are no pair where both are typed arrays`, () => {
      for (const arrays of [
        [Int32Array.of(1, 2), Int32Array.of(0, 2)],
        [Int32Array.of(1, 2), Int32Array.of(3, 4)],
      ]) {
        const error = thrownBy(() => lookUp(arrays));
        expectFacts(error, 'TypeError', idsName, title);
        expect((error as Error).message).toContain('Write {values, rowSplits}');
        const ids = { values: [1, 2], rowSplits: [0, 2] };
        expectFacts(
          thrownBy(() => lookUp(ids, arrays)),
          'TypeError',
          weightsName,
          title,
        );
      }
    });

    it(`of ${title} lie at the same places where they are sparse`, () => {
      const ids = { indices: [[0, 0], [1, 1]], values: [1, 2], denseShape: [2, 2] }; // prettier-ignore
      lookUp(ids, { ...ids, values: [0.5, 2] }).dispose();
      for (const other of [
        {
          indices: [
            [0, 0],
            [1, 0],
          ],
        },
        {
          indices: [
            [1, 1],
            [0, 0],
          ],
        },
        { denseShape: [2, 3] },
      ]) {
        // prettier-ignore
        const error = thrownBy(() => lookUp(ids, { ...ids, values: [0.5, 2], ...other }));
        expectFacts(error, 'ValueError', weightsName, title);
      }
    });
  }
});
