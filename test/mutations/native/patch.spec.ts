import { readFileSync } from 'node:fs';
import { patched, readPatches } from './patch.js';

describe('patches of the C sources', () => {
  it('have a place each, and change it', () => {
    for (const patch of readPatches()) {
      const text = readFileSync(new URL(`../../../custom-ops/${patch.file}`, import.meta.url), 'utf8');
      expect(() => patched(text, patch)).not.toThrow();
      expect(patch.replace).not.toBe(patch.find);
    }
  });

  it('have different names', () => {
    const names = readPatches().map(({ file, why }) => `${file}: ${why}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('find a place whose lines are broken elsewhere', () => {
    const patch = { file: 'a.c', find: 'if (a[0] ||\n    b) return;\n', replace: '', why: 'z' };
    expect(patched('x; if (a[0]\n || b)\n  return;\n y;', patch)).toBe('x; y;');
  });

  it('refuse a place that is not there, or there twice', () => {
    const patch = { file: 'a.c', find: 'x', replace: 'y', why: 'z' };
    expect(patched('axb', patch)).toBe('ayb');
    for (const text of ['ab', 'axbx'])
      expect(() => patched(text, patch)).toThrowError(/^a\.c: "x" stands there [02] times/);
  });
});
