/** Plans on servers as text, and stored. */
import { ValueError } from '../../../src/base/errors.js';
import { planEmbedding, readPlan } from '../../../src/partition/index.js';

const ARGS = {
  tables: [
    { name: 'users', inputDim: 100_000, outputDim: 64, combiner: 'sum' as const },
    { name: 'items', inputDim: 50_000, outputDim: 64, combiner: 'mean' as const },
  ],
  worldSize: 2,
  hotness: [1, 20],
};
const NETWORK = { bandwidth: 1.25e9, latency: 5e-5, clients: 4, slots: 2, exchange: 'float16' as const };

describe('A plan on servers', () => {
  it('shows servers, a step, what limits it, and what was assumed', () => {
    expect(
      String(planEmbedding({ ...ARGS, network: NETWORK }))
        .split('\n')
        .slice(7),
    ).toEqual([
      'as servers: 2 servers, 4 clients, links of 1.25 GB/s and 50.0 us, pooled rows and gradients as float16',
      'server   tables    slots  exchange  lookup in  lookup out  calls   lookup  update in  update out   update     busy',
      '     0  25.6 MB  51.2 MB   2.23 MB    32.8 kB      524 kB      1  1.83 ms     557 kB         0 B  1.87 ms  1.37 ms',
      '     1  12.8 MB  25.6 MB   3.47 MB     344 kB      524 kB      1  3.22 ms     868 kB         0 B  3.72 ms  3.43 ms',
      'a step of one client: 1.80 MB to the servers and 1.05 MB back in 4 calls; lookup 4.29 ms, update 4.79 ms: 9.08 ms; server 1 is slowest',
      '4 clients: at most 292 steps a second; limited by the work of server 1',
      'assumed: 900 MB/s of messages packed or unpacked by a machine, slots 2 times as large as tables, ids sent with the lookup and with the update, memory beside that of idle servers',
    ]);
  });

  it('tells which server limits clients, and what they do on their own', () => {
    const text = (network: object): string => String(planEmbedding({ ...ARGS, network: { ...NETWORK, ...network } }));
    expect(text({ clients: 1 })).toMatch(/\n1 client: at most \d+ steps a second; each waits for its own steps\n/);
    expect(text({ clients: 50 })).toMatch(/\n50 clients: .* steps a second; limited by the work of server 1\n/);
    expect(text({ clients: 50, bandwidth: 1e8 })).toMatch(/ steps a second; limited by the link of server 1\n/);
    expect(text({ denseSeconds: 0.25 })).toMatch(/, 250 ms of work of its own between them: 2\d\d ms; server 1 /);
    expect(text({ latency: 10 })).toMatch(/: at most 0\.100 steps a second;/);
  });

  it('survives JSON with its text, and is refused where a part of it is missing', () => {
    const plan = planEmbedding({ ...ARGS, network: NETWORK });
    const again = readPlan(JSON.stringify(plan));
    expect(again.cluster).toEqual(plan.cluster);
    expect(String(again)).toBe(String(plan));
    const wrong = plan.toJSON();
    delete (wrong.cluster!.limit as { server?: unknown }).server;
    expect(() => readPlan(wrong)).toThrowError(ValueError, /cluster\.limit\.server: missing/);
  });
});
