/** Where things lie: this package, its build folder, the packages beside it. */
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package `tfjs-embeddings` itself. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Everything that set-up makes for itself. */
export const build = join(root, 'custom-ops', 'build');

/** The addon: loaded by Node, by tfjs-node through Node, and by Python's `tf.load_op_library`. */
export const addon = join(build, 'tfjs_embeddings.node');

/** True in a clone, false where npm put the published package: only a clone has a lock file and sources. */
export const isClone = existsSync(join(root, 'package-lock.json')) && existsSync(join(root, 'src'));

/**
 * The folder of an installed package as this package, or the user's project, would find it; null when absent. Where
 * node_modules holds links (pnpm, workspaces) it is the one they lead to: relative links made in it start there.
 */
export function packageFolder(name) {
  for (const from of [root, process.cwd()]) {
    const require = createRequire(join(from, 'package.json'));
    for (const folder of require.resolve.paths(name) ?? []) {
      if (existsSync(join(folder, name, 'package.json'))) return realpathSync(join(folder, name));
    }
  }
  return null;
}

/** Folder with `node_api.h`: beside this Node, the system's, or the npm package of those headers; null when absent. */
export function nodeApiHeaders() {
  const prefix = dirname(dirname(process.execPath));
  const npm = packageFolder('node-api-headers');
  const folders = [join(prefix, 'include', 'node'), '/usr/include/node'];
  if (npm !== null) folders.push(join(npm, 'include'));
  return folders.find((folder) => existsSync(join(folder, 'node_api.h'))) ?? null;
}
