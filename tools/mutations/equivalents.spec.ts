/** The list of equivalents fits the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { equivalentOf, readEquivalents } from './equivalents.js';
import { brief, flat } from './mutant_text.js';

describe('equivalents.json', () => {
  it('names lines that are there, code that is in them, and a reason', () => {
    for (const { file, line, code, becomes, why } of readEquivalents()) {
      if (file !== '*') {
        expect(existsSync(file)).withContext(file).toBeTrue();
        if (!existsSync(file)) continue;
        const text = readFileSync(file, 'utf8');
        expect(text.split('\n').map(brief)).withContext(file).toContain(line);
        if (!code.includes(' … ')) expect(flat(text)).withContext(file).toContain(code);
      }
      expect(becomes).not.toBe(code);
      expect(why)
        .withContext(`${file}: ${code}`)
        .toMatch(/^[A-Z].{10,}\.$/s);
    }
  });
});

describe('equivalentOf', () => {
  const key = { file: 'src/a.ts', line: "const b = () => perProcess('c', () => 'd');", code: "'c'", becomes: '""' };
  const mutant = { file: 'src/a.ts', line: 'if (a) return;', code: 'a', becomes: 'true' };
  const entry = { ...mutant, why: 'So it is.' };

  it('finds the entry of a change of that file, line and code', () => {
    expect(equivalentOf(mutant, [entry])).toBe(entry);
    for (const [part, other] of Object.entries({ file: 'src/b.ts', line: 'a', code: 'b', becomes: 'false' }))
      expect(equivalentOf({ ...mutant, [part]: other }, [entry])).toBeUndefined();
  });

  it('finds what holds in every file', () => {
    const known = readEquivalents();
    expect(equivalentOf(key, known)?.file).toBe('*');
    expect(equivalentOf({ ...key, code: "'d'" }, known)).toBeUndefined();
    expect(equivalentOf({ ...key, becomes: "'e'" }, known)).toBeUndefined();
  });
});
