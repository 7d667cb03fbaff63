/** Bins that are filled and evened out. */
import { LoadBins, type LoadItem } from '../../../src/partition/strategies/load_bins.js';

/** Items of one kind of load each, or of several; tables are numbered as they come. */
function items(...loads: (number | number[])[]): LoadItem[] {
  return loads.map((load, table) => ({ table, width: 1, load: typeof load === 'number' ? [load] : load }));
}

function tablesIn(bins: LoadBins): number[][] {
  return bins.contents().map((held) => held.map(({ table }) => table));
}

function fullest(bins: LoadBins): number {
  return Math.max(...bins.contents().map((held) => held.reduce((sum, { load }) => sum + load[0]!, 0)));
}

describe('LoadBins', () => {
  it('are filled heaviest first, where it strains least, later tables before earlier ones', () => {
    const bins = new LoadBins(2, 1);
    bins.fill(items(0.2, 0.5, 0.5, 0.4));
    expect(tablesIn(bins)).toEqual([[2, 3], [1, 0]]); // prettier-ignore
  });

  it('look at the kind that an item has most of', () => {
    const bins = new LoadBins(2, 2);
    bins.fill(items([0.9, 0], [0, 0.8], [0.7, 0], [0, 0.6]));
    expect(tablesIn(bins)).toEqual([[0, 3], [1, 2]]); // prettier-ignore
    const other = new LoadBins(2, 2);
    other.fill(items([0.1, 0.9], [0.8, 0.1], [0.5, 0.3]));
    expect(tablesIn(other)).toEqual([[0, 2], [1]]); // prettier-ignore
  });

  it('put an item that strains two alike where less lies in all', () => {
    const bins = new LoadBins(2, 3);
    bins.fill(items([0, 0.5, 0.5], [0, 0.4, 0], [0.2, 0, 0]));
    expect(tablesIn(bins)).toEqual([[0], [1, 2]]); // prettier-ignore
  });

  it('never hold two slices of one table', () => {
    const slices = [0, 0, 0, 1, 1, 2].map((table) => ({ table, width: 1, load: [0.3] }));
    const bins = new LoadBins(3, 1);
    bins.fill(slices);
    bins.even();
    for (const held of tablesIn(bins)) expect(new Set(held).size).toBe(held.length);
    expect(tablesIn(bins).flat().sort()).toEqual([0, 0, 0, 1, 1, 2]);
  });

  it('are evened out by exchanges that filling alone does not find', () => {
    const bins = new LoadBins(2, 1);
    bins.fill(items(0.3, 0.3, 0.2, 0.2, 0.2));
    expect(fullest(bins)).toBeCloseTo(0.7, 12);
    bins.even();
    expect(fullest(bins)).toBeCloseTo(0.6, 12);
    expect(tablesIn(bins).map((held) => held.sort())).toContain([0, 1]);
  });

  it('are evened out by moves, until nothing eases any more', () => {
    const bins = new LoadBins(4, 1);
    bins.fill(items(0.7, 0.6, 0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1));
    bins.even();
    expect(fullest(bins)).toBeCloseTo(1, 12);
    const before = tablesIn(bins);
    bins.even();
    expect(tablesIn(bins)).toEqual(before);
  });

  it('do not empty a bin to ease another', () => {
    const bins = new LoadBins(2, 1);
    bins.fill(items(0.5, 0.1));
    bins.even();
    expect(tablesIn(bins)).toEqual([[0], [1]]); // prettier-ignore
  });

  it('exchange slices without doubling a table', () => {
    const slices = [
      { table: 0, width: 1, load: [0.5] },
      { table: 0, width: 1, load: [0.3] },
      { table: 1, width: 1, load: [0.5] },
      { table: 1, width: 1, load: [0.3] },
    ];
    const bins = new LoadBins(2, 1);
    bins.fill(slices);
    bins.even();
    expect(fullest(bins)).toBeCloseTo(0.8, 12);
    expect(tablesIn(bins).map((held) => held.sort())).toEqual([[0, 1], [0, 1]]); // prettier-ignore
  });
});
