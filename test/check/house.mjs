/** The floors of the house, its source files, and what each of them imports. C files count by what they include. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Floors, top first, as the table of rooms in docs/architecture.md has them; a file imports from its own room and from the
 * floors below. Files at the top go by their name.
 */
export const FLOORS = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')
  .split('\n## Rooms\n')[1]
  .split('\n## ')[0]
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...line.split('|')[1].matchAll(/`([^`]+)`/g)].map(([, room]) => room.replace(/\/$/, '')))
  .map((room) => [room.startsWith('custom-ops') ? room : `src/${room}`]);

/** What lies at the top of src: folders and files. Each is a room. */
export const ROOMS = readdirSync(join(root, 'src')).map((name) => `src/${name}`);

export function sources(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js|c|cc|h)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .filter(
      (path) =>
        !path.startsWith('custom-ops/build/') && !path.startsWith('test/goldens/') && !path.includes('/.cache/'),
    );
}

/** Files that a source imports, for types or at run time, or includes. */
export function importsOf(path, text) {
  const names = /\.(c|cc|h)$/.test(path) ? included(text) : imported(path, text);
  return names.map((name) => target(path, name)).filter((found) => found !== null);
}

function included(text) {
  return [...text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)].map(([, name]) => name);
}

/** `import` and `export … from`, and `import('…')` as a type or as a call. */
function imported(path, text) {
  const names = [];
  const visit = (node) => {
    const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const from = node.moduleSpecifier ?? (ts.isImportTypeNode(node) ? node.argument.literal : undefined);
    const named = isCall ? node.arguments[0] : from;
    if (named !== undefined && ts.isStringLiteral(named) && named.text.startsWith('.')) names.push(named.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return names;
}

function target(importer, name) {
  const path = join(dirname(importer), name).split(sep).join('/');
  // Instances of kernels are compiled with the folder of kernels on their path.
  const inKernels = `custom-ops/kernels/${name}`;
  return [path, path.replace(/\.js$/, '.ts'), inKernels].find((candidate) => existsSync(join(root, candidate))) ?? null;
}

export function roomOf(path) {
  return FLOORS.flat().find((room) => path === room || path.startsWith(`${room}/`)) ?? null;
}

export function floorOf(path) {
  const room = roomOf(path);
  return room === null ? -1 : FLOORS.findIndex((rooms) => rooms.includes(room));
}
