import { isEnough, noFates, shareOf, tallyText } from './tally.js';

const tally = (fates: object): Parameters<typeof isEnough>[0] => ({
  fates: { ...noFates(), ...fates },
  uncompiled: 2,
  total: 500,
});

describe('the tally of mutations', () => {
  it('counts only failed expectations as caught', () => {
    expect(shareOf(tally({ caught: 9, survived: 1, thrown: 50, hung: 3, crashed: 4, equivalent: 2 }))).toBeCloseTo(
      0.9,
      12,
    );
    expect(shareOf(tally({ thrown: 5 }))).toBe(0);
    expect(isEnough(tally({ thrown: 50 }), 0.9)).toBeFalse();
  });

  it('needs a share, and believes few equivalents', () => {
    expect(isEnough(tally({ caught: 18, survived: 2 }), 0.9)).toBeTrue();
    expect(isEnough(tally({ caught: 17, survived: 3 }), 0.9)).toBeFalse();
    expect(isEnough(tally({ caught: 17, survived: 3 }), 0.85)).toBeTrue();
    expect(isEnough(tally({ caught: 56, survived: 1, equivalent: 3 }), 0.9)).toBeTrue();
    expect(isEnough(tally({ caught: 55, survived: 1, equivalent: 4 }), 0.9)).toBeFalse();
  });

  it('tells every count apart', () => {
    const text = tallyText('io', tally({ caught: 8, survived: 2, thrown: 3, hung: 4, crashed: 5, equivalent: 1 }), 0.9);
    expect(text).toContain('io: 23 of 500 changes: 8 caught by a failed expectation, 2 survived');
    expect(text).toContain('3 only threw, 4 hung, 5 crashed; 1 equivalent; 2 more do not compile');
    expect(text).toMatch(/80\.0 % caught .*90\.0 % needed; 4\.3 % equivalent, at most 5\.0 %: fail$/);
  });
});
