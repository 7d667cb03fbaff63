/** Two settings of topK at once: every two values of two settings meet, beside a sort of all products. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { caseText, pairCases } from '../helpers/pairs/covering.js';
import { Random } from '../helpers/random.js';
import { plainTopK } from './definitions.js';

const DIM = 5;

const SETTINGS = {
  storage: ['float32', 'float16', 'int8'],
  table: ['layer', 'table', 'weight', 'tensor'],
  rows: [1, 7, 300],
  queries: [1, 3, 34],
  k: [1, 4, 20],
  exclude: ['none', 'some', 'most', 'unsorted', 'empty'],
  only: ['none', 'some', 'unsorted', 'empty'],
  rerank: ['none', 'all candidates', 'few candidates', 'default', 'three candidates'],
} as const;

const { legal, refused } = pairCases(SETTINGS, (given) => {
  // Packed rows are known by their variable alone.
  if (given.table === 'tensor' && given.storage !== 'float32') return 'table';
  return given.rerank === 'three candidates' && given.k > 3 ? 'rerank.candidates' : null;
});
type Case = (typeof legal)[number];

/** Whole numbers, whose products are exact. */
const matrix = (random: Random, rows: number): number[][] =>
  Array.from({ length: rows }, () => Array.from({ length: DIM }, () => random.whole(-3, 4)));

function listsOf(
  random: Random,
  { rows, queries }: Case,
  kind: Case['exclude'] | Case['only'],
): number[][] | undefined {
  if (kind === 'none') return undefined;
  const chance = { some: 0.4, most: 0.9, unsorted: 0.5, empty: 0 }[kind];
  return Array.from({ length: queries }, () => {
    const ids = Array.from({ length: rows }, (_, id) => id).filter(() => random.chance(chance));
    return kind === 'unsorted' ? [...ids.reverse(), ...ids.slice(0, 2)] : ids;
  });
}

/** Runs topK of a case; what it gives, and what sorts of all products give. */
function rank(given: Case, seed: number): { found: emb.TopK; expected: ReturnType<typeof plainTopK> } {
  const random = new Random(seed);
  const { storage, rows, k, rerank } = given;
  const [queries, exact] = [matrix(random, given.queries), matrix(random, rows)];
  const layer = emb.layers.embedding({ inputDim: rows, outputDim: DIM, weights: [exact], storage });
  const all = tf.range(0, rows, 1, 'int32').expandDims(0);
  // The numbers that packed rows stand for.
  const stored = (layer.apply(all) as tf.Tensor3D).arraySync()[0]!;
  const table = {
    layer,
    table: layer.table,
    weight: layer.weights[0]!,
    tensor: layer.weights[0]!.read().clone(),
  }[given.table] as emb.RankedTable;
  const lists = { exclude: listsOf(random, given, given.exclude), only: listsOf(random, given, given.only) };
  const ragged = (ids: number[][] | undefined): emb.RaggedTensor | null =>
    ids === undefined ? null : emb.RaggedTensor.fromRows(ids, { dtype: 'int32' });
  const candidates = {
    none: rows,
    'all candidates': Math.max(rows, k),
    'few candidates': k + 1,
    default: 4 * k,
    'three candidates': 3,
  }[rerank];
  const ranking = { table: tf.tensor2d(exact), ...(rerank === 'default' ? {} : { candidates }) };
  try {
    const found = emb.topK(tf.tensor2d(queries), table, k, {
      exclude: ragged(lists.exclude),
      only: ragged(lists.only),
      rerank: rerank === 'none' ? null : ranking,
    });
    const plain = { ...(lists.exclude && { exclude: lists.exclude }), ...(lists.only && { only: lists.only }) };
    if (rerank === 'none') return { found, expected: plainTopK(queries, stored, k, plain) };
    const scanned = plainTopK(queries, stored, candidates, plain);
    return { found, expected: plainTopK(queries, exact, k, { only: scanned.indices }) };
  } finally {
    layer.dispose();
  }
}

describeForBackends(
  'two settings of topK at once',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('finds what both ask for', () => {
      legal.forEach((given, seed) => {
        tf.tidy(() => {
          const { found, expected } = rank(given, seed);
          const what = caseText(given);
          expect(found.indices.arraySync()).withContext(what).toEqual(expected.indices);
          const values = found.values.arraySync().flat();
          expected.values.flat().forEach((value, i) => {
            if (value === -Infinity) expect(values[i]).withContext(what).toBe(value);
            else expect(values[i]).withContext(what).toBeCloseTo(value, 4);
          });
        });
      });
    });

    it('refuses what does not go together', () => {
      expect(refused.length).toBeGreaterThan(0);
      for (const { given, argument } of refused) {
        const type = argument === 'table' ? 'TypeError' : 'ValueError';
        expectError(() => tf.tidy(() => rank(given, 1).found.indices), type, argument);
      }
    });
  },
  ['cpu native', 'cpu reference', 'tensorflow'],
);
