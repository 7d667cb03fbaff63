// runner: python
/** Names of Keras that TensorFlow.js has otherwise live through saving, loading and both exports. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../../src/node.js';
import { readSignatures } from '../../../../../src/formats/saved_model/signatures.js';
import { kerasNamesOf } from '../../../../../src/tfjs/models/keras_names.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras, type Python } from '../../../../backends/tensorflow/python_tensorflow.js';

const SCRIPT = fileURLToPath(new URL('kept_names_keras.py', import.meta.url));
const NAMES = ['user id', '_score', 'größe', 'plain'];

interface Told {
  readonly outputs: readonly string[];
  readonly values: readonly number[];
}

const lastLine = (text: string): Told[] => JSON.parse(text.trim().split('\n').at(-1)!) as Told[];

describe('names of Keras in models', () => {
  let folder: string;
  let python: Python;
  let made: Told[];

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'kept names '));
    const found = pythonWithKeras();
    if (typeof found === 'string') throw new Error(found);
    python = found;
    made = lastLine(python.run(SCRIPT, 'make', folder));
  }, PYTHON_TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What a model computes of inputs by the names of the file. */
  function valuesOf(model: tf.LayersModel): number[] {
    return tf.tidy(() => {
      const x = Object.fromEntries(NAMES.map((name, at) => [name, tf.fill([1, 2], 1 + at)]));
      const outputs = (model as emb.NamedInputsModel).predict(x) as tf.Tensor[];
      return outputs.map((each) => each.dataSync()[0]!);
    });
  }

  function expectNear(found: readonly number[], wanted: readonly number[]): void {
    expect(found.length).toBe(wanted.length);
    found.forEach((each, i) => expect(each).toBeCloseTo(wanted[i]!, 5));
  }

  it(
    'live through files of every kind',
    async () => {
      const before = tf.memory().numTensors;
      const exported: string[] = [];
      for (const [at, kind] of ['keyed', 'listed'].entries()) {
        const model = await emb.loadKerasModel(join(folder, `${kind}.keras`));
        const { outputs, values } = made[at]!;
        expectNear(valuesOf(model), values);

        await model.save(`file://${folder}/${kind}`);
        const again = await emb.loadLayersModel(`file://${folder}/${kind}/model.json`);
        expectNear(valuesOf(again), values);
        const loss = Object.fromEntries(outputs.map((name) => [name, 'meanSquaredError']));
        again.compile({ optimizer: 'sgd', loss });
        const y = Object.fromEntries(outputs.map((name) => [name, tf.ones([1, 1])]));
        const x = Object.fromEntries(NAMES.map((name) => [name, tf.ones([1, 2])]));
        expect(((await again.trainOnBatch(x, y)) as number[]).length).toBe(3);
        tf.dispose([x, y]);

        const files = [1, 2].map((time) => join(folder, `${kind} ${time}.keras`)) as [string, string];
        await emb.exportKeras(model, files[0]);
        const imported = await emb.loadKerasModel(files[0]);
        expectNear(valuesOf(imported), values);
        await emb.exportKeras(imported, files[1]);
        exported.push(...files);
        for (const each of [model, again, imported]) each.dispose();
      }
      lastLine(python.run(SCRIPT, 'check', ...exported)).forEach(({ outputs, values }, i) => {
        const wanted = made[Math.floor(i / 2)]!;
        expect(outputs).toEqual(wanted.outputs);
        expectNear(values, wanted.values);
      });
      expect(tf.memory().numTensors).toBe(before);
    },
    PYTHON_TIMEOUT_MS,
  );

  it('are those of signatures, as far as Python takes them', async () => {
    const model = await emb.loadKerasModel(join(folder, 'keyed.keras'));
    const [signature] = readSignatures(model, undefined);
    expect(signature!.outputs.map(({ name }) => name)).toEqual(['a_out', 'z_out']);
    expect(signature!.inputs.map(({ name }) => name)).toEqual(['_score', 'gr__e', 'plain', 'user_id']);
    model.dispose();
  });

  it('that do not fit a model are left out', () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    for (const kerasNames of [7, { inputs: { names: ['a', 'b'] }, outputs: 'x', layers: { dense: 3 } }, {}]) {
      model.setUserDefinedMetadata({ kerasNames });
      expect(kerasNamesOf(model)).toEqual({ inputs: null, outputs: null, layers: {} });
    }
    model.dispose();
  });
});
