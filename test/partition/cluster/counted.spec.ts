/** Predicted bytes of servers beside those that devices of the emulator counted under the same plan. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { leakFree, useCpu } from '../../layers/setup.js';
import { generatedArgs, wholeNumbers, type FullArgs } from '../table_sets.js';

const BATCH = 8192;
const NETWORK = { bandwidth: 1e9, latency: 1e-4 };
const STRATEGIES = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'] as const;

/** Arguments whose ids are all in bags: of one id each only where these are summed, as lengths below differ. */
function bagArgs(seed: number): FullArgs {
  const args = generatedArgs(seed, STRATEGIES);
  args.tables.forEach((table) => (table.combiner ??= 'sqrtn'));
  const hotness = args.hotness.map((ids, input) => {
    return args.tables[args.inputTableMap[input]!]!.combiner === 'sum' ? ids : Math.max(2, ids);
  });
  return { ...args, hotness, dpInput: true, batchSize: BATCH, dataParallelThreshold: null };
}

/** Bags of `ids` each in the mean: of as many, or one more and one less; ids are spread evenly. */
function bagsOf(ids: number, rows: number, below: (most: number) => number): emb.RaggedTensor {
  const lengths = Array.from({ length: BATCH }, (_, bag) => (ids > 2 || bag < 2 ? ids - 1 + 2 * (bag % 2) : ids));
  const values = Array.from({ length: ids * BATCH }, () => below(rows));
  return emb.RaggedTensor.fromRowLengths(values, lengths);
}

interface Counted {
  readonly plan: emb.EmbeddingPlan;
  /** Bytes of one step: [from][to]. */
  readonly links: readonly (readonly number[])[];
  readonly report: emb.Report;
}

/** One step of a layer that follows the plan of the arguments. */
function counted(args: FullArgs, seed: number): Promise<Counted> {
  return withTpuEmulator({ chips: args.worldSize }, () => {
    const plan = emb.planEmbedding({ ...args, network: NETWORK });
    const embeddings = args.tables.map((table) => ({ ...table, embeddingsInitializer: 'zeros' as const }));
    const { inputTableMap, hotness, batchSize } = args;
    const layer = emb.layers.distributedEmbedding({
      ...{ embeddings: embeddings as emb.DistributedItemArgs[], inputTableMap, hotness, batchSize },
      plan,
    });
    const below = wholeNumbers(seed);
    const ids = hotness.map((length, input) => bagsOf(length, args.tables[inputTableMap[input]!]!.inputDim, below));
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    optimizer.minimize(
      () => tf.addN((layer.apply(ids as never) as unknown as tf.Tensor[]).map((each) => each.sum())) as tf.Scalar,
    );
    const { bytes: links } = emb.tpuEmulator().counters().links;
    const report = emb.tpuEmulator().report({ network: NETWORK });
    optimizer.dispose();
    layer.dispose();
    return { plan, links, report };
  });
}

function expectNear(actual: number, expected: number, what: string): void {
  if (expected === 0) expect(actual).withContext(what).toBe(0);
  else
    expect(Math.abs(actual / expected - 1))
      .withContext(`${what}: ${actual}, ${expected}`)
      .toBeLessThan(0.05);
}

describe('Predicted bytes of servers', () => {
  beforeAll(useCpu);

  it(
    'are within 5 % of those that were counted, for generated plans',
    leakFree(async () => {
      const kinds = { columns: 0, rows: 0 };
      for (let seed = 1; seed <= 40; seed++) {
        const args = bagArgs(seed);
        const devices = args.worldSize;
        if (devices === 1) continue;
        const { plan, links, report } = await counted(args, seed);
        if (plan.tableGroups.tableParallel.length > 0) kinds.columns++;
        if (plan.tableGroups.rowSlice.length > 0) kinds.rows++;
        // As planned, and as the report has it from what was looked up.
        for (const { servers } of [plan.cluster!, report.cluster!]) {
          links.forEach((row, from) =>
            row.forEach((bytes, to) => {
              if (from === to) return;
              // A device is a server, and the client of an even part of the batch.
              const toServer = servers[to]!.lookup.bytesIn + servers[to]!.update.gradients;
              const expected = (toServer + servers[from]!.lookup.bytesOut) / devices;
              expectNear(expected, bytes, `seed ${seed}, ${from} to ${to} of ${devices}`);
            }),
          );
        }
      }
      expect(kinds.columns).toBeGreaterThan(20);
      expect(kinds.rows).toBeGreaterThan(10);
    }),
  );

  it(
    'are those of copies, whose gradients go from all to all',
    leakFree(async () => {
      const args = { ...bagArgs(3), worldSize: 3, dataParallelThreshold: 1e9, batchSize: BATCH };
      const { plan, links } = await counted(args, 3);
      expect(plan.tableGroups.dataParallel.length).toBe(args.tables.length);
      // A server's gradients go to the client here, to each of the others there.
      plan.cluster!.servers.forEach(({ update }, server) => {
        const sent = links[server]!.reduce((sum, bytes) => sum + bytes, 0);
        expectNear(2 * update.bytesOut, sent, `server ${server}`);
      });
    }),
  );
});
