import { sharedUniformSplits, uniformLength } from '../../src/ragged/shared_splits.js';

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
