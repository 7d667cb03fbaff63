import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, setUpModule } from './set_up_module.js';

interface StampModule {
  hashOf(...inputs: unknown[]): string;
  readStamp(path: string): unknown;
  writeStamp(path: string, content: unknown): void;
}

describe('stamps', () => {
  const folder = emptyFolder();
  let stamps: StampModule;
  beforeAll(async () => {
    stamps = await setUpModule<StampModule>('stamp.mjs');
  });

  it('change with the content and the names of files, and with nothing else', () => {
    const { hashOf } = stamps;
    const sources = join(folder.path, 'sources');
    mkdirSync(join(sources, 'inner'), { recursive: true });
    writeFileSync(join(sources, 'a.c'), 'int a;');
    writeFileSync(join(sources, 'inner', 'b.c'), 'int b;');
    const first = hashOf({ path: sources });
    expect(hashOf({ path: sources })).toBe(first);
    writeFileSync(join(sources, 'a.c'), 'int a;');
    expect(hashOf({ path: sources })).toBe(first);
    writeFileSync(join(sources, 'inner', 'b.c'), 'int c;');
    const second = hashOf({ path: sources });
    expect(second).not.toBe(first);
    renameSync(join(sources, 'a.c'), join(sources, 'z.c'));
    expect(hashOf({ path: sources })).not.toBe(second);
  });

  it('stay the same when the whole checkout is copied or moved', () => {
    const { hashOf } = stamps;
    const paths = (checkout: string): { path: string }[] =>
      ['src', 'package.json', 'absent.json'].map((name) => ({ path: join(checkout, name) }));
    const first = join(folder.path, 'first');
    mkdirSync(join(first, 'src', 'inner'), { recursive: true });
    writeFileSync(join(first, 'src', 'inner', 'a.ts'), 'export {};');
    writeFileSync(join(first, 'package.json'), '{}');
    const copy = join(folder.path, 'elsewhere', 'copy');
    cpSync(first, copy, { recursive: true });
    expect(hashOf(...paths(copy))).toBe(hashOf(...paths(first)));
    renameSync(join(copy, 'src', 'inner'), join(copy, 'src', 'other'));
    expect(hashOf(...paths(copy))).not.toBe(hashOf(...paths(first)));
  });

  it('keep texts apart', () => {
    const { hashOf } = stamps;
    expect(hashOf('ab', 'c')).not.toBe(hashOf('a', 'bc'));
    expect(hashOf(null)).not.toBe(hashOf(''));
    expect(hashOf({ path: join(folder.path, 'none') })).toBe(hashOf({ path: join(folder.path, 'none') }));
  });

  it('are read back whole, or as null', () => {
    const path = join(folder.path, 'stamp.json');
    expect(stamps.readStamp(path)).toBeNull();
    stamps.writeStamp(path, { inputs: 'x' });
    expect(stamps.readStamp(path)).toEqual({ inputs: 'x' });
    writeFileSync(path, '{"inputs": "x');
    expect(stamps.readStamp(path)).toBeNull();
  });
});
