/** Matrix factorization as a process: what it learns, in which layouts, and what is wrong with options and files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings/node';
import { readOptions } from '../../../models/matrix_factorization/options.mjs';
import { skipOrFail } from '../../helpers/backends.js';
import { reportOf, runModel, type Outcome } from '../program.js';
import { scratchFolder } from '../wide_and_deep/program.js';

interface Report {
  backend: string;
  captured: boolean;
  epochs: number;
  users: number;
  pairs: number;
  judgedUsers: number;
  heldOutRecall: number | null;
  'recall@6'?: number;
  'hitRate@10': number;
  'ndcg@10': number;
  'bestHitRate@10'?: number;
  foldIn?: { users: number; recall: number; trainedRecall: number };
}

const run = (...args: string[]): Promise<Outcome> => runModel('matrix_factorization', [...args, '--json']);
const SMALL = ['--dim', '16', '--temperature', '0.25', '--rate', '0.1', '--sampled', '512', '--decay', '0'];

describe('matrix factorization', () => {
  const folder = scratchFolder();
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 180_000)); // each spec starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());
  // Users of a group have items of its twelve; test items are ranked among those of other groups.
  const [USERS, GROUPS, OF_GROUP] = [300, 5, 12];
  const of = (user: number, i: number): number => (user % GROUPS) * OF_GROUP + ((user * 7 + i) % OF_GROUP);
  const rows = (from: number, to: number): Int32Array[] =>
    Array.from({ length: USERS }, (_, user) => Int32Array.from({ length: to - from }, (_, i) => of(user, from + i)));
  const [train, valid, test] = [rows(0, 5), rows(5, 6), rows(6, 7)];
  const negatives = rows(0, 12).map((_, user) => Int32Array.from({ length: 36 }, (_, i) => of(user + 1 + (i % 4), i)));
  const ratings = (rows: readonly Int32Array[]): string =>
    rows.flatMap((row, user) => Array.from(row, (item, i) => `${user}\t${item}\t1\t${i}\n`)).join('');
  const lists = (rows: readonly Int32Array[]): string =>
    rows.map((row, user) => `${[user, ...row].join(' ')}\n`).join('');

  it('comes near the best ranking of made-up data, in captured steps', async () => {
    const outcome = await run('--backend', 'tensorflow', '--epochs', '16', '--seed', '3', ...SMALL);
    if (outcome.stderr.includes('the backend tensorflow is not there')) return skipOrFail(outcome.stderr);
    const found = reportOf<Report>(outcome);
    expect([found.backend, found.captured]).toEqual(['tensorflow', true]);
    // By chance a tenth.
    expect(found['hitRate@10']).toBeGreaterThan(0.65 * found['bestHitRate@10']!);
    expect(found['hitRate@10']).toBeLessThan(found['bestHitRate@10']! + 0.02);
    expect(found.epochs).toBeLessThanOrEqual(16);
    expect(found.heldOutRecall).toBeGreaterThan(0);
    expect(outcome.stderr).toContain('choosing the epoch: epoch');
  });

  const QUICK = ['--dim', '8', '--batch', '64', '--sampled', '64', '--rate', '0.1', '--epochs', '20', '--decay', '0'];
  for (const [loss, ...args] of [
    ['softmax', '--temperature', '0.2'],
    ['ccl', '--margin', '0.2', '--weight', '5'],
    ['bpr', '--sampled', '4'],
  ] as const) {
    it(`reads NCF's files and learns by ${loss} on cpu`, async () => {
      const files = [
        ...[
          '--train',
          folder.write('x.train.rating', ratings(train)),
          '--test',
          folder.write('x.test.rating', ratings(test)),
        ],
        ...['--negatives', folder.write('x.test.negative', negativesOf())],
      ];
      const found = reportOf<Report>(await run('--backend', 'cpu', '--loss', loss, ...files, ...QUICK, ...args));
      expect([found.backend, found.captured, found.judgedUsers]).toEqual(['cpu', false, test.length]);
      // By chance 10 of 37.
      expect(found['hitRate@10']).toBeGreaterThan(0.9);
      expect(found['ndcg@10']).toBeGreaterThan(0.5);
      expect(found['ndcg@10']).toBeLessThanOrEqual(found['hitRate@10']);
      expect(found.heldOutRecall).toBeNull();
    });
  }
  const negativesOf = (): string =>
    negatives.map((row, user) => `${[`(${user},${test[user]![0]})`, ...row].join('\t')}\n`).join('');

  it('ranks all items of lists, folds new users in, and saves a model of the best items', async () => {
    const saved = join(folder.path, 'saved');
    const [trainFile, validFile, testFile] = [train, valid, test].map((rows, i) =>
      folder.write(`${i}.txt`, lists(rows)),
    ) as [string, string, string];
    const args = ['--train', trainFile, '--valid', validFile, '--test', testFile, ...QUICK, '--chosen', '--k', '6'];
    const outcome = await run('--backend', 'cpu', ...args, '--new-users', '0.1', '--save', saved);
    const found = reportOf<Report>(outcome);
    const pairs = [...train, ...valid].reduce((sum, { length }) => sum + length, 0);
    expect([found.users, found.pairs, found.epochs]).toEqual([train.length, pairs, 20]);
    // Six items of its group are left to each user; by chance 6 of 54.
    expect(found['recall@6']).toBeGreaterThan(0.9);
    const { users, recall, trainedRecall } = found.foldIn!;
    expect(users).toBe(30);
    expect(trainedRecall).toBeGreaterThan(0.9);
    expect(recall).toBeGreaterThan(0.9);

    await tf.setBackend('cpu');
    const model = await tf.loadLayersModel(`file://${saved}/model.json`);
    const [scores, best] = model.predict(tf.tensor2d([[7]], [1, 1], 'int32')) as [tf.Tensor, tf.Tensor];
    expect(best.shape).toEqual([1, 6]);
    expect(new Set(best.dataSync()).size).toBe(6);
    expect(Math.max(...scores.dataSync())).toBeLessThanOrEqual(1.0001); // a cosine
    // All of its group.
    expect([...best.dataSync()].map((item) => Math.floor(item / OF_GROUP))).toEqual(Array<number>(6).fill(7 % GROUPS));
    tf.dispose([scores, best]);
    model.dispose();
  });

  it('writes made-up data as the files that NCF has, and reads them', async () => {
    const written = join(folder.path, 'written');
    const args = ['--backend', 'cpu', '--epochs', '2', '--dim', '4', '--sampled', '64'];
    const made = reportOf<Report>(await run(...args, '--write', written));
    const [train, test, among] = ['train.rating', 'test.rating', 'test.negative'].map((name) =>
      join(written, name),
    ) as [string, string, string];
    const files = ['--train', train, '--test', test, '--negatives', among];
    const found = reportOf<Report>(await run(...args, ...files));
    expect([found.users, found.pairs, found.judgedUsers]).toEqual([made.users, made.pairs, made.judgedUsers]);
    expect(found['bestHitRate@10']).toBeUndefined();
    const lines = readFileSync(among, 'utf8').trimEnd().split('\n');
    expect(new Set(lines.map((line) => line.split('\t').length))).toEqual(new Set([100]));
    expect(() => readOptions([...files, '--write', written])).toThrowError(/^--write is for made-up data/);
  });

  it('gives the same results for the same seed', async () => {
    const args = ['--backend', 'cpu', '--epochs', '1', '--dim', '4', '--seed', '0'];
    const [a, b, other] = await Promise.all([run(...args), run(...args), run(...args, '--batch', '200')]);
    const of = (outcome: Outcome): number => reportOf<Report>(outcome)['ndcg@10'];
    expect(of(a!)).toBe(of(b!));
    expect(of(other!)).not.toBe(of(a!));
  });

  it('names a file with a mistake in one line', async () => {
    const bad = folder.write('bad.txt', '0 1 two\n');
    const { code, stdout, stderr } = await run('--train', bad, '--test', bad);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`error: ${bad}, line 1: expected whole numbers from 0 to 2147483647, found "two"\n`);
  });

  const data = folder.write('data.txt', '0 1 2\n');
  const mistakes: [string[], RegExp][] = [
    [['--train', data], /^--train needs --test$/],
    [['--test', data], /^--test needs --train$/],
    [['--valid', data], /^--valid needs --train$/],
    [['--chosen'], /^--chosen needs --epochs$/],
    [['--train', join(folder.path, 'none'), '--test', data], /none": there is no such file/],
    [['--loss', 'hinge'], /^--loss must be one of softmax, ccl, bpr, not "hinge"$/],
    [['--loss', 'bpr', '--temperature', '1'], /^--temperature needs --loss softmax, not "bpr"$/],
    [['--margin', '0.5'], /^--margin needs --loss ccl, not "softmax"$/],
    [['--loss', 'bpr', '--width', '2'], /^--width needs --loss softmax or ccl, not "bpr"$/],
    [['--temperature', '0'], /^--temperature must be a number from 0.02 to 1000, not "0"$/],
    [['--rate', ''], /^--rate must be a number from 0 to 1000, not ""$/],
    [['--rate', 'NaN'], /^--rate must be a number from 0 to 1000, not "NaN"$/],
    [['--dim', '0'], /^--dim must be a whole number/],
  ];
  for (const [args, text] of mistakes) {
    it(`names wrong options: ${args.filter((arg) => !arg.includes(folder.path)).join(' ')}`, () => {
      expect(() => readOptions(args)).toThrowError(text);
    });
  }
});
