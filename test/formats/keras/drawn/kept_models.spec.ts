/** Models that Keras trained for an epoch, kept with what they compute before and after it: without Python. */
import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { goldenPath } from '../keras_cases.js';
import { outcomeOf, type DrawnModel } from './drawn_models.js';

describe('kept models of Keras', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const list of ['trained_layers', 'drawn']) {
    const text = readFileSync(goldenPath(`keras_files/${list}.json`), 'utf8');
    const { cases } = JSON.parse(text) as { cases: DrawnModel[] };
    for (const drawn of cases) {
      const what = [...new Set(drawn.layers)].join(', ');
      it(`predict and train as in Keras ${drawn.keras}, ${drawn.file}: ${what}`, async () => {
        spyOn(console, 'warn');
        const outcome = await outcomeOf({ ...drawn, file: goldenPath(`keras_files/${list}/${drawn.file}`) });
        expect(outcome).toEqual({ kind: 'equal', detail: '' });
      });
    }
  }
});
