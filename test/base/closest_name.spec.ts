/** Guesses at what a misspelt name stands for. */
import { closestName } from '../../src/base/closest_name.js';

describe('the closest name', () => {
  it('is the one with the fewest changes, the first of several', () => {
    expect(closestName('beta3', ['beta1', 'beta2'])).toBe('beta1');
    expect(closestName('clipNom', ['clipValue', 'clipNorm', 'clipNorms'])).toBe('clipNorm');
    expect(closestName('rowsplits', ['rowSplits', 'rowSplit'])).toBe('rowSplits');
  });

  it('reads over underscores and case', () => {
    expect(closestName('Y_E_S', ['no', 'yes'])).toBe('yes');
    expect(closestName('yes', ['n_o', 'Y_E_S'])).toBe('Y_E_S');
  });

  it('counts neighbours that changed places as one change', () => {
    expect(closestName('lzay', ['lazy'])).toBe('lazy');
    expect(closestName('zyla', ['lazy'])).toBeUndefined();
  });

  it('is none among no names', () => {
    expect(closestName('lazy', [])).toBeUndefined();
    expect(closestName('', ['lazy', 'x'])).toBeUndefined();
    expect(closestName('lazy'.repeat(1e6), ['lazy'])).toBeUndefined();
  });
});
