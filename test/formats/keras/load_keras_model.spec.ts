import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { convertedCases, expectSameAsKeras, fileCases, goldenPath, inputsOf } from './keras_cases.js';

describeForBackends(
  'loadKerasModel',
  () => {
    for (const golden of [...convertedCases(), ...fileCases()]) {
      it(`predicts what Keras predicts: ${golden.name}`, async () => {
        await expectNoLeakAsync(async () => {
          const model = await emb.loadKerasModel(golden.path);
          expectSameAsKeras(model, golden);
          model.dispose();
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

/** The error of a load that must fail. */
async function errorOf(source: unknown, options?: emb.LoadKerasOptions): Promise<Error & { argument?: string }> {
  try {
    const model = await emb.loadKerasModel(source, options);
    model.dispose();
  } catch (error) {
    return error as Error;
  }
  throw new Error('the model loads');
}

describe('loadKerasModel', () => {
  const [distributed] = convertedCases();
  const byName = (name: string): (typeof files)[number] => files.find((each) => each.name === name)!;
  const files = fileCases();

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('takes inputs by name, in a list and alone, and says which name is wrong', async () => {
    await expectNoLeakAsync(async () => {
      const model = await emb.loadKerasModel(distributed!.path);
      expect(model.inputNames).toEqual(['item_next', 'item_seen', 'user']);
      const inputs = inputsOf(model, distributed!);
      const named = model.predict(inputs) as tf.Tensor;
      const listed = model.predict(model.inputNames.map((name) => inputs[name]!)) as tf.Tensor;
      expect(Array.from(listed.dataSync())).toEqual(Array.from(named.dataSync()));
      const { user, ...rest } = inputs;
      expect(() => model.predict({ ...rest, usr: user } as never)).toThrowError(/usr.*Did you mean user\?/);
      expect(() => model.predict(rest as never)).toThrowError(/x\.user.*no such key/);
      tf.dispose([inputs, named, listed]);
      model.dispose();
    });
  });

  it('keeps names with capitals and underscores, of layers, tables, features and weights', async () => {
    const model = await emb.loadKerasModel(byName('k3_embed_reduce.keras').path);
    expect(model.name).toBe('My_Model');
    expect(model.inputNames.sort()).toEqual(['User_Ids', 'item_ids', 'item_weights']);
    expect(model.getLayer('User_Table')).toBeInstanceOf(emb.Embedding);
    expect(model.weights.map(({ originalName }) => originalName)).toContain('Head_1/kernel');
    model.dispose();
    const tables = await emb.loadKerasModel(byName('k3_distributed.keras').path);
    expect((tables.getLayer('Tables_1') as emb.DistributedEmbedding).tableNames.sort()).toEqual([
      'itemTable',
      'user_id',
    ]);
    tables.dispose();
  });

  it('reads bytes, blobs and handlers', async () => {
    const golden = byName('k3_embed_reduce.keras');
    const bytes = readFileSync(golden.path);
    for (const source of [new Uint8Array(bytes), new Blob([bytes]), new URL(`file://${golden.path}`)]) {
      const model = await emb.loadKerasModel(source);
      expectSameAsKeras(model, golden);
      model.dispose();
    }
    const folder = mkdtempSync(join(tmpdir(), 'with spaces-'));
    copyFileSync(golden.path, join(folder, 'a model.keras'));
    const spaced = await emb.loadKerasModel(pathToFileURL(join(folder, 'a model.keras')));
    expectSameAsKeras(spaced, golden);
    spaced.dispose();
    rmSync(folder, { recursive: true });
    const [, , , , converted] = convertedCases();
    const handler = tf.io.getLoadHandlers(`file://${converted!.path}`)[0];
    const model = await emb.loadKerasModel(handler);
    expectSameAsKeras(model, converted!);
    model.dispose();
  });

  it('gives models that train on by rows, and that tfjs saves and loads', async () => {
    await expectNoLeakAsync(async () => {
      const golden = byName('k2_nvidia.h5');
      const model = await emb.loadKerasModel(golden.path);
      const optimizer = emb.train.adagrad({ learningRate: 0.5 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const inputs = inputsOf(model, golden);
      const labels = tf.zeros([2, 2]);
      const losses: number[] = [];
      for (let step = 0; step < 3; step++) losses.push((await model.trainOnBatch(inputs, labels)) as number);
      expect(losses[2]!).toBeLessThan(losses[0]!);
      let saved: tf.io.ModelArtifacts | undefined;
      await model.save(
        tf.io.withSaveHandler(async (artifacts) => {
          saved = { ...artifacts };
          return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
        }),
      );
      const again = await emb.loadKerasModel(tf.io.fromMemory(saved!));
      const results = tf.tidy(() =>
        [model, again].map((each) => Array.from((each.predict(inputs as never) as tf.Tensor).dataSync())),
      );
      expect(results[1]).toEqual(results[0]);
      again.dispose();
      model.dispose();
      optimizer.dispose();
      tf.dispose([inputs, labels]);
    });
  });

  it('says what it takes', async () => {
    expect((await errorOf(undefined)).name).toBe('TypeError');
    expect((await errorOf(3)).name).toBe('TypeError');
    expect((await errorOf('nowhere.keras')).message).toMatch(/`source`: expected a file that exists/);
    expect((await errorOf(goldenPath('optimizers.json'))).name).toBe('ValueError');
    const misspelt = { stric: true } as emb.LoadKerasOptions;
    expect((await errorOf('x', misspelt)).message).toMatch(/Did you mean strict\?/);
  });
});
