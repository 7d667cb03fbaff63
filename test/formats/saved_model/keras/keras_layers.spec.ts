/** SavedModels that Keras and TensorFlow wrote: layers where they tell of them, else functions. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends, skipOrFail } from '../../../helpers/backends.js';
import { expectClose } from '../../../helpers/tensors.js';

/** As gen_saved_models.py wrote them with Python. */
const FOLDER = fileURLToPath(new URL('../../../goldens/keras_saved_models/', import.meta.url));

interface Values {
  readonly dtype: string;
  readonly shape: number[];
  readonly values: (number | boolean)[];
}

interface Case {
  readonly name: string;
  readonly kind: 'layers' | 'function' | 'python only';
  readonly signature: string;
  readonly inputs: Readonly<Record<string, Values>>;
  readonly outputs: Readonly<Record<string, Values>>;
}

const CASES = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as Case[];

function tensors(inputs: Case['inputs']): tf.NamedTensorMap {
  const made = Object.entries(inputs).map(([name, { dtype, shape, values }]) => {
    return [name, tf.tensor(values as number[], shape, dtype.startsWith('int') ? 'int32' : (dtype as 'float32'))];
  });
  return Object.fromEntries(made) as tf.NamedTensorMap;
}

/** The values of outputs by name; tolerance 1e-6 of 1 + |value|. */
function expectOutputs(found: Readonly<Record<string, tf.Tensor>>, { name, outputs }: Case): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(outputs).sort());
  for (const [key, { shape, values }] of Object.entries(outputs)) {
    expect(found[key]!.shape).withContext(`${name}.${key}`).toEqual(shape);
    expectClose(found[key]!.dataSync(), values.map(Number), 0, `${name}.${key}`);
  }
}

