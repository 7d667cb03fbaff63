// runner: python
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../backends/tensorflow/python_tensorflow.js';
import { casesOf } from '../../forms/forms.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';
import { GraphDrawer } from './drawn_graphs.js';

const SCRIPT = fileURLToPath(new URL('weights_keras.py', import.meta.url));
const COUNT = casesOf('TFJS_EMBEDDINGS_KERAS_GRAPHS');
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 0) * 100_000;

type Weights = Record<string, number[][]>;

interface Result {
  readonly file: string;
  /** What Keras wrote of it. */
  readonly again: string;
  readonly error?: string;
  readonly weights: Weights;
  readonly outputs: number[][];
}

interface Case {
  readonly file: string;
  readonly inputs: readonly { shape: number[]; dtype: tf.DataType; values: number[] }[];
  readonly weights: Weights;
  readonly outputs: readonly number[][];
}

/** Every number of every weight is another one. */
function numberWeights(model: tf.LayersModel): void {
  let next = 0;
  for (const weight of model.weights) {
    const isVariance = weight.originalName.includes('variance');
    const size = tf.util.sizeFromShape(weight.shape as number[]);
    const values = Array.from(
      { length: size },
      () => (((++next * 37) % 1009) / 1009) * 0.9 + (isVariance ? 0.5 : -0.45),
    );
    tf.tidy(() => void weight.write(tf.tensor(values, weight.shape as number[])));
  }
}

function weightsOf(model: tf.LayersModel, path: readonly string[] = []): Weights {
  const found: Weights = {};
  for (const layer of model.layers) {
    const at = [...path, layer.name];
    if (layer instanceof tf.LayersModel) Object.assign(found, weightsOf(layer, at));
    else if (layer.weights.length > 0)
      found[at.join('>')] = layer.weights.map((weight) =>
        tf.tidy(() => Array.from((weight.read() as tf.Tensor).dataSync())),
      );
  }
  return found;
}

/** A model in a model that is called twice keeps its weights when it is disposed. */
function disposeWhole(model: tf.LayersModel): void {
  const weights = [...model.weights];
  model.dispose();
  for (const weight of weights) if (!(weight as unknown as { val: tf.Variable }).val.isDisposed) weight.dispose();
}

/** Ids of which each row begins with one that is not masked. */
function inputsFor(model: tf.LayersModel): tf.Tensor[] {
  return model.inputs.map(({ shape }, number) => {
    const sizes = [4, ...(shape.slice(1) as number[])];
    const values = Array.from({ length: tf.util.sizeFromShape(sizes) }, (_, i) => {
      const id = (i * 7 + number * 3 + (i >> 2)) % 5;
      return i % sizes[1]! === 0 ? Math.max(1, id) : id;
    });
    return tf.tensor(values, sizes, 'int32');
  });
}

/** Compares numbers by the names of layers; our order of the weights of a layer may be another one. */
function expectWeights(actual: Weights, expected: Weights, what: string): void {
  expect(Object.keys(actual).sort()).withContext(what).toEqual(Object.keys(expected).sort());
  const flat = (each: number[][] | undefined): number[] => (each ?? []).flat().sort((a, b) => a - b);
  for (const [layer, values] of Object.entries(expected))
    expectClose(flat(actual[layer]), flat(values), 0, `${what} ${layer}`, 0);
}

function predictions(model: tf.LayersModel, inputs: tf.Tensor[]): number[][] {
  return tf.tidy(() =>
    [model.predict(inputs.length === 1 ? inputs[0]! : inputs)].flat().map((each) => Array.from(each.dataSync())),
  );
}

describe('exportKeras of drawn graphs', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'graphs '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What Keras wrote of such a model is read with the same numbers. */
  async function expectRead(again: string, { inputs, weights, outputs }: Case): Promise<void> {
    const model = await emb.loadKerasModel(again);
    const read = weightsOf(model);
    expectWeights(Object.fromEntries(Object.keys(weights).map((name) => [name, read[name] ?? []])), weights, again);
    const given = inputs.map(({ values, shape, dtype }) => tf.tensor(values, shape, dtype));
    predictions(model, given).forEach((own, j) => expectClose(own, outputs[j]!, 0, `${again} output ${j}`, 2e-6));
    tf.dispose(given);
    disposeWhole(model);
  }

  it(
    'gives each layer of Keras the weights of the layer of its name, and the same predictions',
    async () => {
      const python = pythonWithKeras();
      if (typeof python === 'string') return skipOrFail(python);
      const before = tf.memory().numTensors;
      const cases: Case[] = [];
      let refused = 0;
      for (let seed = SEED; cases.length < COUNT; seed++) {
        const model = new GraphDrawer(seed).draw();
        numberWeights(model);
        const file = join(folder, `${seed}.keras`);
        try {
          await emb.exportKeras(model, file);
        } catch (error) {
          // What Keras computes in another way is refused.
          expect(error).withContext(`${seed}`).toBeInstanceOf(emb.ValueError);
          refused++;
          disposeWhole(model);
          continue;
        }
        const inputs = inputsFor(model);
        const outputs = predictions(model, inputs);
        const given = inputs.map((each) => ({
          shape: each.shape,
          dtype: each.dtype,
          values: Array.from(each.dataSync()),
        }));
        cases.push({ file, inputs: given, weights: weightsOf(model), outputs });
        tf.dispose(inputs);
        disposeWhole(model);
      }
      expect(refused).toBeLessThan(2 * COUNT);
      const list = join(folder, 'cases.json');
      writeFileSync(list, JSON.stringify(cases));
      const results = JSON.parse(python.run(SCRIPT, list).trim().split('\n').at(-1)!) as Result[];
      for (const [i, { file, weights, outputs }] of cases.entries()) {
        const result = results[i]!;
        if (result.error !== undefined) fail(`${file}: ${result.error}`);
        if (result.error !== undefined) continue;
        expectWeights(result.weights, weights, file);
        outputs.forEach((own, j) => expectClose(result.outputs[j]!, own, 0, `${file} output ${j}`, 2e-6));
        await expectRead(result.again, cases[i]!);
      }
      expect(tf.memory().numTensors).toBe(before);
    },
    PYTHON_TIMEOUT_MS,
  );
});
