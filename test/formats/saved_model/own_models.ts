/** Models of the layers of this package, with inputs and how they are exported. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { ATTENTION_MODELS } from '../keras/attention_layers.js';
import type { OwnModel, PlainTensor } from './exports.js';
import { PREPROCESSING_MODELS } from './preprocessing_models.js';
import { TPU_MODELS } from './tpu_models.js';

type Make = () => OwnModel;

const PADDED = [
  [3, 7, -1, -1],
  [5, 5, 0, 8],
  [-1, -1, -1, -1],
];
const DENSE = [
  [3, 7, 0, 0],
  [5, 5, 0, 8],
  [0, 0, 0, 0],
];
const WEIGHTS = [
  [0.5, 2, 9, 9],
  [1, -0.25, 3, 0],
  [1, 1, 1, 1],
];
/** PADDED without its padding. */
const VALUES: PlainTensor = { dtype: 'int32', shape: [6], values: [3, 7, 5, 5, 0, 8] };
const SPLITS: PlainTensor = { dtype: 'int32', shape: [4], values: [0, 2, 6, 6] };
const LONG_SPLITS: PlainTensor = { ...SPLITS, dtype: 'int64' };

function int(rows: number[][]): tf.Tensor {
  return tf.tensor2d(rows, undefined, 'int32');
}

const table = { inputDim: 9, outputDim: 3 };

function sequential(layer: tf.layers.Layer, rows: number[][], more: Partial<OwnModel> = {}): OwnModel {
  const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 2 })] });
  return { model, inputs: [int(rows)], ...more };
}

function weighted(make: typeof emb.layers.embedding, combiner: 'sum' | 'mean' | 'sqrtn', rows: number[][]): OwnModel {
  const ids = tf.input({ shape: [4], dtype: 'int32', name: 'ids' });
  const weights = tf.input({ shape: [4], name: 'weights' });
  const pooled = make({ ...table, combiner }).apply([ids, weights] as never) as unknown as tf.SymbolicTensor;
  const model = tf.model({ inputs: [ids, weights], outputs: tf.layers.dense({ units: 2 }).apply(pooled) as never });
  return { model, inputs: [int(rows), tf.tensor2d(WEIGHTS)] };
}

function retrieval(identifiers: number[] | null): OwnModel {
  const query = tf.input({ shape: [3], name: 'query' });
  const candidates = tf.zeros([6, 3]);
  const layer = emb.layers.bruteForceRetrieval({ candidates, identifiers, k: 4 });
  candidates.dispose();
  const model = tf.model({ inputs: query, outputs: layer.apply(query) });
  return {
    model,
    inputs: [
      tf.tensor2d([
        [1, 2, -3],
        [0.5, 0.25, 4],
      ]),
    ],
  };
}

const combined = (['sum', 'mean', 'sqrtn'] as const).flatMap((combiner): [string, Make][] => [
  [`embedding, ${combiner}`, () => sequential(emb.layers.embedding({ ...table, combiner, inputShape: [4] }), DENSE)],
  [
    `embedding, ${combiner}, maskZero`,
    () => sequential(emb.layers.embedding({ ...table, combiner, inputShape: [4], maskZero: true }), DENSE),
  ],
  [`embedding, ${combiner}, weights`, () => weighted(emb.layers.embedding, combiner, DENSE)],
  [`one id, ${combiner}, weights`, () => oneWeighted(combiner)],
  [
    `raggedEmbedding, ${combiner}`,
    () => sequential(emb.layers.raggedEmbedding({ ...table, combiner, inputShape: [null], maxNorm: 0.5 }), PADDED),
  ],
  [`raggedEmbedding, ${combiner}, weights`, () => weighted(emb.layers.raggedEmbedding as never, combiner, PADDED)],
  [
    `custom ops, ${combiner}`,
    () =>
      sequential(emb.layers.raggedEmbedding({ ...table, combiner, inputShape: [4], maxNorm: 0.5 }), PADDED, {
        options: { customOps: true },
      }),
  ],
  [
    `custom ops, ${combiner}, weights`,
    () => ({ ...weighted(emb.layers.embedding, combiner, DENSE), options: { customOps: true } }),
  ],
]);

