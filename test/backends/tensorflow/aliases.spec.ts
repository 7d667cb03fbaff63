/** The update ops, called as nobody should: with inputs on the buffers that they write. */
import * as tf from '@tensorflow/tfjs';
import { packHyper, NEUTRAL_HYPER } from '../../../src/rules/hyper.js';
import { bagAttributes } from '../../../src/backends/tensorflow/op_inputs.js';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

const [ROWS, DIM] = [4, 1];
const OPTIONS = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;

/** Another tensor on the same buffer. */
function reshaped(tensor: tf.Tensor, shape: number[]): tf.Tensor {
  const { TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = nodeBackend().binding;
  const attributes = [
    { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
    { name: 'Tshape', type: TF_ATTR_TYPE, value: TF_INT32 },
  ];
  return nodeBackend().executeSingleOutput('Reshape', attributes, [tensor, tf.tensor1d(shape, 'int32')]);
}

/** The bits of a tensor as int32, on the same buffer. */
function asIntegers(tensor: tf.Tensor): tf.Tensor {
  const { TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = nodeBackend().binding;
  const attributes = [
    { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
    { name: 'type', type: TF_ATTR_TYPE, value: TF_INT32 },
  ];
  return nodeBackend().executeSingleOutput('Bitcast', attributes, [tensor]);
}

/** Numbers whose bits are 0, 1, 2 and 3, so that they are ids and splits too. A buffer of TensorFlow's own. */
function written(): tf.Tensor {
  const numbers = new Float32Array(Int32Array.of(0, 1, 2, 3).buffer);
  return nodeBackend().executeSingleOutput('EmbeddingCopy', [], [tf.tensor2d(numbers, [ROWS, DIM])]);
}

interface Inputs {
  table: tf.Tensor;
  slot0?: tf.Tensor;
  slot1?: tf.Tensor;
  gradient: tf.Tensor;
  values: tf.Tensor;
  rowSplits: tf.Tensor;
  weights: tf.Tensor;
}

function inputs(slots: number): Inputs {
  return {
    table: written(),
    ...(slots > 0 && { slot0: written() }),
    ...(slots > 1 && { slot1: written() }),
    gradient: tf.ones([3, DIM]),
    values: tf.tensor1d([0, 1, 2], 'int32'),
    rowSplits: tf.tensor1d([0, 1, 2, 3], 'int32'),
    weights: tf.ones([3]),
  };
}

function run(op: string, given: Inputs): void {
  const hyper = tf.tensor1d(packHyper({ ...NEUTRAL_HYPER, learningRate: 1, beta1: 0.5, beta2: 0.5 }));
  nodeBackend().executeMultipleOutputs(op, bagAttributes(nodeBackend(), OPTIONS), [...Object.values(given), hyper], 0);
}

/** Inputs that lie where `buffer` does, by argument; four ids then, as a buffer has four numbers. */
const ALIASES: Readonly<Record<string, (buffer: tf.Tensor) => Partial<Inputs>>> = {
  gradient: (buffer) => ({ ...fourIds(), gradient: reshaped(buffer, [4, DIM]) }),
  values: (buffer) => ({ ...fourIds(), values: asIntegers(reshaped(buffer, [4])) }),
  rowSplits: (buffer) => ({ rowSplits: asIntegers(reshaped(buffer, [4])) }),
  weights: (buffer) => ({ ...fourIds(), weights: reshaped(buffer, [4]) }),
};

function fourIds(): Partial<Inputs> {
  return {
    gradient: tf.ones([4, DIM]),
    values: tf.tensor1d([0, 1, 2, 3], 'int32'),
    rowSplits: tf.tensor1d([0, 1, 2, 3, 4], 'int32'),
    weights: tf.ones([4]),
  };
}

describeTensorFlow('an update op whose inputs lie on the buffers that it writes', () => {
  // The ops of this package register with the first kernel.
  beforeEach(() => {
    const lookup = {
      table: tf.ones([1, 1]),
      values: tf.tensor1d([0], 'int32'),
      rowSplits: tf.tensor1d([0, 1], 'int32'),
    };
    tf.dispose([tf.engine().runKernel('EmbeddingBag', lookup, OPTIONS as never), ...Object.values(lookup)]);
  });

  for (const [op, slots] of [
    ['EmbeddingSparseApplySgd', 0],
    ['EmbeddingSparseApplyAdagrad', 1],
    ['EmbeddingSparseApplyRowWiseAdagrad', 1],
    ['EmbeddingSparseApplyAdam', 2],
  ] as const) {
    const buffers = (['table', 'slot0', 'slot1'] as const).slice(0, 1 + slots);

    it(`refuses it and writes nothing: ${op}`, () => {
      for (const buffer of buffers) {
        const others = buffers.filter((name) => name !== buffer);
        const makes = { ...ALIASES, ...Object.fromEntries(others.map((name) => [name, () => ({})])) };
        for (const [argument, make] of Object.entries(makes)) {
          tf.tidy(() => {
            const given = inputs(slots);
            const target = given[buffer]!;
            const call = { ...given, ...make(target) };
            if (others.includes(argument as 'table')) call[argument as 'table'] = reshaped(target, [ROWS, DIM]);
            expect(() => run(op, call))
              .withContext(`${argument} on ${buffer}`)
              .toThrowError(/table and slots must not share memory with another input/);
            expect([...new Int32Array(target.dataSync().slice().buffer)]).toEqual([0, 1, 2, 3]);
          });
        }
      }
    });

    it(`runs where nothing is shared: ${op}`, () => {
      tf.tidy(() => {
        const given = { ...inputs(slots), ...fourIds() };
        expect(() => run(op, given)).not.toThrow();
        expect(Math.abs(given.table.dataSync()[0]!)).toBeGreaterThan(0.1);
      });
    });
  }
});
