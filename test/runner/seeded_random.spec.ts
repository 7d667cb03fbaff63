/** A failed spec can be run again, by itself, with the draws that it failed on. */
import { SeededRandom } from './seeded_random.js';

function draws(seed: string, name: string): number[] {
  new SeededRandom(seed).specStarted({ fullName: name });
  return Array.from({ length: 3 }, () => Math.random());
}

describe('SeededLuck', () => {
  const own = Math.random;
  afterEach(() => {
    Math.random = own;
  });

  it('draws the same for a spec whatever ran before it', () => {
    const first = draws('1', 'a spec');
    draws('1', 'another spec');
    expect(draws('1', 'a spec')).toEqual(first);
    expect(first.every((value) => value >= 0 && value < 1)).toBeTrue();
  });

  it('draws otherwise for another spec and for another seed', () => {
    const first = draws('1', 'a spec');
    expect(draws('1', 'another spec')).not.toEqual(first);
    expect(draws('2', 'a spec')).not.toEqual(first);
  });
});
