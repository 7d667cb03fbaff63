// runner: servers
/** Ids outside a table: servers and virtual devices say the same of them, and go on. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const [ROWS, DIM] = [12, 4];
/** How a table lies: whole, by columns, by rows, in copies. */
const PLANS = {
  whole: {},
  columns: { columnSliceThreshold: (ROWS * DIM) / 2 },
  rows: { rowSliceThreshold: 1 },
  copies: { dataParallelThreshold: ROWS * DIM },
} as const;

/** What is said of ids one of which is outside, at each place; and what is looked up afterwards. */
function saidOf(plan: keyof typeof PLANS): { messages: string[]; after: number[] } {
  const layer = emb.layers.distributedEmbedding({
    name: 'tables',
    embeddings: [{ name: 't', inputDim: ROWS, outputDim: DIM, combiner: 'sum', embeddingsInitializer: 'ones' }],
    ...PLANS[plan],
  });
  const lookUp = (rows: readonly number[]): number[] =>
    tf.tidy(() => {
      const [found] = layer.apply([tf.tensor2d([...rows], [4, 2], 'int32')]) as tf.Tensor[];
      return Array.from(found!.dataSync());
    });
  const messages = [0, 3, 4, 7].flatMap((place) =>
    [ROWS, 2 ** 31 - 1].map((id) => {
      const rows = Array.from({ length: 8 }, (_, i) => (i === place ? id : i));
      try {
        lookUp(rows);
      } catch (error) {
        expect(error).toBeInstanceOf(emb.ValueError);
        return (error as Error).message;
      }
      return `none for ${id}`;
    }),
  );
  const after = lookUp([0, 1, 2, 3, 4, 5, 6, 7]);
  layer.dispose();
  return { messages, after };
}

describe('Ids on servers', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 120_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  for (const plan of Object.keys(PLANS) as (keyof typeof PLANS)[]) {
    it(`that are outside a table are told as on virtual devices: ${plan}`, async () => {
      const expected = await withTpuEmulator({ chips: 2 }, () => saidOf(plan));
      expect(expected.messages.every((message) => message.includes('12'))).toBeTrue();
      expect(await withCluster(servers, {}, () => saidOf(plan))).toEqual(expected);
    });
  }

  it('may be none, in a batch of none or of empty rows', async () => {
    await withCluster(servers, {}, () => {
      for (const plan of Object.keys(PLANS) as (keyof typeof PLANS)[]) {
        const layer = emb.layers.distributedEmbedding({
          embeddings: [{ inputDim: ROWS, outputDim: DIM, combiner: 'mean' }],
          ...PLANS[plan],
        });
        const none = tf.tidy(() => (layer.apply([tf.zeros([0, 3], 'int32')]) as tf.Tensor[])[0]!.shape);
        expect(none).withContext(plan).toEqual([0, DIM]);
        const empty = emb.RaggedTensor.fromRowSplits(new Int32Array(0), Int32Array.of(0, 0, 0, 0));
        const rows = tf.tidy(() => Array.from((layer.apply([empty]) as tf.Tensor[])[0]!.dataSync()));
        expect(rows)
          .withContext(plan)
          .toEqual(new Array<number>(3 * DIM).fill(0));
        layer.dispose();
      }
    });
  });
});
