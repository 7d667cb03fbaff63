/** Snapshots of the online recommender: a follower has what the writer has, also when files go while it reads. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveCheckpoint } from '../../../models/online/checkpoints.js';
import { learn } from '../../../models/online/learner.js';
import { MadeUpVisitors } from '../../../models/online/made_up_visitors.js';
import { Follower, SnapshotWriter } from '../../../models/online/snapshots.js';
import { buildTowers, userInputs, userTower } from '../../../models/online/towers.js';

describe('snapshots of the online recommender', () => {
  let folder = '';

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-snapshots-'));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('are followed to the bit, from the next checkpoint on where a delta was lost half-way', async () => {
    const towers = buildTowers({ dim: 4, users: 100, items: 100, rate: 0.1, temperature: 1, seed: 3 });
    const visitors = new MadeUpVisitors(1, 100);
    let batch = 0;
    const step = async (): Promise<{ batch: number; event: number }> => {
      const events = Array.from({ length: 8 }, (_, i) => ({ id: 8 * batch + i + 1, ...visitors.event() }));
      await learn(
        towers,
        events,
        events.map(() => ['item-1', 'item-2']),
      );
      batch++;
      return { batch, event: 8 * batch };
    };
    await saveCheckpoint(folder, towers, { batch: 0, event: 0 });
    const writer = new SnapshotWriter(folder, towers, { batch: 0, event: 0 });
    const follower = new Follower(folder);
    const vectorOf = (model: tf.LayersModel): Float32Array =>
      tf.tidy(() =>
        (model.predict(userInputs(['user-5'], [['item-1', 'item-3']]) as never) as tf.Tensor).dataSync<'float32'>(),
      );
    const rowsOf = (tables: Record<string, emb.OpenTable>): Float32Array =>
      tf.tidy(() => tables['items']!.lookup(Array.from({ length: 100 }, (_, i) => `item-${i}`)).dataSync<'float32'>());
    const expectFollowed = (): void => {
      expect(vectorOf(follower.users!)).toEqual(vectorOf(userTower(towers)));
      expect(rowsOf(follower.tables!)).toEqual(rowsOf(emb.openTables(towers)));
    };

    for (let n = 0; n < 3; n++) {
      await writer.write(await step());
      expect(await follower.update()).toBeTrue();
      expectFollowed();
    }
    expect(await follower.update()).toBeFalse();
    expect(follower.position).toEqual({ batch: 3, event: 24 });

    await writer.write(await step());
    const lost = readdirSync(join(folder, 'snapshots')).find((name) => name.endsWith('4.items.safetensors'))!;
    rmSync(join(folder, 'snapshots', lost));
    await expectAsync(follower.update()).toBeRejectedWithError(/a file that exists/);
    const position = await step();
    await writer.write(position);
    await saveCheckpoint(folder, towers, position);
    writer.rebase(position);
    expect(await follower.update()).toBeTrue();
    expectFollowed();
    await writer.write(await step());
    expect(await follower.update()).toBeTrue();
    expectFollowed();
    towers.dispose();
  });
});
