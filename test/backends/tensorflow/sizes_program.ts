/**
 * Calls ops with sizes whose products run over, or that no memory holds; prints a JSON line with the error of each. A
 * process of its own, as a size that is not checked ends it.
 */
import * as tf from '@tensorflow/tfjs';
import { currentBackend } from '../../../src/backends/registry.js';
import type { BagOptions } from '../../../src/backends/kernel_set.js';
import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import * as emb from '../../../src/node.js';
import '@tensorflow/tfjs-node';
import { stepVariable } from '../../helpers/kernel_calls.js';

const WIDE = 2 ** 45;
const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
const splits = (bags: number): tf.Tensor1D => tf.zeros([bags + 1], 'int32');
const none = (): tf.Tensor1D => tf.tensor1d([], 'int32');

await tf.setBackend('tensorflow');
await emb.ready();

const bag = (bags: number, options: object): tf.Tensor =>
  emb.ops.embeddingBag(tf.zeros<tf.Rank.R2>([0, WIDE]), none(), splits(bags), { combiner: 'sum', ...options });
const gradRun = (rows: number): unknown =>
  tf.engine().runKernel('EmbeddingBagGrad', { gradient: tf.zeros([0, 16]), values: none(), rowSplits: splits(0) }, {
    ...OPTIONS,
    rows,
  } as never);
const stepOf = (rows: number): void => {
  const table = tf.variable(tf.zeros([0, WIDE]));
  const slot = tf.variable(tf.zeros([rows, WIDE]));
  const bags = { values: none(), rowSplits: splits(0), weights: null };
  stepVariable(
    currentBackend(),
    'adagrad',
    table,
    [slot],
    tf.zeros([0, WIDE]),
    bags,
    OPTIONS,
    new Float32Array(HYPER_FIELDS.length),
  );
};

const cases: Record<string, () => unknown> = {
  'product beyond 2^63': () => bag(2 ** 19, {}),
  'product beyond 2^63, weighted': () => bag(2 ** 19, { weights: tf.tensor1d([]) }),
  'product beyond 2^63, maxNorm': () => bag(2 ** 19, { maxNorm: 1 }),
  'bytes beyond 2^63': () => bag(2 ** 17, {}),
  'as much as nothing': () => bag(0, {}).shape,
  'rows beyond 2^62': () => gradRun(2 ** 62),
  'workspace beyond memory': () => stepOf(0),
};
const results = Object.fromEntries(
  Object.entries(cases).map(([name, run]) => {
    try {
      return [name, { result: tf.tidy(() => run() as never) }];
    } catch (error) {
      const { name: kind, argument, message } = error as emb.ValueError;
      return [name, { kind, argument, message }];
    }
  }),
);
console.log(JSON.stringify(results));
