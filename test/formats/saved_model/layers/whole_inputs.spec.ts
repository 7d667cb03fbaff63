// runner: python
/** Layers of whole numbers and of truths: Python computes of their exports what they compute here. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { skipOrFail } from '../../../helpers/backends.js';
import {
  PYTHON_TIMEOUT_MS,
  pythonWithTensorFlow,
  type Python,
} from '../../../backends/tensorflow/python_tensorflow.js';
import { Exports, expectSameOutputs, folderName, namesOf, scramble, valuesByName } from '../exports.js';

type Dtype = 'int32' | 'bool' | 'float32';
type Symbolic = tf.SymbolicTensor;

const { operation } = emb.layers;
const TOLERANCE = 1e-5;

/** Of steps [batch, 6, 4]. */
const LAYERS: Readonly<Record<string, () => tf.layers.Layer>> = {
  dense: () => tf.layers.dense({ units: 3, activation: 'tanh' }),
  flatten: () => tf.layers.flatten(),
  batchNormalization: () => tf.layers.batchNormalization(),
  layerNormalization: () => tf.layers.layerNormalization(),
  lstm: () => tf.layers.lstm({ units: 2 }),
  gru: () => tf.layers.gru({ units: 2, returnSequences: true }),
  simpleRNN: () => tf.layers.simpleRNN({ units: 2 }),
  bidirectional: () => tf.layers.bidirectional({ layer: tf.layers.gru({ units: 2 }) as tf.RNN, mergeMode: 'concat' }),
  timeDistributed: () => tf.layers.timeDistributed({ layer: tf.layers.dense({ units: 2 }) }),
  conv1d: () => tf.layers.conv1d({ filters: 2, kernelSize: 2 }),
  averagePooling1d: () => tf.layers.averagePooling1d({ poolSize: 2 }),
  maxPooling1d: () => tf.layers.maxPooling1d({ poolSize: 2 }),
  reLU: () => tf.layers.reLU(),
  prelu: () => tf.layers.prelu(),
  leakyReLU: () => tf.layers.leakyReLU(),
  elu: () => tf.layers.elu(),
  softmax: () => tf.layers.softmax({ axis: -1 }),
  masking: () => tf.layers.masking({ maskValue: 1 }),
  ...Object.fromEntries(
    ['sigmoid', 'softplus', 'softsign', 'hardSigmoid', 'swish', 'gelu', 'relu6', 'selu'].map((activation) => [
      activation,
      () => tf.layers.activation({ activation: activation as 'relu' }),
    ]),
  ),
};

const MERGED: Readonly<Record<string, () => tf.layers.Layer>> = {
  add: () => tf.layers.add(),
  average: () => tf.layers.average(),
  multiply: () => tf.layers.multiply(),
  maximum: () => tf.layers.maximum(),
  minimum: () => tf.layers.minimum(),
  dot: () => tf.layers.dot({ axes: [2, 2] }),
};

const PAIRS: readonly (readonly [Dtype, Dtype])[] = [
  ['int32', 'int32'],
  ['int32', 'float32'],
  ['float32', 'int32'],
];

const slice = (start: number | null, stop: number | null): object => ({ start, stop, step: null });
const ALL = slice(null, null);
const OPERATIONS: Readonly<Record<string, [name: string, operands?: unknown[] | undefined, settings?: object]>> = {
  'x[:, -2:]': ['GetItem', [{ tensor: 0 }, [ALL, slice(-2, null)]]],
  'x[:, :9]': ['GetItem', [{ tensor: 0 }, [ALL, slice(null, 9)]]],
  'x[:, -9:3]': ['GetItem', [{ tensor: 0 }, [ALL, slice(-9, 3)]]],
  'x[:, 1:-1]': ['GetItem', [{ tensor: 0 }, [ALL, slice(1, -1)]]],
  'x[:, -4:-1, -1]': ['GetItem', [{ tensor: 0 }, [ALL, slice(-4, -1), -1]]],
  'x[:, -2, 1:]': ['GetItem', [{ tensor: 0 }, [ALL, -2, slice(1, null)]]],
  'logical_and(x, 2)': ['LogicalAnd', [{ tensor: 0 }, 2]],
  'logical_and(x, 0)': ['LogicalAnd', [{ tensor: 0 }, 0]],
  'x * 0.5': ['Multiply', [{ tensor: 0 }, 0.5]],
  'x + 1': ['Add', [{ tensor: 0 }, 1]],
  'x > 0.5': ['Greater', [{ tensor: 0 }, 0.5]],
  'where(x, 1, 0.5)': ['Where', [{ tensor: 0 }, 1, 0.5]],
  'relu(x)': ['Relu'],
  'square(x)': ['Square'],
  'exp(x)': ['Exp'],
  'sum(x, 1)': ['Sum', undefined, { axis: 1 }],
  'mean(x, 1)': ['Mean', undefined, { axis: 1 }],
  'max(x, 1)': ['Max', undefined, { axis: 1 }],
  'cumsum(x, 1)': ['Cumsum', undefined, { axis: 1 }],
  'softmax(x)': ['Softmax'],
};

