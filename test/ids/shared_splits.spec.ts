import { sharedUniformSplits, uniformLength } from '../../src/ids/row_splits.js';

describe('row splits of one length', () => {
  it('are the same array each time', () => {
    expect(sharedUniformSplits(3, 2)).toEqual(Int32Array.of(0, 2, 4, 6));
    expect(sharedUniformSplits(3, 2)).toBe(sharedUniformSplits(3, 2));
    expect(sharedUniformSplits(2, 3)).toEqual(Int32Array.of(0, 3, 6));
    expect(sharedUniformSplits(0, 5)).toEqual(Int32Array.of(0));
  });

  it('are right whichever were asked for before', () => {
    for (let round = 0; round < 2; round++) {
      for (let length = 0; length < 40; length++) {
        expect(sharedUniformSplits(4, length)).toEqual(Int32Array.from({ length: 5 }, (_, row) => row * length));
      }
    }
  });

  it('are kept for the last 16 that were new, the oldest given up first', () => {
    const kept = Array.from({ length: 16 }, (_, i) => sharedUniformSplits(7, 100 + i));
    expect(kept.map((_, i) => sharedUniformSplits(7, 100 + i)).every((splits, i) => splits === kept[i])).toBeTrue();
    sharedUniformSplits(7, 200);
    expect(sharedUniformSplits(7, 101)).toBe(kept[1]!);
    expect(sharedUniformSplits(7, 100)).not.toBe(kept[0]!);
  });

  it('are not kept where they are large', () => {
    const rows = 2 ** 20;
    expect(sharedUniformSplits(rows - 1, 1)).toBe(sharedUniformSplits(rows - 1, 1));
    expect(sharedUniformSplits(rows, 1)).not.toBe(sharedUniformSplits(rows, 1));
    expect(uniformLength(sharedUniformSplits(rows, 1))).toBe(1);
  });

  it('tell their length, as others do that are counted', () => {
    for (const [rows, length] of [
      [0, 0],
      [1, 7],
      [5, 0],
      [9, 1],
    ] as const) {
      expect(uniformLength(sharedUniformSplits(rows, length))).toBe(length);
      expect(uniformLength(sharedUniformSplits(rows, length).slice())).toBe(length);
    }
    expect(uniformLength(Int32Array.of(0))).toBe(0);
    expect(uniformLength(Int32Array.of(0, 2, 4, 5))).toBeNull();
    expect(uniformLength(Int32Array.of(0, 0, 1))).toBeNull();
  });
});
