/** Memory that several large tables, or products, of one call share: as much as the one that needs most. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../helpers/programs.js';
import { describeForBackends } from '../helpers/backends.js';

describeForBackends(
  'Workspaces of calls for many',
  ({ backend }) => {
    it('are as large as the first of them needs, where the last needs little', () => {
      const program = fileURLToPath(new URL('./workspaces_program.ts', import.meta.url));
      const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...WITH_SOURCES, program, backend], {
        encoding: 'utf8',
      });
      expect([status, signal]).withContext(stderr).toEqual([0, null]);
      const { tables, products } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, boolean[]>;
      expect(tables).toEqual([true, true, true]);
      expect(products).toEqual(backend === 'tensorflow' ? [true, true] : []);
    });
  },
  ['cpu native', 'tensorflow'],
);
