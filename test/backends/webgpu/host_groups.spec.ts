import { checkIds } from '../../../src/backends/kernel_set.js';
import { groupOnHost } from '../../../src/backends/webgpu/host_groups.js';
import { capacity } from '../../../src/backends/webgpu/groups.js';
import { Random } from '../../helpers/random.js';

const SUM = { combiner: 'sum', maxNorm: 0 } as const;

describe('ids grouped on the host', () => {
  it('are those of each row, in the order in which they came', () => {
    const random = new Random(2);
    for (const rows of [1, 2, 2047, 2048, 2049, 5_000_000, 2 ** 31 - 1]) {
      const uses = Array.from({ length: 3 }, () =>
        Int32Array.from({ length: random.whole(0, 40) }, () => {
          const id = random.chance(0.4) ? random.whole(0, Math.min(rows, 3)) : random.whole(0, rows);
          return random.chance(0.1) ? random.pick([-1, -2147483648, 2147483647]) : id;
        }),
      );
      const places = new Map<number, number[]>();
      uses
        .flatMap((use) => Array.from(use))
        .forEach((id, place) => {
          if (id >= 0 && id < rows) places.set(id, [...(places.get(id) ?? []), place]);
        });
      const touched = [...places.keys()].sort((a, b) => a - b);
      const groups = groupOnHost(uses, rows);
      expect(Array.from(groups.rows)).toEqual(touched);
      expect(Array.from(groups.order)).toEqual(touched.flatMap((row) => places.get(row)!));
      touched.forEach((row, i) => {
        expect(groups.starts[i + 1]! - groups.starts[i]!).toBe(places.get(row)!.length);
      });
      expect(groups.starts.length).toBe(touched.length + 1);
    }
  });

  it('are refused outside the table, unless they stand for zeros', () => {
    const ids = Int32Array.of(0, 3, -1);
    expect(() => checkIds(ids, 3, { ...SUM, outOfRange: 'error' })).toThrow(
      jasmine.objectContaining({ id: 3, position: 1, rows: 3 }),
    );
    expect(() => checkIds(ids, 3, { ...SUM, outOfRange: 'zero' })).not.toThrow();
    expect(() => checkIds(ids.subarray(0, 1), 3, { ...SUM, outOfRange: 'error' })).not.toThrow();
  });
});

describe('the length of a plan', () => {
  it('is one of a few, and little more than what is asked for', () => {
    const lengths = new Set<number>();
    for (let count = 1; count <= 10_000; count++) {
      const length = capacity(count);
      lengths.add(length);
      expect(length).toBeGreaterThanOrEqual(count);
      expect(length).toBeLessThanOrEqual(count * 1.125);
    }
    expect(lengths.size).toBeLessThan(110);
  });
});
