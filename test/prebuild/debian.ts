/** Programs of Debian that specs need: where one is missing it is installed, and where that cannot be the spec fails. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The package of each file. */
const PACKAGES = {
  '/usr/bin/qemu-aarch64': 'qemu-user',
  '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1': 'libc6-arm64-cross',
  '/usr/aarch64-linux-gnu/lib/libstdc++.so.6': 'libstdc++6-arm64-cross',
  '/lib/ld-musl-x86_64.so.1': 'musl',
  '/usr/bin/musl-gcc': 'musl-tools',
  '/usr/bin/readelf': 'binutils',
  '/usr/bin/llvm-objdump': 'llvm',
} as const;

export type DebianFile = keyof typeof PACKAGES;

/** How often a program is tried that another spec file, or the system, keeps locked. */
const MOST_TRIES = 60;

function aptGet(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (let tries = 1; ; tries++) {
    const { status, stderr, error } = spawnSync('apt-get', args, { encoding: 'utf8', env, timeout: 8 * 60_000 });
    if (status === 0) return;
    const isLocked = error === undefined && /could not get lock|unable to (acquire|lock)/i.test(stderr);
    if (!isLocked || tries === MOST_TRIES) throw new Error(`apt-get ${args.join(' ')}: ${error?.message ?? stderr}`);
    spawnSync('sleep', ['5']);
  }
}

/** Sees to it that these files are there. Throws where they are not and cannot be installed. */
export function fromDebian(...files: DebianFile[]): void {
  const missing = files.filter((file) => !existsSync(file));
  if (missing.length === 0) return;
  const names = missing.map((file) => PACKAGES[file]);
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`needs Debian's ${names.join(', ')}, which root can install with apt-get`);
  }
  aptGet('update', '-q');
  aptGet('install', '-y', '-q', '--no-install-recommends', ...names);
  const lacking = missing.filter((file) => !existsSync(file));
  if (lacking.length > 0) throw new Error(`${names.join(', ')} installed, yet ${lacking.join(', ')} is not there`);
}
