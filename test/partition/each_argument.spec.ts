/** Every argument of the planner, right and odd. */
import { checkPlan, planEmbedding, readPlan } from '../../src/partition/index.js';
import { itTreatsEachArgument } from '../helpers/each_argument.js';

const tables = (): object[] => [
  { name: 'words', inputDim: 40, outputDim: 8, combiner: 'sum' },
  { name: 'users', inputDim: 9, outputDim: 4, combiner: null },
  { name: 'items', inputDim: 300, outputDim: 2, combiner: 'mean' },
];

const request = (): Record<string, unknown> => ({
  tables: tables(),
  inputTableMap: [0, 1, 2, 0],
  worldSize: 2,
  strategy: 'memory_balanced',
  columnSliceThreshold: 200,
  rowSliceThreshold: 500,
  dataParallelThreshold: 40,
  deviceMemory: 1e6,
  dpInput: true,
  rowSharding: 'modulo',
  rowFallback: true,
  hotness: [2, 1, 3, 4],
  batchSize: 16,
  machine: null,
  network: null,
});

const network = (): Record<string, unknown> => ({
  bandwidth: 1e9,
  latency: 1e-4,
  clients: 3,
  exchange: 'float16',
  slots: 0.25,
  denseSeconds: 0.001,
  messageBandwidth: 2e9,
});

const plan = (): Record<string, unknown> => JSON.parse(JSON.stringify(planEmbedding(request() as never))) as never;

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  planEmbedding: { args: request, run: planEmbedding },
  'a table of planEmbedding': {
    args: () => ({
      name: 'words',
      inputDim: 40,
      outputDim: 8,
      combiner: 'sum',
      initializer: 'zeros',
      optimizer: 'adagrad',
      regularizer: null,
      constraint: null,
      rowCoupled: false,
    }),
    run: (table) => planEmbedding({ tables: [table], worldSize: 2 }),
  },
  'a network of planEmbedding': {
    args: network,
    run: (given) => planEmbedding({ ...request(), network: given } as never).cluster,
  },
  'the cluster of a plan in readPlan': {
    args: () => planEmbedding({ ...request(), network: network() } as never).cluster as never,
    run: (cluster) => readPlan({ ...plan(), cluster } as never).cluster,
  },
  readPlan: { args: plan, run: readPlan },
  checkPlan: { args: plan, run: (given) => checkPlan(given, tables() as never) },
});
