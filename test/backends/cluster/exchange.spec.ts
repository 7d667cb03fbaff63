// runner: servers
/** Pooled rows and gradients as float16: rounded once each way, in half the bytes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';

const [ROWS, DIM, BATCH, IDS] = [64, 32, 256, 4];
/** Of numbers of 11 bits. */
const HALF_ULP = 2 ** -11;

interface Outcome {
  readonly pooled: Float32Array;
  readonly table: Float32Array;
  readonly received: number;
  readonly sent: number;
}

describe('The exchange with servers', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 120_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  /** A lookup, then a step of SGD by a gradient of its own for each number. */
  function run(exchange: 'float32' | 'float16', gradients: Float32Array): Promise<Outcome> {
    return withCluster(servers, { exchange }, () => {
      const embeddingsInitializer = tf.initializers.randomUniform({ minval: -3, maxval: 3, seed: 7 });
      const layer = emb.layers.distributedEmbedding({
        embeddings: [{ inputDim: ROWS, outputDim: DIM, combiner: 'sum', embeddingsInitializer }],
        columnSliceThreshold: (ROWS * DIM) / 2,
      });
      const random = new Random(5);
      const rows = Array.from({ length: BATCH * IDS }, () => random.whole(0, ROWS - 1));
      const ids = tf.tensor2d(rows, [BATCH, IDS], 'int32');
      const factors = tf.tensor2d(gradients, [BATCH, DIM]);
      const optimizer = emb.train.sgd({ learningRate: 1 });
      let pooled = new Float32Array(0);
      optimizer.minimize(() => {
        const [found] = layer.apply([ids]) as tf.Tensor[];
        pooled = found!.dataSync<'float32'>().slice();
        return found!.mul(factors).sum().asScalar();
      });
      const [counted] = [emb.cluster().counters().servers];
      const table = layer.getWeights()[0]!.dataSync<'float32'>().slice();
      tf.dispose([ids, factors]);
      optimizer.dispose();
      layer.dispose();
      const sum = (field: 'bytesReceived' | 'bytesSent'): number => counted.reduce((all, each) => all + each[field], 0);
      return { pooled, table, received: sum('bytesReceived'), sent: sum('bytesSent') };
    });
  }

  const gradientsOf = (random: Random): Float32Array => random.floats(BATCH * DIM);

  it('rounds pooled rows and gradients to 11 bits, once each', async () => {
    const gradients = gradientsOf(new Random(3));
    const [whole, half] = [await run('float32', gradients), await run('float16', gradients)];
    half.pooled.forEach((value, i) => {
      const exact = whole.pooled[i]!;
      expect(Math.abs(value - exact)).toBeLessThanOrEqual(HALF_ULP * Math.abs(exact) + 2 ** -25);
    });
    expect(half.pooled).not.toEqual(whole.pooled);
    // A row is stepped by the sum of about BATCH * IDS / ROWS rounded gradients, each below 1.
    half.table.forEach((value, i) => {
      expect(Math.abs(value - whole.table[i]!)).toBeLessThanOrEqual(HALF_ULP * BATCH * IDS);
    });
    expect(half.table).not.toEqual(whole.table);
  });

  it('halves what travels beside ids', async () => {
    const gradients = gradientsOf(new Random(4));
    const [whole, half] = [await run('float32', gradients), await run('float16', gradients)];
    const rows = 4 * BATCH * DIM;
    expect(whole.received - half.received).toBe(rows / 2);
    expect(whole.sent - half.sent).toBe(rows / 2);
  });

  it('sends what is exact as it is', async () => {
    const exact = Float32Array.from({ length: BATCH * DIM }, (_, i) => (i % 9) - 4);
    const [whole, half] = [await run('float32', exact), await run('float16', exact)];
    expect(half.table).toEqual(whole.table);
  });
});
