/** The list of equivalents fits the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { readEquivalents } from './equivalents.js';
import { brief, flat } from './mutant_text.js';

describe('equivalents.json', () => {
  it('names lines that are there, code that is in them, and a reason', () => {
    for (const { file, line, code, becomes, why } of readEquivalents()) {
      expect(existsSync(file)).withContext(file).toBeTrue();
      if (!existsSync(file)) continue;
      const text = readFileSync(file, 'utf8');
      expect(text.split('\n').map(brief)).withContext(file).toContain(line);
      if (!code.includes(' … ')) expect(flat(text)).withContext(file).toContain(code);
      expect(becomes).not.toBe(code);
      expect(why)
        .withContext(`${file}: ${code}`)
        .toMatch(/^[A-Z].{10,}\.$/s);
    }
  });
});
