/** Wrong arguments of the functions that choose which code runs. */
import * as emb from 'tfjs-embeddings/node';
import { describeWrongArguments, useCpu } from './wrong_arguments.js';

describe('settings', () => {
  beforeAll(useCpu);
  afterAll(() => emb.setKernels('auto'));

  const implementation = (): unknown => emb.backendInfo().kernels['EmbeddingBag'];

  describeWrongArguments('setKernels', {
    right: () => ({ kernels: 'auto' }),
    call: ({ kernels }) => emb.setKernels(kernels as never),
    untouched: implementation,
    wrong: {
      kernels: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['a number', 1, 'TypeError'],
        ['a list', ['auto'], 'TypeError'],
        ['another word', 'fast', 'ValueError'],
        ['upper case', 'AUTO', 'ValueError'],
        ['an empty word', '', 'ValueError'],
      ],
    },
  });

  describeWrongArguments('setThreads', {
    right: () => ({ threads: 2 }),
    call: ({ threads }) => emb.setThreads(threads as never),
    untouched: implementation,
    wrong: {
      threads: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['text', '2', 'TypeError'],
        ['0', 0, 'ValueError'],
        ['-1', -1, 'ValueError'],
        ['a fraction', 1.5, 'ValueError'],
        ['NaN', NaN, 'ValueError'],
        ['Infinity', Infinity, 'ValueError'],
        ['65', 65, 'ValueError'],
      ],
    },
  });

  describeWrongArguments('setWasmPath', {
    right: () => ({ url: 'data:application/wasm;base64,AGFzbQEAAAA=' }),
    // The right argument is left alone here: it would replace the kernels of every later spec.
    call: ({ url }) => {
      if (typeof url !== 'string' || url === '') emb.setWasmPath(url as never);
    },
    wrong: {
      url: [
        ['undefined', undefined, 'TypeError'],
        ['null', null, 'TypeError'],
        ['a number', 1, 'TypeError'],
        ['an empty one', '', 'ValueError'],
      ],
    },
  });
});
