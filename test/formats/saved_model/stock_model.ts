/** How models of stock layers are made, with inputs for them. */
import * as tf from '@tensorflow/tfjs';

export interface StockModel {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
  /** Where `predict` of tfjs fails, or is wrong: the right result. */
  readonly right?: (model: tf.LayersModel, inputs: tf.Tensor[]) => tf.Tensor;
}

export type Make = () => StockModel;

export function random(shape: number[], seed = 3): tf.Tensor {
  return tf.randomUniform(shape, -2, 2, 'float32', seed);
}

export function ids(shape: number[], below: number): tf.Tensor {
  return tf.randomUniform(shape, 0, below, 'int32', 5);
}

/** Sizes that the model learns only from its input. */
export type Open = (number | null)[];

/** A sequential model; `open`: the shape that its input declares, where that is not the shape of the sample. */
export function stacked(shape: number[], layers: tf.layers.Layer[], open: Open = shape): StockModel {
  const input = tf.input({ shape: open });
  const outputs = layers.reduce<tf.SymbolicTensor>((x, layer) => layer.apply(x) as tf.SymbolicTensor, input);
  return { model: tf.model({ inputs: input, outputs }), inputs: [random([3, ...shape])] };
}

export function merged(layer: tf.layers.Layer, ...shapes: number[][]): StockModel {
  const inputs = shapes.map((shape) => tf.input({ shape }));
  const outputs = layer.apply(inputs) as tf.SymbolicTensor;
  return { model: tf.model({ inputs, outputs }), inputs: shapes.map((shape, i) => random([3, ...shape], i)) };
}

/** A recurrent layer with all that it gives. */
export function withStates(layer: tf.layers.Layer): StockModel {
  const input = tf.input({ shape: [5, 3] });
  const outputs = layer.apply(input) as unknown as tf.SymbolicTensor[];
  return { model: tf.model({ inputs: input, outputs }), inputs: [random([3, 5, 3])] };
}

/** Words of different lengths, 0 standing for none. */
export function masked(layers: tf.layers.Layer[], maskZero = true): StockModel {
  const words = tf.layers.embedding({ inputDim: 9, outputDim: 4, maskZero, inputLength: 5 });
  const model = tf.sequential({ layers: [words, ...layers] });
  const rows = [
    [1, 2, 3, 0, 0],
    [4, 0, 5, 6, 8],
    [0, 0, 0, 0, 0],
  ];
  return { model, inputs: [tf.tensor2d(rows)] };
}

/** The layer alone: in a model tfjs hands it a list, which it does not take. */
export function applied({ model, inputs }: StockModel): StockModel {
  return { model, inputs, right: () => model.layers.at(-1)!.apply(inputs[0]!) as tf.Tensor };
}

/** After another layer: tfjs writes the shape of the result over that of the input. */
export function afterPadding(layer: tf.layers.Layer): StockModel {
  return stacked(image, [tf.layers.zeroPadding2d(), layer]);
}

export function categories(length: number, outputMode: string): StockModel {
  const input = tf.input({ shape: [1, length], dtype: 'int32' });
  const flat = tf.layers.reshape({ targetShape: [length] }).apply(input) as tf.SymbolicTensor;
  const layer = tf.layers.categoryEncoding({ numTokens: 5, outputMode: outputMode as 'count' });
  return {
    model: tf.model({ inputs: input, outputs: layer.apply(flat) as tf.SymbolicTensor }),
    inputs: [ids([4, 1, length], 5)],
  };
}

/** The kernel of tfjs pairs means with channels of the last axis, whatever the axis. */
export function normalizedAlongFirst({ model, inputs }: StockModel): StockModel {
  const right = (): tf.Tensor => {
    const [beta, mean, variance] = model.layers[1]!.getWeights().map((weight) => weight.reshape([1, 3, 1, 1]));
    return inputs[0]!.sub(mean!).div(variance!.add(1e-3).sqrt()).add(beta!);
  };
  return { model, inputs, right: () => tf.tidy(right) };
}

export const image = [6, 7, 3];
export const channelsFirst = { dataFormat: 'channelsFirst' } as const;
