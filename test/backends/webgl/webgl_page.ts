/** Runs in a page: the kernels of webgl against the reference. Bundled by webgl.spec.ts. */
import * as tf from '@tensorflow/tfjs';
import { registerLookupBackends } from '../../../src/backends/register.js';
import { IdOutOfRange } from '../../../src/backends/kernel_set.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { backendInfo } from '../../../src/backends/registry.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { bagCases, copyTable, packedHyperCase, usedSlots, type BagCase } from '../../helpers/bag_cases.js';
import { gradientMagnitude, pooledMagnitudes, weightsGradientMagnitude } from '../../helpers/magnitudes.js';
import { tensorKernelSet } from '../../helpers/tensor_kernel_set.js';
import { firstDifference } from '../../helpers/tensors.js';
import { lookUpInto, stepOne } from '../../helpers/kernel_calls.js';

export interface Report {
  readonly backend: string;
  readonly implementation: string;
  readonly compared: number;
  readonly differences: string[];
  readonly tensorsLeft: number;
}

type Kernels = typeof tensorKernelSet;

/** Each result of a case, with how large its terms are. */
function results(kernels: Kernels, example: BagCase, seed: number): Float32Array[] {
  const { table, bags, options, gradient } = example;
  const pooled = new Float32Array((bags.rowSplits.length - 1) * table.dim);
  lookUpInto(kernels, table, bags, options, pooled);
  const grad = kernels.rowGradients(gradient, bags, table, options);
  const weights = new Float32Array(bags.values.length);
  if (bags.weights !== null) kernels.weightsGradient(table, gradient, bags, options, weights);
  const optimizer = UPDATE_NAMES[seed % UPDATE_NAMES.length]!;
  const own = copyTable(table);
  const slots = usedSlots(optimizer, own, seed);
  stepOne(kernels, optimizer, own, slots, gradient, bags, options, packedHyperCase(optimizer, seed));
  return [pooled, Float32Array.from(grad.uniqueIds), grad.rowGradients, weights, own.data, ...slots];
}

function refusesStrays(): string[] {
  const table = { data: new Float32Array(6), rows: 3, dim: 2 };
  const bags = { values: Int32Array.of(0, 3), rowSplits: Int32Array.of(0, 2), weights: null };
  try {
    lookUpInto(tensorKernelSet, table, bags, { combiner: 'sum', outOfRange: 'error', maxNorm: 0 }, new Float32Array(2));
  } catch (error) {
    if (error instanceof IdOutOfRange && error.position === 1) return [];
  }
  return ['an id outside the table was not refused'];
}

/** Ids that lie on the GPU already are read back only on request; unread strays count as zeros. */
function readsOnlyOnRequest(): string[] {
  return tf.tidy(() => {
    const table = tf.tensor2d([[1, 2]]);
    const values = tf.tensor1d([0, 5], 'int32');
    values.add(1); // uploads them
    const inputs = { table, values, rowSplits: tf.tensor1d([0, 2], 'int32') };
    const look = (attrs: object): tf.Tensor =>
      tf.engine().runKernel('EmbeddingBag', inputs as never, attrs as never) as tf.Tensor;
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const pooled = look(options).dataSync().join();
    if (pooled !== '1,2') return [`unread ids gave ${pooled}`];
    try {
      look({ ...options, validate: true });
    } catch (error) {
      if (error instanceof IdOutOfRange) return [];
    }
    return ['`validate` did not check ids that lie on the GPU'];
  });
}

/** On a GPU, arithmetic is rounded by other rules than on a CPU; `tolerance` says how far apart results may be. */
export async function compare(count: number, tolerance: number): Promise<Report> {
  registerLookupBackends();
  await tf.setBackend('webgl');
  // Otherwise tfjs computes small tensors on the CPU, and the GPU would hardly be asked.
  tf.env().set('WEBGL_CPU_FORWARD', false);
  const before = tf.memory().numTensors;
  const differences = [...refusesStrays(), ...readsOnlyOnRequest()];
  const cases = bagCases(count);
  cases.forEach((example, seed) => {
    const expected = results(referenceKernels, example, seed);
    const actual = results(tensorKernelSet, example, seed);
    const step = (1 + gradientMagnitude(example)) ** 2;
    const magnitudes = [
      pooledMagnitudes(example),
      0,
      gradientMagnitude(example),
      weightsGradientMagnitude(example),
      step,
      step,
      step,
    ];
    actual.forEach((each, i) => {
      const at = firstDifference(each, expected[i]!, magnitudes[i]!, i === 1 ? 0 : tolerance);
      if (at >= 0) differences.push(`${example.name}, result ${i} [${at}]: ${each[at]} instead of ${expected[i]![at]}`);
    });
  });
  return {
    backend: tf.getBackend(),
    implementation: backendInfo().kernels['EmbeddingBag']!.implementation,
    compared: cases.length,
    differences,
    tensorsLeft: tf.memory().numTensors - before,
  };
}

(globalThis as { compare?: typeof compare }).compare = compare;
