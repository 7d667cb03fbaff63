import { Stalls } from '../../../../src/backends/wasm/threads/helper_team.js';

describe('stalls of helpers', () => {
  /** How long calls are alone after a stall, to a half. */
  function aloneFor(stalls: Stalls, ended: number): number {
    let length = 0;
    while (stalls.aloneAt(ended + length)) length += 0.5;
    return length;
  }

  it('leave no call alone before the first', () => {
    const stalls = new Stalls();
    expect(stalls.aloneAt(0)).toBeFalse();
    expect(stalls.aloneAt(1e9)).toBeFalse();
  });

  it('leave calls alone for five times the length of one', () => {
    const stalls = new Stalls();
    stalls.notice(100, 103);
    expect(stalls.aloneAt(103)).toBeTrue();
    expect(aloneFor(stalls, 103)).toBe(15);
  });

  it('double that where they follow each other, up to eighty times', () => {
    const stalls = new Stalls();
    const lengths: number[] = [];
    let time = 0;
    for (let i = 0; i < 7; i++) {
      stalls.notice(time, time + 2);
      const length = aloneFor(stalls, time + 2);
      lengths.push(length);
      time += 2 + length;
    }
    expect(lengths).toEqual([10, 20, 40, 80, 160, 160, 160]);
  });

  it('begin anew after calls had helpers for twice as long', () => {
    for (const [calm, expected] of [
      [19.5, 20],
      [20, 10],
    ] as const) {
      const stalls = new Stalls();
      stalls.notice(0, 2); // alone until 12
      stalls.notice(12 + calm, 14 + calm);
      expect(aloneFor(stalls, 14 + calm)).toBe(expected);
    }
  });
});
