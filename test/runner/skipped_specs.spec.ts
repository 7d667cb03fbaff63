/** Which specs may be skipped: those that need another system, or what this one cannot have. A missing part is a failure under CI. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { ROOT } from '../helpers/project.js';

/** What a call says that may skip a spec under CI too: the system, its shell, or instructions of the processor. */
const OF_THE_SYSTEM = /process\.platform|this machine has no/;

describe('a spec that is skipped', () => {
  it('needs another system; what set-up makes is asked for by skipOrFail, which fails under CI', () => {
    // Not what other specs put into `.cache`, links to the whole project among it.
    const ignore = ['**/.cache/**'];
    const sources = globSync('{test,tools}/**/*.ts', { cwd: ROOT, ignore, followSymbolicLinks: false });
    const own = ['test/helpers/backends.ts', 'test/runner/skipped_specs.spec.ts'];
    const found = sources
      .filter((path) => !own.includes(path))
      .flatMap((path) => {
        const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
        return lines.filter((line) => /\bpending\(/.test(line) && !OF_THE_SYSTEM.test(line)).map((line) => path + line);
      });
    expect(sources.length).toBeGreaterThan(400);
    expect(found).toEqual([]);
  });

  for (const ci of ['true', undefined] as const) {
    it(`for a missing part ${ci === undefined ? 'is shown as such' : 'fails under CI'}`, async () => {
      const { skipOrFail } = await import('../helpers/backends.js');
      const before = process.env['CI'];
      if (ci === undefined) delete process.env['CI'];
      else process.env['CI'] = ci;
      try {
        skipOrFail('no part');
        fail('a spec went on without its part');
      } catch (error) {
        expect(String(error)).toMatch(ci === undefined ? /marked Pending.*no part/ : /^Error: no part$/);
      } finally {
        if (before === undefined) delete process.env['CI'];
        else process.env['CI'] = before;
      }
    });
  }
});
