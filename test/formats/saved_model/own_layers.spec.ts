// runner: python
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { existsSync } from 'node:fs';
import { addonPath } from '../../../src/backends/native/addon.js';
import { skipOrFail } from '../../helpers/backends.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { Exports, expectSameOutputs, folderName, namesOf, scramble, valuesByName } from './exports.js';
import { OWN_MODELS } from './own_models.js';

/** |a - b| / (1 + |b|). */
const TOLERANCE = 1e-6;

describe('a SavedModel of layers of this package', () => {
  let exports: Exports;
  let python: Python | string;
  const expected = new Map<string, Record<string, number[]>>();
  const problems = new Map<string, string>();

  async function exportOne(title: string, make: (typeof OWN_MODELS)[number][1]): Promise<void> {
    const { model, inputs, fed, options = {}, call = false } = make();
    scramble(model);
    const predicted = [model.predict(inputs)].flat();
    expected.set(title, valuesByName(namesOf(model.outputs), predicted));
    const before = tf.memory().numTensors;
    const names = namesOf(model.inputs);
    const given = fed ?? Object.fromEntries(inputs.map((input, i) => [names[i]!, input]));
    await exports.add(folderName(title), model, given, options, { call });
    expect(tf.memory().numTensors).withContext(title).toBe(before);
    // A layer that was applied by hand keeps its weights.
    const weights = model.weights.map((weight) => weight.read() as tf.Tensor);
    model.dispose();
    tf.dispose([inputs, predicted, weights]);
  }

  beforeAll(async () => {
    for (const each of [expected, problems]) each.clear();
    await tf.setBackend('cpu');
    exports = new Exports();
    python = existsSync(addonPath()) ? pythonWithTensorFlow() : 'the native addon is not built';
    if (typeof python !== 'string') exports.start(python, emb.opLibraryPath());
    const tensors = tf.memory().numTensors;
    for (const [title, make] of OWN_MODELS) {
      await exportOne(title, make).catch((error: Error) => problems.set(title, error.stack!));
    }
    expect(tf.memory().numTensors).toBe(tensors);
    if (typeof python !== 'string') await exports.finish();
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => exports.remove());

  for (const [title] of OWN_MODELS) {
    it(`predicts in Python what it predicts here: ${title}`, () => {
      expect(problems.get(title)).toBeUndefined();
      if (typeof python === 'string') return skipOrFail(python);
      expectSameOutputs(exports.result(folderName(title)), expected.get(title)!, TOLERANCE);
    });
  }

  it('has variables by the names of the weights, a shared table once', () => {
    if (typeof python === 'string') return skipOrFail(python);
    expect(exports.result('a_shared_table').variables).toEqual([['tables/movies/embeddings:0', [9, 3], 'float32']]);
    const { variables, trainable } = exports.result('integerLookup');
    expect(variables.map(([, shape, dtype]) => [shape, dtype])).toContain([[7, 2], 'int32']);
    expect(trainable.length).toBe(1);
  });

  it('has typed and shaped signatures', () => {
    if (typeof python === 'string') return skipOrFail(python);
    const { inputSpecs, outputSpecs } = exports.result('ragged_as_components');
    expect(inputSpecs).toEqual({
      seen_input_values: { dtype: 'int32', shape: [null] },
      seen_input_row_splits: { dtype: 'int32', shape: [null] },
    });
    expect(Object.values(outputSpecs)).toEqual([{ dtype: 'float32', shape: [null, 2] }]);
  });
});
