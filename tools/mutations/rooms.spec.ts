import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEFT_OUT, findRooms, roomsOf } from './rooms.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** By hand, apart from how rooms are found. */
function everySource(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'custom-ops/build' ? [] : everySource(path);
    return /\.(ts|mjs|c|h|cc)$/.test(path) ? [path] : [];
  });
}

describe('rooms of mutations', () => {
  it('hold every source once, but for those that are left out', () => {
    const inRooms = [...roomsOf(ROOT).values()].flatMap(({ sources }) => sources);
    const wanted = [...everySource('src'), ...everySource('custom-ops')].filter((path) => !LEFT_OUT.has(path));
    expect(inRooms.length).toBeGreaterThan(600);
    expect([...inRooms].sort()).toEqual(wanted.sort());
  });

  it('are the folders of src, the set-up and the C sources', () => {
    const names = [...roomsOf(ROOT).keys()];
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(names).toEqual(jasmine.arrayContaining(folders.map(({ name }) => name)));
    const others = [
      'emulator',
      'src',
      'custom-ops/setup',
      'custom-ops/server',
      'kernels',
      'kernels/codecs',
      'kernels/csr',
      'kernels/step',
      'hosts',
    ];
    expect(names).toEqual(jasmine.arrayContaining(others));
  });

  it('are found by name and by path, of C all at once', () => {
    const [emulator] = findRooms(ROOT, 'emulator');
    expect(emulator!.sources.every((path) => path.startsWith('src/backends/emulator/'))).toBeTrue();
    const [backends] = findRooms(ROOT, 'backends');
    expect(backends!.sources.some((path) => path.startsWith('src/backends/emulator/'))).toBeFalse();
    const [file] = findRooms(ROOT, 'kernels/many_tables.c');
    expect(file!.sources).toEqual(['custom-ops/kernels/many_tables.c']);
    const [io] = findRooms(ROOT, 'src/io/weights');
    expect(io!.sources.every((path) => path.startsWith('src/io/weights/') && existsSync(join(ROOT, path)))).toBeTrue();
    const [native] = findRooms(ROOT, 'native');
    const all = everySource('custom-ops').filter((path) => /\.(c|h|cc)$/.test(path));
    expect(native!.sources.map((path) => path.split(sep).join('/'))).toEqual(all.sort());
    expect(() => findRooms(ROOT, 'attic')).toThrowError(/^no room attic; there are .*formats/);
  });
});
