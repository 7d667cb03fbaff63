#!/usr/bin/env node
/**
 * A compiler that keeps what it made: `compile_once.mjs <command> <folder> <arguments of the compiler>`. A source that
 * is the same after the preprocessor, with the same arguments, is not compiled again.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const [command, folder, ...args] = process.argv.slice(2);

function compile() {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The arguments without `-o file`. */
function withoutOutput() {
  const at = args.indexOf('-o');
  return args.filter((_, i) => i !== at && i !== at + 1);
}

if (!args.includes('-c')) {
  compile(); // links
} else {
  const out = args[args.indexOf('-o') + 1];
  const asked = withoutOutput();
  const preprocess = [...asked.filter((arg) => arg !== '-c'), '-E', '-P'];
  const { status, stdout } = spawnSync(command, preprocess, {
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  const flags = asked.filter((arg) => arg.startsWith('-') && !arg.startsWith('-I'));
  const key = createHash('sha256').update(flags.join(' ')).update(stdout).digest('hex');
  const kept = join(folder, `${key}.o`);
  if (existsSync(kept)) {
    copyFileSync(kept, out);
  } else {
    compile();
    mkdirSync(folder, { recursive: true });
    copyFileSync(out, kept);
  }
}
