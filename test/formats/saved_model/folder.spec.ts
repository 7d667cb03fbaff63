import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from '../../../src/base/platform.js';
import { HOST } from '../../../src/io/models/model_leftovers.js';
import { healFolder, makeFolder } from '../../../src/formats/saved_model/folder.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectRejection } from '../../helpers/errors.js';
import { replacePlatform } from '../../helpers/platform.js';
import { watchDisk } from '../../io/models/watched_disk.js';
import type { SavedModelWriter } from 'tfjs-embeddings';

async function* text(value: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(value);
}

const fill =
  (value: string) =>
  async (writer: SavedModelWriter): Promise<void> => {
    await writer.write('variables/variables.index', text(`variables of ${value}`));
    await writer.write('saved_model.pb', text(value));
  };

describe('the folder of a SavedModel', () => {
  let parent: string;
  let folder: string;
  const native = platform().exchangeFolders;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'folder-'));
    folder = join(parent, 'a', 'model (1)');
  });

  afterEach(() => {
    replacePlatform({ exchangeFolders: native });
    rmSync(parent, { recursive: true, force: true });
  });

  const content = (): string => readFileSync(join(folder, 'saved_model.pb'), 'utf8');

  for (const [title, exchange] of [
    ['in one step', native],
    ['where the system exchanges nothing', (): boolean => false],
    ['without native kernels', undefined],
  ] as const) {
    it(`is made, and replaced where that is asked for, ${title}`, async () => {
      replacePlatform({ exchangeFolders: exchange });
      await makeFolder(folder, false, fill('one'));
      expect(content()).toBe('one');
      await expectRejection(() => makeFolder(folder, false, fill('two')), 'ValueError', 'directory', 'model (1)');
      expect(content()).toBe('one');
      await makeFolder(folder, true, fill('two'));
      expect(content()).toBe('two');
      expect(readFileSync(join(folder, 'variables', 'variables.index'), 'utf8')).toBe('variables of two');
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });

    it(`stays as it was when writing fails, ${title}`, async () => {
      replacePlatform({ exchangeFolders: exchange });
      await makeFolder(folder, false, fill('one'));
      const failing = makeFolder(folder, true, async (writer) => {
        await writer.write('saved_model.pb', text('two'));
        throw new Error('disk full');
      });
      await expectAsync(failing).toBeRejectedWithError('disk full');
      expect(content()).toBe('one');
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });
  }

  for (const isThere of [false, true]) {
    it(`is not there in parts, whichever call of the system fails, with one before: ${isThere}`, async () => {
      const entries = (): string[] => readdirSync(parent, { recursive: true, encoding: 'utf8' }).sort();
      let failed = 'begin';
      for (let fault = 0; failed !== ''; fault++) {
        rmSync(join(parent, 'a'), { recursive: true, force: true });
        if (isThere) await makeFolder(folder, true, fill('one'));
        const before = entries();
        failed = '';
        const making = watchDisk(
          ({ number, name }) => {
            if (number !== fault) return;
            failed = name;
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          },
          () => makeFolder(folder, true, fill('two')),
        );
        const said = await making.then(
          () => null,
          ({ message }: Error) => message,
        );
        const isNew = existsSync(join(folder, 'saved_model.pb')) && content() === 'two';
        if (said === null) expect(isNew).withContext(failed).toBeTrue();
        else
          expect(said).toMatch(/^`path`: expected a place that can be written, received \S+\/folder-\w+\/a\b(?!\/\.)/);
        // What cannot be removed is removed by the next one.
        if (failed !== 'rm' && !isNew) expect(entries()).withContext(failed).toEqual(before);
      }
    });
  }

  for (const overwrite of [true, false]) {
    it(`is that of one of many exports at once where nothing is exchanged, overwrite: ${overwrite}`, async () => {
      replacePlatform({ exchangeFolders: undefined });
      const names = Array.from({ length: 25 }, (_, i) => `number ${i}`);
      const ended = await Promise.allSettled(names.map((name) => makeFolder(folder, overwrite, fill(name))));
      const failed = ended.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
      if (overwrite) expect(failed).toEqual([]);
      else expect(failed.filter((said) => !said.includes('holds a SavedModel'))).toEqual([]);
      if (!overwrite) expect(failed.length).toBe(24);
      expect(readFileSync(join(folder, 'variables', 'variables.index'), 'utf8')).toBe(`variables of ${content()}`);
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });
  }

  it('is never something else that is there', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await expectRejection(() => makeFolder(folder, true, fill('one')), 'ValueError', 'directory', 'neither');
    const file = join(folder, 'notes.txt');
    await expectRejection(() => makeFolder(file, true, fill('one')), 'ValueError', 'directory', 'something else');
    const link = join(parent, 'link');
    symlinkSync(folder, link);
    await expectRejection(() => makeFolder(link, true, fill('one')), 'ValueError', 'directory', 'something else');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('is made in an empty folder', async () => {
    mkdirSync(folder, { recursive: true });
    await makeFolder(folder, false, fill('one'));
    expect(content()).toBe('one');
  });

  describe('after a process was killed', () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const aside = (kind: 'part' | 'old', pid = ended): string => {
      return join(parent, 'a', `.model (1).0123456789abcdef.${pid}.${HOST}.${kind}`);
    };

    it('is put back by the next export, and not written over unless that is asked for', async () => {
      await makeFolder(folder, false, fill('one'));
      renameSync(folder, aside('old'));
      await expectRejection(() => makeFolder(folder, false, fill('two')), 'ValueError', 'directory', 'model (1)');
      expect(content()).toBe('one');
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });

    it('is put back by whoever looks, with its drafts removed', async () => {
      await makeFolder(folder, false, fill('one'));
      renameSync(folder, aside('old'));
      mkdirSync(aside('part'));
      await healFolder(folder);
      expect(content()).toBe('one');
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });

    it('stays where it is there, without the older one', async () => {
      await makeFolder(folder, false, fill('two'));
      mkdirSync(aside('old'));
      await healFolder(folder);
      expect(content()).toBe('two');
      expect(readdirSync(join(parent, 'a'))).toEqual(['model (1)']);
    });

    it('leaves alone what a process at work, or of another folder, has there', async () => {
      await makeFolder(folder, false, fill('one'));
      const others = [
        aside('part', process.ppid),
        join(parent, 'a', `.model (2).0123456789abcdef.${ended}.${HOST}.part`),
      ];
      for (const path of others) mkdirSync(path);
      await healFolder(folder);
      for (const path of others) expect(existsSync(path)).withContext(path).toBe(true);
    });
  });

  it('changes places with another through the addon', () => {
    if (native === undefined) return skipOrFail('the native addon is not built');
    const [a, b] = [join(parent, 'x'), join(parent, 'y')];
    writeFileSync(a, 'x');
    writeFileSync(b, 'y');
    if (!native(a, b)) return skipOrFail('the system exchanges nothing here');
    expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual(['y', 'x']);
    expect(() => native(a, join(parent, 'nothing'))).toThrowError(/No such file/);
    expect(() => native(a, 7 as never)).toThrowError(TypeError);
    expect(() => native(a, `${b}\0c`)).toThrowError(TypeError);
  });
});
