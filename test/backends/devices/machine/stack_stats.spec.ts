/** Sums over the lookups of stacks. */
import { StackStats, type StackLookupCounts } from '../../../../src/backends/devices/machine/stack_stats.js';

function lookup(name: string, changes: Partial<StackLookupCounts> = {}): StackLookupCounts {
  const counts = { columns: 8, samples: 16, droppedIds: 3, slots: 64, slotsUsed: 10, minibatches: 2 };
  return { name, ...counts, ids: Int32Array.of(1, 2, 3, 4), rows: Int32Array.of(1, 2, 0, 4), ...changes };
}

describe('Counts of stacks', () => {
  it('are sums over lookups, stack by stack', () => {
    const stats = new StackStats(2);
    expect(stats.counts()).toEqual([]);
    stats.lookedUp(lookup('a'));
    stats.lookedUp(lookup('b', { columns: 4 }));
    const more = { samples: 1, droppedIds: 10, slots: 100, slotsUsed: 30, minibatches: 5 };
    stats.lookedUp(lookup('a', { ...more, ids: Int32Array.of(0, 0, 0, 7), rows: Int32Array.of(0, 5, 6, 0) }));
    const a = { lookUps: 2, samples: 17, ids: 17, droppedIds: 13, slots: 164, slotsUsed: 40, minibatches: 7 };
    const b = { lookUps: 1, samples: 16, ids: 10, droppedIds: 3, slots: 64, slotsUsed: 10, minibatches: 2 };
    expect(stats.counts()).toEqual([
      { name: 'a', columns: 8, ...a, rows: [[1, 7], [6, 4]] },
      { name: 'b', columns: 4, ...b, rows: [[1, 2], [0, 4]] },
    ]); // prettier-ignore
  });

  it('are copies, and begin anew after a reset', () => {
    const stats = new StackStats(2);
    stats.lookedUp(lookup('a'));
    const before = stats.counts();
    stats.lookedUp(lookup('a'));
    expect(before[0]!.rows).toEqual([[1, 2], [0, 4]]); // prettier-ignore
    expect(stats.counts()[0]!.rows).toEqual([[2, 4], [0, 8]]); // prettier-ignore
    stats.reset();
    expect(stats.counts()).toEqual([]);
    stats.lookedUp(lookup('a'));
    expect(stats.counts()).toEqual(before);
  });
});
