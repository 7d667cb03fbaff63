/** DLRM as a process: near the best AUC of made-up clicks, files in Criteo's layout, and what is wrong with them. */
import { readClicks } from '../../../models/dlrm/data.js';
import { rowOf } from '../../../models/dlrm/job.js';
import { readOptions } from '../../../models/dlrm/options.mjs';
import { skipOrFail } from '../../helpers/backends.js';
import { reportOf, runModel, type Outcome } from '../program.js';
import { scratchFolder } from '../wide_and_deep/program.js';

interface Report {
  backend: string;
  auc: number;
  bestAuc?: number;
  captured: boolean;
  lines: number;
}

const run = (...args: string[]): Promise<Outcome> => runModel('dlrm', [...args, '--json']);

describe('DLRM', () => {
  const folder = scratchFolder();
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 180_000)); // each spec starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());
  /** Clicks follow the first number and the parity of the first value. */
  const line = (i: number): string => {
    const numbers = Array.from({ length: 13 }, (_, column) =>
      column === 0 ? (i * 7) % 10 : column === 1 ? '' : i % 3,
    );
    const values = Array.from({ length: 26 }, (_, column) =>
      column === 1 ? '' : ((i * 13 + column) % 8).toString(16),
    );
    const isClicked = (i * 7) % 10 > 4 !== (i * 13) % 2 > 0;
    return [isClicked ? 1 : 0, ...numbers, ...values].join('\t');
  };

  it('comes near the best AUC of made-up clicks, in captured steps', async () => {
    const outcome = await run('--backend', 'tensorflow');
    if (outcome.stderr.includes('the backend tensorflow is not there')) return skipOrFail(outcome.stderr);
    const { auc, bestAuc, captured } = reportOf<Report>(outcome);
    expect(captured).toBeTrue();
    expect(auc).toBeGreaterThan(bestAuc! - 0.03);
    expect(auc).toBeLessThan(bestAuc! + 0.01);
  });

  it('reads files, with several ids of each value', async () => {
    const data = folder.write('train.txt', Array.from({ length: 700 }, (_, i) => line(i)).join('\n'));
    const args = [
      '--data',
      data,
      '--lines',
      '600',
      '--rows',
      '50',
      '--epochs',
      '15',
      '--batch',
      '32',
      '--rate',
      '0.01',
    ];
    const found = reportOf<Report>(await run('--backend', 'cpu', '--hotness', '2', ...args));
    expect([found.backend, found.captured, found.lines]).toEqual(['cpu', false, 515]);
    expect(found.auc).toBeGreaterThan(0.95);
    expect(found.bestAuc).toBeUndefined();
  });

  it('reads numbers by their logarithm and values by their digits', async () => {
    const text = `1\t${[0, 1, -2, ''].join('\t')}${'\t7'.repeat(9)}\tffffffff\t0a\t${'\t'.repeat(23)}\n`;
    const { count, labels, numbers, values } = await readClicks(folder.write('one.txt', text), Infinity);
    expect([count, labels[0]]).toEqual([1, 1]);
    expect([...numbers.subarray(0, 5)].map((x) => Math.round(Math.expm1(x)))).toEqual([0, 1, 0, 0, 7]);
    expect([...values.subarray(0, 3)]).toEqual([0x7fffffff, 10, -1]);
  });

  it('spreads the ids of a value over the rows', () => {
    const found = new Set(Array.from({ length: 4000 }, (_, n) => rowOf(5, n, 100)));
    expect(found.size).toBe(100);
    expect(rowOf(5, 0, 1000)).not.toBe(rowOf(6, 0, 1000));
  });

  const mistakes: [string, string, RegExp][] = [
    ['an empty file', '', /is empty$/],
    ['a line that is too short', '1\t2\n', /line 1: expected 40 columns with tabs between, found "2"$/],
    [
      'a label that is none',
      `${line(0)}\n${line(1).replace(/^\d/, '2')}`,
      /line 2: expected a label of 0 or 1, found "2"$/,
    ],
    ['a number that is none', line(0).replace(/^(\d)\t\d/, '$1\tx'), /line 1: expected a number, found "x"$/],
    ['a value that is not hexadecimal', line(0).replace(/\w$/, 'xyz'), /line 1: expected .* hexadecimal .*"xyz"$/],
  ];
  for (const [what, text, message] of mistakes) {
    it(`names what is wrong with a file: ${what}`, async () => {
      await expectAsync(readClicks(folder.write('bad.txt', text), Infinity)).toBeRejectedWithError(message);
    });
  }

  it('names wrong options', () => {
    expect(() => readOptions(['--test', folder.write('t', '1')])).toThrowError(/^--test needs --data$/);
    expect(() => readOptions(['--hotness', '0'])).toThrowError(/^--hotness must be a whole number from 1/);
  });
});
