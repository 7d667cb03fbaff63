/**
 * `emb.sampling.negatives`: millions of negatives a second of processor time, on one thread; medians of nine calls, which
 * take turns. 30,000 items, 200,000 positives; `seen`: 20,000 users with 30 items each. Prints JSON lines.
 *   node --import tsx tools/bench/ranking/negatives.ts
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { Random } from '../../../test/helpers/random.js';
import { median, printLine } from '../stopwatch.js';

const [ITEMS, USERS, POSITIVES, ROUNDS] = [30_000, 20_000, 200_000, 9];

await tf.setBackend('cpu');
const random = new Random(1);
const drawn = (count: number, most: number): Int32Array =>
  Int32Array.from({ length: count }, () => random.whole(0, most));
const [positives, users] = [drawn(POSITIVES, ITEMS), drawn(POSITIVES, USERS)];
const seen = emb.RaggedTensor.fromRowLengths(drawn(30 * USERS, ITEMS), new Int32Array(USERS).fill(30));
const counts = drawn(ITEMS, 1000);

const CASES = {
  uniform: {},
  'uniform, seen': { seen, users },
  popularity: { distribution: 'popularity', counts },
  'log-uniform': { distribution: 'log-uniform' },
} as const;

const measured = Object.entries(CASES).flatMap(([name, args]) =>
  [1, 10, 100].map((perPositive) => {
    const of = positives.subarray(0, Math.min(POSITIVES, 2_000_000 / perPositive));
    const given = { numItems: ITEMS, positives: of, perPositive, ...args };
    if ('users' in given) given.users = users.subarray(0, of.length);
    return { name, given, seconds: [] as number[] };
  }),
);
for (let round = 0; round <= ROUNDS; round++) {
  for (const { given, seconds } of measured) {
    const before = process.cpuUsage();
    emb.sampling.negatives({ ...given, step: round }).dispose();
    const { user, system } = process.cpuUsage(before);
    // The first call is not counted: seen items are put in order in it.
    if (round > 0) seconds.push((user + system) / 1e6);
  }
}
for (const { name, given, seconds } of measured) {
  const count = given.positives.length * given.perPositive;
  printLine({
    bench: 'negatives',
    distribution: name,
    perPositive: given.perPositive,
    millionsPerSecond: Number((count / median(seconds) / 1e6).toFixed(1)),
  });
}
