/** Checks the house: no circular imports, every floor imports only downwards, no file grows without end. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const LONGEST_FILE = 600;

/** Floors of src, top first; a file may import at run time from its own floor and from those below. */
const FLOORS = [
  ['index.ts', 'index_node.ts', 'node.ts', 'layers', 'tpu', 'io', 'models', 'preprocessing'],
  ['ops', 'optimizers'],
  ['backends'],
  [
    'ragged',
    'partition',
    'config',
    'options.ts',
    'positional.ts',
    'brand.ts',
    'tfjs_present.ts',
    'closest_name.ts',
    'warn_once.ts',
    'node_builtin.ts',
    'errors.ts',
    'types.ts',
  ],
  ['per_process.ts'],
];

function sources(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .filter((path) => !path.startsWith('custom-ops/build/') && !path.startsWith('test/goldens/'));
}

/** Files that a source imports at run time; imports of types alone are gone by then and do not count. */
function importsOf(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const names = [];
  for (const statement of file.statements) {
    const from = statement.moduleSpecifier?.text;
    if (from === undefined || !from.startsWith('.')) continue;
    const clause = statement.importClause;
    const named = clause?.namedBindings?.elements ?? statement.exportClause?.elements;
    const typesOnly = clause?.isTypeOnly || statement.isTypeOnly;
    const allTypes = clause?.name === undefined && named?.length > 0 && named.every((element) => element.isTypeOnly);
    if (!typesOnly && !allTypes) names.push(from);
  }
  return names.map((name) => target(path, name)).filter((found) => found !== null);
}

function target(importer, name) {
  const path = join(dirname(importer), name).split(sep).join('/');
  return [path, path.replace(/\.js$/, '.ts')].find((candidate) => existsSync(join(root, candidate))) ?? null;
}

function floorOf(path) {
  const room = path.split('/')[1];
  return FLOORS.findIndex((rooms) => rooms.includes(room));
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
for (const path of ['src', 'custom-ops', 'models', 'test'].flatMap(sources)) {
  const text = readFileSync(join(root, path), 'utf8');
  const lines = text.split('\n').length - 1;
  const generated = path === 'src/backends/wasm/kernels_wasm.ts';
  if (lines > LONGEST_FILE && !generated) complaints.push(`${path} has ${lines} lines; ${LONGEST_FILE} are allowed`);
  graph.set(path, importsOf(path, text));
}
for (const circle of circles(graph)) complaints.push(`circular import: ${circle.join(' -> ')}`);
for (const [path, imports] of graph) {
  if (!path.startsWith('src/')) continue;
  const floor = floorOf(path);
  if (floor === -1) complaints.push(`${path} lies on no floor: name its room in test/check/imports.mjs`);
  for (const other of imports) {
    if (!other.startsWith('src/')) complaints.push(`${path} imports ${other}, which is not in src`);
    else if (floorOf(other) !== -1 && floorOf(other) < floor)
      complaints.push(`${path} imports ${other}, which is on a floor above`);
  }
}

for (const complaint of complaints) console.error(complaint);
console.log(`imports: ${graph.size} files, ${complaints.length} complaints`);
process.exitCode = complaints.length === 0 ? 0 : 1;
