/** The attacks on the addon and on TensorFlow's ops, against an addon that is compiled with sanitizers. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

const CALLS = 5000;
const OP_CALLS = 2000;
const TIMEOUT_MS = 600_000;
const SETS = process.arch === 'x64' ? ['avx512', 'avx2', 'sse2', 'scalar'] : ['neon', 'scalar'];
const PROGRAMS = ['programs/addon_calls_program.ts', 'programs/addon_races_program.ts'];
const OPS_PROGRAM = 'programs/tensorflow_ops_program.ts';
const OTHER_ADDON = here('programs/other_addon.cjs');
const SANITIZE = [
  ...['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer'],
  // Bodies that are inlined hundreds of times, with all their checks, keep gcc busy for minutes.
  "'-DTE_INLINE=static inline'",
].join(' ');
const HEADERS = here('../../node_modules/node-api-headers/include');
const BUILD = here('../../custom-ops/build');
// Ops are asked for outputs that no machine has memory for: that is an error of theirs, and none of the sanitizer.
const ENVIRONMENT = {
  ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1',
  UBSAN_OPTIONS: 'print_stacktrace=1',
  TF_CPP_MIN_LOG_LEVEL: '3',
};

interface NativeBuild {
  buildNative(options: object): Promise<string>;
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The headers of TensorFlow's C API that set-up has put there; null where it has not. */
function tensorflowInclude(): string | null {
  const folder = readdirSync(BUILD).find((name) => name.startsWith('tensorflow-'));
  return folder === undefined ? null : join(BUILD, folder, 'include');
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

/** A command that compiles with sanitizers. */
function compiler(folder: string, command: string): string {
  const script = join(folder, `${command}.sh`);
  // The last flags count, and those of the build come first.
  writeFileSync(script, `#!/bin/sh\nexec ${command} "$@" ${SANITIZE}\n`);
  chmodSync(script, 0o755);
  return script;
}

async function build(folder: string, include: string | null): Promise<string> {
  const program = new URL('../../custom-ops/build_native.mjs', import.meta.url).href;
  const { buildNative } = (await import(program)) as NativeBuild;
  const [cc, cxx] = [compiler(folder, 'gcc'), compiler(folder, 'g++')];
  const out = join(folder, 'sanitized.node');
  return buildNative({ cc, cxx, napiInclude: HEADERS, tensorflowInclude: include, out, log: () => undefined });
}

export const sanitizedAddon: Attack = {
  name: 'sanitized',
  describe: `addon, races and tensorflow on an addon that gcc built with sanitizers; a round is ${CALLS} calls of the first two and ${OP_CALLS} of ops per instruction set`,
  async run({ rounds, seed, progress, found }) {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-sanitized-'));
    try {
      const include = tensorflowInclude();
      const addon = await build(folder, include);
      const env = { ...ENVIRONMENT, LD_PRELOAD: runtimes(), TFJS_EMBEDDINGS_ATTACKED: addon };
      const programs = include === null ? PROGRAMS : [...PROGRAMS, OPS_PROGRAM];
      for (let round = 0; round < rounds; round++) {
        for (const set of SETS) {
          for (const program of programs) {
            const areOps = program === OPS_PROGRAM;
            const { lastLine, problem } = await runProgram(
              new URL(program, import.meta.url),
              [seed + round, areOps ? OP_CALLS : CALLS, ...(areOps ? [] : [addon])],
              {
                timeoutMs: TIMEOUT_MS,
                env: { ...env, TFJS_EMBEDDINGS_ISA: set },
                ...(areOps ? { nodeOptions: ['--require', OTHER_ADDON] } : {}),
              },
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
