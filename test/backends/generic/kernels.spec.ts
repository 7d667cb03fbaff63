/** The composed kernels, on tfjs's own cpu backend under another name, so that only stock ops are there. */
import * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG, KERNEL_NAMES } from '../../../src/backends/bag_tensors.js';
import {
  adoptBackend,
  genericTables,
  genericKernel,
  registerGenericBackend,
  registerGenericBackends,
} from '../../../src/backends/generic/register.js';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { addBackend, backendInfo, currentBackend, registeredBackend } from '../../../src/backends/registry.js';
import * as emb from '../../../src/index.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { itEqualsTensorFlow, itEqualsTheReference } from '../../helpers/kernel_set_suite.js';
import { itLooksUpPackedRows } from '../../helpers/packed_suite.js';
import { tensorKernelSet, tensorKernelSetOf } from '../../helpers/tensor_kernel_set.js';
import { expectNoLeak } from '../../helpers/tensors.js';
import { warningsOf } from '../../helpers/warnings.js';
import { stepVariable } from '../../helpers/kernel_calls.js';

const NAME = 'generic-test';

/** A second cpu backend with all stock kernels and none of ours. */
async function useStockOps(): Promise<void> {
  if ((tf.findBackend(NAME) ?? null) === null) {
    const Cpu = tf.findBackend('cpu').constructor as new () => tf.KernelBackend;
    tf.registerBackend(NAME, () => new Cpu());
    for (const kernel of tf.getKernelsForBackend('cpu')) {
      if (!KERNEL_NAMES.includes(kernel.kernelName)) tf.registerKernel({ ...kernel, backendName: NAME });
    }
    registerGenericBackend(NAME);
  }
  await tf.setBackend(NAME);
}

describe('generic kernels', () => {
  let before: string;
  let tensors: number;
  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
    await useStockOps();
  });
  beforeEach(() => {
    tensors = tf.memory().numTensors;
  });
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(tensors));
  afterAll(async () => {
    await tf.setBackend(before);
  });

  itEqualsTensorFlow(() => tensorKernelSet);
  itEqualsTheReference(() => tensorKernelSet, 90);
  itLooksUpPackedRows(() => tensorKernelSet);

  it('say what they are', () => {
    for (const info of Object.values(backendInfo().kernels)) {
      expect(info).toEqual({ implementation: 'generic', instructionSet: `stock ops of ${NAME}`, threads: 1 });
    }
  });

  it('leave webgl and webgpu to kernels of their own, and may be registered again', () => {
    registerGenericBackends();
    registerGenericBackends();
    for (const backend of ['webgl', 'webgpu']) {
      for (const name of KERNEL_NAMES) expect(tf.getKernel(name, backend)).withContext(name).toBeDefined();
      expect(registeredBackend(backend)!.info(EMBEDDING_BAG).implementation).not.toBe('generic');
    }
    expect(() => genericKernel('Other')).toThrowError(/kernelName/);
  });

  it('are said to run on webgpu, where kernels may be imported', () => {
    const own = registeredBackend('webgpu')!;
    try {
      expect(warningsOf(() => adoptBackend('webgpu'))).toEqual([jasmine.stringContaining("'tfjs-embeddings/webgpu'")]);
      expect(registeredBackend('webgpu')!.info(EMBEDDING_BAG).implementation).toBe('generic');
    } finally {
      addBackend('webgpu', own);
    }
    expect(warningsOf(() => adoptBackend(NAME))).toEqual([]);
  });

  it('refuse pooled rows that no memory holds', () => {
    expectError(
      () =>
        tf.tidy(() => emb.ops.embeddingBag(tf.zeros<tf.Rank.R2>([0, 2 ** 45]), [], [0, 0, 0], { combiner: 'mean' })),
      'ValueError',
      'table',
      'pooled rows of shape [2, 35184372088832] (281474976710656 bytes)',
    );
  });

  it('free what they make on the way', () => {
    const memory = (): number => tf.engine().backend.numDataIds();
    const data = memory();
    expectNoLeak(() => {
      const table = tf.tidy(() => tf.variable(tf.ones([4, 2])));
      tf.tidy(() => {
        const bags = { values: tf.tensor1d([0, 3], 'int32'), rowSplits: tf.tensor1d([0, 2], 'int32'), weights: null };
        const options = { combiner: 'mean', outOfRange: 'error', maxNorm: 0.5 } as const;
        const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, clipNorm: 1 });
        stepVariable(currentBackend(), 'sgd', table, [], tf.ones([1, 2]), bags, options, hyper);
      });
      table.dispose();
    });
    expect(memory()).toBe(data);
  });

  it('leave snapshots of a table alone', () => {
    tf.tidy(() => {
      const table = tf.variable(
        tf.tensor2d([
          [1, 2],
          [3, 4],
        ]),
      );
      const snapshots = [table.clone(), table.reshape([4]), table.slice([1, 0]), table.expandDims(0)];
      const bags = { values: tf.tensor1d([1], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32'), weights: null };
      const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
      const values = snapshots.map((tensor) => Array.from(tensor.dataSync()));
      for (let step = 0; step < 3; step++) {
        stepVariable(currentBackend(), 'sgd', table, [], tf.ones([1, 2]), bags, options, hyper);
      }
      expect(Array.from(table.dataSync())).toEqual([1, 2, 0, 1]);
      snapshots.forEach((tensor, i) => expect(Array.from(tensor.dataSync())).toEqual(values[i]!));
      table.dispose();
    });
  });

  it('step a variable, not a tensor, when run by name', () => {
    tf.tidy(() => {
      const table = tf.variable(tf.ones([2, 1]));
      const inputs = {
        gradient: tf.ones([1, 1]),
        values: tf.tensor1d([1], 'int32'),
        rowSplits: tf.tensor1d([0, 1], 'int32'),
      };
      const hyper = Array.from(packHyper({ ...NEUTRAL_HYPER, learningRate: 0.5 }));
      const attrs = { combiner: 'sum', outOfRange: 'error', maxNorm: 0, hyper };
      const run = (matrix: tf.Tensor): unknown =>
        tf.engine().runKernel('SparseApplySgd', { table: matrix, ...inputs } as never, attrs as never);
      run(table);
      expect(Array.from(table.dataSync())).toEqual([1, 0.5]);
      expect(() => run(tf.ones([2, 1]))).toThrowError(/table/);
      table.dispose();
    });
  });
});

/** The composed kernels on the stock ops of other backends, beside the kernels that those have of their own. */
describeForBackends(
  'generic kernels',
  () => {
    const composed = tensorKernelSetOf({
      run: (kernelName, inputs, attrs) =>
        genericKernel(kernelName)({ inputs, attrs: attrs as never, backend: tf.backend() }),
      step: genericTables.step,
    });
    let before: number;
    beforeEach(() => (before = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before));

    itEqualsTensorFlow(() => composed);
    itEqualsTheReference(() => composed, 60);
  },
  ['wasm', 'tensorflow'],
);
