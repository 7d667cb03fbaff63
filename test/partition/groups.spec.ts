import { groupInputs, rowFallbackTable } from '../../src/partition/groups.js';
import type { PlanRequest } from '../../src/partition/plan_request.js';

/** Which of some tables goes to all devices by rows. */
function chosen(worldSize: number, sizes: readonly [rows: number, columns: number][], candidates?: number[]): number {
  const tables = sizes.map(([rows, columns]) => ({ rows, columns, size: rows * columns }));
  return rowFallbackTable({ tables, worldSize } as unknown as PlanRequest, candidates ?? [...sizes.keys()]);
}

describe('rowFallbackTable', () => {
  it('prefers tables with rows for all devices and fewer columns than devices', () => {
    expect(chosen(4, [[3, 100], [10, 2], [1000, 8]])).toBe(1); // prettier-ignore
    expect(chosen(4, [[3, 100], [10, 4], [2, 2]])).toBe(1); // prettier-ignore
    expect(chosen(4, [[4, 3], [3, 3]])).toBe(0); // prettier-ignore
  });

  it('then the largest, and the last of equal ones', () => {
    expect(chosen(4, [[10, 2], [30, 2], [20, 2]])).toBe(1); // prettier-ignore
    expect(chosen(4, [[10, 3], [15, 2], [10, 3]])).toBe(2); // prettier-ignore
    expect(chosen(4, [[10, 8], [100, 8], [50, 8]])).toBe(1); // prettier-ignore
  });

  it('counts rows alone where there are too few of them', () => {
    expect(chosen(8, [[3, 10], [5, 1], [4, 9]])).toBe(1); // prettier-ignore
  });

  it('looks at candidates only', () => {
    expect(chosen(4, [[10, 2], [30, 2], [20, 2]], [0, 2])).toBe(2); // prettier-ignore
    expect(chosen(4, [[10, 2], [30, 2], [20, 2]], [0])).toBe(0); // prettier-ignore
  });
});

describe('groupInputs', () => {
  it('numbers tables within their groups, and tells where the output of each input lies', () => {
    const grouping = groupInputs(['rowSlice', 'tableParallel', 'dataParallel', 'tableParallel'], [3, 0, 1, 2, 3]);
    expect(grouping).toEqual({
      tableGroups: { dataParallel: [2], tableParallel: [1, 3], rowSlice: [0] },
      inputGroups: { dataParallel: [3], tableParallel: [0, 2, 4], rowSlice: [1] },
      mapGroups: { dataParallel: [0], tableParallel: [1, 0, 1], rowSlice: [0] },
      revGroupIds: [1, 4, 2, 0, 3],
    });
  });
});
