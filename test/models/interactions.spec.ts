/** Files of interactions, in each layout, and what is wrong with them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../models/input_error.mjs';
import {
  joined,
  raggedOf,
  readInteractions,
  readNegatives,
  writeNegatives,
  writeRatings,
} from '../../models/interactions.js';

import { scratchFolder } from './wide_and_deep/program.js';

describe('files of interactions', () => {
  const folder = scratchFolder();
  afterAll(() => folder.remove());
  const file = (text: string, name = 'file.txt'): string => folder.write(name, text);
  const rows = (path: string): number[][] => readInteractions([path]).parts[0]!.map((row) => [...row]);

  it('are lists, a line for each user', () => {
    const train = file('0 3 1\n2 0\n', 'train.txt');
    const test = file('1 4\n0 2\n', 'test.txt');
    const { numUsers, numItems, parts } = readInteractions([train, null, test]);
    expect([numUsers, numItems]).toEqual([3, 5]);
    expect(parts.map((part) => part && part.map((row) => [...row]))).toEqual([[[3, 1], [], [0]], null, [[2], [4], []]]);
  });

  it('are ratings, in the order of their times', () => {
    expect(rows(file('0\t5\t4\t200\n1\t2\t3\t7\n0\t6\t1\t100\n0\t1\t1\t200\n'))).toEqual([[6, 5, 1], [2]]);
    expect(rows(file('0\t5\t4\n0\t4\t4\n'))).toEqual([[5, 4]]);
  });

  it('are atomic files, whose names get numbers over all files', () => {
    const train = file(
      'item_id:token\tuser_id:token\ttimestamp:float\nB7\tana\t2.5\nA1\tana\t1\r\nB7\tbo\t1\n',
      'x.inter',
    );
    const test = file('user_id:token\titem_id:token\nbo\tC9\n', 'y.inter');
    const { numUsers, numItems, parts } = readInteractions([train, test]);
    expect([numUsers, numItems]).toEqual([2, 3]);
    expect(parts.map((part) => part!.map((row) => [...row]))).toEqual([
      [[1, 0], [0]],
      [[], [2]],
    ]);
  });

  it('have negatives by user', () => {
    const of = readInteractions([file('0\t5\t4\n1\t2\t3\n')]);
    const found = readNegatives(file('(1,2)\t0\t4\n(0,5)\t3\n', 'negatives'), of);
    expect(found.map((row) => [...row])).toEqual([[3], [0, 4]]);
  });

  it('are read as they were written', () => {
    const [ratings, negatives] = ['written.rating', 'written.negative'].map((name) => join(folder.path, name)) as [
      string,
      string,
    ];
    const written = [[5, 2, 9], [], [1]].map((row) => Int32Array.from(row));
    writeRatings(ratings, written);
    const found = readInteractions([ratings]);
    expect(found.parts[0]).toEqual(written);
    const among = [[3], [4, 0], [9, 8]].map((row) => Int32Array.from(row));
    writeNegatives(negatives, [Int32Array.of(1), Int32Array.of(2), Int32Array.of(3)], among);
    expect(readFileSync(negatives, 'utf8')).toBe('(0,1)\t3\n(1,2)\t4\t0\n(2,3)\t9\t8\n');
    expect(readNegatives(negatives, found)).toEqual(among);
  });

  it('are joined by user, and become ragged rows', () => {
    const [a, b] = [
      [Int32Array.of(1), Int32Array.of()],
      [Int32Array.of(2, 3), Int32Array.of(4)],
    ];
    const { values, rowSplits } = raggedOf(joined(a!, b!));
    expect([...values]).toEqual([1, 2, 3, 4]);
    expect([...rowSplits]).toEqual([0, 3, 4]);
    expect(joined(a!, null)).toBe(a!);
  });

  const mistakes: [string, () => unknown, RegExp][] = [
    ['an empty file', () => rows(file('')), /file\.txt is empty$/],
    ['text in lists', () => rows(file('0 1\n1 x 2\n')), /file\.txt, line 2: expected whole numbers .*, found "x"$/],
    ['negative ids', () => rows(file('0 -1\n')), /line 1: expected whole numbers from 0 .*, found "-1"$/],
    ['an empty line', () => rows(file('0 1\n\n1 2\n')), /line 2: expected whole numbers .*, found ""$/],
    ['ratings that lack a column', () => rows(file('0\t1\t1\n1\n')), /line 2: expected 2 columns with tabs .*"1"$/],
    ['a time that is none', () => rows(file('0\t1\t1\tnoon\n')), /line 1: expected a time, found "noon"$/],
    [
      'an atomic file without items',
      () => rows(file('user_id:token\tx:float\na\t1\n')),
      /line 1: expected columns user_id/,
    ],
    [
      'files of two layouts',
      () => readInteractions([file('0 1\n', 'lists'), file('0\t1\t1\n', 'ratings')]),
      /ratings: expected lists, as before, found ratings$/,
    ],
    [
      'negatives without a pair',
      () => readNegatives(file('0\t1\n', 'n'), readInteractions([file('0 1\n')])),
      /n, line 1: expected \(user,item\) .*, found "0"$/,
    ],
    [
      'negatives of a user that is not there',
      () => readNegatives(file('(4,0)\t1\n', 'n'), readInteractions([file('0 1\n')])),
      /line 1: expected users below 1, .*, found "4"$/,
    ],
    [
      'negatives that no file has',
      () => readNegatives(file('(0,0)\t7\n', 'n'), readInteractions([file('0 1\n')])),
      /line 1: expected items below 2, .*, found "7"$/,
    ],
  ];
  for (const [what, run, text] of mistakes) {
    it(`are named where they are wrong: ${what}`, () => {
      expect(run).toThrowMatching((error) => error instanceof InputError && text.test(error.message));
    });
  }
});
