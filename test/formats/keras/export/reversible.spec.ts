import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { goldenPath } from '../keras_cases.js';

describe('ReversibleEmbedding', () => {
  let folder: string;
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'reversible '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const kind of ['tied', 'untied'] as const) {
    it(`goes to Keras and back with both of its calls, ${kind}`, async () => {
      await expectNoLeakAsync(async () => {
        const x = tf.tensor2d([[0, 1, 2, 3, 6]], [1, 5], 'int32');
        const model = await emb.loadKerasModel(
          goldenPath(`keras_files/drawn/reversible_${kind === 'tied' ? 0 : 1}.keras`),
        );
        const path = join(folder, `${kind}.keras`);
        await emb.exportKeras(model, path);
        const again = await emb.loadKerasModel(path);
        const [before, after] = [model, again].map((each) => each.predict(x) as tf.Tensor) as [tf.Tensor, tf.Tensor];
        expect(before.shape).toEqual([1, 5, 7]);
        expect(after.dataSync()).toEqual(before.dataSync());
        expect(again.layers.length).toBe(model.layers.length);
        tf.dispose([x, before, after]);
        model.dispose();
        again.dispose();
      });
    });
  }

  it('refuses ids that it has not', async () => {
    const model = await emb.loadKerasModel(goldenPath('keras_files/drawn/reversible_0.keras'));
    const x = tf.tensor2d([[0, 1, 2, 3, 7]], [1, 5], 'int32');
    expect(() => model.predict(x)).toThrowError(/7/);
    x.dispose();
    model.dispose();
  });
});
