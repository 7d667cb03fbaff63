import { HangWatch, patienceFor } from '../../../../src/backends/tpu-emulator/devices/hang_watch.js';
import { parseStat, type ThreadActivity } from '../../../../src/backends/tpu-emulator/devices/thread_activity.js';

interface Turn {
  /** Milliseconds that the turn takes. */
  readonly turn: number;
  readonly progress?: (at: number) => number;
  readonly activity?: (at: number) => ThreadActivity | null;
}

/** Milliseconds until the watch finds a hang, up to ten minutes; null where it finds none. */
function found(patience: number, { turn, progress = () => 0, activity = () => null }: Turn): number | null {
  let at = 0;
  const watch = new HangWatch(
    patience,
    progress(0),
    () => activity(at),
    () => at,
  );
  for (; at < 600_000; at += turn) if (watch.hangs(progress(at))) return at;
  return null;
}

describe('the watch for hangs', () => {
  it('finds a device that stands still, within five seconds where it has little to do', () => {
    expect(found(patienceFor(0, 'native'), { turn: 50 })).toBeLessThan(5000);
    const asleep = (): ThreadActivity => ({ state: 'S', milliseconds: 10 });
    expect(found(patienceFor(0, 'native'), { turn: 50, activity: asleep })).toBeLessThan(5000);
    const spinning = (at: number): ThreadActivity => ({ state: 'R', milliseconds: at });
    expect(found(patienceFor(0, 'native'), { turn: 50, activity: spinning })).toBeLessThan(5000);
  });

  it('is patient with much work, more so with slow kernels', () => {
    expect(patienceFor(2e9, 'native')).toBe(104_000);
    expect(patienceFor(2e8, 'reference')).toBe(104_000);
    expect(found(patienceFor(4e7, 'wasm'), { turn: 50 })).toBeGreaterThan(5900);
  });

  it('never gives up a device that goes on', () => {
    expect(found(4000, { turn: 50, progress: (at) => Math.floor(at / 3000) })).toBeNull();
  });

  it('does not count the time in which the host itself did not run', () => {
    expect(found(4000, { turn: 20_000 })).toBeNull();
  });

  it('waits for a device that gets no processor or waits for a disk, though not for ever', () => {
    const starved = (at: number): ThreadActivity => ({ state: 'R', milliseconds: at / 50 });
    expect(found(4000, { turn: 50, activity: starved })).toBeGreaterThan(50_000);
    expect(found(4000, { turn: 50, activity: () => ({ state: 'D', milliseconds: 0 }) })).toBeGreaterThan(50_000);
    expect(found(4000, { turn: 50, activity: starved })).toBeLessThan(100_000);
  });
});

describe('what Linux says of a thread', () => {
  it('is read whatever the name of the thread holds', () => {
    const rest = '1 2 3 4 5 6 7 8 9 10 21 34 0 0 20 0 1 0';
    expect(parseStat(`77 (node) S ${rest}`)).toEqual({ state: 'S', milliseconds: 550 });
    expect(parseStat(`77 (a) R (b)) R ${rest}`)).toEqual({ state: 'R', milliseconds: 550 });
    expect(parseStat('')).toBeNull();
  });
});
