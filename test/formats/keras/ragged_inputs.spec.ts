/** Inputs of rows of different lengths in files of Keras. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

describe('ragged inputs in .keras files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keras ragged '));
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('keep their mark', async () => {
    await expectNoLeakAsync(async () => {
      const visits = emb.input({ shape: [null], ragged: true, name: 'visits' });
      const age = emb.input({ shape: [2], name: 'age' });
      const rows = emb.layers.raggedEmbedding({ inputDim: 9, outputDim: 2, combiner: 'mean' }).apply(visits);
      const joined = tf.layers.concatenate().apply([rows as tf.SymbolicTensor, age]) as tf.SymbolicTensor;
      const model = tf.model({ inputs: [visits, age], outputs: joined });
      const path = join(folder, 'ragged.keras');
      await emb.exportKeras(model, path);
      const loaded = await emb.loadKerasModel(path);
      const marks = loaded.inputs.map(({ sourceLayer }) => (sourceLayer as { ragged?: boolean }).ragged === true);
      expect(marks).toEqual([true, false]);
      const given = {
        visits: emb.RaggedTensor.fromRows([[1, 2, 8], []]),
        age: tf.tensor2d([
          [1, 2],
          [3, 4],
        ]),
      };
      const [before, after] = [model, loaded].map((each) => each.predict(given as never) as tf.Tensor);
      expect(after!.arraySync()).toEqual(before!.arraySync());
      tf.dispose([before!, after!, given.age]);
      model.dispose();
      loaded.dispose();
    });
  });
});
