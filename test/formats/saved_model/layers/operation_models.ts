/** Models of one operation each: all that are written as ops of TensorFlow. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { random, type Make } from '../stock_model.js';

type Settings = NonNullable<emb.OperationArgs['settings']>;

const operation = (name: string, settings: Settings = {}, operands: emb.OperationArgs['operands'] = null) => {
  return emb.layers.operation({ operation: name, settings, operands });
};

/** Of numbers between 0 and 1, where every function has a value. */
function modelOf(count: number, apply: (parts: tf.SymbolicTensor[]) => tf.SymbolicTensor): ReturnType<Make> {
  const inputs = Array.from({ length: count }, () => tf.input({ shape: [3, 4] }));
  const parts = inputs.map((each) => operation('Sigmoid').apply(each) as tf.SymbolicTensor);
  return { model: tf.model({ inputs, outputs: apply(parts) }), inputs: inputs.map((_, i) => random([2, 3, 4], 5 + i)) };
}

const apply = (layer: tf.layers.Layer, x: unknown): tf.SymbolicTensor => layer.apply(x as tf.SymbolicTensor) as never;
const floats = (x: tf.SymbolicTensor): tf.SymbolicTensor => apply(operation('Cast', { dtype: 'float32' }), x);

const UNARY = [
  ...['Sqrt', 'Rsqrt', 'Reciprocal', 'Exp', 'Expm1', 'Log', 'Log1p', 'Sin', 'Cos', 'Tan', 'Tanh', 'Sinh', 'Cosh'],
  ...['Arcsin', 'Arccos', 'Arctan', 'Erf', 'Floor', 'Ceil', 'Sigmoid', 'Abs', 'Absolute', 'Negative', 'Sign'],
  ...['Square', 'Relu', 'Copy', 'ConvertToTensor', 'StopGradient', 'OnesLike', 'ZerosLike', 'Softmax', 'Transpose'],
];
const BINARY = [
  ...['Add', 'Subtract', 'Multiply', 'Divide', 'TrueDivide', 'FloorDivide', 'Mod', 'Power', 'Maximum', 'Minimum'],
];
const COMPARED = ['Equal', 'NotEqual', 'Greater', 'GreaterEqual', 'Less', 'LessEqual'];
const REDUCED = ['Sum', 'Mean', 'Max', 'Min', 'Prod'];
const half = { value: 0.5, dtype: 'float32' } as const;

const WITH_SETTINGS: readonly (readonly [name: string, settings: Settings])[] = [
  ...REDUCED.flatMap((name): [string, Settings][] => [
    [name, { axis: 1 }],
    [name, { axis: [1, 2], keepdims: true }],
  ]),
  ['Cumsum', { axis: 1 }],
  ['ExpandDims', { axis: [1, -1] }],
  ['Reshape', { newshape: [-1, 2, 6] }],
  ['Transpose', { axes: [0, 2, 1] }],
  ['Swapaxes', { axis1: 1, axis2: 2 }],
];

export const OPERATION_MODELS: readonly (readonly [string, Make])[] = [
  ...UNARY.map((name): [string, Make] => [name, () => modelOf(1, ([x]) => apply(operation(name), x))]),
  ...BINARY.map((name): [string, Make] => [name, () => modelOf(2, (both) => apply(operation(name), both))]),
  ...BINARY.map((name): [string, Make] => [
    `${name} of a number`,
    () => modelOf(1, ([x]) => apply(operation(name, {}, [0.75, { tensor: 0 }]), x)),
  ]),
  ...COMPARED.map((name): [string, Make] => [name, () => modelOf(2, (both) => floats(apply(operation(name), both)))]),
  ...WITH_SETTINGS.map(([name, settings]): [string, Make] => [
    `${name} ${JSON.stringify(settings)}`,
    () => modelOf(1, ([x]) => apply(operation(name, settings), x)),
  ]),
  ...['Any', 'All'].map((name): [string, Make] => [
    name,
    () =>
      modelOf(1, ([x]) => {
        const above = apply(operation('Greater', {}, [{ tensor: 0 }, half]), x);
        return floats(apply(operation(name, { axis: 2 }), above));
      }),
  ]),
  [
    'LogicalAnd, Where',
    () =>
      modelOf(2, ([x, y]) => {
        const [above, below] = [
          apply(operation('Greater', {}, [{ tensor: 0 }, half]), x),
          apply(operation('Less', {}, [{ tensor: 0 }, half]), y),
        ];
        return apply(operation('Where'), [apply(operation('LogicalAnd'), [above, below]), x, y]);
      }),
  ],
  ['Concatenate', () => modelOf(2, (both) => apply(operation('Concatenate', { axis: 1 }), both))],
  ['Stack', () => modelOf(2, (both) => apply(operation('Stack', { axis: 2 }), both))],
  ['Squeeze', () => modelOf(1, ([x]) => apply(operation('Squeeze', { axis: 1 }), apply(operation('Sum', { axis: 1, keepdims: true }), x)))], // prettier-ignore
  ['GetItem', () => modelOf(1, ([x]) => apply(operation('GetItem', {}, [{ tensor: 0 }, [{}, { start: 1 }, -1]]), x))],
  ['Matmul', () => modelOf(2, ([x, y]) => apply(operation('Matmul'), [x, apply(operation('Transpose', { axes: [0, 2, 1] }), y)]))], // prettier-ignore
];
