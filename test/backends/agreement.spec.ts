/** Every implementation against TensorFlow's numbers and against the reference, through tfjs tensors. */
import * as tf from '@tensorflow/tfjs';
import { backendInfo, kernelSet, setThreads } from '../../src/backends/registry.js';
import { UPDATE_NAMES } from '../../src/rules/rules.js';
import { bagCase, copyTable, packedHyperCase, usedSlots, type BagCase } from '../helpers/bag_cases.js';
import { describeForBackends } from '../helpers/backends.js';
import { itEqualsTensorFlow, itEqualsTheReference, type Kernels } from '../helpers/kernel_set_suite.js';
import { itStepsPackedRows } from './packed_step_suite.js';
import { itLooksUpPackedRows } from '../helpers/packed_suite.js';
import { tensorKernelSet } from '../helpers/tensor_kernel_set.js';
import { lookUpInto, stepOne } from '../helpers/kernel_calls.js';
import { floatTable } from '../../src/backends/kernel_set.js';

/** Everything that the kernels compute for a case. */
function results(kernels: Kernels, example: BagCase, seed: number): Float32Array[] {
  const { table, bags, options, gradient } = example;
  const pooled = new Float32Array((bags.rowSplits.length - 1) * table.dim);
  lookUpInto(kernels, table, bags, options, pooled);
  const all = [pooled, kernels.rowGradients(gradient, bags, table, options).rowGradients];
  if (bags.weights !== null) {
    const out = new Float32Array(bags.values.length);
    kernels.weightsGradient(table, gradient, bags, options, out);
    all.push(out);
  }
  for (const optimizer of UPDATE_NAMES) {
    const own = copyTable(table);
    const slots = usedSlots(optimizer, own, seed);
    stepOne(kernels, optimizer, own, slots, gradient, bags, options, packedHyperCase(optimizer, seed));
    all.push(own.data, ...slots);
  }
  return all;
}

/** The first `width` columns of a row-major matrix. */
function columns(matrix: Float32Array, dim: number, width: number): Float32Array {
  return matrix.filter((_, i) => i % dim < width);
}

/** A larger batch, so that threads have something to share. */
function wideCase(seed: number): BagCase {
  const parts = Array.from({ length: 500 }, (_, i) => bagCase(9 * (500 * seed + i) + 7)); // dim 64
  const { table, options } = parts.find((part) => part.table.rows >= 400)!;
  const values = parts.flatMap(({ bags }) => Array.from(bags.values, (id) => Math.abs(id % table.rows)));
  const lengths = parts.flatMap(({ bags }) =>
    Array.from(bags.rowSplits.slice(1), (end, b) => end - bags.rowSplits[b]!),
  );
  const rowSplits = new Int32Array(lengths.length + 1);
  lengths.forEach((length, b) => (rowSplits[b + 1] = rowSplits[b]! + length));
  const weights = Float32Array.from(values, (_, i) => 0.1 + (i % 7) / 5);
  const gradient = Float32Array.from(parts.flatMap((part) => Array.from(part.gradient)));
  return {
    name: `wide ${seed}`,
    table,
    bags: { values: Int32Array.from(values), rowSplits, weights },
    options,
    gradient,
  };
}

describeForBackends('tensor kernels', () => {
  let before: number;
  beforeEach(() => (before = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(before));

  itEqualsTensorFlow(() => tensorKernelSet);
  itEqualsTheReference(() => tensorKernelSet);
  itLooksUpPackedRows(() => tensorKernelSet);
  itStepsPackedRows(() => tensorKernelSet);

  it('gives a column the same bits in tables of any width', () => {
    const { table, bags, gradient } = wideCase(4);
    const options = { combiner: 'mean', outOfRange: 'error', maxNorm: 0 } as const;
    const batch = bags.rowSplits.length - 1;
    const wide = new Float32Array(batch * table.dim);
    lookUpInto(tensorKernelSet, table, bags, options, wide);
    const wideGradients = tensorKernelSet.rowGradients(gradient, bags, table, options).rowGradients;
    for (const dim of [1, 3, 7, 8, 15, 17, 31, 33]) {
      const narrow = floatTable(columns(table.data, table.dim, dim), table.rows, dim);
      const pooled = new Float32Array(batch * dim);
      lookUpInto(tensorKernelSet, narrow, bags, options, pooled);
      expect(pooled)
        .withContext(`pooled, dim ${dim}`)
        .toEqual(columns(wide, table.dim, dim));
      const { rowGradients } = tensorKernelSet.rowGradients(columns(gradient, table.dim, dim), bags, narrow, options);
      expect(rowGradients)
        .withContext(`gradient, dim ${dim}`)
        .toEqual(columns(wideGradients, table.dim, dim));
    }
  });

  it('finds rows around 2^24, where float32 cannot tell ids apart', () => {
    const rows = 16777220;
    const data = new Float32Array(rows);
    const ids = [16777215, 16777216, 16777217, 16777218, 16777219];
    ids.forEach((id, i) => (data[id] = i + 1));
    const bags = { values: Int32Array.from(ids), rowSplits: Int32Array.of(0, 1, 2, 3, 4, 5), weights: null };
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    const table = floatTable(data, rows, 1);
    const pooled = new Float32Array(5);
    lookUpInto(tensorKernelSet, table, bags, options, pooled);
    expect([...pooled]).toEqual([1, 2, 3, 4, 5]);
    const gradient = Float32Array.of(5, 4, 3, 2, 1);
    const { uniqueIds, rowGradients } = tensorKernelSet.rowGradients(gradient, bags, table, options);
    expect([...uniqueIds]).toEqual(ids);
    expect([...rowGradients]).toEqual([...gradient]);
  });
});

describeForBackends(
  'kernels on typed arrays',
  ({ kernels }) => {
    it('are the ones asked for', () => expect(kernelSet().name as string).toBe(kernels!));
    itEqualsTensorFlow(kernelSet);
    itEqualsTheReference(kernelSet);
    itLooksUpPackedRows(kernelSet);
    itStepsPackedRows(kernelSet);
  },
  ['cpu native', 'cpu wasm'],
);

describeForBackends(
  'threads of tensor kernels',
  () => {
    it('gives the same bits for any number of threads', () => {
      const usual = backendInfo().kernels['EmbeddingBag']!.threads;
      try {
        for (const seed of [1, 2]) {
          const example = wideCase(seed);
          expect(example.bags.values.length).toBeGreaterThan(11000);
          setThreads(1);
          const alone = results(tensorKernelSet, example, seed);
          for (const threads of [2, 5]) {
            setThreads(threads);
            expect(results(tensorKernelSet, example, seed)).toEqual(alone);
          }
        }
      } finally {
        setThreads(usual);
      }
    });
  },
  ['cpu native', 'cpu wasm', 'wasm', 'tensorflow'],
);
