// runner: python
/** What `exportKeras` makes of every layer: a file that Python's Keras predicts alike with, or an error that names the layer. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { largestDifference, plain, scramble, type PlainTensor } from '../saved_model/exports.js';
import { OWN_MODELS } from '../saved_model/own_models.js';
import { STOCK_MODELS } from '../saved_model/stock_models.js';
import { OWN_SETTINGS_OF_KERAS, STOCK_SETTINGS_OF_KERAS } from './export_settings.js';
import { REFUSED } from './refused_exports.js';

const SCRIPT = fileURLToPath(new URL('predict_keras.py', import.meta.url));
/** |a - b| / (1 + |b|), for layers of a few hundred products at most. */
const TOLERANCE = 1e-5;
/** Base classes, symbolic inputs, layers of objects of emb.preprocessing, what is for training alone, second names of pooling. */
const OTHER_EXPORTS = /^(Layer|RNNCell|input|preprocessing|candidateScores|avgPool(ing)?\dd|(max|globalMax)Pool\dd)$/;

interface Made {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
  readonly right?: (model: tf.LayersModel, inputs: tf.Tensor[]) => tf.Tensor;
}

interface PythonResult {
  readonly file: string;
  readonly error?: string;
  readonly outputs?: readonly { readonly values: number[] }[];
}

interface Written {
  readonly file: string;
  readonly needs_keras_rs: boolean;
  readonly inputs: PlainTensor[];
}

const MODELS: readonly (readonly [title: string, make: () => Made, isOwn: boolean])[] = [
  ...[...STOCK_MODELS, ...STOCK_SETTINGS_OF_KERAS].map(([title, make]) => [title, make, false] as const),
  // Keras RS has no such combiner, and exportKeras says so.
  ...[...OWN_MODELS.filter(([title]) => !title.endsWith(', max')), ...OWN_SETTINGS_OF_KERAS].map(
    ([title, make]) => [title, make, true] as const,
  ),
];

/** The classes of a layer and of all that it holds. */
function classesIn(layer: tf.layers.Layer): string[] {
  const held = layer as unknown as Record<string, unknown>;
  const inner = ['layer', 'forwardLayer', 'cell', 'cells', 'layers'].flatMap((field) => held[field]);
  const layers = inner.filter((each): each is tf.layers.Layer => each instanceof tf.layers.Layer);
  return [layer.getClassName(), ...layers.flatMap(classesIn)];
}

describe('exportKeras of every layer', () => {
  let folder: string;
  let tensors = 0;
  let python: ReturnType<typeof pythonWithKeras>;
  const refused = new Map<string, Error>();
  const expected = new Map<string, number[][]>();
  const shown = new Set<string>();
  let results = new Map<string, PythonResult>();
  const fileOf = (title: string): string => join(folder, `${title.replace(/\W+/g, '_')}.keras`);

  async function exportOne(title: string, make: () => Made, isOwn: boolean): Promise<Written | null> {
    tf.engine().startScope();
    const { model, inputs, right } = make();
    scramble(model);
    classesIn(model).forEach((name) => shown.add(name.replace('TfjsEmbeddings>', '')));
    const file = fileOf(title);
    const before = tf.memory().numTensors;
    await emb.exportKeras(model, file).catch((error: Error) => refused.set(title, error));
    expect(tf.memory().numTensors).withContext(title).toBe(before);
    // TensorFlow.js itself fails on some of those that are refused.
    const predicted = refused.has(title) ? [] : [right?.(model, inputs) ?? model.predict(inputs)].flat();
    expected.set(
      title,
      predicted.map((each) => Array.from(each.dataSync())),
    );
    const written = { file, needs_keras_rs: isOwn, inputs: inputs.map(plain) };
    // tfjs forgets a mask, and the weights of models in models.
    const weights = model.weights.map((weight) => weight.read() as tf.Tensor);
    model.dispose();
    tf.dispose([inputs, predicted, weights]);
    tf.engine().endScope();
    return refused.has(title) ? null : written;
  }

  beforeAll(async () => {
    for (const each of [refused, expected, shown]) each.clear();
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'keras layers '));
    tensors = tf.memory().numTensors;
    const cases: Written[] = [];
    for (const [title, make, isOwn] of MODELS) {
      const written = await exportOne(title, make, isOwn);
      if (written !== null) cases.push(written);
    }
    python = pythonWithKeras();
    if (typeof python === 'string') return;
    const list = join(folder, 'cases.json');
    writeFileSync(list, JSON.stringify(cases));
    const all = JSON.parse(python.run(SCRIPT, list).trim().split('\n').at(-1)!) as PythonResult[];
    results = new Map(all.map((each) => [each.file, each]));
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true }));

  it('leaves no tensors', () => {
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('is shown for every class of layers of TensorFlow.js and of this package', () => {
    const known = new Set([...shown].map((name) => name.toLowerCase()));
    const factories = [...Object.keys(tf.layers), ...Object.keys(emb.layers)].filter(
      (name) => !OTHER_EXPORTS.test(name),
    );
    expect(factories.length).toBeGreaterThan(70);
    expect(factories.filter((name) => !known.has(name.toLowerCase()))).toEqual(['randomWidth']);
  });

  for (const [title] of MODELS) {
    const field = REFUSED.get(title);
    if (field !== undefined) {
      it(`refuses by name: ${title}`, () => {
        expect(refused.get(title)?.name).toBe('ValueError');
        const { argument = '' } = refused.get(title) as Error & { argument?: string };
        expect(argument.slice(argument.indexOf('.') + 1)).toBe(field);
        expect(refused.get(title)?.message).toContain(`The layer "${argument.split('.')[0]}" is a `);
        expect(existsSync(fileOf(title))).toBeFalse();
      });
      continue;
    }
    it(`gives Python the same predictions: ${title}`, () => {
      expect(refused.get(title)?.message).toBeUndefined();
      if (typeof python === 'string') return skipOrFail(python);
      const { outputs, error } = results.get(fileOf(title))!;
      expect(error).toBeUndefined();
      const difference = (outputs ?? []).map(({ values }, i) => largestDifference(values, expected.get(title)![i]!));
      expect(difference.length).toBe(expected.get(title)!.length);
      expect(Math.max(...difference)).toBeLessThanOrEqual(TOLERANCE);
    });
  }

  it('refuses layers that the docs name', () => {
    const docs = readFileSync(new URL('../../../docs/serving.md', import.meta.url), 'utf8');
    const [, section] = /## Keras files\n([^]*?)\n## /.exec(docs)!;
    const named = [...section!.matchAll(/`(\w+)`/g)].map(([, name]) => name!.toLowerCase());
    const classes = [...refused.values()].flatMap(({ message }) => {
      const [, name] = /\.className`.* received (?:TfjsEmbeddings>)?(\w+)/.exec(message) ?? [];
      return name === undefined ? [] : [name.toLowerCase()];
    });
    expect(new Set(classes).size).toBeGreaterThan(5);
    for (const name of classes) expect(named).toContain(name);
  });

  it('refuses no model that is not among these', () => {
    const titles = new Set(MODELS.map(([title]) => title));
    expect([...REFUSED.keys()].filter((title) => !titles.has(title))).toEqual([]);
  });
});
