/**
 * Steps several large tables in one call, the first of which needs the most memory, and multiplies matrices in the same
 * order; prints how many results differ from those of one call each. A process of its own: who reserves too little
 * memory writes past its end. Argument: the backend.
 */
import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../src/rules/hyper.js';
import { SINGLE_ROW } from '../../src/backends/kernel_set.js';
import { tableOf } from '../../src/backends/table.js';
import type { TableUpdate } from '../../src/backends/contract.js';
import { asNodeBackend } from '../../src/backends/tensorflow/node_backend.js';
import * as emb from '../../src/node.js';
import { stepTables } from '../../src/optimizers/step_gradients.js';
import { Random } from '../helpers/random.js';
import { oneByOne } from './many_tables.js';

const [, , backend = 'cpu'] = process.argv;
if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
await emb.ready();
if (!(await tf.setBackend(backend))) throw new Error(`the backend ${backend} does not start`);

const ROWS = 1000;
const COUNTS = [4_000_000, 16_384, 20_000];

function stepped(): Float32Array[] {
  const random = new Random(3);
  const updates = COUNTS.map((count): TableUpdate => {
    const ids = Int32Array.from({ length: count }, () => random.whole(0, ROWS));
    const bags = {
      values: tf.tensor1d(ids, 'int32'),
      rowSplits: tf.tensor1d([0, count / 2, count], 'int32'),
      weights: null,
    };
    return {
      optimizer: 'sgd',
      table: tableOf(tf.variable(tf.zeros([ROWS, 4]))),
      slots: [],
      entries: [{ gradient: tf.tensor2d(random.floats(8), [2, 4]), bags, options: SINGLE_ROW, handle: null }],
      dense: null,
      hyper: packHyper({ ...NEUTRAL_HYPER, learningRate: 0.5 }),
    } as TableUpdate;
  });
  stepTables(updates);
  return updates.map(({ table }) => table.tensor.dataSync<'float32'>().slice());
}

/** [rows, k] times the transpose of [n, k], the first pair the largest by far. */
function products(): boolean[] {
  if (backend !== 'tensorflow') return [];
  const node = asNodeBackend(tf.backend());
  const { TF_ATTR_INT } = node.binding;
  const sizes = [
    [2, 1500, 1500],
    [2, 3, 2],
  ] as const;
  const lefts = sizes.map(([m, k]) => tf.randomUniform([m, k], -1, 1, 'float32', 5));
  const rights = sizes.map(([, k, n]) => tf.randomUniform([n, k], -1, 1, 'float32', 6));
  const run = (a: tf.Tensor[], b: tf.Tensor[]): tf.Tensor[] => {
    const attributes = { N: a.length, transpose_a: 0, transpose_b: 1 };
    const list = Object.entries(attributes).map(([name, value]) => ({ name, type: TF_ATTR_INT, value }));
    return node.executeMultipleOutputs('EmbeddingProducts', list, [...a, ...b], a.length);
  };
  const together = run(lefts, rights);
  return together.map((each, i) => {
    const alone = run([lefts[i]!], [rights[i]!])[0]!;
    return Buffer.compare(Buffer.from(each.dataSync().buffer), Buffer.from(alone.dataSync().buffer)) === 0;
  });
}

// The first step makes the ops known to TensorFlow.
const together = stepped();
const apart = oneByOne(stepped);
const tables = together.map((values, i) => values.every((value, at) => value === apart[i]![at]));
console.log(JSON.stringify({ tables, products: products() }));
