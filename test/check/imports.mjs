/**
 * Checks the house: no circular imports, those of types included, every floor imports only downwards, no folder and no
 * file grows without end. C files count by what they include.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FLOORS, ROOMS, floorOf, importsOf, root, roomOf, sources } from './house.mjs';

const LONGEST_FILE = 600;

const MOST_FILES = 22;

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
for (const path of ['src', 'custom-ops', 'models', 'test', 'tools', 'docs'].flatMap(sources)) {
  const text = readFileSync(join(root, path), 'utf8');
  const lines = text.split('\n').length - 1;
  const generated = path === 'src/backends/wasm/kernels_wasm.ts';
  if (lines > LONGEST_FILE && !generated) complaints.push(`${path} has ${lines} lines; ${LONGEST_FILE} are allowed`);
  graph.set(path, importsOf(path, text));
}
for (const room of ROOMS.filter((each) => !FLOORS.flat().includes(each))) {
  complaints.push(`${room} has no row in the table of rooms in docs/architecture.md`);
}
for (const circle of circles(graph)) complaints.push(`circular import: ${circle.join(' -> ')}`);
for (const [path, imports] of graph) {
  const floor = floorOf(path);
  if (path.startsWith('src/') && floor === -1) {
    complaints.push(`${path} lies on no floor: name its room in test/check/house.mjs`);
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
