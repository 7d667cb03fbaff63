// runner: python
import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { skipOrFail } from '../../helpers/backends.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { Exports, expectSameOutputs, folderName, namesOf, scramble, valuesByName } from './exports.js';
import { STOCK_MODELS } from './stock_models.js';

/** |a - b| / (1 + |b|), for layers of a few hundred products at most. */
const TOLERANCE = 1e-5;

/** Refused in refusals.spec.ts, each by name. */
const REFUSED = ['randomWidth'];
/** Fields and values that the docs name beside layers. */
const OTHER_WORDS = new Set(['stateful', 'predict', 'tfIdf', 'numOovIndices', 'outputShape']);

/** Base classes, symbolic inputs, and second names of pooling. */
const OTHER_EXPORTS = /^(Layer|RNNCell|input|avgPool(ing)?\dd|(max|globalMax)Pool\dd)$/;

/** The classes of a layer and of all that it holds. */
function classesIn(layer: tf.layers.Layer): string[] {
  const {
    layer: wrapped,
    forwardLayer,
    backwardLayer,
    cell,
    cells,
    layers,
  } = layer as unknown as Record<string, unknown>;
  const inner = [wrapped, forwardLayer, backwardLayer, cell, cells, layers].flat() as (tf.layers.Layer | undefined)[];
  return [layer.getClassName(), ...inner.filter((each) => each instanceof tf.layers.Layer).flatMap(classesIn)];
}

describe('a SavedModel of stock layers', () => {
  let exports: Exports;
  let python: Python | string;
  const expected = new Map<string, Record<string, number[]>>();
  const problems = new Map<string, string>();
  const shown = new Set<string>();
  let tensors = 0;

  async function exportOne(title: string, make: (typeof STOCK_MODELS)[number][1]): Promise<void> {
    tf.engine().startScope();
    const { model, inputs, right } = make();
    scramble(model);
    classesIn(model).forEach((name) => shown.add(name));
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
    for (const each of [expected, problems, shown]) each.clear();
    await tf.setBackend('cpu');
    exports = new Exports();
    tensors = tf.memory().numTensors;
    python = pythonWithTensorFlow();
    if (typeof python !== 'string') exports.start(python);
    for (const [title, make] of STOCK_MODELS) {
      await exportOne(title, make).catch((error: Error) => problems.set(title, error.message));
    }
    if (typeof python !== 'string') await exports.finish();
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => exports.remove());

  it('leaves no tensors', () => {
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('is shown for every class of layers in tfjs, or its layers are refused', () => {
    const factories = Object.keys(tf.layers).filter((name) => !OTHER_EXPORTS.test(name));
    expect(factories.length).toBeGreaterThan(60);
    const known = new Set([...shown].map((name) => name.toLowerCase()));
    const missing = factories.filter((name) => !known.has(name.toLowerCase()));
    expect(missing.sort()).toEqual([...REFUSED]);
    const docs = readFileSync(new URL('../../../docs/serving.md', import.meta.url), 'utf8');
    const [, section] = /## What cannot be exported\n([^]*?)\n## /.exec(docs)!;
    for (const name of REFUSED) expect(section).toContain(`\`${name}\``);
    const named = [...section!.matchAll(/`([a-z]+(?:[A-Z0-9][a-z0-9]*)*)`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) {
      const isKnown = name in tf.layers || name in emb.layers || OTHER_WORDS.has(name);
      expect(isKnown).withContext(name).toBeTrue();
    }
  });

  for (const [title] of STOCK_MODELS) {
    it(`predicts in Python what it predicts here: ${title}`, () => {
      expect(problems.get(title)).toBeUndefined();
      if (typeof python === 'string') return skipOrFail(python);
      expectSameOutputs(exports.result(folderName(title)), expected.get(title)!, TOLERANCE);
    });
  }
});
