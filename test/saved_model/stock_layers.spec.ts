import * as tf from '@tensorflow/tfjs';
import { skipOrFail } from '../helpers/backends.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../backends/tensorflow/python_tensorflow.js';
import { Exports, expectSameOutputs, folderName, namesOf, scramble, valuesByName } from './exports.js';
import { STOCK_MODELS } from './stock_models.js';

/** |a - b| / (1 + |b|), for layers of a few hundred products at most. */
const TOLERANCE = 1e-5;

describe('a SavedModel of stock layers', () => {
  let exports: Exports;
  let python: Python | string;
  const expected = new Map<string, Record<string, number[]>>();
  const problems = new Map<string, string>();
  let tensors = 0;

  async function exportOne(title: string, make: (typeof STOCK_MODELS)[number][1]): Promise<void> {
    tf.engine().startScope();
    const { model, inputs, right } = make();
    scramble(model);
    const predicted = [right?.(model, inputs) ?? model.predict(inputs)].flat();
    expected.set(title, valuesByName(namesOf(model.outputs), predicted));
    const names = namesOf(model.inputs);
    const before = tf.memory().numTensors;
    await exports.add(folderName(title), model, Object.fromEntries(inputs.map((input, i) => [names[i]!, input])));
    expect(tf.memory().numTensors).withContext(title).toBe(before);
    // tfjs forgets a mask, and the weights of models in models.
    const weights = model.weights.map((weight) => weight.read() as tf.Tensor);
    model.dispose();
    tf.dispose([inputs, predicted, weights]);
    tf.engine().endScope();
  }

  beforeAll(async () => {
    await tf.setBackend('cpu');
    exports = new Exports();
    tensors = tf.memory().numTensors;
    for (const [title, make] of STOCK_MODELS) {
      await exportOne(title, make).catch((error: Error) => problems.set(title, error.message));
    }
    python = pythonWithTensorFlow();
    if (typeof python !== 'string') exports.run(python);
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => exports.remove());

  it('leaves no tensors', () => {
    expect(tf.memory().numTensors).toBe(tensors);
  });

  for (const [title] of STOCK_MODELS) {
    it(`predicts in Python what it predicts here: ${title}`, () => {
      expect(problems.get(title)).toBeUndefined();
      if (typeof python === 'string') return skipOrFail(python);
      expectSameOutputs(exports.result(folderName(title)), expected.get(title)!, TOLERANCE);
    });
  }
});
