/** Times of a step on servers, worked out by hand. */
import type { ClusterPrediction } from '../../../src/partition/cluster/cluster_data.js';
import { predictCluster, type ClusterArgs } from '../../../src/partition/cluster/cluster_prediction.js';
import { readNetwork, type PlanNetworkArgs } from '../../../src/partition/cluster/network.js';
import type { ServerCalls, ServerLoad } from '../../../src/partition/cluster/server_load.js';
import { expectError } from '../../helpers/errors.js';
import { planEmbedding, type PlanEmbeddingArgs } from '../../../src/partition/index.js';

const NO_CALLS: ServerCalls = { ids: 0, rowSplits: 0, weights: 0, rows: 0, copiesIn: 0, copiesOut: 0, memoryBytes: 0 };
/** A link takes 1 ms for 1 MB, packing 2 ms, and what a server reads 3 ms. */
const NETWORK = { bandwidth: 1e9, latency: 0.01, messageBandwidth: 0.5e9 };

function load(lookup: Partial<ServerCalls>, update: Partial<ServerCalls> = lookup): ServerLoad {
  return { lookup: { ...NO_CALLS, ...lookup }, update: { ...NO_CALLS, ...update } };
}

function predicted(
  loads: readonly ServerLoad[],
  network: Partial<PlanNetworkArgs> = {},
  changes: Partial<ClusterArgs> = {},
): ClusterPrediction {
  const memory = loads.map((_, server) => ({ tables: 1000 + server, slots: 10 + server }));
  const asked = readNetwork({ ...NETWORK, ...network });
  return predictCluster({ network: asked, loads, memory, hostBandwidth: 1e9 / 3, rounds: 1, ...changes });
}

describe('The network of a plan', () => {
  it('has 1 to 65536 clients', () => {
    for (const clients of [1, 65536]) expect(readNetwork({ ...NETWORK, clients }).clients).toBe(clients);
    for (const clients of [0, 65537, 1.5]) {
      expectError(() => readNetwork({ ...NETWORK, clients }), 'ValueError', 'network.clients', String(clients));
    }
  });
});

describe('A step on servers', () => {
  it('is latency, packing, link and work in a row where a call is small', () => {
    const { servers, ...whole } = predicted([load({ ids: 4e5, rows: 6e5, memoryBytes: 1e6 })]);
    // Both ways 10 ms; packed and unpacked by the client and by the server 2 ms each, links 0.4 and 0.6, memory 3.
    const seconds = 0.02 + 0.002 + 0.001 + (0.002 + 0.003);
    expect(servers[0]!.lookup.seconds).toBeCloseTo(seconds, 12);
    expect(servers[0]!.update.seconds).toBeCloseTo(seconds, 12);
    expect(servers[0]!.workSeconds).toBeCloseTo(0.01, 12);
    // In the lookup 0.4 MB come, in the update 1 MB; 0.6 MB leave.
    expect(servers[0]!.linkSeconds).toBeCloseTo(0.0014, 12);
    expect(whole.calls).toBe(2);
    expect(whole.bytesToServers).toBe(1.4e6);
    expect(whole.bytesFromServers).toBe(6e5);
    expect(whole.stepSeconds).toBeCloseTo(2 * seconds, 12);
    expect(whole.stepsPerSecond).toBeCloseTo(1 / (2 * seconds), 9);
    expect(whole.limit).toEqual({ resource: 'clients', server: null });
  });

  it('lookups go in calls of 2 MB, whose stages overlap; updates in one', () => {
    const { servers } = predicted([load({ ids: 1e6, rows: 7e6, memoryBytes: 2e6 })]);
    const { lookup, update } = servers[0]!;
    expect([lookup.calls, update.calls]).toEqual([4, 1]);
    // 16 ms of the client, 1 and 7 of links, 22 of the server, which decides.
    expect(lookup.seconds).toBeCloseTo(0.02 + 0.022 + (0.016 + 0.001 + 0.007) / 4, 12);
    expect(update.seconds).toBeCloseTo(0.02 + 0.022 + 0.016 + 0.008, 12);
    expect(predicted([load({ rows: 2e6 })]).servers[0]!.lookup.calls).toBe(1);
    expect(predicted([load({ rows: 2e6 + 4 })]).servers[0]!.lookup.calls).toBe(2);
  });

  it('servers work side by side, and share the work and the link of the client', () => {
    const small = load({ ids: 2e5, rows: 1e5, memoryBytes: 1e6 });
    const large = load({ ids: 2e5, rows: 5e5, memoryBytes: 1e6 });
    const { lookupSeconds, updateSeconds, slowest, calls } = predicted([small, large, small]);
    // The client 1.3 MB, the largest server 0.7.
    const seconds = 0.02 + 0.0026 + 0.0013 + (0.0014 + 0.003);
    expect(lookupSeconds).toBeCloseTo(seconds, 12);
    expect(updateSeconds).toBeCloseTo(seconds, 12);
    expect(slowest).toBe(1);
    expect(calls).toBe(6);
  });

  it('calls overlap as often as the server with most of them is asked', () => {
    const { lookupSeconds } = predicted([load({ rows: 1e6 }), load({ rows: 8e6 }), load({})]);
    // 18 ms of the client, 9 of its link, 16 of the larger server; 4 calls.
    expect(lookupSeconds).toBeCloseTo(0.02 + 0.018 + (0.009 + 0.016) / 4, 12);
  });

  it('clients wait for their own steps until a server has no time left', () => {
    const both = [load({ ids: 4e5, rows: 6e5, memoryBytes: 1e6 }), load({ ids: 4e5, rows: 7e5, memoryBytes: 1e6 })];
    const alone = predicted(both);
    const few = predicted(both, { clients: 3 });
    expect(few.stepsPerSecond).toBeCloseTo(3 * alone.stepsPerSecond, 9);
    expect(few.stepSeconds).toBe(alone.stepSeconds);
    expect(few.servers[0]!.memory).toEqual({ tables: 1000, slots: 10, exchange: 3e6 });
    const many = predicted(both, { clients: 100 });
    // 2.2 ms and 3 ms, twice.
    expect(many.stepsPerSecond).toBeCloseTo(1 / 0.0104, 9);
    expect(many.limit).toEqual({ resource: 'work of a server', server: 1 });
    const slow = predicted(both, { clients: 1e4, bandwidth: 1e8 });
    // 0.4 and 1.1 MB come.
    expect(slow.stepsPerSecond).toBeCloseTo(1 / 0.015, 9);
    expect(slow.limit).toEqual({ resource: 'link of a server', server: 1 });
  });

  it('counts what a client does between lookup and update, once', () => {
    const [plain, dense] = [0, 0.5].map((denseSeconds) => predicted([load({ ids: 4 })], { denseSeconds }));
    expect(dense!.stepSeconds - plain!.stepSeconds).toBeCloseTo(0.5, 12);
    expect(dense!.lookupSeconds).toBe(plain!.lookupSeconds);
  });

  it('layers look up one after the other, and copies take a second call before the update', () => {
    const loads = [load({ ids: 1e5 }, { ids: 1e5, copiesOut: 1e5, copiesIn: 2e5 })];
    const [one, two] = [1, 2].map((rounds) => predicted(loads, {}, { rounds }));
    expect(one!.lookupSeconds).toBeCloseTo(0.02 + 0.0005, 12);
    expect([one!.servers[0]!.lookup.calls, one!.servers[0]!.update.calls]).toEqual([1, 2]);
    expect(two!.servers[0]!.lookup.calls).toBe(2);
    // The longest stage is 0.2 ms of 0.5; the other 0.3 in halves.
    expect(two!.lookupSeconds).toBeCloseTo(0.04 + 0.0002 + 0.0003 / 2, 12);
    // 0.3 MB in, 0.1 MB out.
    expect(one!.updateSeconds).toBeCloseTo(0.04 + 0.0008 + 0.0004 + 0.0008, 12);
    expect(one!.servers[0]!.update.gradients).toBe(2e5);
  });

  it('asks nothing of a server that has nothing', () => {
    const { servers, calls } = predicted([load({}), load({ ids: 4 })]);
    expect(servers[0]!.lookup).toEqual(jasmine.objectContaining({ calls: 0, seconds: 0 }));
    expect(servers[0]!.update).toEqual(jasmine.objectContaining({ calls: 0, seconds: 0 }));
    expect(calls).toBe(2);
  });
});