/** One id per sample. */
const oneId: Make = () => {
  const layers = [emb.layers.embedding({ ...table, inputShape: [] }), tf.layers.dense({ units: 2 })];
  return { model: tf.sequential({ layers }), inputs: [tf.tensor1d([3, 8, 0], 'int32')] };
};

const ragged = (): tf.layers.Layer => {
  return emb.layers.raggedEmbedding({ ...table, combiner: 'mean', inputShape: [4], name: 'seen' });
};

/** One table for two features, one of them weighted, and a feature without a combiner. */
const distributed: Make = () => {
  const layer = emb.layers.distributedEmbedding({
    embeddings: [
      { name: 'users', ...table, combiner: 'mean', ragged: true },
      { name: 'items', inputDim: 11, outputDim: 3, combiner: 'sum', maskZero: true, outOfRange: 'zero' },
      { name: 'words', inputDim: 5, outputDim: 2 },
    ],
    inputTableMap: [0, 1, 0, 2],
  });
  const inputs = ['a', 'b', 'c'].map((name) => tf.input({ shape: [4], dtype: 'int32', name }));
  const single = tf.input({ shape: [1], dtype: 'int32', name: 'd' });
  const [a, b, c, d] = layer.apply([...inputs, single] as never) as unknown as tf.SymbolicTensor[];
  const outputs = tf.layers.concatenate().apply([a!, b!, c!, tf.layers.flatten().apply(d!) as tf.SymbolicTensor]);
  const model = tf.model({ inputs: [...inputs, single], outputs: outputs as tf.SymbolicTensor });
  const outside = DENSE.map((row) => row.map((id) => id + 4));
  return { model, inputs: [int(PADDED), int(outside), int(PADDED), int([[1], [0], [4]])] };
};

/** Results of all features side by side in one output. */
const sideBySide: Make = () => {
  const embeddings = [
    { name: 'users', ...table, combiner: 'mean' as const },
    { name: 'items', inputDim: 9, outputDim: 3, combiner: 'sum' as const },
  ];
  const layer = emb.layers.distributedEmbedding({ embeddings, output: 'concat' });
  const inputs = ['a', 'b'].map((name) => tf.input({ shape: [4], dtype: 'int32', name }));
  const model = tf.model({ inputs, outputs: layer.apply(inputs) });
  return { model, inputs: [int(DENSE), int(DENSE)] };
};

/** One feature alone, side by side with none. */
const single: Make = () => {
  const layer = emb.layers.distributedEmbedding({
    embeddings: [{ name: 'users', ...table, combiner: 'mean' }],
    output: 'concat',
  });
  const input = tf.input({ shape: [4], dtype: 'int32', name: 'a' });
  return { model: tf.model({ inputs: input, outputs: layer.apply([input]) }), inputs: [int(DENSE)] };
};

const features: Make = () => {
  const movies = new emb.TableConfig({ name: 'movies', vocabularySize: 9, embeddingDim: 3, combiner: 'sqrtn' });
  const layer = emb.layers.distributedEmbedding({
    features: {
      seen: new emb.FeatureConfig({ name: 'seen', table: movies, inputShape: [null, 4], outputShape: [null, 3] }),
      next: new emb.FeatureConfig({ name: 'next', table: movies, inputShape: [null], outputShape: [null, 3] }),
    },
  });
  const [seen, next] = [
    tf.input({ shape: [4], dtype: 'int32', name: 'seen' }),
    tf.input({ shape: [1], dtype: 'int32', name: 'next' }),
  ];
  const weights = tf.input({ shape: [4], name: 'weights' });
  const results = layer.apply(
    { seen, next } as never,
    { weights: { seen: weights, next: null } } as never,
  ) as unknown as {
    seen: tf.SymbolicTensor;
    next: tf.SymbolicTensor;
  };
  const model = tf.model({ inputs: [seen, next, weights], outputs: [results.seen, results.next] });
  return { model, inputs: [int(PADDED), int([[1], [-1], [4]]), tf.tensor2d(WEIGHTS)] };
};

