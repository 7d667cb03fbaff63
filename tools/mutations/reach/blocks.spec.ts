import { blocksOf, withCounters } from './blocks.js';

describe('blocks of a source', () => {
  const source = 'const f = (a) => ({ b: a }); function g(c) { if (c) { return 1; } return [1].map((x) => x + 1)[0]; }';

  it('are bodies and braces, outer ones first', () => {
    const texts = blocksOf(source).map(({ from, to }) => source.slice(from, to));
    expect(texts.map((text) => text.slice(0, 12))).toEqual(['({ b: a })', '{ if (c) { r', '{ return 1; ', 'x + 1']);
  });

  it('call with their numbers, and do what they did', () => {
    const counted = withCounters(source, blocksOf(source), 5);
    const reached: number[] = [];
    (globalThis as { __at?: (block: number) => void }).__at = (block) => reached.push(block);
    try {
      const run = new Function(`${counted}; return [f(3).b, g(0), g(1)];`) as () => number[];
      expect(run()).toEqual([3, 2, 1]);
      expect(reached).toEqual([5, 6, 8, 6, 7]);
    } finally {
      delete (globalThis as { __at?: unknown }).__at;
    }
  });

  it('have a key that holds when lines move', () => {
    const keys = (text: string): string[] => blocksOf(text).map(({ key }) => key);
    expect(keys(`\n\n${source.replace('{ if', '{\n  if')}`)).toEqual(keys(source));
    expect(keys(source.replace('return 1', 'return 2'))[0]).toBe(keys(source)[0]!);
    expect(keys(source.replace('return 1', 'return 2'))[1]).not.toBe(keys(source)[1]!);
  });
});
