import { blocksOf, sliceText } from '../../../../src/backends/cluster/checkpoints/slices.js';

const MB = 2 ** 20;

describe('Slices of checkpoints', () => {
  it('are blocks of 64 MB, which leave out and repeat no row', () => {
    expect(blocksOf({ rows: 5, columns: 3 })).toEqual([{ first: 0, count: 5 }]);
    // 16 rows of 48 bytes each are a multiple of 64 bytes.
    const blocks = blocksOf({ rows: 3 * MB, columns: 12 });
    expect(blocks.length).toBe(3);
    let end = 0;
    for (const { first, count } of blocks) {
      expect(first).toBe(end);
      expect((first * 12 * 4) % 64).toBe(0);
      expect(count * 12 * 4).toBeLessThanOrEqual(64 * MB);
      end += count;
    }
    expect(end).toBe(3 * MB);
  });

  it('are larger where a part of a table is, so that there are never many', () => {
    const blocks = blocksOf({ rows: 2 ** 31 - 1, columns: 128 });
    expect(blocks.length).toBeLessThanOrEqual(129);
    expect(blocks.at(-1)!.first + blocks.at(-1)!.count).toBe(2 ** 31 - 1);
  });

  it('have 16 rows at least, however wide these are', () => {
    expect(blocksOf({ rows: 40, columns: 100 * MB }).map(({ count }) => count)).toEqual([16, 16, 8]);
  });

  it('are cut as one wants', () => {
    expect(blocksOf({ rows: 5, columns: 3 }, 2).map(({ first }) => first)).toEqual([0, 2, 4]);
    expect(blocksOf({ rows: 0, columns: 3 })).toEqual([]);
  });

  it('are told as TensorFlow reads them', () => {
    expect(sliceText({ rows: 5000, columns: 64 }, { first: 2500, count: 7 }, [16, 48])).toBe('5000 64 2500,7:16,32');
  });
});
