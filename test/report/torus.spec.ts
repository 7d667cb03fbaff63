/** Slices of pods and what their links carry. */
import { exchangeSeconds, reduceSeconds, torusOf } from '../../src/report/torus.js';

function sizes(chips: number, links: number): number[] {
  return torusOf(chips, links).map(({ size }) => size);
}

/** Mean links between two different chips along each dimension, by counting all pairs. */
function countedHops(shape: readonly number[]): number[] {
  const chips = shape.reduce((product, size) => product * size, 1);
  const place = (chip: number): number[] => {
    let rest = chip;
    return shape.map((size) => {
      const at = rest % size;
      rest = Math.floor(rest / size);
      return at;
    });
  };
  const hops = shape.map(() => 0);
  for (let from = 0; from < chips; from++) {
    for (let to = 0; to < chips; to++) {
      const [a, b] = [place(from), place(to)];
      shape.forEach((size, dimension) => {
        const apart = Math.abs(a[dimension]! - b[dimension]!);
        hops[dimension]! += Math.min(apart, size - apart);
      });
    }
  }
  return hops.map((sum) => sum / (chips * (chips - 1)));
}

describe('Torus of chips', () => {
  it('is as even as possible', () => {
    expect([1, 2, 7, 8, 12, 64, 6144, 8960].map((chips) => sizes(chips, 6))).toEqual([
      ...[
        [1, 1, 1],
        [1, 1, 2],
        [1, 1, 7],
        [2, 2, 2],
        [2, 2, 3],
        [4, 4, 4],
        [16, 16, 24],
        [16, 20, 28],
      ],
    ]);
    expect([1, 2, 6, 8, 256].map((chips) => sizes(chips, 4))).toEqual([
      [1, 1],
      [1, 2],
      [2, 3],
      [2, 4],
      [16, 16],
    ]);
  });

  it('has the links and the mean distances that counting gives', () => {
    for (const [chips, links] of [
      [2, 4],
      [6, 4],
      [8, 6],
      [12, 6],
      [45, 6],
      [64, 6],
      [30, 4],
    ] as const) {
      const torus = torusOf(chips, links);
      const counted = countedHops(torus.map(({ size }) => size));
      torus.forEach(({ hops }, dimension) => expect(hops).withContext(`${chips}`).toBeCloseTo(counted[dimension]!, 12));
    }
    expect(torusOf(1, 6)).toEqual([1, 1, 1].map((size) => ({ size, links: 0, hops: 0 })));
    expect(torusOf(8, 4).map(({ links }) => links)).toEqual([1, 2]);
    expect(torusOf(5, 6).map(({ links }) => links)).toEqual([0, 0, 2]);
  });

  it('waits for the busiest chip or for what passes through', () => {
    const torus = torusOf(64, 6);
    // All alike: each dimension carries 64/63 hops over two links, more than a sixth of what is sent.
    expect(exchangeSeconds(torus, 10, 600, 600)).toBeCloseTo((600 * (64 / 63)) / 2 / 10, 12);
    // One chip has most of it.
    expect(exchangeSeconds(torus, 10, 600, 6000)).toBe(6000 / 6 / 10);
    expect(exchangeSeconds(torusOf(1, 6), 10, 0, 0)).toBe(0);
    expect(exchangeSeconds(torusOf(2, 4), 10, 50, 50)).toBe(5);
    expect(reduceSeconds(torus, 10, 600)).toBe(10);
    expect(reduceSeconds(torusOf(1, 4), 10, 600)).toBe(0);
  });
});
