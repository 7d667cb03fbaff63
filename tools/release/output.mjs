/** The files of a release: the archive of the package, what it is made of, and checksums. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PLATFORMS = join(ROOT, 'custom-ops', 'build', 'packages');

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${basename(command)} ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout.trim();
}

/** The bill of materials of what npm installs for users, the same bytes in every run. */
function writeBill(path) {
  const program = join(ROOT, 'node_modules', '@cyclonedx', 'cyclonedx-npm', 'bin', 'cyclonedx-npm-cli.js');
  const what = ['--omit', 'dev', '--omit', 'peer', '--mc-type', 'library', '--output-reproducible'];
  run(process.execPath, [
    program,
    ...what,
    '--output-format',
    'JSON',
    '--output-file',
    path,
    join(ROOT, 'package.json'),
  ]);
}

/** Archives of platform packages of this version; none where they were not built. */
function platformArchives(version) {
  try {
    return readdirSync(PLATFORMS).filter((name) => name.endsWith(`-${version}.tgz`));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Writes into a folder: the archive as npm packs it from `dist` as it is, archives of platform packages that
 * `npm run prebuild` has made, sbom.cdx.json, licenses.md, and SHA256SUMS of all of them.
 *
 * @param {string} folder
 * @returns {string[]} The names of the files.
 */
export function writeOutput(folder) {
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]);
  for (const name of platformArchives(version)) copyFileSync(join(PLATFORMS, name), join(folder, name));
  writeBill(join(folder, 'sbom.cdx.json'));
  copyFileSync(join(ROOT, 'docs', 'licenses.md'), join(folder, 'licenses.md'));
  const names = readdirSync(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .sort();
  const sums = names.map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}`);
  writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`);
  return [...names, 'SHA256SUMS'];
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
