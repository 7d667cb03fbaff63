/** Every argument of a report, right and odd. */
import { makeReport } from '../../src/report/report.js';
import { itTreatsEachArgument } from '../helpers/each_argument.js';
import { sourceOf } from './report_sources.js';

const source = sourceOf({
  tables: [
    { name: 'users', inputDim: 1000, outputDim: 16, combiner: 'sum' },
    { name: 'items', inputDim: 100, outputDim: 8, combiner: 'mean' },
  ],
  worldSize: 2,
  hotness: [4, 2],
  batchSize: 32,
});

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  report: {
    args: () => ({ generation: 'v5p', chips: 2, network: null }),
    run: (options) => makeReport(source, options as never),
  },
  'the network of a report': {
    args: () => ({
      bandwidth: 1e9,
      latency: 1e-4,
      clients: 3,
      exchange: 'float16',
      denseSeconds: 0.001,
      messageBandwidth: 2e9,
      servers: 2,
    }),
    run: (network) => makeReport(source, { network: network as never }).cluster,
  },
});
