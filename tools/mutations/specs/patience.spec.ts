import { delaysOf, whenLate } from './patience.js';

describe('The time of a process', () => {
  let late: jasmine.Spy;
  beforeEach(() => {
    jasmine.clock().install();
    late = jasmine.createSpy();
  });
  afterEach(() => jasmine.clock().uninstall());

  /** Whether it is over after so many seconds, and not a little before. */
  function expectOver(seconds: number): void {
    jasmine.clock().tick(1000 * seconds - 10);
    expect(late).not.toHaveBeenCalled();
    jasmine.clock().tick(20);
    expect(late).toHaveBeenCalledTimes(1);
  }

  it('is over where the system does not tell of delays', () => {
    whenLate(1, 30, late, () => new Map());
    expectOver(30);
  });

  it('leaves out what any of them waits for a processor, once', () => {
    const sums = [
      [2, 7],
      [3, 20],
      [8, 21],
      [8, 21],
    ];
    // Delayed 13, 5 and 0 seconds; what the third had waited when it came is not known.
    whenLate(1, 30, late, () => new Map(sums.shift()!.map((sum, i) => [String(i), sum])));
    expectOver(30 + 13 + 5);
  });

  it('has no more than its limit at once, however long it was delayed', () => {
    const sums = [0, 100, 100];
    whenLate(1, 30, late, () => new Map([['1', sums.shift()!]]));
    expectOver(60);
  });

  it('is not over where it is called off', () => {
    whenLate(1, 30, late, () => new Map())();
    jasmine.clock().tick(100_000);
    expect(late).not.toHaveBeenCalled();
  });

  it('is told of each process of a group', () => {
    if (process.platform !== 'linux') return pending('the system does not tell');
    const group = process.ppid; // a runner, or the shell of its user
    for (const [pid, seconds] of delaysOf(group)) {
      expect(pid).toMatch(/^\d+$/);
      expect(seconds).toBeGreaterThanOrEqual(0);
    }
    expect(delaysOf(-1).size).toBe(0);
  });
});
