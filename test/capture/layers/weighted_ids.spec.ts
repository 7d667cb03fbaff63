/** Captured steps of lookups with weights per id, which no JavaScript reads. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type Batch, type BadInputs } from './checked_models.js';
import { ROWS, describeSteps } from '../training.js';

const [BATCH, WIDTH] = [8, 5];

const apply = (layer: tf.layers.Layer, inputs: tf.SymbolicTensor | tf.SymbolicTensor[]): tf.SymbolicTensor =>
  layer.apply(inputs) as tf.SymbolicTensor;

/** A model on ids and weights, the latter as they are and as a layer makes them. */
function modelOf(pool: (ids: tf.SymbolicTensor, weights: tf.SymbolicTensor) => tf.SymbolicTensor[]): tf.LayersModel {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const weights = tf.input({ shape: [WIDTH] });
  const learnt = apply(tf.layers.dense({ units: WIDTH, activation: 'sigmoid' }), weights);
  const pooled = [...pool(ids, weights), ...pool(ids, learnt)];
  const features = apply(tf.layers.concatenate(), pooled);
  const outputs = apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), features);
  return tf.model({ inputs: [ids, weights], outputs });
}

const full = (): tf.LayersModel => {
  const { embedding } = emb.layers;
  const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 3 });
  return modelOf((ids, weights) => [
    apply(embedding({ inputDim: ROWS, outputDim: 4, combiner: 'mean' }), [ids, weights]),
    apply(embedding({ table, combiner: 'sqrtn' }), [ids, weights]),
    apply(embedding({ table, combiner: 'sum', maskZero: true }), [ids, weights]),
  ]);
};

const padded = (): tf.LayersModel => {
  const { raggedEmbedding } = emb.layers;
  const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 3, embeddingsRegularizer: 'l2' });
  return modelOf((ids, weights) => [
    apply(raggedEmbedding({ inputDim: ROWS, outputDim: 4, combiner: 'sum' }), [ids, weights]),
    apply(raggedEmbedding({ table, combiner: 'mean' }), [ids, weights]),
    apply(raggedEmbedding({ table, combiner: 'sqrtn', maskZero: true, maxNorm: 0.05 }), [ids, weights]),
  ]);
};

const halves = (): tf.LayersModel =>
  modelOf((ids, weights) => [
    apply(emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: 5, combiner: 'mean', storage: 'float16', seed: 3 }), [
      ids,
      weights,
    ]),
  ]);

const distributed = (): tf.LayersModel => {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const weights = tf.input({ shape: [WIDTH] });
  const embeddings = [
    { inputDim: ROWS, outputDim: 4, combiner: 'sum' as const },
    { inputDim: ROWS, outputDim: 4, combiner: 'mean' as const },
  ];
  const layer = emb.layers.distributedEmbedding({ embeddings, weightedFeatures: [0, 1] });
  const pooled = layer.apply([ids, ids, weights, weights]) as unknown as tf.SymbolicTensor[];
  const outputs = apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), apply(tf.layers.concatenate(), pooled));
  return tf.model({ inputs: [ids, weights], outputs });
};

/** Weights may be 0, negative and infinite elsewhere; here all losses must stay finite. */
function drawn(isPadded: boolean) {
  return (random: Random): Batch => {
    const lengths = Array.from({ length: BATCH }, (_, row) =>
      isPadded && row > 0 ? random.whole(0, WIDTH + 1) : WIDTH,
    );
    const ids = lengths.flatMap((length) =>
      Array.from({ length: WIDTH }, (_, i) => (i < length ? random.whole(0, ROWS) : -1)),
    );
    const weights = ids.map(() => random.next() + 0.1);
    return {
      x: [tf.tensor2d(ids, [BATCH, WIDTH], 'int32'), tf.tensor2d(weights, [BATCH, WIDTH])],
      y: tf.tensor2d(lengths.map((length) => [(length + ids[0]!) % 2])),
    };
  };
}

function bad(title: string, id: number, weight: number, message: RegExp): BadInputs {
  return {
    title,
    x: () => [
      tf.tensor2d(
        Array.from({ length: BATCH * WIDTH }, (_, i) => (i === 7 ? id : i)),
        [BATCH, WIDTH],
        'int32',
      ),
      tf.tensor2d(
        Array.from({ length: BATCH * WIDTH }, (_, i) => (i === 8 ? weight : 0.5)),
        [BATCH, WIDTH],
      ),
    ],
    error: emb.ValueError,
    message,
  };
}

const BAD = [
  bad('an id out of range', ROWS, 1, /expected ids in \[0, 50\), received 50 at \[1, 2\]/),
  bad('a weight that is NaN', 3, NaN, /`weights(\[0\])?` is NaN at \[1, \d\]\./),
];

describeSteps('Captured steps with weights per id', () => {
  for (const [title, build, isPadded] of [
    ['of embeddings', full, false],
    ['of ragged rows as padding', padded, true],
    ['of rows of float16', halves, true],
    ['of a distributed embedding', distributed, false],
  ] as const) {
    describe(title, () => itIsCapturedRight({ build, draw: drawn(isPadded), bad: BAD }));
  }
});
