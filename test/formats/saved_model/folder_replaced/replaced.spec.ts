/** SavedModels that another process replaces while they are read. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { WITH_SOURCES } from '../../../helpers/programs.js';
import { Replaced, SavedModelFolder } from '../../../../src/formats/saved_model/saved_model_folder.js';
import { HOST } from '../../../../src/io/models/model_leftovers.js';
import { skipOrFail } from '../../../helpers/backends.js';

const PROGRAM = fileURLToPath(new URL('./replacing_program.ts', import.meta.url));
const LOADS = 60;

describe('a SavedModel that is replaced', () => {
  let folder: string;
  const versions = ['one', 'two'];

  beforeAll(async () => {
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'replaced-'));
    for (const [i, name] of versions.entries()) {
      // The weight of a version is its number, its layer has its name; files are of other sizes.
      const layers = [tf.layers.dense({ units: 1, name, inputShape: [1], useBias: false })];
      const model = tf.sequential({ layers });
      const weight = tf.tensor2d([[i + 1]]);
      model.setWeights([weight]);
      await emb.savedModel.export(model, join(folder, name));
      tf.dispose([weight, ...model.weights.map((each) => each.read())]);
    }
    cpSync(join(folder, 'one'), join(folder, 'model'), { recursive: true });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('gives no file of the new one to who has begun with the old one', async () => {
    const opened = await SavedModelFolder.open(join(folder, 'one'));
    await opened.bytes('saved_model.pb');
    await opened.check();
    cpSync(join(folder, 'two'), join(folder, 'other'), { recursive: true });
    renameSync(join(folder, 'one'), join(folder, 'aside'));
    renameSync(join(folder, 'other'), join(folder, 'one'));
    await expectAsync(opened.bundle()).toBeRejectedWithError(Replaced);
    await opened.close();
    rmSync(join(folder, 'one'), { recursive: true });
    renameSync(join(folder, 'aside'), join(folder, 'one'));
  });

  it('is waited for where a process at work has put it aside, and not where it writes a first one', async () => {
    const aside = (kind: string): string => join(folder, `.late.0123456789abcdef.${process.pid}.${HOST}.${kind}`);
    const [late, draft] = [join(folder, 'late'), aside('part')];
    cpSync(join(folder, 'two'), draft, { recursive: true });
    await expectAsync(emb.savedModel.load(late)).toBeRejectedWithError(emb.ValueError, /a folder that exists/);
    renameSync(draft, aside('old'));
    const loading = emb.savedModel.load(late);
    let isDone = false;
    void loading.then(
      () => (isDone = true),
      () => (isDone = true),
    );
    // A try and more.
    await setTimeout(50);
    expect(isDone).toBeFalse();
    renameSync(aside('old'), late);
    const model = (await loading) as tf.LayersModel;
    expect(model.layers[0]!.name).toBe('two');
    model.dispose();
    rmSync(late, { recursive: true });
  });

  for (const how of ['exchanged', 'put aside']) {
    it(`is the old one or the new one, where folders are ${how}`, async () => {
      const child = spawn(process.execPath, [...WITH_SOURCES, PROGRAM, folder, how], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      try {
        await new Promise((resolve) => child.stdout.once('data', resolve));
        const seen = new Set<string>();
        for (let i = 0; i < LOADS || seen.size < versions.length; i++) {
          const model = (await emb.savedModel.load(join(folder, 'model'))) as tf.LayersModel;
          const [{ name } = { name: '' }] = model.layers;
          expect(`${name} ${model.weights[0]!.read().dataSync()[0]}`).toBe(`${name} ${versions.indexOf(name) + 1}`);
          seen.add(name);
          model.dispose();
        }
        expect([...seen].sort()).toEqual(versions);
      } finally {
        child.stdin.end();
        await ended;
      }
    }, 120_000);
  }

  it('is read by tfjs-node anew, also while the old one is in use', async () => {
    const path = join(folder, 'function');
    const predict = async (model: emb.RunnableSavedModel): Promise<number> => {
      const [input] = Object.keys(model.signatures['serving_default']!.inputs);
      const x = tf.ones([1, 1]);
      const results = Object.values(model.predict({ [input!]: x }));
      const [value] = results[0]!.dataSync();
      tf.dispose([x, results]);
      return value!;
    };
    const loaded: emb.RunnableSavedModel[] = [];
    for (const [i, name] of [...versions, 'one'].entries()) {
      rmSync(path, { recursive: true, force: true });
      cpSync(join(folder, name), path, { recursive: true });
      const model = await emb.savedModel.load(path, { signature: 'serving_default' }).catch((error: Error) => error);
      if (model instanceof emb.RuntimeError) return skipOrFail(model.message);
      loaded.push(model as emb.RunnableSavedModel);
      expect(await predict(loaded[i]!)).toBe((i % 2) + 1);
    }
    expect(await predict(loaded[0]!)).toBe(1);
    for (const model of loaded) model.dispose();
  }, 60_000);
});
