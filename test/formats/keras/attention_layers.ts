/** Models of the layers of attention, with masks, and of operations. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { OwnModel } from '../saved_model/exports.js';

type Symbolic = tf.SymbolicTensor;
type Make = (rows: Symbolic, ids: Symbolic) => Symbolic[];

const ROWS = [
  [3, 7, 0, 0],
  [5, 5, 2, 8],
  [1, 0, 0, 0],
];
const { layers } = emb;

const op = (operation: string, inputs: Symbolic | Symbolic[], more: object = {}): Symbolic =>
  layers.operation({ operation, ...more }).apply(inputs as Symbolic);

/** Rows of an embedding with a mask, and what is made of them; the results have no masks. */
function model(make: Make): OwnModel {
  const ids = tf.input({ shape: [4], dtype: 'int32' });
  const rows = layers.embedding({ inputDim: 9, outputDim: 4, maskZero: true }).apply(ids) as unknown as Symbolic;
  const outputs = make(rows, ids).map((each) => op('Multiply', each, { operands: [{ tensor: 0 }, 2] }));
  return { model: tf.model({ inputs: ids, outputs }), inputs: [tf.tensor2d(ROWS, [3, 4], 'int32')] };
}

export const ATTENTION_MODELS: readonly (readonly [string, () => OwnModel])[] = [
  [
    'multiHeadAttention, masked',
    () => model((x) => [layers.multiHeadAttention({ numHeads: 2, keyDim: 3 }).apply([x, x])]),
  ],
  [
    'multiHeadAttention, causal, gated, with its weights',
    () =>
      model((x) => {
        const args = { numHeads: 2, keyDim: 3, useCausalMask: true, useGate: true, returnAttentionScores: true };
        return [layers.multiHeadAttention(args).apply([x, x])].flat();
      }),
  ],
  [
    'multiHeadAttention, three inputs and a mask of its own',
    () =>
      model((x, ids) => {
        const key = tf.layers.dense({ units: 3 }).apply(x) as Symbolic;
        const [rows, columns] = [1, 2].map((axis) => op('ExpandDims', ids, { settings: { axis } }));
        const args = { numHeads: 1, keyDim: 2, valueDim: 3, outputShape: 5, useBias: false, slidingWindow: 3 };
        return [layers.multiHeadAttention(args).apply([x, x, key, op('LessEqual', [columns!, rows!])])];
      }),
  ],
  ['attention', () => model((x) => [layers.attention({ useScale: true, useCausalMask: true }).apply([x, x])])],
  ['attention, concat', () => model((x) => [layers.attention({ scoreMode: 'concat', useScale: true }).apply([x, x])])],
  ['additiveAttention', () => model((x) => [layers.additiveAttention().apply([x, x])])],
  ['globalAveragePooling1d, masked', () => model((x) => [layers.globalAveragePooling1d().apply(x)])],
  ['unitNormalization', () => model((x) => [layers.unitNormalization({ axis: [1, 2] }).apply(x)])],
  [
    'operation',
    () =>
      model((x, ids) => {
        const places = op('Subtract', op('Cumsum', op('OnesLike', ids), { settings: { axis: 1 } }), {
          operands: [{ tensor: 0 }, 1],
        });
        const counts = op('Cast', op('NotEqual', ids, { operands: [{ tensor: 0 }, 0] }));
        const sum = op('Add', [op('Multiply', [x, op('ExpandDims', counts)]), op('ExpandDims', op('Cast', places))]);
        const last = op('GetItem', sum, { operands: [{ tensor: 0 }, [{}, -1]] });
        const some = op('GetItem', sum, { operands: [{ tensor: 0 }, [{}, { start: 1, stop: 3 }, null, 2]] });
        const products = op('Matmul', [x, op('Transpose', x, { settings: { axes: [0, 2, 1] } })]);
        return [
          last,
          some,
          op('Softmax', op('Sqrt', op('Abs', sum))),
          op('Reshape', products, { settings: { newshape: [-1, 16] } }),
          op('Mean', op('Stack', [sum, x], { settings: { axis: 1 } }), { settings: { axis: [1, 2] } }),
          op('Concatenate', [op('Max', sum, { settings: { axis: 1 } }), op('Squeeze', op('ExpandDims', last))]),
          op('TrueDivide', op('Where', [op('Greater', [sum, x]), sum, x]), { operands: [{ tensor: 0 }, 3] }),
        ];
      }),
  ],
];
