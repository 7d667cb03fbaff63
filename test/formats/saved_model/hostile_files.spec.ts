/** SavedModels that were spoilt on purpose: each ends in an error of this package, and changes nothing beside it. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { HOSTILE_SAVED_MODELS } from '../../../tools/attack/hostile/saved_models.js';
import { skipOrFail } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';

describe('savedModel.load refuses', () => {
  let parent: string;
  const random = new Random(1);

  beforeAll(async () => {
    await tf.setBackend('cpu');
    parent = mkdtempSync(join(tmpdir(), 'hostile-'));
    const tensors = tf.memory().numTensors;
    const table = emb.layers.embedding({ inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2] });
    const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 })] });
    await emb.savedModel.export(model, join(parent, 'whole'));
    model.dispose();
    expect(tf.memory().numTensors).toBe(tensors);
  });

  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  for (const { kind, says, spoil } of HOSTILE_SAVED_MODELS) {
    it(kind, async () => {
      if (process.platform === 'win32') return skipOrFail('pipes and links are those of other systems');
      const room = join(parent, 'room');
      mkdirSync(room);
      try {
        cpSync(join(parent, 'whole'), join(room, 'model'), { recursive: true });
        spoil(join(room, 'model'), random);
        const beside = readdirSync(room).sort();
        const error = await emb.savedModel.load(join(room, 'model')).then(
          () => null,
          (thrown: Error & { argument?: string }) => thrown,
        );
        if (error instanceof emb.RuntimeError && error.message.includes('@tensorflow/tfjs-node')) {
          return skipOrFail(error.message);
        }
        expect(typeof error?.argument)
          .withContext(String(error))
          .toBe('string');
        expect(error!.message).toMatch(says);
        expect(readdirSync(room).sort()).toEqual(beside);
      } finally {
        rmSync(room, { recursive: true, force: true });
      }
    });
  }
});
