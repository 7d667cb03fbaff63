/** Two settings of a lookup at once: every two values of two settings meet, with results and gradients of products. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { composedBags, composedRows, type Bag } from '../helpers/pairs/composed_lookup.js';
import { caseText, pairCases } from '../helpers/pairs/covering.js';
import { Random } from '../helpers/random.js';
import { expectClose } from '../helpers/tensors.js';

const ROWS = 7;
const DIM = 3;
const BATCH = 4;
const LENGTH = 3;

const SETTINGS = {
  op: ['embeddingLookup', 'safeEmbeddingLookup'],
  combiner: [undefined, null, 'sum', 'mean', 'sqrtn', 'max'],
  maxNorm: [undefined, null, 0.6],
  outOfRange: [undefined, 'error', 'zero'],
  weights: ['none', 'positive', 'any'],
  partitions: [0, 1, 3],
  partitionStrategy: [undefined, 'mod', 'div'],
  form: ['array', 'dense', 'cube', 'ragged', 'pair', 'sparse'],
  ids: ['inside', 'negative', 'beyond'],
  defaultId: [undefined, 2],
} as const;

const { legal, refused } = pairCases(SETTINGS, (given) => {
  const isSafe = given.op === 'safeEmbeddingLookup';
  const combiner = given.combiner ?? null;
  if (isSafe && given.outOfRange !== undefined) return 'outOfRange';
  if (!isSafe && given.defaultId !== undefined) return 'defaultId';
  if (given.weights !== 'none' && combiner === 'max') return isSafe ? 'weights' : 'combiner';
  if (!isSafe && combiner === null && (given.weights !== 'none' || given.form === 'sparse')) return 'combiner';
  if (given.ids === 'beyond' && given.outOfRange !== 'zero') return 'ids';
  return given.ids === 'negative' && !isSafe && given.outOfRange !== 'zero' ? 'ids' : null;
});
type Case = (typeof legal)[number];

function drawBags(random: Random, { form, ids, weights }: Case): Bag[] {
  const isRagged = form === 'ragged' || form === 'pair' || form === 'sparse';
  return Array.from({ length: form === 'cube' ? 2 * BATCH : BATCH }, (_, bag) => {
    const length = isRagged ? [2, 0, 3, 1][bag % 4]! : LENGTH;
    const all = Array.from({ length }, () => random.whole(0, ROWS));
    if (bag === 0 && ids !== 'inside') all[1] = ids === 'negative' ? -1 : ROWS;
    const weightOf = (): number => random.whole(weights === 'any' ? -3 : 1, 9) / 4;
    return { ids: all, weights: weights === 'none' ? null : all.map(weightOf) };
  });
}

/** The ids of bags, or their weights, as they are given. */
function given(form: Case['form'], rows: readonly (readonly number[])[], dtype: 'int32' | 'float32'): unknown {
  const flat = rows.flat();
  switch (form) {
    case 'array':
      return rows;
    case 'dense':
      return tf.tensor2d(flat, [BATCH, LENGTH], dtype);
    case 'cube':
      return tf.tensor3d(flat, [BATCH, 2, LENGTH], dtype);
    case 'ragged':
      return emb.RaggedTensor.fromRows(rows, { dtype });
    case 'pair':
      return { values: flat, rowSplits: rows.reduce((all, { length }) => [...all, all.at(-1)! + length], [0]) };
    case 'sparse':
      return {
        indices: rows.flatMap((row, i) => row.map((_, j) => [i, j])),
        values: flat,
        denseShape: [BATCH, LENGTH],
      };
  }
}

/** The partitions of a table, each of which may hold none of the rows that are looked up. */
function partitioned(table: tf.Tensor2D, { partitions, partitionStrategy }: Case): tf.Tensor2D | tf.Tensor2D[] {
  if (partitions === 0) return table;
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  const perPart = Math.ceil(ROWS / partitions);
  return Array.from({ length: partitions }, (_, part) => {
    const own = rows.filter((row) =>
      partitionStrategy === 'div' ? Math.floor(row / perPart) === part : row % partitions === part,
    );
    // A product, as `wasm` has no gradient of tf.gather.
    const places = own.map((row) => rows.map((each) => Number(each === row)));
    return tf.matMul(tf.tensor2d(places, [own.length, ROWS]), table);
  });
}