/** A vector of ids, each with a weight: a mean of one row is that row, whatever it weighs. */
function oneWeighted(combiner: 'sum' | 'mean' | 'sqrtn'): OwnModel {
  const movies = new emb.TableConfig({ name: 'movies', vocabularySize: 9, embeddingDim: 3, combiner });
  const layer = emb.layers.distributedEmbedding({
    features: {
      one: new emb.FeatureConfig({ name: 'one', table: movies, inputShape: [null], outputShape: [null, 3] }),
    },
  });
  const [one, weights] = [
    tf.input({ batchShape: [null], dtype: 'int32', name: 'one' }),
    tf.input({ batchShape: [null], name: 'much' }),
  ];
  const rows = layer.apply({ one } as never, { weights: { one: weights } } as never) as unknown as {
    one: tf.SymbolicTensor;
  };
  const model = tf.model({ inputs: [one, weights], outputs: rows.one });
  return { model, inputs: [tf.tensor1d([1, 7, 4, 8, 2], 'int32'), tf.tensor1d([0.5, 3, -1, 2, 0])] };
}

const interactions: Make = () => {
  const inputs = [0, 1, 2].map(() => tf.input({ shape: [4] }));
  const dots = emb.layers.dotInteraction({ selfInteraction: true }).apply(inputs) as tf.SymbolicTensor;
  const all = emb.layers.dotInteraction({ skipGather: true }).apply(inputs) as tf.SymbolicTensor;
  const [x0] = inputs as [tf.SymbolicTensor];
  const x1 = emb.layers.featureCross({ projectionDim: 2, diagScale: 0.5, preActivation: 'tanh' }).apply(x0);
  const x2 = emb.layers.featureCross({ useBias: false }).apply([x0, x1 as tf.SymbolicTensor]) as tf.SymbolicTensor;
  const model = tf.model({ inputs, outputs: [dots, all, x2] });
  return { model, inputs: inputs.map((_, i) => tf.randomUniform([3, 4], -1, 1, 'float32', i + 1)) };
};

const shared: Make = () => {
  const movies = emb.embeddingTable({ name: 'movies', ...table });
  const [a, b] = [
    tf.input({ shape: [4], dtype: 'int32', name: 'seen' }),
    tf.input({ shape: [1], dtype: 'int32', name: 'next' }),
  ];
  const seen = emb.layers.embedding({ table: movies, combiner: 'mean' }).apply(a) as unknown as tf.SymbolicTensor;
  const next = emb.layers.embedding({ table: movies, combiner: 'sum' }).apply(b) as unknown as tf.SymbolicTensor;
  const model = tf.model({
    inputs: [a, b],
    outputs: tf.layers.dot({ axes: 1 }).apply([seen, next]) as tf.SymbolicTensor,
  });
  return { model, inputs: [int(DENSE), int([[1], [8], [2]])] };
};

const lookup: Make = () => {
  const layer = emb.layers.integerLookup({ maxTokens: 6, inputShape: [4] });
  layer.apply([70, -5, 12, 2_000_000_000]);
  layer.trainable = false;
  const model = tf.sequential({
    layers: [layer, emb.layers.embedding({ inputDim: 7, outputDim: 3, combiner: 'sum' })],
  });
  return {
    model,
    inputs: [
      int([
        [70, 12, 99, -5],
        [2_000_000_000, -1, 0, 12],
        [1, 2, 3, 4],
      ]),
    ],
  };
};

const oneHot: Make = () => {
  return sequential(emb.layers.concatOneHotEmbedding({ featureSizes: [3, 5, 7], embeddingWidth: 4 }), [
    [2, 4, 6],
    [0, 0, 0],
  ]);
};

