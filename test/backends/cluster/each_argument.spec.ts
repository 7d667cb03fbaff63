/** Every argument of a connection to servers, right and odd. */
import { readCheckpointArguments, readDeltasArguments } from '../../../src/backends/cluster/checkpoints/arguments.js';
import { readClusterSettings } from '../../../src/backends/cluster/settings.js';
import { itTreatsEachArgument } from '../../helpers/each_argument.js';

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  connectCluster: {
    args: () => ({
      ps: ['10.0.0.1:2222', '[::1]:2223'],
      job: 'ps',
      name: 'ctr',
      tables: 'create',
      timeoutMs: 1000,
      exchange: 'float16',
      prefetch: 1,
      host: 'cpu',
    }),
    run: (args) => readClusterSettings(args),
  },
  'save and restore': {
    args: () => ({ prefix: '/checkpoints/ctr/100', timeoutMs: 1000, onProgress: null }),
    run: ({ prefix, ...options }) => readCheckpointArguments(prefix, options),
  },
  deltas: {
    args: () => ({ since: '/checkpoints/ctr/100', file: 'ctr.safetensors', timeoutMs: 1000, onProgress: null }),
    run: (args) => readDeltasArguments(args),
  },
});
