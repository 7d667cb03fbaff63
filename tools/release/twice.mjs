/** Whether the archive of the package depends on where and when it is made. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILDS = [
  ['custom-ops/build_wasm.mjs'],
  ['custom-ops/build_worker.mjs'],
  ['node_modules/rollup/dist/bin/rollup', '-c', '--silent'],
];

function run(command, args, cwd) {
  const shell = process.platform === 'win32' && command === 'npm';
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', shell });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout;
}

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Hashes of all files below a folder, by name. */
function hashes(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.filter((name) => statSync(join(folder, name)).isFile()).map((name) => [name, sha256(join(folder, name))]),
  );
}

/** Clones a commit, builds it with the packages that are installed here, and packs it. */
function packedIn(commit, clone, archives) {
  run('git', ['clone', '--quiet', '--no-checkout', ROOT, clone], ROOT);
  run('git', ['checkout', '--quiet', '--detach', commit], clone);
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'), 'junction');
  for (const args of BUILDS) run(process.execPath, args, clone);
  mkdirSync(archives, { recursive: true });
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', archives], clone);
  const [archive] = readdirSync(archives).filter((name) => name.endsWith('.tgz'));
  return { archive: sha256(join(archives, archive)), files: hashes(join(clone, 'dist')) };
}

/**
 * Makes the archive of the committed tree in two clones, in folders of other names and lengths.
 *
 * @returns {{ archives: [string, string], differing: string[] }} Their SHA-256, and files of dist that are not the same.
 */
export function packTwice() {
  const commit = run('git', ['rev-parse', 'HEAD'], ROOT).trim();
  const folder = mkdtempSync(join(tmpdir(), 'twice-'));
  try {
    const [one, two] = [join('a', 'tree'), join('another folder', 'deeper', 'tree')].map((name, i) =>
      packedIn(commit, join(folder, name), join(folder, `archive${i}`)),
    );
    const names = [...new Set([...one.files.keys(), ...two.files.keys()])];
    const differing = names.filter((name) => one.files.get(name) !== two.files.get(name)).sort();
    return { archives: [one.archive, two.archive], differing };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
