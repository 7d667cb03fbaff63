import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPatches } from './patch.js';
import { ALL_GROUPS, groupsFor } from './spec_groups.js';

describe('groups of specs for patches', () => {
  const tests = fileURLToPath(new URL('../..', import.meta.url));
  const specs = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`);

  it('are there', () => {
    for (const wanted of ALL_GROUPS.flatMap((group) => group.specs)) {
      expect(specs.some((name) => name.includes(wanted)))
        .withContext(wanted)
        .toBeTrue();
    }
  });

  it('are of those that hold without a patch', () => {
    for (const { file } of readPatches()) {
      for (const group of groupsFor(file)) expect(ALL_GROUPS).withContext(file).toContain(group);
    }
  });
});
