/** Models of Keras 2 and 3 whose inputs, of numbers and of strings, have names that TensorFlow.js does not take. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../../src/node.js';
import { expectClose, expectNoLeakAsync } from '../../../../helpers/tensors.js';

interface NamedCase {
  readonly file: string;
  readonly rows: Readonly<Record<string, (number | string)[]>>;
  readonly outputs: { readonly shape: number[]; readonly values: number[] };
}

const FOLDER = fileURLToPath(new URL('../../../../goldens/keras_files/names/', import.meta.url));
const CASES = JSON.parse(readFileSync(join(FOLDER, 'named.json'), 'utf8')) as NamedCase[];

describe('inputs of Keras with spaces and umlauts', () => {
  let folder: string;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'named '));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function expectOutputs(model: tf.LayersModel, inputs: unknown, { file, outputs }: NamedCase): void {
    const found = model.predict(inputs as never) as tf.Tensor;
    expect(found.shape).toEqual(outputs.shape);
    expectClose(found.dataSync(), outputs.values, 0, file);
    found.dispose();
  }

  for (const golden of CASES) {
    const { file, rows } = golden;
    const isOfStrings = Object.values(rows).some(([first]) => typeof first === 'string');
    it(`are given by the names of the file: ${file}`, async () => {
      await expectNoLeakAsync(async () => {
        const model = await emb.loadKerasModel(join(FOLDER, file));
        if (isOfStrings) {
          const listed = rows['Größe in cm']!.map((_, i) => {
            return Object.fromEntries(Object.entries(rows).map(([name, values]) => [name, values[i]]));
          });
          // Columns, or rows, by the names of the file.
          for (const data of [rows, listed]) {
            const inputs = model.pipeline!.apply(data as never) as tf.NamedTensorMap;
            expect(Object.keys(inputs).sort()).toEqual([...model.inputNames].sort());
            expectOutputs(model, inputs, golden);
            tf.dispose(inputs);
          }
        } else {
          const inputs = Object.entries(rows).map(([name, values]) => [name, tf.tensor2d(values as number[], [3, 1])]);
          expectOutputs(model, Object.fromEntries(inputs), golden);
          tf.dispose(inputs);
        }
        const path = join(folder, file);
        await model.save(`file://${path}`);
        const again = await tf.loadLayersModel(`file://${path}/model.json`);
        if (isOfStrings) {
          const inputs = again.pipeline!.apply(rows as never) as tf.NamedTensorMap;
          expectOutputs(again, inputs, golden);
          tf.dispose(inputs);
        }
        again.dispose();
        model.dispose();
      });
    });
  }
});
