import { DistinctIds } from '../../../src/backends/devices/distinct_ids.js';
import { Random } from '../../helpers/random.js';

describe('DistinctIds', () => {
  it('counts what a set counts, in tables of every height, one call after the other', () => {
    const random = new Random(3);
    const distinct = new DistinctIds();
    for (let i = 0; i < 600; i++) {
      const rows = random.whole(1, [4, 1000, 100_000, 2 ** 31 - 1][i % 4]!);
      const spread = random.chance(0.5) ? rows : Math.min(rows, 20);
      const ids = Int32Array.from({ length: random.whole(0, 300) }, () => random.whole(-2, spread));
      if (ids.length > 2) ids.set([rows - 1, rows, 2 ** 31 - 1].slice(0, random.whole(0, 3)));
      const expected = new Set(ids.filter((id) => id >= 0 && id < rows)).size;
      expect(distinct.count(ids, rows))
        .withContext(`${rows} rows, ids ${ids.join(' ')}`)
        .toBe(expected);
    }
  });
});
