/** Whether the cases of settings hold every pair of values. */
import { pairCases, type Settings } from './covering.js';

type Case = Readonly<Record<string, unknown>>;

/** All cases there are. */
function allCases(settings: Settings): Case[] {
  return Object.entries(settings).reduce<Case[]>(
    (cases, [name, values]) => cases.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
}

/** The pairs of values of two settings in some cases. */
function pairsIn(cases: readonly Case[]): Set<string> {
  const pairs = cases.flatMap((each) => {
    const entries = Object.entries(each).map((entry) => JSON.stringify(entry));
    return entries.flatMap((a, i) => entries.slice(i + 1).map((b) => `${a} ${b}`));
  });
  return new Set(pairs);
}

const MANY = {
  a: [1, 2, 3],
  b: ['x', 'y'],
  c: [null, false, true, 0],
  d: [1, 2, 3, 4, 5],
  e: [true, false],
  f: [true, false],
} as const;

describe('cases of settings by pairs', () => {
  it('hold every pair of values, in few cases', () => {
    const { legal, refused } = pairCases(MANY);
    expect([...pairsIn(legal)].sort()).toEqual([...pairsIn(allCases(MANY))].sort());
    expect(refused).toEqual([]);
    // Of 960; c and d alone have 20 pairs.
    expect(legal.length).toBeLessThan(30);
  });

  it('hold every pair that some legal case has, and refused ones with their argument', () => {
    // Of a: 3 there is one case alone, which draws hardly find.
    const refusal = ({ a, b, c, d, e, f }: Case): string | null => {
      if (b === 'x' && c === null) return 'c';
      return a === 3 && !(b === 'y' && c === 0 && d === 4 && e === false && f === true) ? 'a' : null;
    };
    const { legal, refused } = pairCases(MANY, refusal);
    expect(legal.filter((each) => refusal(each) !== null)).toEqual([]);
    const possible = allCases(MANY).filter((each) => refusal(each) === null);
    expect([...pairsIn(legal)].sort()).toEqual([...pairsIn(possible)].sort());
    expect(new Set(refused.map(({ argument }) => argument))).toEqual(new Set(['a', 'c']));
    for (const { given, argument } of refused) expect(refusal(given)).toBe(argument);
    const shown = pairsIn([...legal, ...refused.map(({ given }) => given)]);
    expect([...shown].sort()).toEqual([...pairsIn(allCases(MANY))].sort());
  });

  it('are the same each time', () => {
    expect(pairCases(MANY)).toEqual(pairCases(MANY));
  });

  it('of one setting are none, as there is no pair', () => {
    expect(pairCases({ a: [1, 2] }).legal).toEqual([]);
  });
});
