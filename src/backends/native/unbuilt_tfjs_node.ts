/** The package @tensorflow/tfjs-node without its binding. Imported by the Node entry only. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isClone, packageRoot } from './addons_here.js';

/** The folder of the package, as this one or the program's own folder finds it; null where it is not installed. */
function tfjsNodeFolder(): string | null {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return dirname(createRequire(from).resolve('@tensorflow/tfjs-node/package.json'));
    } catch {
      // Not installed where this one looks.
    }
  }
  return null;
}

/** Whether it is one of a clone of this package, whose programs set up what they are asked to run. */
function isOfClone(folder: string): boolean {
  const root = packageRoot();
  return isClone(root) && folder === join(root, 'node_modules', '@tensorflow', 'tfjs-node');
}

/**
 * Returns the folder of a tfjs-node that is installed but was never built, else null. Importing it fails with advice that
 * leads to an old TensorFlow.
 */
export function unbuiltTfjsNode(): string | null {
  const folder = tfjsNodeFolder();
  if (folder === null || isOfClone(folder)) return null;
  const lib = join(folder, 'lib');
  const builds = existsSync(lib) ? readdirSync(lib) : [];
  return builds.some((name) => existsSync(join(lib, name, 'tfjs_binding.node'))) ? null : folder;
}
