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

/** The name of tfjs-node's binding in the packages of TensorFlow's parts. */
export const BINDING = 'tfjs_binding.node';

/** What all packages take over from the main one, so that version and address cannot differ. */
const SHARED = ['version', 'license', 'homepage', 'repository', 'bugs', 'engines'];

export function packageName({ name }) {
  return `tfjs-embeddings-${name}`;
}

/**
 * Makes the folder of a target's package, and returns its path. `parts`: the paths of `addon` and, where TensorFlow's
 * parts are packed, of `binding`, and which tfjs-node and TensorFlow these are for.
 */
export function writePackage(target, parts, packages) {
  const name = packageName(target);
  const folder = join(packages, name);
  const temporary = unfinished(folder);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  copyFileSync(parts.addon, join(temporary, ADDON));
  if (target.withTensorFlow) copyFileSync(parts.binding, join(temporary, BINDING));
  copyFileSync(join(root, 'LICENSE'), join(temporary, 'LICENSE'));
  copyFileSync(join(root, 'docs', LICENSES), join(temporary, LICENSES));
  writeFileSync(join(temporary, 'README.md'), readme(target, name));
  writeFileSync(join(temporary, 'package.json'), `${JSON.stringify(description(target, name, parts), null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(temporary, folder);
  return folder;
}

/** What a package says as the main one does. */
export function sharedFields() {
  const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.fromEntries(SHARED.map((key) => [key, main[key]]));
}

function description(target, name, { addon, binding, ...madeFor }) {
  const { platform, arch, libc, withTensorFlow = false } = target;
  return {
    name,
    description: withTensorFlow
      ? `What tfjs-embeddings sets up for tfjs-node on ${words(target)}.`
      : `The native kernels of tfjs-embeddings for ${words(target)}.`,
    ...sharedFields(),
    os: [platform],
    cpu: [arch],
    ...(libc !== undefined && { libc: [libc] }),
    preferUnplugged: true, // a library cannot be loaded out of an archive
    files: [ADDON, ...(withTensorFlow ? [BINDING] : []), LICENSES],
    addon: fileFacts(ADDON, addon),
    ...(withTensorFlow && { binding: fileFacts(BINDING, binding), ...madeFor }),
  };
}

/** What a file is held against before it is used. */
function fileFacts(file, path) {
  const bytes = readFileSync(path);
  return { file, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function words({ platform, arch, libc }) {
  const system = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[platform];
  return `${system} on ${arch}${libc === undefined ? '' : ` with ${libc}`}`;
}

function readme(target, name) {
  const main = '[tfjs-embeddings](https://www.npmjs.com/package/tfjs-embeddings)';
  const what = target.withTensorFlow
    ? `What ${main} sets up for tfjs-node on ${words(target)}: the kernels with TensorFlow's ops, and the binding of tfjs-node, compiled from the sources of @tensorflow/tfjs-node (Apache-2.0). \`npx tfjs-embeddings setup\` takes it from here.`
    : `The native kernels of ${main} for ${words(target)}, which depends on this package and finds it by itself.`;
  return `# ${name}\n\n${what} There is nothing here to import.\n`;
}

/** Packs a folder; returns the path of the archive. npm gives every file in it the same date. */
export async function pack(folder, packages) {
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', packages];
  const said = await run('npm', args, { cwd: folder, shell: process.platform === 'win32' });
  return join(packages, said.trim().split('\n').at(-1));
}
