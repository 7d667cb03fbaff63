import { isIn } from '../../tools/mutations/measure.js';
import { rangesIn } from './changed_lines.js';

describe('lines that changed', () => {
  it('are those of a patch as they are now; lines that are gone are none', () => {
    const patch = '@@ -1 +1 @@ f\n-a\n+b\n@@ -5,2 +6,3 @@\n@@ -9,2 +11,0 @@\n';
    expect(rangesIn(patch)).toEqual([
      [1, 1],
      [6, 8],
    ]);
    expect(rangesIn('')).toEqual([]);
  });

  it('hold a mutation that begins in them or holds them', () => {
    const source = 'one\ntwo\nthree\nfour\n';
    const at = (text: string) => ({ from: source.indexOf(text), to: source.indexOf(text) + text.length });
    expect(isIn([[2, 3]], source, at('two'))).toBeTrue();
    expect(isIn([[2, 3]], source, at('three\nfour'))).toBeTrue();
    expect(isIn([[3, 3]], source, at('two\nthree\nfour'))).toBeTrue();
    expect(isIn([[2, 3]], source, at('one'))).toBeFalse();
    expect(isIn([[2, 3]], source, at('four'))).toBeFalse();
    expect(isIn([], source, at('one'))).toBeFalse();
  });
});
