/** The attacks on the addon, against one that is compiled with sanitizers. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

const CALLS = 5000;
const TIMEOUT_MS = 600_000;
const SETS = process.arch === 'x64' ? ['avx512', 'avx2', 'sse2', 'scalar'] : ['neon', 'scalar'];
const PROGRAMS = ['programs/addon_calls_program.ts', 'programs/addon_races_program.ts'];
const SANITIZE = '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer';
const HEADERS = fileURLToPath(new URL('../../node_modules/node-api-headers/include', import.meta.url));

interface NativeBuild {
  buildNative(options: object): Promise<string>;
}

/** The libraries that must be in the process before everything else. */
function runtimes(): string {
  return ['libasan.so', 'libubsan.so']
    .map((name) => {
      const path = execFileSync('gcc', [`-print-file-name=${name}`], { encoding: 'utf8' }).trim();
      if (path === name) throw new Error(`gcc has no ${name}`);
      return path;
    })
    .join(' ');
}

async function build(folder: string): Promise<string> {
  const cc = join(folder, 'cc.sh');
  // The last flags count, and those of the build come first.
  writeFileSync(cc, `#!/bin/sh\nexec gcc "$@" ${SANITIZE}\n`);
  chmodSync(cc, 0o755);
  const program = new URL('../../custom-ops/build_native.mjs', import.meta.url).href;
  const { buildNative } = (await import(program)) as NativeBuild;
  const out = join(folder, 'sanitized.node');
  return buildNative({ cc, cxx: null, napiInclude: HEADERS, tensorflowInclude: null, out, log: () => undefined });
}

export const sanitizedAddon: Attack = {
  name: 'sanitized',
  describe: `addon and races on one that gcc built with sanitizers; a round is ${CALLS} calls of each per instruction set`,
  async run({ rounds, seed, progress, found }) {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-sanitized-'));
    try {
      const addon = await build(folder);
      const env = { LD_PRELOAD: runtimes(), ASAN_OPTIONS: 'detect_leaks=0', UBSAN_OPTIONS: 'print_stacktrace=1' };
      for (let round = 0; round < rounds; round++) {
        for (const set of SETS) {
          for (const program of PROGRAMS) {
            const { lastLine, problem } = await runProgram(
              new URL(program, import.meta.url),
              [seed + round, CALLS, addon],
              { timeoutMs: TIMEOUT_MS, env: { ...env, TFJS_EMBEDDINGS_ISA: set } },
            );
            const fallen = problem === null ? (JSON.parse(lastLine) as { fallen: string[] }).fallen : [problem];
            for (const what of fallen) found({ seed: seed + round, what: `${set}, ${program}: ${what}` });
          }
        }
        progress(round + 1);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
