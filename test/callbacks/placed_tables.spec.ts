// runner: servers
/** Callbacks where tables lie on servers or on virtual devices: tables and slots come back all the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { withCluster } from '../helpers/servers/cluster.js';
import { ServerProcess } from '../helpers/servers/server_process.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { TrainedModel } from './trained_model.js';

const layer = (): tf.layers.Layer =>
  emb.layers.distributedEmbedding({
    name: 'placed',
    embeddings: [
      {
        name: 'placed_table',
        inputDim: 12,
        outputDim: 3,
        combiner: 'sum',
        embeddingsInitializer: tf.initializers.randomUniform({ minval: -0.5, maxval: 0.5, seed: 7 }),
      },
    ],
    rowSliceThreshold: 1,
  }) as unknown as tf.layers.Layer;

describe('Callbacks of tables elsewhere', () => {
  let servers: ServerProcess[] = [];
  let folder = '';
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
    folder = mkdtempSync(join(tmpdir(), 'placed-tables-'));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true });
  });

  const places: Record<string, (body: () => Promise<void>) => Promise<void>> = {
    servers: (body) => withCluster(servers, {}, body),
    'virtual devices': (body) => withTpuEmulator({ chips: 2 }, body),
  };
  for (const [where, within] of Object.entries(places)) {
    for (const optimizer of ['adagrad', 'adam'] as const) {
      it(`stop early, save and go on with ${optimizer} on ${where}`, async () => {
        let plain: Record<string, number[]>[] = [];
        const make = (): TrainedModel => new TrainedModel(optimizer, 'placed', layer);
        const path = join(folder, `${where} ${optimizer}`);
        await within(async () => {
          const before = tf.memory().numTensors;
          const model = make();
          for (let epochs = 0; epochs < 4; epochs++) {
            await model.train('fit', 1, []);
            plain = [...plain, await model.state()];
          }
          model.dispose();
          const scores = [3, 1, 2, 5];
          const told = new tf.CustomCallback({ onEpochEnd: (epoch, logs) => void (logs!['score'] = scores[epoch]!) });
          const args = { monitor: 'score', mode: 'min', patience: 2, restoreBestWeights: true } as const;
          const stopped = make();
          expect(await stopped.train('fit', 9, [told, emb.callbacks.earlyStopping(args)])).toBe(4);
          expect(await stopped.state()).toEqual(plain[1]!);
          await stopped.train('fit', 2, []);
          expect(await stopped.state()).toEqual(plain[3]!);
          stopped.dispose();
          const first = make();
          const checkpoint = (): tf.Callback => emb.callbacks.modelCheckpoint({ path, restore: true });
          await expectAsync(first.train('fit', 4, [checkpoint()], 9)).toBeRejectedWithError('broken off');
          first.dispose();
          const second = make();
          expect(await second.train('fit', 4, [checkpoint()])).toBe(2);
          expect(await second.state()).toEqual(plain[3]!);
          second.dispose();
          expect(tf.memory().numTensors).toBe(before);
        });
      }, 120_000);
    }
  }
});