describeForBackends(
  'savedModel.load of a SavedModel of Keras 2',
  () => {
    for (const golden of CASES.filter(({ kind }) => kind === 'layers')) {
      it(`gives layers that predict what Keras predicts: ${golden.name}`, async () => {
        const before = tf.memory().numTensors;
        const model = (await emb.savedModel.load(join(FOLDER, golden.name))) as tf.LayersModel;
        expect(model).toBeInstanceOf(tf.LayersModel);
        const inputs = tensors(golden.inputs);
        const only = Object.values(inputs);
        const results = [model.predict(only.length === 1 ? only[0]! : (inputs as never))].flat();
        const names = model.outputs.map(
          (each) => (each as unknown as { sourceLayer: tf.layers.Layer }).sourceLayer.name,
        );
        expectOutputs(Object.fromEntries(results.map((result, i) => [names[i]!, result])), golden);
        tf.dispose([inputs, results]);
        model.dispose();
        expect(tf.memory().numTensors).toBe(before);
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('savedModel.load of a SavedModel of Keras 2', () => {
  let folder: string;
  let directory: string;
  let before = 0;
  let warnings: jasmine.Spy;

  beforeEach(async () => {
    await tf.setBackend('cpu');
    warnings = spyOn(console, 'warn');
    before = tf.memory().numTensors;
    folder = mkdtempSync(join(tmpdir(), 'keras-'));
    directory = join(folder, 'model');
    cpSync(join(FOLDER, 'keras2_nested'), directory, { recursive: true });
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
    expect(tf.memory().numTensors).toBe(before);
  });

  it('gives a model that trains on by rows, and that is exported again', async () => {
    const model = (await emb.savedModel.load(directory)) as tf.LayersModel;
    expect(model.layers.some((layer) => layer instanceof emb.Embedding)).toBeTrue();
    const optimizer = emb.train.adagrad({ learningRate: 0.5 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const { inputs: given } = CASES.find(({ name }) => name === 'keras2_nested')!;
    const inputs = tensors(given);
    const labels = [tf.zeros([4, 2]), tf.zeros([4, 1])];
    const losses: number[] = [];
    for (let step = 0; step < 3; step++)
      losses.push(([await model.trainOnBatch(inputs, labels)].flat() as number[])[0]!);
    expect(losses[2]!).toBeLessThan(losses[0]!);
    await emb.savedModel.export(model, directory, { overwrite: true, includeOptimizer: true });
    const again = (await emb.savedModel.load(directory)) as tf.LayersModel;
    const listed = model.inputNames.map((name) => inputs[name]!);
    const predicted = [model, again].map((each) => each.predict(listed) as tf.Tensor[]);
    const [a, b] = predicted.map((results) => results.map((result) => result.dataSync()));
    expect(b).toEqual(a);
    // Layers of one name in several models have state of one name, too.
    const next = [await model.trainOnBatch(inputs, labels), await again.trainOnBatch(inputs, labels)];
    expect(next[1]).toEqual(next[0]!);
    const weights = [model, again].map((each) => each.weights.map((weight) => weight.read().dataSync()));
    expect(weights[1]).toEqual(weights[0]!);
    // tfjs forgets the weights of models in models.
    const kept = again.weights.map((weight) => weight.read() as tf.Tensor);
    again.optimizer.dispose();
    again.dispose();
    tf.dispose([kept, predicted]);
    model.dispose();
    optimizer.dispose();
    tf.dispose([inputs, labels]);
  });

  /** What is left is a function, or an error where tfjs-node is not installed. */
  async function expectFunction(from: string, why: RegExp): Promise<void> {
    const found = await emb.savedModel.load(from).catch((error: Error) => error);
    const said = warnings.calls.mostRecent().args.join(' ');
    expect(said).toContain(`${from} is a function and no layers model`);
    expect(said).toMatch(why);
    if (found instanceof emb.RuntimeError) return skipOrFail(found.message);
    expect(found).not.toBeInstanceOf(Error);
    expect(found).not.toBeInstanceOf(tf.LayersModel);
    (found as emb.RunnableSavedModel).dispose();
  }

  it('gives a function, and says why, where what Keras tells of the layers is damaged', async () => {
    const whole = readFileSync(join(directory, 'keras_metadata.pb'));
    const changed = (from: string, to: string): Buffer => {
      return Buffer.from(whole.toString('latin1').replaceAll(from, to), 'latin1');
    };
    const changes: readonly [Buffer, RegExp][] = [
      [changed('"Embedding"', '"Embeddong"'), /Embeddong/],
      [changed('"output_dim": 2', '"output_dim": 3'), /shape/],
      [changed('"name": "score"', '"name": "scory"'), /score/],
      [whole.subarray(0, whole.length / 2), /./],
      [Buffer.alloc(0), /./],
    ];
    for (const [i, [bytes, why]] of changes.entries()) {
      expect(bytes.equals(whole)).withContext(`change ${i}`).toBeFalse();
      const spoilt = join(folder, `spoilt${i}`);
      cpSync(directory, spoilt, { recursive: true });
      writeFileSync(join(spoilt, 'keras_metadata.pb'), bytes);
      await expectFunction(spoilt, why);
    }
  });

  it('gives a function where layers hold code in Python', () => {
    return expectFunction(join(FOLDER, 'keras2_lambda'), /Lambda/);
  });
});

describe('savedModel.load of a SavedModel that tells of no layers', () => {
  for (const golden of CASES.filter(({ kind }) => kind === 'function')) {
    it(`gives a function that answers what Python answers: ${golden.name}, ${golden.signature}`, async () => {
      spyOn(console, 'warn');
      const { signature } = golden;
      const run = await loaded(golden.name, signature);
      if (run === null) return;
      const before = tf.memory().numTensors;
      expect(Object.keys(run.signatures[signature]!.outputs).sort()).toEqual(Object.keys(golden.outputs).sort());
      const inputs = tensors(golden.inputs);
      const outputs = run.predict(inputs);
      expectOutputs(outputs, golden);
      tf.dispose([inputs, outputs]);
      expect(tf.memory().numTensors).toBe(before);
      run.dispose();
    });
  }

  /** The SavedModel, or null where tfjs-node is not installed, which the spec has then said. */
  async function loaded(name: string, signature: string): Promise<emb.RunnableSavedModel | null> {
    await tf.setBackend('cpu');
    const found = await emb.savedModel.load(join(FOLDER, name), { signature }).catch((error: Error) => error);
    if (found instanceof emb.RuntimeError) skipOrFail(found.message);
    else if (found instanceof Error) throw found;
    return found instanceof Error ? null : (found as emb.RunnableSavedModel);
  }

  it('refuses results that int32 cannot hold', async () => {
    const run = await loaded('functions', 'beyond');
    if (run === null) return;
    const before = tf.memory().numTensors;
    const [near, far] = [tf.tensor1d([-5], 'int32'), tf.tensor1d([5], 'int32')];
    for (const ids of [near, far]) expect(() => run.predict({ ids })).toThrowError(/outputs\.far.*1099511627/);
    tf.dispose([near, far]);
    expect(tf.memory().numTensors).toBe(before);
    expect(tf.getBackend()).toBe('cpu');
    run.dispose();
  });

  it('tells what TensorFlow says of a signature that it cannot run', async () => {
    const golden = CASES.find(({ kind }) => kind === 'python only')!;
    const run = await loaded(golden.name, golden.signature);
    if (run === null) return;
    const inputs = tensors(golden.inputs);
    expect(() => run.predict(inputs)).toThrowError(/`predict`.*keras3_saved.*Could not find variable/s);
    expect(tf.getBackend()).toBe('cpu');
    tf.dispose(inputs);
    run.dispose();
  });
});
