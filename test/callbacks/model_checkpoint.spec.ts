/** `emb.callbacks.modelCheckpoint`: what it saves and when, and that training goes on from it to the same bits. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { TrainedModel } from './trained_model.js';

/** Of layers: without names those of a second model in the process have other numbers. */
const NAMES = 'kept';

describeForBackends('Model checkpoints', () => {
  let folder = '';
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'model-checkpoint-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  let places = 0;
  const place = (): string => join(folder, `${tf.getBackend()}-${places++}`);

  for (const how of ['fit', 'fitDataset'] as const) {
    for (const optimizer of ['adagrad', 'adam', 'stock'] as const) {
      it(`go on to the same bits with ${optimizer} in ${how}, wherever training was broken off`, async () => {
        const before = tf.memory().numTensors;
        const whole = new TrainedModel(optimizer, NAMES);
        await whole.train(how, 4, []);
        const wanted = await whole.state();
        whole.dispose();
        // In the middle of the first epoch, where nothing is saved yet, and of later ones; four batches make an epoch.
        for (const batches of [2, 4, 9, 15]) {
          const args = { path: place(), restore: true } as const;
          const first = new TrainedModel(optimizer, NAMES);
          const broken = first.train(how, 4, [emb.callbacks.modelCheckpoint(args)], batches);
          await expectAsync(broken).toBeRejectedWithError('broken off');
          expect(existsSync(join(args.path, 'model.json'))).toBe(batches >= 4);
          first.dispose();
          const second = new TrainedModel(optimizer, NAMES);
          const epochs = await second.train(how, 4, [emb.callbacks.modelCheckpoint(args)]);
          expect(epochs).toBe(4 - Math.floor(batches / 4));
          expect(await second.state())
            .withContext(`${batches} batches`)
            .toEqual(wanted);
          // All is done: another call does nothing.
          expect(await second.train(how, 4, [emb.callbacks.modelCheckpoint(args)])).toBe(0);
          expect(await second.state()).toEqual(wanted);
          second.dispose();
        }
        expect(tf.memory().numTensors).toBe(before);
      }, 120_000);
    }
  }

  it('go on within an epoch, with rows that a seed shuffles', async () => {
    const wanted = await (async () => {
      const model = new TrainedModel('adam', NAMES);
      await model.train('shuffled', 3, []);
      const state = await model.state();
      model.dispose();
      return state;
    })();
    for (const [saveFreq, batches] of [
      [1, 3],
      [3, 8],
      [3, 11],
      ['epoch', 10],
    ] as const) {
      const args = { path: place(), restore: true, saveFreq };
      const first = new TrainedModel('adam', NAMES);
      const broken = first.train('shuffled', 3, [emb.callbacks.modelCheckpoint(args)], batches);
      await expectAsync(broken).toBeRejectedWithError('broken off');
      first.dispose();
      const second = new TrainedModel('adam', NAMES);
      await second.train('shuffled', 3, [emb.callbacks.modelCheckpoint(args)]);
      expect(await second.state())
        .withContext(`${saveFreq} ${batches}`)
        .toEqual(wanted);
      second.dispose();
    }
  }, 60_000);

  it('are saved after each epoch, under its number, or where they are better', async () => {
    const scores = [3, 1, 2, 0];
    const told = new tf.CustomCallback({ onEpochEnd: (epoch, logs) => void (logs!['score'] = scores[epoch]!) });
    const model = new TrainedModel('adagrad');
    const [all, best] = [place(), place()];
    await model.train('fit', 4, [
      told,
      emb.callbacks.modelCheckpoint({ path: `${all}/e{epoch:02d}-{score:.1f}` }),
      emb.callbacks.modelCheckpoint({ path: `${best}/{epoch}`, saveBestOnly: true, monitor: 'score', mode: 'min' }),
    ]);
    expect(readdirSync(all).sort()).toEqual(['e01-3.0', 'e02-1.0', 'e03-2.0', 'e04-0.0']);
    expect(readdirSync(best).sort()).toEqual(['1', '2', '4']);
    // What is saved is an ordinary model.
    const loaded = await tf.loadLayersModel(`file://${all}/e04-0.0/model.json`);
    expect(loaded.getWeights().map((each) => Array.from(each.dataSync()))).toEqual(
      model.model.getWeights().map((each) => Array.from(each.dataSync())),
    );
    loaded.dispose();
    // The best number is still known in the next call.
    const again = emb.callbacks.modelCheckpoint({
      path: `${best}/again{epoch}`,
      saveBestOnly: true,
      monitor: 'score',
      mode: 'min',
      initialValueThreshold: 1,
    });
    await model.train('fit', 4, [told, again]);
    expect(readdirSync(best).sort()).toEqual(['1', '2', '4', 'again4']);
    rmSync(`${best}/again4`, { recursive: true });
    await model.train('fit', 4, [told, again]);
    expect(readdirSync(best).sort()).toEqual(['1', '2', '4']);
    expect(() => model.model.getUserDefinedMetadata()).not.toThrow();
    expect(model.model.getUserDefinedMetadata()).toBeUndefined();
    model.dispose();
  }, 60_000);

  it('count batches over epochs, as Keras does', async () => {
    const model = new TrainedModel('adagrad');
    const path = place();
    await model.train('fit', 3, [emb.callbacks.modelCheckpoint({ path: `${path}/{epoch}-{batch}`, saveFreq: 3 })]);
    expect(readdirSync(path).sort()).toEqual(['1-3', '2-2', '3-1', '3-4']);
    model.dispose();
  });

  it('refuse what cannot go on', async () => {
    const model = new TrainedModel('adagrad');
    const path = place();
    const numbered = emb.callbacks.modelCheckpoint({ path, restore: true, saveFreq: 2 });
    await expectAsync(model.train('fit', 1, [numbered])).toBeRejectedWithError(
      emb.ValueError,
      /`saveFreq`: expected 'epoch', where restore is true, received 2 batches, of fit/,
    );
    await model.model.save(`file://${path}`);
    const other = emb.callbacks.modelCheckpoint({ path, restore: true });
    await expectAsync(model.train('fit', 1, [other])).toBeRejectedWithError(
      emb.ValueError,
      /`path`: expected a model that modelCheckpoint saved/,
    );
    const blocked = join(folder, `blocked-${tf.getBackend()}`);
    writeFileSync(blocked, '');
    const unsaved = emb.callbacks.modelCheckpoint({ path: join(blocked, 'inside') });
    await expectAsync(model.train('fit', 1, [unsaved])).toBeRejectedWithError(
      emb.RuntimeError,
      /`path`: expected a place/,
    );
    const unknown = emb.callbacks.modelCheckpoint({ path: join(folder, '{val_auc}') });
    await expectAsync(model.train('fit', 1, [unknown])).toBeRejectedWithError(emb.ValueError, /with val_auc/);
    model.dispose();
    for (const [args, words] of [
      [{ path: ' ' }, /`path`: expected a folder/],
      [{ path: 'a{epoch' }, /`path`: expected places/],
      [{ path: 'a{epoch}', restore: true }, /`path`: expected one without places/],
      [{ path, saveFreq: 0 }, /`saveFreq`: expected 'epoch' or a number of batches/],
      [{ path, saveFreq: 'batch' }, /`saveFreq`/],
      [{ path, saveBestOnly: true, monitor: 'profit' }, /`mode`/],
    ] as const) {
      expect(() => emb.callbacks.modelCheckpoint(args as never)).toThrowError(emb.ValueError, words);
    }
    expect(() => emb.callbacks.modelCheckpoint({} as never)).toThrowError(emb.TypeError, /`path`/);
  });
});
