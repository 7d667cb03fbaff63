/** The addons that may run in this process, best first. Modules of Node alone: set-up and `info` use this file too. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prebuiltAddon } from './prebuilt_addon.js';

/** `source`: as `backendInfo()` tells it. */
export interface AddonHere {
  readonly path: string;
  readonly source: string;
}

/** `found`: best first. `faults`: what was refused. `lacking`: why there is none, where there is none. */
export interface AddonsHere {
  readonly found: readonly AddonHere[];
  readonly faults: readonly string[];
  readonly lacking: string;
}

/** This package's folder; where a program was bundled, the nearest above it with a package.json. */
export function packageRoot(): string {
  // This module is src/backends/native/addons_here.ts, or part of a bundle in dist/: look upwards for the package.
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** Whether a package's folder is a clone: only that has a lock file and sources. */
export function isClone(root: string): boolean {
  return existsSync(join(root, 'package-lock.json')) && existsSync(join(root, 'src'));
}

/** Where set-up puts the addon that it builds. */
export function builtAddonPath(root: string): string {
  return join(root, 'custom-ops', 'build', 'tfjs_embeddings.node');
}

function json(path: string): Record<string, unknown> | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** The version of this package; of one that was bundled into a program, that of the one beside the program. */
function ownVersion(root: string): string | null {
  const own = json(join(root, 'package.json'));
  if (own?.name === 'tfjs-embeddings') return own.version as string;
  try {
    const path = createRequire(join(root, 'package.json')).resolve('tfjs-embeddings/package.json');
    return (json(path)?.version as string | undefined) ?? null;
  } catch {
    return null;
  }
}

/** Where what set-up has put there comes from: out of a package, whose name the stamp has then, or from a compiler. */
function sourceOf(stamp: Record<string, unknown> | null): string {
  const maker = /^tfjs-embeddings-(.*)$/.exec(String(stamp?.compilers))?.[1];
  return maker === undefined ? 'built' : `prebuilt ${maker}`;
}

/**
 * Looks for the addons of a package's folder. In a clone that is the built one alone. Else the one of this platform's
 * package comes first, unless set-up has built one with TensorFlow's ops, which no package has.
 */
export function addonsHere(root = packageRoot()): AddonsHere {
  const path = builtAddonPath(root);
  const stamp = json(`${path}.json`);
  const built = existsSync(path) ? { path, source: sourceOf(stamp) } : null;
  if (isClone(root)) {
    const lacking = `${path} is missing: npx tfjs-embeddings setup`;
    return { found: built === null ? [] : [built], faults: [], lacking };
  }
  const prebuilt = prebuiltAddon(join(root, 'package.json'), ownVersion(root));
  const ofPackage = 'path' in prebuilt ? { path: prebuilt.path, source: `prebuilt ${prebuilt.platform}` } : null;
  const withTensorFlow = typeof stamp?.tensorflow === 'string';
  const order = withTensorFlow ? [built, ofPackage] : [ofPackage, built];
  const lacking = 'path' in prebuilt ? '' : prebuilt.lacking;
  return {
    found: order.filter((addon) => addon !== null),
    faults: 'path' in prebuilt || !prebuilt.isFault ? [] : [lacking],
    lacking: `${lacking}, and \`npx tfjs-embeddings setup\` has built none`,
  };
}
