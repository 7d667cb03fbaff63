// runner: servers
/** Checkpoints and deltas that servers of an earlier state wrote: they come back and train on, to the bit. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { CheckpointModel } from '../../test/backends/cluster/checkpoint_model.js';
import { withCluster } from '../../test/helpers/servers/cluster.js';
import { ServerProcess } from '../../test/helpers/servers/server_process.js';
import { CLUSTER_NAME, CLUSTER_PLANS, RELEASES, filesOf, told, type PlainTensor } from './fixtures/told.js';
import { plain, tensorOf } from './fixtures/values.mjs';

interface Tables {
  readonly base: readonly PlainTensor[];
  readonly later: readonly PlainTensor[];
}

const kept = RELEASES.filter((release) => existsSync(join(filesOf(release), 'cluster')));
const tablesOf = (model: CheckpointModel): object[] => model.layer.getWeights().map((table) => plain(table));

describe('What servers wrote in earlier states', () => {
  let servers: ServerProcess[] = [];
  let copies = '';

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
    copies = mkdtempSync(join(tmpdir(), 'kept-'));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(copies, { recursive: true, force: true });
  });

  it('is kept', () => expect(kept.length).toBeGreaterThan(0));

  for (const release of kept) {
    for (const { cut, optimizer } of CLUSTER_PLANS) {
      const folder = join(filesOf(release), 'cluster', cut);

      it(`${release}: a checkpoint of ${cut} comes back and trains on`, async () => {
        const { base, later } = told<Tables>(folder);
        // Servers may write beside a checkpoint that they read.
        const copy = join(copies, `${release} ${cut}`);
        cpSync(folder, copy, { recursive: true });
        await withCluster(servers, { name: CLUSTER_NAME }, async () => {
          const model = new CheckpointModel(cut, optimizer);
          // Other numbers, and as many steps: their count is the client's, not part of a checkpoint.
          await model.train(8, 9);
          await emb.cluster().restore(join(copy, 'checkpoint'));
          expect(tablesOf(model)).toEqual([...base]);
          await model.train(3, 4);
          expect(tablesOf(model)).toEqual([...later]);
          model.dispose();
        });
      }, 60_000);

      it(`${release}: deltas of ${cut} bring a copy up to date`, async () => {
        const { base, later } = told<Tables>(folder);
        await tf.setBackend('cpu');
        const model = new CheckpointModel('whole', 'sgd');
        const tables = base.map((table) => tensorOf(tf, table));
        model.layer.setWeights(tables);
        tf.dispose(tables);
        await emb.weights.applyDelta(model.model, join(folder, 'deltas.safetensors'));
        expect(tablesOf(model)).toEqual([...later]);
        model.dispose();
      });
    }
  }
});
