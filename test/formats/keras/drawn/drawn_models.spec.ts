// runner: python
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { PYTHON_TIMEOUT_MS, pythonWithKeras, type Python } from '../../../backends/tensorflow/python_tensorflow.js';
import { casesOf } from '../../../forms/forms.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { outcomeOf, type DrawnModel } from './drawn_models.js';
import { exportOutcomes } from './exported_models.js';

const SCRIPT = fileURLToPath(new URL('draw_models.py', import.meta.url));
const COUNT = casesOf('TFJS_EMBEDDINGS_KERAS_MODELS');
const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 0) * 100_000;
/** Of one run of Python. */
const MOST = 100;

describe('drawn models of Keras', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'drawn '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function draw(python: Python, version: number, first: number, count: number): DrawnModel[] {
    const lines = python.run(SCRIPT, folder, `${version}`, `${first}`, `${count}`).split('\n');
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as DrawnModel);
  }

  for (const version of [2, 3]) {
    it(
      `of Keras ${version} predict and train as they do there, or are refused by name`,
      async () => {
        const python = pythonWithKeras();
        if (typeof python === 'string') return skipOrFail(python);
        spyOn(console, 'warn');
        const refused: string[] = [];
        let drawn = 0;
        let written = 0;
        for (let first = 0; first < COUNT; first += MOST) {
          const cases = draw(python, version, SEED + first, Math.min(MOST, COUNT - first));
          expect(cases.length).toBe(Math.min(MOST, COUNT - first));
          for (const model of cases) {
            if (model.skipped !== undefined) continue;
            drawn++;
            const { kind, detail } = await outcomeOf(model);
            if (kind === 'refused') refused.push(detail);
            else expect([model.seed, kind, detail]).toEqual([model.seed, 'equal', jasmine.any(String)]);
          }
          if (version === 2) continue;
          // What is written of them are the same models to Keras.
          for (const { seed, refused: why, differences } of await exportOutcomes(cases, folder, python)) {
            if (why === undefined) written++;
            expect([seed, differences]).toEqual([seed, []]);
          }
        }
        expect(drawn).toBeGreaterThan(0.8 * COUNT);
        if (version === 3) expect(written).toBeGreaterThan(0.5 * drawn);
        expect(refused.length)
          .withContext(refused.join('\n'))
          .toBeLessThanOrEqual(Math.ceil(0.05 * drawn) + 1);
      },
      PYTHON_TIMEOUT_MS,
    );
  }
});
