import { fileURLToPath } from 'node:url';
import { mutated } from '../mutant_text.js';
import { specFilesOf, sourcesOf, isNative } from '../rooms.js';
import { cMutants } from './c_mutants.js';
import { ALL_NAMES, specsForNative } from './spec_groups.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function changes(body: string): string[] {
  const source = `int f(void) { ${body} }`;
  return cMutants('f.c', source).map((mutant) => mutated(source, mutant).slice(14, -2));
}

describe('changes of C sources', () => {
  it('are operators and numbers', () => {
    expect(changes('return a < b;')).toEqual(['return a <= b;', 'return a >= b;']);
    expect(changes('return a && 0;')).toEqual(['return a || 0;', 'return a && 1;']);
    expect(changes('return 7u;')).toEqual(['return 8u;']);
    expect(changes('return 0.5f;')).toEqual(['return 0.0f;']);
  });

  it('are conditions and statements', () => {
    expect(changes('if (g(a)) return;')).toEqual(['if (0) return;', 'if (1) return;', 'if (g(a)) (void)0;']);
    expect(changes('g(a); x = b;')).toEqual(['(void)0; x = b;', 'g(a); (void)0;']);
    expect(changes('return !a;')).toEqual(['return a;']);
  });

  it('leave declarations, comments, texts and the preprocessor alone', () => {
    for (const body of ['int *a; char *b;', '/* a < b */ return;', 'const char* s = "a < b";', '\n#define X (a < b)\n'])
      expect(changes(body).filter((text) => text !== '/* a < b */ (void)0;')).toEqual([]);
  });

  it('have specs, which are there', () => {
    const specs = specFilesOf(ROOT);
    for (const name of ALL_NAMES)
      expect(specs.some((spec) => spec.startsWith(`test/${name}`)))
        .withContext(name)
        .toBeTrue();
    for (const source of sourcesOf(ROOT).filter(isNative)) {
      const file = source.replace('custom-ops/', '');
      expect(specsForNative(file, specs).length).withContext(file).toBeGreaterThan(0);
    }
  });
});
