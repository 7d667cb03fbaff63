/**
 * Writes what servers write for a state whose files are kept: a checkpoint of two servers and the rows that changed
 * since, with the tables before and after, and what two more steps make of them. From the sources, with native kernels:
 *
 *     node --import ./custom-ops/typescript/register.mjs tools/release/make_cluster_fixtures.ts NAME
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as emb from 'tfjs-embeddings/node';
import { CheckpointModel } from '../../test/backends/cluster/checkpoint_model.js';
import { withCluster } from '../../test/helpers/servers/cluster.js';
import { ServerProcess } from '../../test/helpers/servers/server_process.js';
import { CLUSTER_NAME, CLUSTER_PLANS, filesOf } from './fixtures/told.js';
import { plain } from './fixtures/values.mjs';

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error('the name of the state, such as 0.2.0-1');
const servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
try {
  for (const { cut, optimizer } of CLUSTER_PLANS) {
    const folder = join(filesOf(name), 'cluster', cut);
    mkdirSync(folder, { recursive: true });
    await withCluster(servers, { name: CLUSTER_NAME }, async () => {
      const model = new CheckpointModel(cut, optimizer);
      await model.train(1, 2);
      await emb.cluster().save(join(folder, 'checkpoint'));
      const base = model.layer.getWeights().map((table) => plain(table));
      await model.train(3, 4);
      await emb.cluster().deltas({ since: join(folder, 'checkpoint'), file: join(folder, 'deltas.safetensors') });
      const later = model.layer.getWeights().map((table) => plain(table));
      writeFileSync(join(folder, 'case.json'), `${JSON.stringify({ base, later })}\n`);
      model.dispose();
    });
  }
} finally {
  await Promise.all(servers.map((server) => server.end()));
}
