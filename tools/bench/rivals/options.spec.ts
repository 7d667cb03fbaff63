import { PARTS, checkPrograms, readOptions } from './options.js';

describe('options of the bench with rivals', () => {
  it('have values of their own where nothing is given', () => {
    const given = readOptions(['--rivals', 'a/python', '--rivals', 'b/python', '--quick'])!;
    expect(given.rivals).toEqual(['a/python', 'b/python']);
    expect([given.isQuick, given.isFull, given.rounds, given.turnMs]).toEqual([true, false, 7, 60]);
    expect(given.parts).toEqual(PARTS);
    expect([given.only, given.peers]).toEqual([[], []]);
    expect(readOptions(['--help'])).toBeNull();
  });

  it('name several cases and peers', () => {
    const given = readOptions(['--only', 'dim 64', '--only', 'sgd', '--peer', 'torch', '--peer', 'memory'])!;
    expect(given.only).toEqual(['dim 64', 'sgd']);
    expect(given.peers).toEqual(['torch', 'memory']);
  });

  it('refuse other parts, and what is no number of rounds', () => {
    expect(() => readOptions(['--part', 'kernel'])).toThrowError(/one of kernels, models.*not kernel/);
    for (const rounds of ['0', '-1', '2.5', 'many']) {
      expect(() => readOptions([`--rounds=${rounds}`])).toThrowError(/--rounds/);
    }
    expect(() => readOptions(['--rival', 'x'])).toThrowError(/--rival/);
  });

  it('are refused before anything is measured where a program or a file is missing', () => {
    const check = (...args: string[]): void => checkPrograms(readOptions(args)!);
    expect(() => check('--rivals', '/no/python')).toThrowError(/--rivals.*\/no\/python/);
    expect(() => check('--rivals', 'false')).toThrowError(/--rivals.*not false \(it failed\)/);
    expect(() => check('--pairs', '/no/pairs.txt')).toThrowError(/--pairs/);
    expect(() => check('--out', '/no/folder/report.md')).toThrowError(/--out/);
    expect(() => check('--rivals', process.execPath, '--pairs', process.execPath, '--out', 'r.md')).not.toThrow();
  });
});