function lookUp(each: Case, table: tf.Tensor2D, bags: readonly Bag[]): tf.Tensor | emb.RaggedTensor {
  const { op, form, combiner, maxNorm, outOfRange, partitionStrategy, defaultId } = each;
  const weights = each.weights === 'none' ? null : given(form, bags.map((bag) => bag.weights!), 'float32'); // prettier-ignore
  const options = { combiner, maxNorm, outOfRange, weights, partitionStrategy, defaultId };
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const ids = given(form, bags.map((bag) => bag.ids), 'int32') as emb.IdsInput; // prettier-ignore
  return (emb[op] as typeof emb.embeddingLookup)(partitioned(table, each), ids, set as emb.EmbeddingLookupOptions);
}

/** What is left of a bag by the rules of the forgiving lookup. */
function pruned({ ids, weights }: Bag, { combiner, defaultId }: Case): Bag {
  const kept = ids.flatMap((id, i) => (id >= 0 && (combiner === 'sum' || (weights?.[i] ?? 1) > 0) ? [i] : []));
  if (kept.length === 0 && defaultId !== undefined) return { ids: [defaultId], weights: null };
  return { ids: kept.map((i) => ids[i]!), weights: weights && kept.map((i) => weights[i]!) };
}

function composed(each: Case, table: tf.Tensor2D, bags: readonly Bag[]): tf.Tensor2D {
  const maxNorm = each.maxNorm ?? null;
  const combiner = each.combiner ?? null;
  if (each.op === 'safeEmbeddingLookup') {
    return composedBags(table, bags.map((bag) => pruned(bag, each)), { combiner: combiner ?? 'mean', maxNorm }); // prettier-ignore
  }
  if (combiner !== null) return composedBags(table, bags, { combiner, maxNorm });
  return composedRows(
    table,
    bags.flatMap(({ ids }) => ids),
    { maxNorm },
  );
}

describeForBackends(
  'two settings of a lookup at once',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('give what products do, with their gradients', () => {
      legal.forEach((each, seed) => {
        tf.tidy(() => {
          const random = new Random(seed + 1);
          const table = tf.tensor2d(random.floats(ROWS * DIM), [ROWS, DIM]);
          const bags = drawBags(random, each);
          const what = caseText(each);
          // Sums of weights of either sign may be small, by which quotients magnify rounding.
          const tolerance = each.weights === 'any' ? 1e-4 : 2e-6;
          const expected = composed(each, table, bags);
          const found = lookUp(each, table, bags);
          if (found instanceof emb.RaggedTensor) {
            expectClose(found.values as Float32Array, expected.dataSync(), 4, what, tolerance);
            return;
          }
          expectClose(found.dataSync(), expected.dataSync(), 4, what, tolerance);
          const factors = tf.tensor2d(random.floats(expected.size), expected.shape);
          const gradientOf = (run: (x: tf.Tensor2D) => tf.Tensor): ArrayLike<number> =>
            tf.grad((x) => run(x as tf.Tensor2D).reshape(expected.shape).mul(factors).sum())(table).dataSync(); // prettier-ignore
          const wanted = gradientOf((x) => composed(each, x, bags));
          expectClose(gradientOf((x) => lookUp(each, x, bags) as tf.Tensor), wanted, 4, `${what}, gradient`, tolerance); // prettier-ignore
        });
      });
    });

    it('are refused where they do not go together', () => {
      expect(refused.length).toBeGreaterThan(0);
      for (const { given: each, argument } of refused) {
        const run = (): void => {
          tf.tidy(() => {
            const random = new Random(3);
            lookUp(each, tf.tensor2d(random.floats(ROWS * DIM), [ROWS, DIM]), drawBags(random, each));
          });
        };
        expectError(run, 'ValueError', argument);
      }
    });
  },
  ['cpu native', 'cpu reference', 'wasm', 'tensorflow'],
);
