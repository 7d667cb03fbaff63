/** Small models of all kinds of layers whose steps are captured, each with the input that it takes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

export const ROWS = 20;
export const WIDTH = 12;

export interface HostileModel {
  /** Ids [batch, 4], or numbers [batch, 12]. */
  readonly takes: 'ids' | 'numbers';
  build(): tf.LayersModel;
}

type Symbol = tf.SymbolicTensor;
const apply = (layer: tf.layers.Layer, x: Symbol | Symbol[]): Symbol => layer.apply(x) as Symbol;
const through = (x: Symbol, ...layers: tf.layers.Layer[]): Symbol => layers.reduce((y, layer) => apply(layer, y), x);
const { l2 } = tf.regularizers;

function ofIds(body: (ids: Symbol) => Symbol): HostileModel {
  return { takes: 'ids', build: () => modelOf(tf.input({ shape: [4], dtype: 'int32' }), body) };
}

function ofNumbers(body: (x: Symbol) => Symbol): HostileModel {
  return { takes: 'numbers', build: () => modelOf(tf.input({ shape: [WIDTH] }), body) };
}

function modelOf(input: Symbol, body: (x: Symbol) => Symbol): tf.LayersModel {
  const outputs = apply(tf.layers.dense({ units: 1, activation: 'sigmoid' }), body(input));
  return tf.model({ inputs: input, outputs });
}

const table = (args: object = {}): tf.layers.Layer =>
  emb.layers.embedding({ inputDim: ROWS, outputDim: 4, combiner: 'mean', ...args });
const rows = (ids: Symbol): Symbol => apply(emb.layers.embedding({ inputDim: ROWS, outputDim: 4 }), ids);
const dense = (args: object = {}): tf.layers.Layer => tf.layers.dense({ units: 4, ...args });