/** Without a combiner, so that a mask goes on to the next layer. */
const sequence = (make: typeof emb.layers.embedding, rows: number[][]): OwnModel => {
  const layer = make({ ...table, maskZero: true, inputShape: [4] }) as tf.layers.Layer;
  return { model: tf.sequential({ layers: [layer, tf.layers.gru({ units: 3 })] }), inputs: [int(rows)] };
};

export const OWN_MODELS: readonly (readonly [string, Make])[] = [
  ...combined,
  ...ATTENTION_MODELS,
  ['embedding, max', () => sequential(emb.layers.embedding({ ...table, combiner: 'max', inputShape: [4] }), DENSE)],
  [
    'raggedEmbedding, max',
    () => sequential(emb.layers.raggedEmbedding({ ...table, combiner: 'max', inputShape: [null] }), PADDED),
  ],
  [
    'custom ops, max',
    () =>
      sequential(emb.layers.raggedEmbedding({ ...table, combiner: 'max', inputShape: [4] }), PADDED, {
        options: { customOps: true },
      }),
  ],
  [
    'embedding, one axis more',
    () => {
      const layer = emb.layers.embedding({ ...table, combiner: 'mean', inputShape: [2, 2], outOfRange: 'zero' });
      return {
        model: tf.sequential({ layers: [layer] }),
        inputs: [
          tf.tensor3d(
            [
              [
                [1, 99],
                [3, 4],
              ],
              [
                [-7, 0],
                [8, 8],
              ],
            ],
            [2, 2, 2],
            'int32',
          ),
        ],
      };
    },
  ],
  ['embedding, masked steps', () => sequence(emb.layers.embedding, DENSE)],
  ['raggedEmbedding, masked steps', () => sequence(emb.layers.raggedEmbedding as never, PADDED)],
  [
    'ragged as components',
    () => {
      const fed = {
        seen_input_values: VALUES,
        seen_input_row_splits: SPLITS,
      };
      return sequential(ragged(), PADDED, { fed, options: { ragged: 'components' } });
    },
  ],
  [
    'ragged as components, as many steps as are declared',
    () => {
      const rows = PADDED.map((row) => [...row, -1, -1]);
      const layer = emb.layers.raggedEmbedding({ ...table, inputShape: [6], name: 'seen' }) as tf.layers.Layer;
      const model = tf.sequential({ layers: [layer, tf.layers.flatten(), tf.layers.dense({ units: 2 })] });
      const fed = { seen_input_values: VALUES, seen_input_row_splits: SPLITS };
      return { model, inputs: [int(rows)], fed, options: { ragged: 'components' } };
    },
  ],
  [
    'ragged as composites, by their parts',
    () => {
      const fed = { seen_input: VALUES, seen_input_1: LONG_SPLITS };
      return sequential(ragged(), PADDED, { fed, options: { ragged: 'composite' } });
    },
  ],
  [
    'ragged as composites, called',
    () => {
      const fed = { seen_input: { values: VALUES, rowSplits: LONG_SPLITS } };
      return sequential(ragged(), PADDED, { fed, options: { ragged: 'composite' }, call: true });
    },
  ],
  ['concatOneHotEmbedding', oneHot],
  ['distributedEmbedding', distributed],
  ['embedding, one id per sample', oneId],
  ["distributedEmbedding with output: 'concat'", sideBySide],
  ["distributedEmbedding with output: 'concat', one feature", single],
  ['features of distributedEmbedding', features],
  ['interactions', interactions],
  ['a shared table', shared],
  ['integerLookup', lookup],
  ['bruteForceRetrieval', () => retrieval(null)],
  ['bruteForceRetrieval with identifiers', () => retrieval([7, 5, 300, 2, 1, 9])],
  ...PREPROCESSING_MODELS,
  ...TPU_MODELS,
];
