/** SASRec as a process: near the best ranking of made-up sequences, each layout of files, and what is wrong with them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings/node';
import { makeUp } from '../../../models/sasrec/made_up.js';
import { paddedOf } from '../../../models/sasrec/model.js';
import { readOptions } from '../../../models/sasrec/options.mjs';
import { Random } from '../../../models/random.js';
import { skipOrFail } from '../../helpers/backends.js';
import { reportOf, runModel, type Outcome } from '../program.js';
import { scratchFolder } from '../wide_and_deep/program.js';

interface Report {
  backend: string;
  captured: boolean;
  epochs: number;
  judgedUsers: number;
  sequences: number;
  items: number;
  heldOutHitRate: number;
  'hitRate@10': number;
  'bestHitRate@10'?: number;
  'popularHitRate@10': number;
  'hitRate@2': number;
  'popularHitRate@2': number;
}

const run = (...args: string[]): Promise<Outcome> => runModel('sasrec', [...args, '--json']);

describe('SASRec', () => {
  const folder = scratchFolder();
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 240_000)); // each spec starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());

  it('comes near the best ranking of made-up sequences, in captured steps', async () => {
    const written = join(folder.path, 'made_up.rating');
    const outcome = await run('--backend', 'tensorflow', '--write', written);
    if (outcome.stderr.includes('the backend tensorflow is not there')) return skipOrFail(outcome.stderr);
    const found = reportOf<Report>(outcome);
    expect([found.backend, found.captured, found.judgedUsers]).toEqual(['tensorflow', true, found.sequences]);
    const best = found['bestHitRate@10']!;
    expect(found['hitRate@10']).toBeGreaterThan(0.85 * best);
    expect(found['hitRate@10']).toBeLessThan(best + 0.02);
    expect(found['popularHitRate@10']).toBeLessThan(0.5 * best);
    expect(outcome.stderr).toContain('epoch 1/');
    expect(readFileSync(written, 'utf8').split('\n').length).toBeGreaterThan(50_000);
  });

  it('is compared with the ranking by true chances, which no other one can exceed', () => {
    const { sequences, numItems, best } = makeUp(5, 10);
    expect(makeUp(5, 10).sequences).toEqual(sequences);
    expect(makeUp(6, 10).sequences).not.toEqual(sequences);
    for (const row of sequences) expect(new Set(row).size).toBe(row.length);
    // What followed the last item before, and the last two, is a worse guide.
    const after = (lag: number, a: number, b: number): number => followers[lag]!.get(a * numItems + b) ?? 0;
    const followers = [1, 2].map((lag) => {
      const counts = new Map<number, number>();
      for (const row of sequences) {
        for (let at = lag; at + 1 < row.length; at++) {
          const pair = row[at - lag]! * numItems + row[at]!;
          counts.set(pair, (counts.get(pair) ?? 0) + 1);
        }
      }
      return counts;
    });
    let hits = 0;
    for (const row of sequences) {
      const score = (item: number): number => (0.1 + after(0, row.at(-2)!, item)) * (0.1 + after(1, row.at(-3)!, item));
      const others = Array.from({ length: numItems }, (_, item) => item).filter((item) => !row.includes(item));
      const held = score(row.at(-1)!);
      if (others.filter((item) => score(item) >= held).length < 10) hits++;
    }
    expect(hits / sequences.length).toBeGreaterThan(0.6 * best.hitRate);
    expect(hits / sequences.length).toBeLessThan(best.hitRate);
    expect(best.ndcg).toBeLessThan(best.hitRate);
  });

  // Items stand in a circle of 24, and users go around it by steps of 5 from anywhere.
  const ITEMS = 24;
  const random = new Random(1);
  const rows = Array.from({ length: 240 }, () => {
    const [start, length] = [random.below(ITEMS), 4 + random.below(9)];
    return Array.from({ length }, (_, at) => (start + 5 * at) % ITEMS);
  });
  const LAYOUTS = {
    'ratings of NCF': rows.flatMap((row, user) => row.map((item, at) => `${user}\t${item}\t5\t${at}`)).reverse(),
    'atomic files of RecBole': [
      'user_id:token\titem_id:token\ttimestamp:float',
      ...rows.flatMap((row, user) => row.map((item, at) => `u${user}\ti${item}\t${at / 2}`)).reverse(),
    ],
    'lists, a line for each user': rows.map((row, user) => [user, ...row].join(' ')),
    'pairs, a line for each item': rows.flatMap((row, user) => row.map((item) => `${user} ${item}`)),
  };
  const QUICK = [
    ...['--backend', 'cpu', '--length', '6', '--dim', '8', '--blocks', '1', '--heads', '2', '--dropout', '0'],
    ...['--sampled', '32', '--epochs', '8', '--batch', '30', '--rate', '0.03', '--k', '2'],
  ];
  for (const [layout, lines] of Object.entries(LAYOUTS)) {
    it(`learns from ${layout}`, async () => {
      const file = folder.write('sequences', `${lines.join('\n')}\n`);
      const saved = join(folder.path, 'saved');
      const outcome = await run(...QUICK, '--data', file, '--save', saved);
      const found = reportOf<Report>(outcome);
      expect([found.captured, found.sequences, found.items, found.judgedUsers]).toEqual([
        false,
        rows.length,
        ITEMS,
        rows.length,
      ]);
      // By chance two of 17 or so.
      expect(found['hitRate@2']).toBeGreaterThan(0.9);
      expect(found['popularHitRate@2']).toBeLessThan(0.4);
      expect(found['bestHitRate@10']).toBeUndefined();
      if (!layout.startsWith('lists')) return;

      await tf.setBackend('cpu');
      const model = await tf.loadLayersModel(`file://${saved}/model.json`);
      const sequence = paddedOf([Int32Array.of(20, 1, 6), Int32Array.of(3, 8, 13, 18)], 6);
      const [scores, best] = model.predict(sequence) as [tf.Tensor, tf.Tensor];
      expect(best.shape).toEqual([2, 2]);
      expect((best.arraySync() as number[][]).map(([first]) => first)).toEqual([11, 23]);
      tf.dispose([sequence, scores, best]);
      model.dispose();
    });
  }

  it('ranks among drawn candidates on request, and gives the same results for the same seed', async () => {
    const file = folder.write('again', `${LAYOUTS['ratings of NCF'].join('\n')}\n`);
    const args = [...QUICK, '--data', file, '--epochs', '3'];
    const [a, among, other] = await Promise.all([
      run(...args),
      run(...args, '--candidates', '4'),
      run(...args, '--seed', '7'),
    ]);
    const of = (outcome: Outcome): number => reportOf<Report>(outcome).heldOutHitRate;
    expect(of(among!)).toBe(of(a!));
    expect(of(other!)).not.toBe(of(a!));
    expect(reportOf<Report>(among!)['hitRate@2']).toBeGreaterThan(reportOf<Report>(a!)['hitRate@2']);
    expect(among!.stdout).toContain('among 4 drawn ones');
    expect(among!.stderr).toContain('sampled candidates');
  });

  it('leaves users out who have fewer than three items, and keeps the last ones of long sequences', async () => {
    const padded = paddedOf([Int32Array.of(), Int32Array.of(5), Int32Array.of(1, 2, 3, 4)], 3);
    expect(padded.arraySync()).toEqual([
      [-1, -1, -1],
      [-1, -1, 5],
      [2, 3, 4],
    ]);
    padded.dispose();
    const file = folder.write('short', '0 1 2\n1 3\n2 4 5 6\n3 1 2 3 4 5 6\n');
    const outcome = await run('--backend', 'cpu', '--data', file, '--length', '3', '--epochs', '1', '--k', '2');
    expect(reportOf<Report>(outcome).judgedUsers).toBe(2);
  });

  it('names files with mistakes in one line', async () => {
    const bad = folder.write('bad.txt', '0 1 two\n');
    const short = folder.write('short.txt', '0 1 2\n1 3\n');
    for (const [file, message] of [
      [bad, `${bad}, line 1: expected whole numbers from 0 to 2147483647, found "two"`],
      [short, `${short} holds no user with three items at least`],
    ] as const) {
      const { code, stdout, stderr } = await run('--data', file);
      expect([code, stdout, stderr]).toEqual([1, '', `error: ${message}\n`]);
    }
  });

  const data = folder.write('data.txt', '0 1 2 3\n');
  const mistakes: [string[], RegExp][] = [
    [['--data', join(folder.path, 'none')], /none": there is no such file/],
    [['--data', data, '--write', join(folder.path, 'x')], /^--write is for made-up data, not for those of --data$/],
    [['--dim', '30', '--heads', '4'], /^--dim must be a multiple of --heads, which is 4, not "30"$/],
    [['--length', '1'], /^--length must be a whole number from 2 to 10000, not "1"$/],
    [['--dropout', '1'], /^--dropout must be a number from 0 to 0.99, not "1"$/],
    [['--blocks', '0'], /^--blocks must be a whole number/],
  ];
  for (const [args, text] of mistakes) {
    it(`names wrong options: ${args.filter((arg) => !arg.includes(folder.path)).join(' ')}`, () => {
      expect(() => readOptions(args)).toThrowError(text);
    });
  }
});
