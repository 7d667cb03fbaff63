// runner: python
/** Models with attention, masks and operations that were loaded, trained and exported: Python's Keras predicts the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';
import { plain } from '../saved_model/exports.js';
import { attentionCases, inputsOf, tensorsOf } from './keras_cases.js';

const SCRIPT = fileURLToPath(new URL('predict_keras.py', import.meta.url));

interface PythonResult {
  readonly file: string;
  readonly error?: string;
  readonly outputs?: readonly { readonly values: number[] }[];
}

describe('exportKeras of attention and operations', () => {
  let folder: string;
  let python: ReturnType<typeof pythonWithKeras>;
  const expected = new Map<string, number[][]>();
  let results = new Map<string, PythonResult>();

  beforeAll(async () => {
    expected.clear();
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'attention exports '));
    const cases: object[] = [];
    for (const golden of attentionCases()) {
      const model = await emb.loadKerasModel(golden.path);
      const byName = inputsOf(model, golden);
      const inputs = model.inputNames.map((name) => byName[name]!);
      const one = inputs.length === 1 ? inputs[0]! : inputs;
      if (golden.targets !== undefined) {
        const targets = tensorsOf(golden.targets);
        model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.05 }), loss: 'meanSquaredError' });
        await model.trainOnBatch(one, targets.length === 1 ? targets[0]! : targets);
        tf.dispose(targets);
      }
      const file = join(folder, `${golden.name}.keras`);
      await emb.exportKeras(model, file);
      const outputs = [model.predict(one)].flat();
      expected.set(
        golden.name,
        outputs.map((each) => Array.from(each.dataSync())),
      );
      cases.push({ file, needs_keras_rs: false, inputs: inputs.map(plain) });
      tf.dispose([inputs, outputs]);
      model.dispose();
    }
    python = pythonWithKeras();
    if (typeof python === 'string') return;
    const list = join(folder, 'cases.json');
    writeFileSync(list, JSON.stringify(cases));
    const all = JSON.parse(python.run(SCRIPT, list).trim().split('\n').at(-1)!) as PythonResult[];
    results = new Map(all.map((each) => [each.file, each]));
  }, PYTHON_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true }));

  for (const { name } of attentionCases()) {
    it(`gives Python the same predictions: ${name}`, () => {
      if (typeof python === 'string') return skipOrFail(python);
      const { outputs, error } = results.get(join(folder, `${name}.keras`))!;
      expect(error).toBeUndefined();
      const wanted = expected.get(name)!;
      expect(outputs?.length).toBe(wanted.length);
      outputs?.forEach(({ values }, i) => {
        expectClose(values, wanted[i]!, wanted[i]!.map(Math.abs), `${name}, output ${i}`, 1e-5);
      });
    });
  }
});
