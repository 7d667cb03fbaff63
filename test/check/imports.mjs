/**
 * Checks the house: no circular imports, those of types included, every floor imports only downwards, no folder and no
 * file grows without end. C files count by what they include.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const LONGEST_FILE = 600;

const MOST_FILES = 22;

/** Floors, top first; a file imports from its own room and from the floors below. Files at the top go by their name. */
const FLOORS = [
  ['src/node.ts'],
  ['src/index_node.ts'],
  ['src/index.ts'],
  ['src/public_types.ts'],
  ['src/tpu'],
  ['src/tpu_emulator.ts'],
  ['src/saved_model'],
  ['src/keras'],
  ['src/step'],
  ['src/layers'],
  ['src/optimizers', 'src/report', 'src/converter'],
  ['src/ops', 'src/tensor_array'],
  ['src/io', 'src/preprocessing'],
  ['src/backends'],
  ['src/partition'],
  ['src/tfjs_patches'],
  ['src/ragged', 'src/config', 'src/protobuf'],
  ['src/at_work.ts'],
  [
    'src/live_tensor.ts',
    'src/options.ts',
    'src/warn_once.ts',
    'src/node_builtin.ts',
    'src/tfjs_present.ts',
    'src/units.ts',
    'src/row_blocks.ts',
  ],
  ['src/positional.ts'],
  ['src/errors.ts'],
  ['src/brand.ts', 'src/types.ts', 'src/closest_name.ts'],
  ['src/per_process.ts'],
  ['custom-ops/hosts'],
  ['custom-ops/kernels'],
];

function sources(folder) {
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
function importsOf(path, text) {
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

function roomOf(path) {
  return FLOORS.flat().find((room) => path === room || path.startsWith(`${room}/`)) ?? null;
}

function floorOf(path) {
  const room = roomOf(path);
  return room === null ? -1 : FLOORS.findIndex((rooms) => rooms.includes(room));
}

/** Every circle once, as a list of files. */
function circles(graph) {
  const found = [];
  const state = new Map();
  const visit = (path, trail) => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') return void found.push([...trail.slice(trail.indexOf(path)), path]);
    state.set(path, 'open');
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

const complaints = [];
const graph = new Map();
for (const path of ['src', 'custom-ops', 'models', 'test', 'docs'].flatMap(sources)) {
  const text = readFileSync(join(root, path), 'utf8');
  const lines = text.split('\n').length - 1;
  const generated = path === 'src/backends/wasm/kernels_wasm.ts';
  if (lines > LONGEST_FILE && !generated) complaints.push(`${path} has ${lines} lines; ${LONGEST_FILE} are allowed`);
  graph.set(path, importsOf(path, text));
}
for (const circle of circles(graph)) complaints.push(`circular import: ${circle.join(' -> ')}`);
for (const [path, imports] of graph) {
  const floor = floorOf(path);
  if (path.startsWith('src/') && floor === -1) {
    complaints.push(`${path} lies on no floor: name its room in test/check/imports.mjs`);
  }
  for (const other of imports) {
    if (path.startsWith('src/') && !other.startsWith('src/'))
      complaints.push(`${path} imports ${other}, which is not in src`);
    const below = floorOf(other);
    if (floor === -1 || below === -1) continue;
    if (below < floor) complaints.push(`${path} imports ${other}, which is on a floor above`);
    if (below === floor && roomOf(path) !== roomOf(other))
      complaints.push(`${path} imports ${other}, which is another room of its floor`);
  }
}

/** How many files lie side by side in each folder. */
const folders = new Map();
for (const path of graph.keys()) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
for (const [folder, count] of folders) {
  if (count > MOST_FILES) complaints.push(`${folder} holds ${count} files side by side; ${MOST_FILES} are allowed`);
}

for (const complaint of complaints) console.error(complaint);
console.log(`imports: ${graph.size} files, ${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