function sample(dtype: Dtype, shape: number[], seed: number): tf.Tensor {
  const size = tf.util.sizeFromShape(shape);
  const values = Array.from({ length: size }, (_, i) => ((i * 7 + seed * 3) % 5) - 1);
  if (dtype === 'bool')
    return tf.tensor(
      values.map((value) => value > 0),
      shape,
      'bool',
    );
  return tf.tensor(dtype === 'float32' ? values.map((value) => value / 2) : values, shape, dtype);
}

interface Made {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
  /** The same layer of floats: some kernels of tfjs refuse whole numbers, or cut what they compute of them. */
  readonly ofFloats?: tf.LayersModel;
}

function withTwin(layer: tf.layers.Layer, dtype: Dtype): Made {
  const [model, ofFloats] = ([dtype, 'float32'] as const).map((each) => {
    const input = tf.input({ shape: [6, 4], dtype: each });
    return tf.model({ inputs: input, outputs: layer.apply(input) as Symbolic });
  });
  return { model: model!, inputs: [sample(dtype, [3, 6, 4], 0)], ofFloats: ofFloats! };
}

function modelOf(layer: tf.layers.Layer, dtypes: readonly Dtype[], open = false): Made {
  const inputs = dtypes.map((dtype) => tf.input({ shape: [open ? null : 6, 4], dtype }));
  const outputs = layer.apply(inputs.length === 1 ? inputs[0]! : inputs) as Symbolic;
  const model = tf.model({ inputs, outputs });
  return { model, inputs: dtypes.map((dtype, i) => sample(dtype, [3, 6, 4], i)) };
}

const CASES: readonly (readonly [string, () => Made])[] = [
  ...Object.entries(LAYERS).flatMap(([name, make]) =>
    (['int32', 'bool'] as const).map((dtype) => [`${name} of ${dtype}`, (): Made => withTwin(make(), dtype)] as const),
  ),
  ...Object.entries(MERGED).flatMap(([name, make]) =>
    PAIRS.map((pair) => [`${name} of ${pair.join(' and ')}`, (): Made => modelOf(make(), pair)] as const),
  ),
  ...Object.entries(OPERATIONS).flatMap(([name, [op, operands, settings = {}]]) =>
    (['int32', 'bool', 'float32'] as const).flatMap((dtype) =>
      [false, true].map((open) => {
        const make = (): Made =>
          modelOf(operation({ operation: op, settings, ...(operands && { operands }) } as never), [dtype], open);
        return [`${name} of ${dtype}${open ? ', any number of steps' : ''}`, make] as const;
      }),
    ),
  ),
];

describe('a SavedModel of whole numbers and truths', () => {
  let exports: Exports;
  let python: Python | string;
  const expected = new Map<string, Record<string, number[]>>();
  const problems = new Map<string, string>();

  beforeAll(async () => {
    for (const each of [expected, problems]) each.clear();
    await tf.setBackend('cpu');
    exports = new Exports();
    python = pythonWithTensorFlow();
    if (typeof python !== 'string') exports.start(python);
    for (const [title, make] of CASES) {
      const before = tf.memory().numTensors;
      try {
        const { model, inputs, ofFloats } = make();
        scramble(model);
        const floats = ofFloats === undefined ? [] : [inputs[0]!.toFloat()];
        const asked = ofFloats === undefined ? inputs : floats;
        const predicted = [(ofFloats ?? model).predict(asked.length === 1 ? asked[0]! : asked)].flat();
        expected.set(title, valuesByName(namesOf(model.outputs), predicted));
        const names = namesOf(model.inputs);
        const given = Object.fromEntries(inputs.map((input, i) => [names[i]!, input]));
        await exports.add(folderName(title) + expected.size, model, given);
        const weights = model.weights.map((weight) => weight.read());
        ofFloats?.dispose();
        model.dispose();
        tf.dispose([inputs, predicted, floats, weights]);
        expect(tf.memory().numTensors).withContext(title).toBe(before);
      } catch (error) {
        problems.set(title, (error as Error).message);
      }
    }
    if (typeof python !== 'string') await exports.finish();
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => exports.remove());

  for (const [title] of CASES) {
    it(`predicts in Python what it predicts here: ${title}`, () => {
      expect(problems.get(title)).toBeUndefined();
      if (problems.has(title)) return;
      if (typeof python === 'string') return skipOrFail(python);
      const number = [...expected.keys()].indexOf(title) + 1;
      expectSameOutputs(exports.result(folderName(title) + number), expected.get(title)!, TOLERANCE);
    });
  }
});
