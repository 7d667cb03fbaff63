/** What `info --bundle` tells: the files that a function in a cloud needs, and how large they are. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gist, run } from '../setup/command.mjs';
import { root } from '../setup/places.mjs';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));
const DIST = join(root, 'dist');

/** Modules of this package that may be loaded later, by another call, and the kernels that serve where the addon cannot. */
function ownFiles() {
  const names = readdirSync(DIST, { recursive: true });
  const isCode = (name) => ['.mjs', '.cjs'].includes(extname(name)) || name === 'kernels.wasm';
  return names.filter(isCode).map((name) => join(DIST, name));
}

/** Each package.json that Node reads on its way to a file. */
function manifestsOf(file) {
  const found = [];
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) found.push(manifest);
    if (dirname(folder).endsWith('node_modules')) break;
  }
  return found;
}

/**
 * Resolves to {implementation, files, bytes}: whether kernels ran natively, and files {path, bytes} that training, saving and
 * loading on `cpu` need, with paths from the current folder. Rejects where the package cannot be loaded.
 */
export async function filesToShip() {
  let loaded;
  try {
    const output = await run(process.execPath, [PROGRAM]);
    loaded = JSON.parse(output.trim().split('\n').at(-1));
  } catch (error) {
    throw new Error(`a model cannot be trained here, so that its files are not known: ${gist(error)}`);
  }
  const needed = loaded.files.filter((path) => !path.startsWith(join(root, 'custom-ops', 'bundle')));
  const paths = new Set([...needed, ...ownFiles()].flatMap((path) => [path, ...manifestsOf(path)]));
  const files = [...paths].sort().map((path) => ({ path: relative(process.cwd(), path), bytes: statSync(path).size }));
  return { implementation: loaded.implementation, files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}
