import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../../../test/helpers/random.js';
import { chosenItems, drawTriples, readPairs } from './pair_files.js';

describe('files of pairs', () => {
  let folder: string;
  const file = (text: string): string => {
    const path = join(folder, 'pairs.txt');
    writeFileSync(path, text);
    return path;
  };
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pairs-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('have a user and items in each line, or a user without items', () => {
    const pairs = readPairs(file('0 3 1\n2\n1 0 \n\n'));
    expect(pairs).toEqual({ users: Int32Array.of(0, 0, 1), items: Int32Array.of(3, 1, 0), userCount: 3, itemCount: 4 });
  });

  it('are refused where they hold anything else, or nothing', () => {
    expect(() => readPairs(file('0 1\n1 x\n'))).toThrowError(/line 2: numbers of a user/);
    expect(() => readPairs(file('0 -1\n'))).toThrowError(/line 1/);
    expect(() => readPairs(file('0\n1\n'))).toThrowError(/no pairs/);
  });

  it('give triples of a user, an item of that user and one that is none', () => {
    const pairs = readPairs(file('0 0 1 2 3 4 5 6 7\n1 9\n2 8 3\n'));
    const chosen = chosenItems(pairs);
    const [users, better, worse] = drawTriples(pairs, 500, new Random(1));
    expect(new Set(users)).toEqual(new Set([0, 1, 2]));
    users.forEach((user, i) => {
      expect(chosen.has(user * pairs.itemCount + better[i]!)).toBeTrue();
      expect(chosen.has(user * pairs.itemCount + worse[i]!)).toBeFalse();
    });
  });
});
