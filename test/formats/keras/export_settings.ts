/** Models for `exportKeras` alone: recurrent layers with functions that Keras 3 has, masks, nested features. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { OwnModel } from '../saved_model/exports.js';
import { channelsFirst, ids, image, masked, merged, random, stacked, withStates } from '../saved_model/stock_model.js';
import { adopting } from '../../../src/tfjs/models/own_models.js';

const recurrentActivation = 'sigmoid' as const;
const { layers } = tf;

/** Words that begin two towers, one of them or both with a mask. */
function joinedWords(both: boolean, read: (sum: tf.SymbolicTensor) => tf.SymbolicTensor): OwnModel {
  const input = tf.input({ shape: [5], dtype: 'int32' });
  const [a, b] = [true, both].map((maskZero) => {
    return layers.embedding({ inputDim: 9, outputDim: 2, maskZero }).apply(input) as tf.SymbolicTensor;
  });
  const outputs = read(layers.add({ name: 'joined' }).apply([a!, b!]) as tf.SymbolicTensor);
  return { model: tf.model({ inputs: input, outputs }), inputs: [ids([3, 5], 3)] };
}

const gru = (sum: tf.SymbolicTensor): tf.SymbolicTensor => {
  return layers.gru({ units: 2, recurrentActivation, name: 'reader' }).apply(sum) as tf.SymbolicTensor;
};

const STOCK: readonly (readonly [string, () => OwnModel])[] = [
  [
    'GRU, all states, backwards, without a bias',
    () =>
      withStates(
        layers.gru({ units: 3, recurrentActivation, returnSequences: true, returnState: true, useBias: false }),
      ),
  ],
  [
    'LSTM, all states, other activations',
    () => withStates(layers.lstm({ units: 3, recurrentActivation, activation: 'softsign', returnState: true })),
  ],
  [
    'LSTM on masked steps, all of them',
    () => masked([layers.lstm({ units: 3, recurrentActivation, returnSequences: true, goBackwards: true })]),
  ],
  [
    'a mask that a vector has not',
    () =>
      masked([
        layers.lstm({ units: 4, recurrentActivation }),
        layers.repeatVector({ n: 5 }),
        layers.gru({ units: 3, recurrentActivation }),
      ]),
  ],
  ...(['sum', 'mul', 'ave', 'concat'] as const).map((mergeMode): [string, () => OwnModel] => [
    `Bidirectional LSTM, ${mergeMode}`,
    () =>
      stacked(
        [5, 3],
        [
          layers.bidirectional({
            layer: layers.lstm({ units: 2, recurrentActivation, returnSequences: true }) as tf.RNN,
            mergeMode,
          }),
        ],
      ),
  ]),
  [
    'Bidirectional GRU, backwards first',
    () => {
      const layer = layers.gru({ units: 2, goBackwards: true, returnSequences: true }) as tf.RNN;
      return stacked([5, 3], [layers.bidirectional({ layer, mergeMode: 'concat' })]);
    },
  ],
  [
    'TimeDistributed SeparableConv2D',
    () =>
      stacked(
        [2, 5, 4, 2],
        [layers.timeDistributed({ layer: layers.separableConv2d({ filters: 2, kernelSize: 2, depthMultiplier: 3 }) })],
      ),
  ],
  ['Conv1D, channels first', () => stacked([5, 5], [layers.conv1d({ filters: 5, kernelSize: 1, ...channelsFirst })])],
  ['Softmax along another axis', () => stacked([3, 3], [layers.softmax({ axis: 1 })])],
  ['Concatenate, axis -2', () => merged(layers.concatenate({ axis: -2 }), [2, 4], [2, 4])],
  [
    'Conv3D, steps longer than the window',
    () => stacked([6, 6, 6, 1], [layers.conv3d({ filters: 1, kernelSize: 2, strides: 3, padding: 'same' })]),
  ],
  ['DepthwiseConv2D, dilated', () => stacked(image, [layers.depthwiseConv2d({ kernelSize: 2, dilationRate: 2 })])],
  ['a masked average', () => masked([layers.globalAveragePooling1d({ name: 'average' })])],
  ['an average behind a masked layer', () => masked([layers.dense({ units: 2 }), layers.globalAveragePooling1d({})])],
  ...(['leakyReLU', 'elu', 'thresholdedReLU'] as const).flatMap((end): [string, () => OwnModel][] => [
    [`a mask that ${end} ends`, () => masked([layers[end](), layers.dense({ units: 2 }), layers.gru({ units: 2 })])],
    [`a mask that ${end} ends, and nobody reads`, () => masked([layers[end](), layers.flatten()])],
  ]),
  ['a masked softmax', () => masked([layers.softmax({ name: 'shares' })])],
  ['a sum of words with one mask', () => joinedWords(false, gru)],
  ['a sum of words with equal masks', () => joinedWords(true, gru)],
  [
    'a sum of words with one mask, flattened',
    () => joinedWords(false, (sum) => layers.flatten().apply(sum) as tf.SymbolicTensor),
  ],
];
/** Treated as models of this package, whose masks and states are those of Keras. */
export const STOCK_SETTINGS_OF_KERAS: typeof STOCK = STOCK.map(([title, make]) => [title, () => adopting(make)]);

/** Features in records within records, with weights for each, and a table that two of them share. */
function nestedFeatures(): OwnModel {
  const [movies, users] = ([3, 2] as const).map((embeddingDim, i) => {
    const combiner = i === 0 ? 'mean' : 'sqrtn';
    return new emb.TableConfig({ name: `table_${i}`, vocabularySize: 9, embeddingDim, combiner });
  });
  const feature = (name: string, table: emb.TableConfig, dim: number): emb.FeatureConfig => {
    return new emb.FeatureConfig({ name, table, inputShape: [null, 4], outputShape: [null, dim] });
  };
  const features = {
    who: feature('who', users!, 2),
    Watched: { last: [feature('last', movies!, 3)], first: feature('first', movies!, 3) },
  };
  const nest = <T>(make: (name: string) => T): object => {
    return { who: make('who'), Watched: { last: [make('last')], first: make('first') } };
  };
  const symbols = new Map<string, tf.SymbolicTensor>();
  const input = (name: string, dtype: 'int32' | 'float32'): tf.SymbolicTensor => {
    symbols.set(name, tf.input({ shape: [4], dtype, name }));
    return symbols.get(name)!;
  };
  const given = nest((name) => input(name, 'int32'));
  const weights = nest((name) => input(`${name}_weights`, 'float32'));
  const results = emb.layers.distributedEmbedding({ features }).apply(given as never, { weights } as never);
  const { who, Watched } = results as unknown as {
    who: tf.SymbolicTensor;
    Watched: { last: tf.SymbolicTensor[]; first: tf.SymbolicTensor };
  };
  const inputs = [...symbols.values()];
  const outputs = [Watched.first, who, Watched.last[0]!];
  const values = inputs.map(({ dtype }, i) => {
    return dtype === 'int32' ? tf.randomUniform([3, 4], 0, 9, 'int32', i + 1) : random([3, 4], i + 1).abs();
  });
  return { model: tf.model({ inputs, outputs }), inputs: values };
}

export const OWN_SETTINGS_OF_KERAS: readonly (readonly [string, () => OwnModel])[] = [
  ['DistributedEmbedding, features in features, weighted', nestedFeatures],
];
