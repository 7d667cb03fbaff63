import { lineOf } from './report.js';
import { linesText } from './report_text.js';
import { takeTurns } from './rounds.js';

describe('tables of the bench with rivals', () => {
  it('hold the median of what each round shows', () => {
    const times = new Map<string, number[] | string>([
      ['ours', [1, 2, 10]],
      ['memory', [1, 1, 1]],
      ['torch', [3, 4, 50]],
      ['broken', 'it fell'],
    ]);
    const line = { ...lineOf('sgd', 'ours', times, new Map([['none', 'lacks it']])), threads: 2 };
    expect(line.ms).toBe(2);
    expect(line.ratios.get('torch')).toBe(3);
    const text = linesText([{ ...line, differing: new Set(['torch']) }], 'ours');
    expect(text.split('\n')[0]).toMatch(/case +\| threads \| ours ms \| memory \/ ours \| torch \/ ours \|$/);
    expect(text.split('\n')[2]).toMatch(/sgd +\| +2 \| +2.00 \| +0.50 \| +3.00 ≠ \|$/);
    expect(() => lineOf('sgd', 'broken', times, new Map())).toThrowError(/ours failed: it fell/);
  });

  it('go on without a peer that fails in the middle', async () => {
    let calls = 0;
    const fine = { name: 'fine', run: () => Promise.resolve(1) };
    const bad = { name: 'bad', run: () => (++calls > 3 ? Promise.reject(new Error('fell')) : Promise.resolve(1)) };
    const found = await takeTurns([fine, bad], { rounds: 4, turnMs: 1 });
    expect(found.get('bad')).toBe('fell');
    expect((found.get('fine') as number[]).length).toBe(4);
  });
});
