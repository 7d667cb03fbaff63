// runner: servers
/**
 * `DistributedEmbedding` on generated uses: N servers give and train what N virtual devices do, to the bit.
 * `CLUSTER_CASES=2000 CLUSTER_SEED=1` runs as many from that seed on.
 */
import { casesOf } from '../../forms/forms.js';
import { distributedCase, type DistributedCase } from '../../layers/distributed_embedding/generated_case.js';
import { runCase, type Moment } from '../../layers/distributed_embedding/run.js';
import { withCluster } from '../../helpers/servers/cluster.js';
import { serverCommand, ServerProcess } from '../../helpers/servers/server_process.js';
import { differences } from './differences.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const COUNT = casesOf('CLUSTER_CASES');
const FIRST = Number(process.env['CLUSTER_SEED'] ?? 1);
const MOST = 4;

/** Every second case runs on two servers. */
const serversOf = (seed: number): number => (seed % 2 === 0 ? 2 : 1 + ((seed >> 1) % MOST));

describe('DistributedEmbedding on servers', () => {
  let servers: ServerProcess[] = [];

  beforeAll(async () => {
    servers = await Promise.all(
      Array.from({ length: MOST }, (_, task) => ServerProcess.start(undefined, serverCommand(task))),
    );
  }, 120_000);

  afterAll(() => Promise.all(servers.map((server) => server.end())));

  async function onServers(example: DistributedCase, count: number): Promise<Moment[]> {
    return withCluster(servers.slice(0, count), {}, () => expectNoLeakAsync(() => runCase(example)));
  }

  const block = 20;
  for (let start = FIRST; start < FIRST + COUNT; start += block) {
    const end = Math.min(start + block, FIRST + COUNT);
    it(`gives and trains what as many virtual devices do: seeds ${start} to ${end - 1}`, async () => {
      spyOn(console, 'warn');
      for (let seed = start; seed < end; seed++) {
        try {
          const example = distributedCase(seed);
          const count = serversOf(seed);
          const expected = await withTpuEmulator({ chips: count }, () => runCase(example));
          const actual = await onServers(example, count);
          expect(differences(actual, expected).slice(0, 3)).withContext(`seed ${seed}, ${count} servers`).toEqual([]);
        } catch (error) {
          fail(`seed ${seed}: ${(error as Error).stack}`);
        }
      }
    }, 300_000);
  }
});