/** 26 tables of 100,000 x 64, 10 ids, on two servers: what TensorFlow 2.21's server was measured with on loopback. */
const MEASURED: PlanEmbeddingArgs = {
  tables: Array.from({ length: 26 }, () => ({ inputDim: 100_000, outputDim: 64, combiner: 'sum' as const })),
  worldSize: 2,
  hotness: new Array<number>(26).fill(10),
  batchSize: 4096,
};

describe('A plan on servers', () => {
  it('has the bytes that went over loopback: 4.7 MB of ids, 32 MB with pooled rows, 32 MB with gradients', () => {
    const { cluster } = planEmbedding({ ...MEASURED, network: { bandwidth: 5e9, latency: 1e-4, slots: 1 } });
    const all = (value: (server: ClusterPrediction['servers'][number]) => number): number =>
      cluster!.servers.reduce((sum, server) => sum + value(server), 0) / 1e6;
    const within5 = (value: number, measured: number): void => {
      expect(Math.abs(value / measured - 1)).toBeLessThan(0.05);
    };
    within5(
      all(({ lookup }) => lookup.bytesIn),
      4.7,
    );
    within5(
      all(({ lookup }) => lookup.bytesIn + lookup.bytesOut),
      32,
    );
    within5(
      all(({ update }) => update.bytesIn + update.bytesOut),
      32,
    );
    // Tables and slots of a server raised its memory by 676 MB.
    for (const { memory } of cluster!.servers) within5((memory.tables + memory.slots) / 1e6, 676);
  });

  it('halves pooled rows and gradients as float16, and nothing else', () => {
    const network = { bandwidth: 5e9, latency: 1e-4 };
    const [whole, half] = (['float32', 'float16'] as const).map(
      (exchange) => planEmbedding({ ...MEASURED, network: { ...network, exchange } }).cluster!.servers[0]!,
    );
    expect(half!.lookup.pooledRows).toBe(whole!.lookup.pooledRows / 2);
    expect(half!.update.gradients).toBe(whole!.update.gradients / 2);
    expect(half!.lookup.bytesIn).toBe(whole!.lookup.bytesIn);
  });

  it('is left alone where no network is given', () => {
    const plan = planEmbedding(MEASURED);
    expect('cluster' in plan).toBeFalse();
    expect(String(plan)).not.toContain('server');
    const { cluster, ...rest } = planEmbedding({ ...MEASURED, network: { bandwidth: 1, latency: 0 } }).toJSON();
    expect(cluster).toBeDefined();
    expect(rest).toEqual(plan.toJSON());
  });

  it('counts tables that a device would leave to its host among those of the server', () => {
    const tables = [{ inputDim: 10, outputDim: 4 }];
    const network = { bandwidth: 1e9, latency: 0, slots: 0.25 };
    const { memory } = planEmbedding({ tables, worldSize: 1, deviceMemory: 0, network }).cluster!.servers[0]!;
    expect([memory.tables, memory.slots]).toEqual([160, 40]);
  });
});
