/** Objects of the C compiler that are kept: taken only where nothing that went into them is another. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder } from './setup/set_up_module.js';
import { skipOrFail } from '../helpers/backends.js';

type Run = (call: readonly string[]) => Promise<string>;
interface Module {
  readonly ObjectCache: new (
    folder: string,
    root: string,
  ) => { make(call: readonly string[], object: string, run: Run): Promise<string>; sweep(): void };
}

const CC = ['gcc', 'cc', 'clang'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

describe('objects that are kept', () => {
  const folder = emptyFolder();
  let ObjectCache: Module['ObjectCache'];
  beforeAll(async () => {
    ({ ObjectCache } = (await import(new URL('../../custom-ops/object_cache.mjs', import.meta.url).href)) as Module);
  });

  /** A checkout of one source that includes one header, and how often the compiler ran for it. */
  function checkout(name: string) {
    const root = join(folder.path, name);
    mkdirSync(root);
    const at = (file: string): string => join(root, file);
    writeFileSync(at('a b.h'), '#define VALUE 1\n');
    writeFileSync(at('one.c'), '#include "a b.h"\nint value(void) { return VALUE; }\n');
    const counted = { runs: 0 };
    const run: Run = async ([command, ...args]) => {
      counted.runs++;
      return execFileSync(command!, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    };
    const make = async (...flags: string[]): Promise<Buffer> => {
      const cache = new ObjectCache(join(folder.path, 'kept'), root);
      const object = at('one.c.o');
      await cache.make([CC!, ...flags, '-c', at('one.c'), '-o', object], object, run);
      return readFileSync(object);
    };
    return { at, counted, make };
  }

  beforeEach(() => {
    if (CC === undefined) skipOrFail('there is no C compiler');
  });

  it('are taken where sources, headers and flags are the same, also in another checkout', async () => {
    const [first, second] = [checkout('first'), checkout('second')];
    const made = await first.make('-O1');
    expect(await first.make('-O1')).toEqual(made);
    expect(await second.make('-O1')).toEqual(made);
    expect([first.counted.runs, second.counted.runs]).toEqual([1, 0]);
  });

  it('are made anew where a header, a source or a flag is another, and taken again when it is back', async () => {
    const { at, counted, make } = checkout('one');
    const made = await make('-O1');
    writeFileSync(at('a b.h'), '#define VALUE 2\n');
    expect((await make('-O1')).equals(made)).toBeFalse();
    expect(counted.runs).toBe(2);
    writeFileSync(at('a b.h'), '#define VALUE 1\n');
    expect(await make('-O1')).toEqual(made);
    expect(counted.runs).toBe(2);
    await make('-O1', '-DOTHER');
    expect(counted.runs).toBe(3);
    writeFileSync(at('one.c'), 'int value(void) { return 3; }\n');
    await make('-O1');
    expect(counted.runs).toBe(4);
  });

  it('are not kept where the compiler said something, which is said each time', async () => {
    const { at } = checkout('one');
    const cache = new ObjectCache(join(folder.path, 'kept'), folder.path);
    const object = at('one.c.o');
    let runs = 0;
    const run: Run = async ([command, ...args]) => {
      runs++;
      execFileSync(command!, args);
      return 'a warning';
    };
    const call = [CC!, '-c', at('one.c'), '-o', object];
    expect([await cache.make(call, object, run), await cache.make(call, object, run)]).toEqual([
      'a warning',
      'a warning',
    ]);
    expect(runs).toBe(2);
  });

  it('are an error where the compiler fails', async () => {
    const { at, make } = checkout('one');
    writeFileSync(at('one.c'), 'int value(void) { return }\n');
    await expectAsync(make()).toBeRejected();
    writeFileSync(at('one.c'), 'int value(void) { return 1; }\n');
    await expectAsync(make()).toBeResolved();
  });

  it('go when 400 others were used since', () => {
    const kept = join(folder.path, 'kept');
    mkdirSync(kept);
    for (let i = 0; i < 402; i++) {
      writeFileSync(join(kept, `${i}.o`), '');
      utimesSync(join(kept, `${i}.o`), 1000 + i, 1000 + i);
    }
    new ObjectCache(kept, folder.path).sweep();
    const left = readdirSync(kept);
    expect(left.length).toBe(400);
    expect(left).not.toContain('1.o');
    expect(left).toContain('2.o');
  });
});
