/** Which steps are compared with their recording. */
import { COMPARISONS } from '../../../src/capture/functions/comparisons.js';

const upTo = (steps: number): number[] =>
  Array.from({ length: steps }, (_, i) => i + 1).filter((step) => COMPARISONS.has(step));

describe('Comparisons', () => {
  it('meet each remainder of each period up to eight within 50 steps', () => {
    const found = upTo(50);
    expect(found.length).toBeLessThan(12);
    for (let period = 2; period <= 8; period++) {
      const met = new Set(found.map((step) => step % period));
      expect(met.size).withContext(`period ${period}`).toBe(period);
    }
  });

  it('get fewer, and never end', () => {
    const [hundred, thousand] = [upTo(100).length, upTo(1000).length];
    expect(thousand).toBeGreaterThan(hundred);
    expect(thousand).toBeLessThan(35);
    // A quarter more from gap to gap, no faster.
    expect(thousand).toBeGreaterThan(20);
    const late = upTo(20_000).filter((step) => step > 10_000);
    const gaps = late.slice(1).map((step, i) => step - late[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1500);
    expect(new Set(gaps).size).toBeGreaterThan(5);
  });

  it('are the same whatever was asked before', () => {
    expect(COMPARISONS.has(4)).toBeTrue();
    expect(COMPARISONS.has(15_000)).toBe(upTo(15_000).at(-1) === 15_000);
    expect(COMPARISONS.has(3)).toBeFalse();
  });
});
