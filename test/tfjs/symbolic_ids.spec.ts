import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { leakFree, useCpu } from '../layers/setup.js';

/** A symbolic tensor that no layer gave, as people make them to ask for a shape. */
function orphan(dtype: tf.DataType, shape: (number | null)[]): tf.SymbolicTensor {
  return new tf.SymbolicTensor(dtype, shape, null as never, [], {});
}

const TABLE = { inputDim: 5, outputDim: 4, combiner: 'sum' } as const;

describe('symbolic ids without a source layer', () => {
  beforeAll(useCpu);

  const layers: [string, () => tf.layers.Layer, tf.SymbolicTensor | tf.SymbolicTensor[], (number | null)[]][] = [
    ['embedding', () => emb.layers.embedding(TABLE), orphan('int32', [null, 3]), [null, 4]],
    ['raggedEmbedding', () => emb.layers.raggedEmbedding(TABLE), orphan('int32', [null, 3]), [null, 4]],
    [
      'a pair for raggedEmbedding',
      () => emb.layers.raggedEmbedding(TABLE),
      [orphan('int32', [null]), orphan('int32', [null])],
      [null, 4],
    ],
    [
      'concatOneHotEmbedding',
      () => emb.layers.concatOneHotEmbedding({ featureSizes: [2, 3], embeddingWidth: 4 }),
      orphan('int32', [7, 2]),
      [7, 2, 4],
    ],
    ['integerLookup', () => emb.layers.integerLookup({ maxTokens: 3 }), orphan('int32', [null, 2]), [null, 2]],
    ['featureCross', () => emb.layers.featureCross(), orphan('float32', [null, 2]), [null, 2]],
    [
      'dotInteraction',
      () => emb.layers.dotInteraction(),
      [orphan('float32', [null, 2]), orphan('float32', [null, 2])],
      [null, 1],
    ],
    [
      'distributedEmbedding',
      () => emb.layers.distributedEmbedding({ embeddings: [TABLE] }),
      [orphan('int32', [null, 3])],
      [null, 4],
    ],
  ];
  for (const [title, make, inputs, shape] of layers) {
    const given = leakFree(() => {
      const layer = make();
      const output = layer.apply(inputs) as tf.SymbolicTensor | tf.SymbolicTensor[];
      const [only] = (Array.isArray(output) ? output : [output]) as [tf.SymbolicTensor];
      expect(only.shape).toEqual(shape);
      expect(only.sourceLayer).toBe(layer);
      layer.dispose();
    });
    it(`give the shape of ${title}`, given);
  }

  it('may be float32 for a table whose ids float32 does not hold: no model casts them', () => {
    const layer = emb.layers.embedding({ ...TABLE, inputDim: 2 ** 24 + 1 });
    layer.build = () => undefined;
    expect((layer.apply(orphan('float32', [null, 3])) as tf.SymbolicTensor).shape).toEqual([null, 4]);
  });

  it('may be a float32 input of a model as long as float32 holds every id', () => {
    const feed = (inputDim: number): (() => unknown) => {
      const layer = emb.layers.embedding({ ...TABLE, inputDim });
      layer.build = () => undefined;
      return () => (layer.apply(tf.input({ shape: [3] })) as tf.SymbolicTensor).shape;
    };
    // Ids are below the number of rows, so the last one is 2^24 - 1.
    expect(feed(2 ** 24)()).toEqual([null, 4]);
    expect(feed(2 ** 24 + 1)).toThrowError(/more than 2\^24 rows/);
  });
});
