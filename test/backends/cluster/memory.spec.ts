// runner: servers
/** Plans of tables on servers keep to the memory that these were started with. */
import * as emb from 'tfjs-embeddings/node';
import { withCluster } from '../../helpers/servers/cluster.js';
import { serverCommand, ServerProcess } from '../../helpers/servers/server_process.js';

const [MOST, DIM] = [64_000, 16];

describe('The memory of servers', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    const start = (task: number): Promise<ServerProcess> =>
      ServerProcess.start(undefined, serverCommand(task, '--memory', String(MOST)));
    servers = await Promise.all([0, 1].map(start));
  }, 120_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  function tables(...rows: number[]): emb.DistributedEmbedding {
    const embeddings = rows.map((inputDim, i) => {
      return { name: `t${i}`, inputDim, outputDim: DIM, combiner: 'sum' as const };
    });
    const layer = emb.layers.distributedEmbedding({ embeddings, strategy: 'memory_balanced' });
    layer.build(rows.map(() => [null, 1]));
    return layer;
  }

  it('is told by the servers, and counted', async () => {
    await withCluster(servers, {}, () => {
      expect(emb.cluster().servers.map(({ memory }) => memory)).toEqual([MOST, MOST]);
      const layer = tables(500, 500);
      const memory = emb
        .cluster()
        .counters()
        .devices.map((device) => device.memory);
      expect(memory.map((each) => each.tables)).toEqual([500 * DIM * 4, 500 * DIM * 4]);
      expect(memory.map((each) => each.capacity)).toEqual([MOST, MOST]);
      layer.dispose();
    });
  });

  it('is never exceeded, by what plans leave to the memory of a host either', async () => {
    await withCluster(servers, {}, () => {
      expect(() => tables(4000, 500)).toThrowError(emb.ValueError, /at most \d+ bytes, which device \d still has/);
      // Nothing is left of those that did not fit.
      expect(
        emb
          .cluster()
          .counters()
          .devices.every(({ memory }) => memory.tables === 0),
      ).toBeTrue();
      tables(500, 500).dispose();
    });
  });
});
