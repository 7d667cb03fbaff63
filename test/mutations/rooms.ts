/** The rooms that are measured, as the tree has them: every source lies in one. A path under src or custom-ops is one too. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

export interface Room {
  readonly name: string;
  /** Paths under the root. */
  readonly sources: readonly string[];
  /** Whether they are C and C++. */
  readonly isNative: boolean;
}

/** Sources that nobody changes by hand, and how the page of the report looks; what it says is changed. */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  'src/backends/wasm/kernels_wasm.ts',
  'src/backends/emulator/devices/worker_source.ts',
  'src/report/page/style.ts',
]);

/** Folders that are rooms of their own, apart from the room around them. */
const APART: Readonly<Record<string, string>> = {
  'src/backends/devices': 'devices',
  'src/backends/emulator': 'emulator',
};

const NATIVE = /\.(c|h|cc)$/;

export function isNative(path: string): boolean {
  return NATIVE.test(path);
}

/** All sources under the root, by path. */
export function sourcesOf(root: string): string[] {
  const under = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.split(sep).join('/')}`,
    );
  const all = [...under('src'), ...under('custom-ops').filter((path) => !path.startsWith('custom-ops/build/'))];
  return all.filter((path) => /\.(ts|mjs|c|h|cc)$/.test(path) && !LEFT_OUT.has(path)).sort();
}

/** The name of the room of a source. */
export function roomOf(path: string): string {
  const apart = Object.keys(APART).find((folder) => path.startsWith(`${folder}/`));
  if (apart !== undefined) return APART[apart]!;
  const [top, folder, below, ...more] = path.split('/') as [string, string, string?, ...string[]];
  if (top === 'src') return below === undefined ? 'src' : folder;
  if (!isNative(path)) return folder === 'server' ? 'custom-ops/server' : 'custom-ops/setup';
  return folder === 'kernels' && more.length > 0 ? `kernels/${below}` : folder;
}

/** Every room, by name. */
export function roomsOf(root: string): Map<string, Room> {
  const rooms = new Map<string, { name: string; sources: string[]; isNative: boolean }>();
  for (const path of sourcesOf(root)) {
    const name = roomOf(path);
    const room = rooms.get(name) ?? { name, sources: [], isNative: isNative(path) };
    rooms.set(name, room);
    room.sources.push(path);
  }
  return rooms;
}

/** The room of that name, or what lies at a path. Throws where there is neither. */
export function findRooms(root: string, name: string): Room[] {
  const rooms = roomsOf(root);
  const room = rooms.get(name);
  if (room !== undefined) return [room];
  const path = [name, `src/${name}`, `custom-ops/${name}`].find(
    (each) => /^(src|custom-ops)\//.test(each) && existsSync(join(root, each)),
  );
  const inPath = (source: string): boolean => source === path || source.startsWith(`${path?.replace(/\/$/, '')}/`);
  const native = name === 'native';
  const sources = sourcesOf(root).filter((source) =>
    native ? isNative(source) : path !== undefined && inPath(source),
  );
  if (sources.length === 0)
    throw new Error(`no room ${name}; there are ${[...rooms.keys()].join(', ')}, native (all C), and paths of sources`);
  return [false, true].flatMap((wanted) => {
    const some = sources.filter((source) => isNative(source) === wanted);
    return some.length === 0 ? [] : [{ name, sources: some, isNative: wanted }];
  });
}

/** What the paths of the spec files of a room begin with, under `test`; other specs count where they are known to reach a change. */
export function homesOf({ name, sources }: Room): string[] {
  const folders = sources.map((path) => path.replace(/^src\//, '').split('/'));
  const own = folders.map(([first, second], i) => {
    if (first === 'custom-ops') return second === 'server' ? 'custom-ops/server/' : 'custom-ops/setup/';
    if (folders[i]!.length === 1) return '*';
    return Object.values(APART).includes(name) ? `${first}/${second}/` : `${first}/`;
  });
  return [...new Set([...own, ...(OTHERS[name] ?? [])])];
}

/** Specs that are about a room, and lie elsewhere. `*` are those that lie directly in `test`. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  src: ['bad_input/'],
  base: [
    'bad_input/',
    'optimizers/',
    'formats/saved_model/graph',
    'formats/saved_model/bundle',
    'formats/graph_models/',
  ],
  ids: ['bad_input/ragged'],
  lookup: ['bad_input/', 'optimizers/', 'formats/graph_models/'],
  rules: ['optimizers/', 'tpu/optimizers/', 'bad_input/optimizers'],
  optimizers: ['base/positional', 'bad_input/optimizers', 'layers/training'],
  tables: ['base/positional', 'layers/', 'bad_input/'],
  layers: ['base/positional', 'bad_input/', 'tfjs/', 'formats/keras/preprocessing_layers'],
  tpu: ['base/positional'],
  preprocessing: ['base/positional', 'bad_input/preprocessing', 'layers/integer_lookup', 'layers/preprocessing'],
  devices: ['backends/emulator/', 'tpu/sparse_core/', 'report/sparse_cores'],
  emulator: ['backends/devices/', 'tpu/sparse_core/', 'report/sparse_cores'],
  tfjs: ['layers/', 'capture/', 'formats/graph_models/'],
  backends: ['lookup/'],
};

export function isHome(homes: readonly string[], spec: string): boolean {
  const path = spec.replace(/^test\//, '');
  return homes.some((home) => (home === '*' ? !path.includes('/') : path.startsWith(home)));
}

/** Every spec file under the root. */
export function specFilesOf(root: string): string[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => `test/${name.split(sep).join('/')}`)
    .filter((name) => statSync(join(root, name)).isFile() && !NOT_FOR_CHANGES.test(name))
    .sort();
}

/** Of browsers, printed examples, bundles and programs that measure: slow, and about other things than one source. */
const NOT_FOR_CHANGES = /^test\/(browser|package|docs|bench|attack|mutations|check|runner)\//;
