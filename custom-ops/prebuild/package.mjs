/** The folder that npm packs for a platform: the addon, what it is held against before it is loaded, and the licence. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../setup/command.mjs';
import { root } from '../setup/places.mjs';
import { unfinished } from '../setup/unfinished.mjs';

/** The name of the addon in each package. */
export const ADDON = 'tfjs_embeddings.node';
/** What compilers put into it besides, and under which licences. */
const LICENSES = 'licenses.md';

/** What all packages take over from the main one, so that version and address cannot differ. */
const SHARED = ['version', 'license', 'homepage', 'repository', 'bugs', 'engines'];

export function packageName({ name }) {
  return `tfjs-embeddings-${name}`;
}

/** Makes the folder of a target's package out of the addon at `addon`, and returns its path. */
export function writePackage(target, addon, packages) {
  const name = packageName(target);
  const folder = join(packages, name);
  const temporary = unfinished(folder);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  copyFileSync(addon, join(temporary, ADDON));
  copyFileSync(join(root, 'LICENSE'), join(temporary, 'LICENSE'));
  copyFileSync(join(root, 'docs', LICENSES), join(temporary, LICENSES));
  writeFileSync(join(temporary, 'README.md'), readme(target, name));
  writeFileSync(join(temporary, 'package.json'), `${JSON.stringify(description(target, name, addon), null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
  return folder;
}

/** What a package says as the main one does. */
export function sharedFields() {
  const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.fromEntries(SHARED.map((key) => [key, main[key]]));
}

function description({ platform, arch, libc }, name, addon) {
  const bytes = readFileSync(addon);
  return {
    name,
    description: `The native kernels of tfjs-embeddings for ${words({ platform, arch, libc })}.`,
    ...sharedFields(),
    os: [platform],
    cpu: [arch],
    ...(libc !== undefined && { libc: [libc] }),
    preferUnplugged: true, // a library cannot be loaded out of an archive
    files: [ADDON, LICENSES],
    addon: { file: ADDON, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
  };
}

function words({ platform, arch, libc }) {
  const system = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[platform];
  return `${system} on ${arch}${libc === undefined ? '' : ` with ${libc}`}`;
}

function readme(target, name) {
  return `# ${name}

The native kernels of [tfjs-embeddings](https://www.npmjs.com/package/tfjs-embeddings) for ${words(target)}, which depends on this package and finds it by itself. There is nothing here to import.
`;
}

/** Packs a folder; returns the path of the archive. npm gives every file in it the same date. */
export async function pack(folder, packages) {
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', packages];
  const said = await run('npm', args, { cwd: folder, shell: process.platform === 'win32' });
  return join(packages, said.trim().split('\n').at(-1));
}
