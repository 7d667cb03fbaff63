// runner: packages
/** The addon for Linux with musl, without Node: the calls of the suite of kernels, recorded on glibc, on Debian's musl. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runIn } from '../helpers/project.js';
import { bundled } from './bundles.js';
import { fromDebian } from './debian.js';
import { prebuilt, timeToPrebuild, type Prebuilt } from './packages.js';

const MINUTES = 60_000;
const HERE = join(ROOT, 'test', 'prebuild');

describe('the addon for Linux with musl', () => {
  let folder: string;
  let glibc: Prebuilt;
  let musl: Prebuilt;

  beforeAll(async () => {
    fromDebian('/lib/ld-musl-x86_64.so.1', '/usr/bin/musl-gcc');
    [glibc, musl] = (await prebuilt('linux-x64', 'linux-x64-musl')) as [Prebuilt, Prebuilt];
    folder = mkdtempSync(join(tmpdir(), 'musl-'));
  }, timeToPrebuild(2));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function replayProgram(): Promise<string> {
    const out = join(folder, 'replay');
    const sources = ['replay.c', 'node_stub.c'].map((name) => join(HERE, name));
    const headers = join(ROOT, 'node_modules', 'node-api-headers', 'include');
    const flags = ['-Wall', '-Wextra', '-Werror', '-O1', '-rdynamic', '-o', out];
    const { code, errors } = await runIn(folder, 'musl-gcc', `-I${headers}`, ...sources, ...flags, '-ldl');
    if (code !== 0) throw new Error(errors);
    return out;
  }

  it(
    'answers every call of the suite of kernels as the one with glibc does, to the bit',
    async () => {
      const [program, replay] = [await bundled('kernel_suite_program', folder), await replayProgram()];
      const record = join(folder, 'record');
      for (const isa of ['avx2', 'sse2', 'scalar']) {
        const env = ['env', `TFJS_EMBEDDINGS_ISA=${isa}`] as const;
        const suite = await runIn(folder, ...env, process.execPath, program, glibc.addon, record);
        const { passed, failed, calls } = JSON.parse(suite.output.trimEnd().split('\n').at(-1)!) as Record<
          string,
          number
        >;
        expect(failed).withContext(suite.output).toBe(0);
        expect(passed).toBeGreaterThan(70);
        expect(calls).toBeGreaterThan(5000);
        const { output, errors } = await runIn(folder, ...env, replay, musl.addon, record);
        expect(output).withContext(errors).toBe(`${calls} calls, 0 differ, ${isa}\n`);
      }
    },
    20 * MINUTES,
  );

  it(
    'is told where it answers otherwise',
    async () => {
      const [program, replay] = [await bundled('kernel_suite_program', folder), await replayProgram()];
      const record = join(folder, 'record');
      await runIn(folder, 'env', 'TFJS_EMBEDDINGS_ISA=avx2', process.execPath, program, glibc.addon, record);
      // Without fused sums the last bits are others.
      const { code, output } = await runIn(folder, 'env', 'TFJS_EMBEDDINGS_ISA=scalar', replay, musl.addon, record);
      expect(code).toBe(1);
      expect(output).toMatch(/what it writes differs/);
      expect(output).not.toContain(' 0 differ');
    },
    10 * MINUTES,
  );
});