export const MODELS = {
  tables: ofIds((ids) => {
    const pooled = apply(table({ embeddingsRegularizer: l2({ l2: 0.01 }), embeddingsConstraint: 'nonNeg' }), ids);
    const flat = through(rows(ids), tf.layers.flatten());
    const both = apply(tf.layers.concatenate(), [pooled, flat]);
    return through(both, dense({ activation: 'relu', kernelRegularizer: l2({ l2: 0.01 }) }));
  }),
  penalized: ofIds((ids) => {
    const penalty = l2({ l2: 0.01 });
    const pooled = apply(table({ embeddingsRegularizer: penalty }), ids);
    return apply(dense({ activation: 'tanh', kernelRegularizer: penalty }), pooled);
  }),
  own: ofIds((ids) => {
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    const stepped = emb.embeddingTable({ inputDim: ROWS, outputDim: 4, optimizer });
    return apply(emb.layers.embedding({ table: stepped, combiner: 'mean' }), ids);
  }),
  packed: ofIds((ids) => {
    const args = { storage: 'float16', maxNorm: 1, embeddingsRegularizer: l2({ l2: 0.01 }) };
    return apply(table(args), ids);
  }),
  frozen: ofIds((ids) => {
    const still = apply(table({ embeddingsRegularizer: l2({ l2: 0.01 }), trainable: false }), ids);
    return apply(tf.layers.add(), [still, apply(table(), ids)]);
  }),
  shared: ofIds((ids) => {
    const both = emb.embeddingTable({ inputDim: ROWS, outputDim: 4, embeddingsRegularizer: 'l1l2' });
    const [a, b] = (['sum', 'mean'] as const).map((combiner) => emb.layers.embedding({ table: both, combiner }));
    return apply(tf.layers.multiply(), [apply(a!, ids), apply(b!, ids)]);
  }),
  distributed: ofIds((ids) => {
    const embeddings = [0.01, 0.02].map((factor) =>
      emb.layers.embedding({
        inputDim: ROWS,
        outputDim: 4,
        combiner: 'sum',
        embeddingsRegularizer: l2({ l2: factor }),
      }),
    );
    const found = emb.layers.distributedEmbedding({ embeddings }).apply([ids, ids]) as Symbol[];
    return apply(tf.layers.concatenate(), found);
  }),
  lstm: ofIds((ids) => through(rows(ids), tf.layers.lstm({ units: 3, recurrentInitializer: 'glorotUniform' }))),
  gru: ofIds((ids) => through(rows(ids), tf.layers.gru({ units: 3, recurrentInitializer: 'glorotUniform' }))),
  convolved: ofIds((ids) => {
    const conv = tf.layers.conv1d({ filters: 3, kernelSize: 2, activation: 'tanh', biasRegularizer: 'l1l2' });
    return through(rows(ids), conv, tf.layers.globalMaxPooling1d());
  }),
  crossed: ofIds((ids) => {
    const x = apply(table(), ids);
    return apply(emb.layers.featureCross({ kernelRegularizer: l2({ l2: 0.01 }) }), [x, x]);
  }),
  interacting: ofIds((ids) => {
    const features = [1, 2, 3].map(() => apply(table(), ids));
    return apply(emb.layers.dotInteraction(), features);
  }),
  sequential: {
    takes: 'numbers',
    build: () =>
      tf.sequential({
        layers: [dense({ units: WIDTH, inputShape: [WIDTH], activation: 'elu' }), tf.layers.dense({ units: 1 })],
      }),
  },
  nested: ofNumbers((x) => {
    const input = tf.input({ shape: [WIDTH] });
    const inner = tf.model({ inputs: input, outputs: through(input, dense({ kernelRegularizer: 'l1l2' }), dense()) });
    return inner.apply(x) as Symbol;
  }),
  normalized: ofNumbers((x) => {
    const scaled = [tf.layers.batchNormalization({ momentum: 0.7 }), tf.layers.layerNormalization()];
    // A bias before a normalization has a gradient of rounding alone, of which Adam makes whole steps.
    return through(
      x,
      dense({ useBias: false, kernelRegularizer: l2({ l2: 0.01 }) }),
      ...scaled,
      tf.layers.activation({ activation: 'softplus' }),
    );
  }),
  rectified: ofNumbers((x) => {
    const { batchNormalization, activation } = tf.layers;
    return through(
      x,
      dense({ useBias: false }),
      batchNormalization({ momentum: 0.7 }),
      activation({ activation: 'relu' }),
    );
  }),
  dropped: ofNumbers((x) => through(x, dense(), tf.layers.dropout({ rate: 0.3, seed: 3 }))),
  pictures: ofNumbers((x) => {
    const { reshape, zeroPadding2d, conv2d, maxPooling2d, globalAveragePooling2d } = tf.layers;
    const padded = zeroPadding2d({ padding: [[1, 1], [1, 1]] as never }); // prettier-ignore
    const conv = conv2d({ filters: 2, kernelSize: 2, activation: 'relu' });
    return through(x, reshape({ targetShape: [4, 3, 1] }), padded, conv, maxPooling2d({}), globalAveragePooling2d({}));
  }),
  merged: ofNumbers((x) => {
    const { add, average, maximum, minimum, multiply, dot } = tf.layers;
    const pairs = [add(), average(), maximum(), minimum(), multiply(), dot({ axes: 1 })];
    const found = pairs.map((layer) => apply(layer, [apply(dense(), x), apply(dense(), x)]));
    return apply(tf.layers.concatenate(), found);
  }),
  wrapped: ofNumbers((x) => {
    const each = tf.layers.timeDistributed({ layer: dense() });
    const rnn = tf.layers.simpleRNN({ units: 2, recurrentInitializer: 'glorotUniform' });
    return through(
      x,
      tf.layers.reshape({ targetShape: [4, 3] }),
      each,
      tf.layers.bidirectional({ layer: rnn as never }),
    );
  }),
  bent: ofNumbers((x) => {
    const { elu, leakyReLU, prelu, softmax, repeatVector, permute, flatten } = tf.layers;
    const bends = [leakyReLU({ alpha: 0.2 }), elu(), prelu({})];
    const turned = [repeatVector({ n: 2 }), permute({ dims: [2, 1] }), flatten(), dense(), softmax({})];
    return through(x, dense(), ...bends, ...turned);
  }),
} as const satisfies Record<string, HostileModel>;

export type ModelName = keyof typeof MODELS;
