/** What `adapt()` of Keras found: in `.keras` files of both, and in SavedModels of Keras 2 as tables and variables. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../../helpers/tensors.js';
import { goldenPath } from '../keras_cases.js';

interface Values {
  readonly shape: number[];
  readonly values: number[];
}

interface LearnedCase {
  readonly file: string;
  readonly rows: Readonly<Record<string, (number | string)[][]>>;
  readonly outputs: Values;
  readonly targets: Values;
  readonly after: Values;
}

const FOLDER = goldenPath('keras_files/learned');
const CASES = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as LearnedCase[];
const TOLERANCE = 2e-6;

function load(path: string): Promise<tf.LayersModel> {
  return path.endsWith('.keras') ? emb.loadKerasModel(path) : (emb.savedModel.load(path) as Promise<tf.LayersModel>);
}

/** The inputs of a model; a pipeline makes those of strings and of one number in each row. */
function inputsOf(model: tf.LayersModel, { rows }: LearnedCase): tf.NamedTensorMap {
  const { pipeline } = model;
  const all = Object.entries(rows);
  const isMade = (values: (number | string)[][]): boolean => pipeline !== null && values[0]!.length === 1;
  const columns = all.filter(([, values]) => isMade(values)).map(([name, values]) => [name, values.flat()] as const);
  const given = all.filter(([, values]) => !isMade(values));
  const tensors = given.map(([name, values]) => {
    return [name, tf.tensor(values as number[][], undefined, name === 'numbers' ? 'float32' : 'int32')] as const;
  });
  const made = pipeline?.apply(Object.fromEntries(columns)) as tf.NamedTensorMap | undefined;
  return { ...made, ...Object.fromEntries(tensors) };
}

function expectOutputs(
  model: tf.LayersModel,
  inputs: tf.NamedTensorMap,
  { shape, values }: Values,
  what: string,
): void {
  const output = model.predict(inputs as never) as tf.Tensor;
  expect(output.shape).toEqual(shape);
  expectClose(output.dataSync(), values, values.map(Math.abs), what, TOLERANCE);
  output.dispose();
}

describe('What layers of Keras have learned', () => {
  let folder: string;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'keras learned '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const golden of CASES) {
    it(`is there: predictions, and a step, are those of Keras; written again too: ${golden.file}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await load(join(FOLDER, golden.file));
        expect(model).toBeInstanceOf(tf.LayersModel);
        const inputs = inputsOf(model, golden);
        expectOutputs(model, inputs, golden.outputs, golden.file);
        await model.save(`file://${folder}/${golden.file}_saved`);
        await emb.savedModel.export(model, join(folder, `${golden.file}_exported`), { overwrite: true });
        await emb.exportKeras(model, join(folder, `${golden.file}_again.keras`), { overwrite: true });
        const copies = [
          await tf.loadLayersModel(`file://${folder}/${golden.file}_saved/model.json`),
          (await emb.savedModel.load(join(folder, `${golden.file}_exported`))) as tf.LayersModel,
          await emb.loadKerasModel(join(folder, `${golden.file}_again.keras`)),
        ];
        for (const copy of copies) expectOutputs(copy, inputs, golden.outputs, `${golden.file}, a copy`);
        const targets = tf.tensor(golden.targets.values, golden.targets.shape);
        for (const each of [model, ...copies]) {
          const optimizer = emb.train.sgd({ learningRate: 0.05 });
          each.compile({ optimizer, loss: 'meanSquaredError' });
          await each.trainOnBatch(inputs as never, targets);
          expectOutputs(each, inputs, golden.after, `${golden.file}, after a step`);
          optimizer.dispose();
          const kept = each.weights.map((weight) => weight.read() as tf.Tensor);
          each.dispose();
          // tfjs forgets the weights of models in models.
          tf.dispose(kept);
        }
        tf.dispose([inputs, targets]);
      });
    });
  }

  it('is what TensorFlow computes with an exported layer of factors', async () => {
    const golden = CASES.find(({ file }) => file === 'k2_numbers.keras')!;
    const model = await load(join(FOLDER, golden.file));
    const path = join(folder, 'run');
    await emb.savedModel.export(model, path);
    const run = await emb.savedModel.load(path, { signature: 'serving_default' }).catch((error: Error) => error);
    if (run instanceof emb.RuntimeError) return skipOrFail(run.message);
    const inputs = inputsOf(model, golden);
    const outputs = (run as emb.RunnableSavedModel).predict(inputs);
    expectClose(outputs['score']!.dataSync(), golden.outputs.values, 1, 'run', TOLERANCE);
    tf.dispose([inputs, outputs]);
    (run as emb.RunnableSavedModel).dispose();
    model.dispose();
  });

  it('is run by TensorFlow, too, where a signature is asked for: functions of adapt() are not run', async () => {
    const golden = CASES.find(({ file }) => file === 'k2_numbers')!;
    const path = join(FOLDER, golden.file);
    const run = await emb.savedModel.load(path, { signature: 'serving_default' }).catch((error: Error) => error);
    if (run instanceof emb.RuntimeError) return skipOrFail(run.message);
    expect(run).not.toBeInstanceOf(Error);
    const { rows } = golden;
    const inputs = {
      numbers: tf.tensor(rows['numbers'] as number[][]),
      code: tf.tensor(rows['code'] as number[][], undefined, 'int32'),
      pair: tf.tensor(rows['pair'] as number[][], undefined, 'int32'),
    };
    const outputs = (run as emb.RunnableSavedModel).predict(inputs);
    expectClose(outputs['score']!.dataSync(), golden.outputs.values, 1, 'run', TOLERANCE);
    tf.dispose([inputs, outputs]);
    (run as emb.RunnableSavedModel).dispose();
  });

  /** Loads a changed copy of a SavedModel: what makes no layers model is told, and then a function. */
  async function toldOf(name: string, change: (file: string, bytes: Buffer) => Buffer): Promise<string> {
    const copy = join(folder, `changed ${name}`);
    rmSync(copy, { recursive: true, force: true });
    cpSync(join(FOLDER, name), copy, { recursive: true });
    for (const file of readdirSync(copy).filter((each) => each.endsWith('.pb'))) {
      writeFileSync(join(copy, file), change(file, readFileSync(join(copy, file))));
    }
    const warnings = spyOn(console, 'warn');
    const found = await emb.savedModel.load(copy).catch((error: Error) => error);
    expect(found).not.toBeInstanceOf(tf.LayersModel);
    if (!(found instanceof Error)) (found as emb.RunnableSavedModel).dispose();
    return warnings.calls.allArgs().join(' ');
  }

  const replaced = (bytes: Buffer, from: string, to: string): Buffer => {
    return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
  };

  it('is no layers model where the ops have other boundaries than those that were found', async () => {
    const told = await toldOf('k2_numbers', (file, bytes) => {
      return file === 'keras_metadata.pb' ? replaced(bytes, '"num_bins": 4', '"num_bins": 5') : bytes;
    });
    expect(told).toMatch(/bins\.bin_boundaries.*those of its ops/);
  });

  it('is no layers model where a table has no tokens', async () => {
    const told = await toldOf('k2_strings', (file, bytes) => {
      return file === 'saved_model.pb' ? replaced(bytes, '_initialize', '_initialise') : bytes;
    });
    expect(told).toMatch(/vocabulary.*get_vocabulary/);
  });
});
