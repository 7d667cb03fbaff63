/** The specs of kernels.spec.ts in a process of their own for each instruction set of this machine. */
import { spawnSync } from 'node:child_process';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { loadAddon } from '../../../src/backends/native/addon.js';

const NAMES = process.arch === 'x64' ? ['scalar', 'sse2', 'avx2', 'avx512'] : ['scalar', 'neon'];
const ROOT = new URL('../../..', import.meta.url);

function runWith(instructionSet: string, args: string[]): { code: number | null; text: string } {
  const env = { ...process.env, TFJS_EMBEDDINGS_ISA: instructionSet };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
  return { code: status, text: `${stdout}${stderr}` };
}

describe('native kernels', () => {
  // The best set is what runs without being told; those above it cannot run here.
  const best = NAMES.indexOf(loadAddon().instructionSet());

  for (const [i, name] of NAMES.entries()) {
    it(`agree with the reference: ${name}`, () => {
      if (process.env['TFJS_EMBEDDINGS_ISA'] === undefined && i > best) pending(`this machine has no ${name}`);
      const jasmine = [...WITH_SOURCES, 'node_modules/jasmine/bin/jasmine.js', 'test/backends/native/kernels.spec.ts'];
      const { code, text } = runWith(name, jasmine);
      expect(code).withContext(text).toBe(0);
      expect(text).toMatch(/[1-9]\d* specs, 0 failures/);
    }, 120_000);
  }
});
