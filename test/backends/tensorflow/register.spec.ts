/** Entries that know the `tensorflow` backend, after one that does not. */
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { describeTensorFlow } from './tensorflow_backend.js';

describeTensorFlow('the tensorflow backend after lookups alone', () => {
  it('runs stock ops before the entry of Node is there, and its own ops from then on', () => {
    const program = fileURLToPath(new URL('./register_program.ts', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [...WITH_SOURCES, program], { encoding: 'utf8' });
    expect(status).withContext(stderr).toBe(0);
    expect(stdout.trim().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual([
      [[[5, 10], [0, 0]], 'generic'],
      [[[5, 10], [0, 0]], 'tensorflow'],
    ]); // prettier-ignore
    expect(stderr).not.toContain('already registered');
  }, 30_000);
});
