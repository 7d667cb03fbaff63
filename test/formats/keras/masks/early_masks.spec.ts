/** Recurrent layers that begin with states and masked steps: what they give before the first step that counts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { expectClose, expectNoLeakAsync } from '../../../helpers/tensors.js';
import { expectSameAsKeras, goldenPath, inputsOf, type KerasCase } from '../keras_cases.js';

const FOLDER = goldenPath('keras_files/early_masks');
const LISTED = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as (KerasCase & { file: string })[];
const CASES = LISTED.filter(({ file }) => !file.includes('attention')).map((each) => ({
  ...each,
  name: each.file,
  path: join(FOLDER, each.file),
}));

describe('Masked steps before the first one that counts', () => {
  let folder: string;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'early masks '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const golden of CASES) {
    it(`give what they give in Keras: ${golden.name}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(golden.path);
        expectSameAsKeras(model, golden);
        await emb.exportKeras(model, join(folder, golden.name), { overwrite: true });
        const again = await emb.loadKerasModel(join(folder, golden.name));
        expectSameAsKeras(again, golden);
        again.dispose();
        model.dispose();
      });
    });

    it(`give the same as a SavedModel that TensorFlow runs: ${golden.name}`, async () => {
      const model = await emb.loadKerasModel(golden.path);
      const path = join(folder, `${golden.name}.saved`);
      await emb.savedModel.export(model, path);
      const run = await emb.savedModel.load(path, { signature: 'serving_default' }).catch((error: Error) => error);
      if (run instanceof emb.RuntimeError) return skipOrFail(run.message);
      const inputs = inputsOf(model, golden);
      const outputs = (run as emb.RunnableSavedModel).predict(inputs as never);
      // Named by the layer, or by what puts a mask on its result: that, then the states.
      const names = Object.keys(outputs).sort((a, b) => (a.startsWith('with') ? -1 : a < b ? -1 : 1));
      expect(names.length).toBe(golden.outputs.length);
      names.forEach((name, i) => expectClose(outputs[name]!.dataSync(), golden.outputs[i]!.values, 1, name));
      tf.dispose([inputs, outputs]);
      (run as emb.RunnableSavedModel).dispose();
      model.dispose();
    });
  }
});
