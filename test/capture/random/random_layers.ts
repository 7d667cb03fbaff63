/** Models with each layer that draws random numbers in training. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { GRU } from '../../../src/layers/recurrent/gru.js';

type Symbol = tf.SymbolicTensor;

export const [STEPS, WIDTH] = [3, 4];

/** [batch, STEPS, WIDTH] in, a tensor of any shape out; weights are such that masks show. */
export type Layered = (x: Symbol) => Symbol;

const apply = (layer: tf.layers.Layer, x: Symbol | Symbol[]): Symbol => layer.apply(x) as Symbol;

const cellArgs = {
  units: 5,
  recurrentInitializer: 'glorotNormal',
  dropout: 0.3,
  recurrentDropout: 0.4,
} as const;

const through =
  (make: () => tf.layers.Layer): Layered =>
  (x) =>
    apply(make(), x);

const keras = (): tf.layers.Layer => new GRU({ ...cellArgs }) as tf.layers.Layer;

function images(x: Symbol): Symbol {
  const frames = apply(tf.layers.reshape({ targetShape: [STEPS, 2, 2, 1] }), x);
  const layer = tf.layers.convLstm2d({ filters: 2, kernelSize: 2, ...cellArgs, padding: 'same' } as never);
  return apply(layer, frames);
}

/** Layers that draw in each step, by name. */
export const RANDOM: Readonly<Record<string, Layered>> = {
  dropout: through(() => tf.layers.dropout({ rate: 0.4 })),
  'dropout of a noise shape': through(() => tf.layers.dropout({ rate: 0.4, noiseShape: [null, 1, WIDTH] as never })),
  gaussianNoise: through(() => tf.layers.gaussianNoise({ stddev: 0.5 })),
  gaussianDropout: through(() => tf.layers.gaussianDropout({ rate: 0.3 })),
  alphaDropout: through(() => tf.layers.alphaDropout({ rate: 0.3 })),
  attention: (x) => emb.layers.attention({ dropout: 0.4 }).apply([x, x]),
  additiveAttention: (x) => emb.layers.additiveAttention({ dropout: 0.4 }).apply([x, x]),
  multiHeadAttention: (x) =>
    emb.layers.multiHeadAttention({ numHeads: 2, keyDim: 3, dropout: 0.4 }).apply([x, x]) as Symbol,
  lstm: through(() => tf.layers.lstm(cellArgs)),
  'lstm of dropout alone': through(() => tf.layers.lstm({ ...cellArgs, recurrentDropout: 0 })),
  gru: through(() => tf.layers.gru(cellArgs)),
  'gru of recurrent dropout alone': through(() => tf.layers.gru({ ...cellArgs, dropout: 0 })),
  simpleRNN: through(() => tf.layers.simpleRNN({ ...cellArgs, returnSequences: true })),
  'gru of Keras': through(keras),
  convLstm2d: images,
  'lstm both ways': through(() =>
    tf.layers.bidirectional({ layer: tf.layers.lstm(cellArgs) as tf.RNN, mergeMode: 'concat' }),
  ),
  'stacked cells': through(() =>
    tf.layers.rnn({ cell: [tf.layers.lstmCell(cellArgs), tf.layers.gruCell(cellArgs)] as never }),
  ),
  'one cell': through(() => tf.layers.rnn({ cell: tf.layers.simpleRNNCell(cellArgs) as never })),
  'dropout of each step': through(() => tf.layers.timeDistributed({ layer: tf.layers.dropout({ rate: 0.4 }) })),
  'noise of each step': through(() => tf.layers.timeDistributed({ layer: tf.layers.gaussianNoise({ stddev: 0.5 }) })),
};

/** A model of one such layer, behind a trained one and before another. */
export function modelOf(layered: Layered): tf.LayersModel {
  const input = emb.input({ shape: [STEPS, WIDTH] });
  const first = apply(tf.layers.dense({ units: WIDTH, activation: 'tanh' }), input);
  const found = layered(first);
  const flat = found.shape.length === 2 ? found : apply(tf.layers.flatten(), found);
  return tf.model({ inputs: input, outputs: apply(tf.layers.dense({ units: 1 }), flat) });
}

/** Masks that cells have kept from their last call, which nobody else frees. */
export function freeMasks(model: tf.LayersModel): void {
  const free = (value: unknown): void => {
    const { cell, cells, dropoutMask, recurrentDropoutMask, forwardLayer, backwardLayer } = value as Record<
      string,
      never
    >;
    tf.dispose([dropoutMask ?? [], recurrentDropoutMask ?? []]);
    for (const each of [cell, forwardLayer, backwardLayer, ...(cells ?? [])]) if (each !== undefined) free(each);
  };
  model.layers.forEach(free);
}
