/** The generator: what it says about itself holds. */
import { makeClickLog } from '../../models/click_log.js';
import { aucOf, expectedAuc } from '../../models/metrics.js';

describe('the click log', () => {
  const { table, truth } = makeClickLog(20_000, 3);
  const labels = table.rows.map((row) => (row.at(-1) === 'yes' ? 1 : 0));

  it('is repeated by its seed alone', () => {
    expect(makeClickLog(50, 3).table.rows).toEqual(makeClickLog(50, 3).table.rows);
    expect(makeClickLog(50, 3).table.rows).not.toEqual(makeClickLog(50, 4).table.rows);
  });

  it('has the columns it documents, tags ragged with empty cells', () => {
    expect(table.columns).toEqual(['user', 'item', 'device', 'slot', 'hour', 'price', 'tags', 'click']);
    const tags = table.rows.map((row) => row[6]!);
    const counts = new Set(tags.map((cell) => (cell === '' ? 0 : cell.split('|').length)));
    expect([...counts].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(Math.max(...table.rows.map((row) => Number(row[4])))).toBeLessThan(24);
    expect(Math.min(...table.rows.map((row) => Number(row[5])))).toBeGreaterThan(0);
  });

  it('clicks as often as its probabilities say', () => {
    const expected = truth.reduce((sum, p) => sum + p, 0);
    const deviation = Math.sqrt(truth.reduce((sum, p) => sum + p * (1 - p), 0));
    const clicks = labels.reduce((sum: number, label) => sum + label, 0);
    expect(Math.abs(clicks - expected)).toBeLessThan(4 * deviation);
  });

  it('is ranked best by the true probabilities', () => {
    const best = expectedAuc(truth, truth);
    expect(best).toBeGreaterThan(0.7);
    expect(best).toBeLessThan(0.95);
    // The labels are one draw from the probabilities: the standard error of an AUC of 20,000 rows is below 0.004.
    expect(Math.abs(aucOf(labels, truth) - best)).toBeLessThan(0.015);
    const blurred = truth.map((p, i) => p + (i % 7) / 20);
    expect(expectedAuc(truth, blurred)).toBeLessThan(best);
  });
});
