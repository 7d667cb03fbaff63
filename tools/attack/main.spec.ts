import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../test/helpers/programs.js';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

function attack(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [...WITH_SOURCES, MAIN, ...args], { encoding: 'utf8' });
}

describe('npm run attack', () => {
  it('lists its attacks', () => {
    const { status, stdout } = attack('--help');
    expect(status).toBe(0);
    for (const name of [
      'addon',
      'races',
      'tensorflow',
      'sessions',
      'saves-cpu',
      'saves-tf',
      'saves-both',
      'models',
      'savedmodels',
      'exports',
      'npy',
      'captured',
      'devices',
      'setup',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${name} +\\w.*; a round is`, 'm'));
  });

  it('refuses wrong options before it begins', () => {
    for (const [args, text] of [
      [['--rounds', 'many'], '--rounds: expected a whole number from 1 on, received many'],
      [['--rounds', '0'], '--rounds: expected a whole number from 1 on, received 0'],
      [['--seed', '-1'], ''],
      [['--only', 'nothing'], '--only: there is no attack nothing, but addon'],
      [['--loud'], "Unknown option '--loud'"],
    ] as const) {
      const { status, stdout, stderr } = attack(...args);
      expect(status).withContext(args.join(' ')).toBe(2);
      expect(stdout).withContext(args.join(' ')).toBe('');
      expect(stderr).toContain(text);
      expect(stderr).toContain('npm run attack -- [--rounds N]');
    }
  });
});
