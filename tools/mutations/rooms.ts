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

/** Every spec file under the root. */
export function specFilesOf(root: string): string[] {
  const under = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.split(sep).join('/')}`,
    );
  return ['test', 'tools']
    .flatMap(under)
    .filter((name) => name.endsWith('.spec.ts'))
    .filter((name) => statSync(join(root, name)).isFile() && !NOT_FOR_CHANGES.test(name))
    .sort();
}

/** Of browsers, printed examples, bundles and programs that measure: slow, and about other things than one source. */
const NOT_FOR_CHANGES = /^(test\/(browser|package|docs|check|runner)|tools\/(bench|attack|mutations))\//;
