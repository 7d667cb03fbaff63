import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from '../../src/io/made_folders.js';

describe('folders that are made on the way', () => {
  let top: string;
  beforeEach(() => void (top = mkdtempSync(join(tmpdir(), 'made '))));
  afterEach(() => rmSync(top, { recursive: true, force: true }));

  it('go again, and no others', async () => {
    const remove = await makeFolders(join(top, 'a', 'b', 'c'));
    expect(existsSync(join(top, 'a', 'b', 'c'))).toBeTrue();
    await remove();
    expect(existsSync(join(top, 'a'))).toBeFalse();
    expect(existsSync(top)).toBeTrue();
  });

  it('stay where something lies in them', async () => {
    const remove = await makeFolders(join(top, 'a', 'b', 'c'));
    writeFileSync(join(top, 'a', 'b', 'file'), '');
    await remove();
    expect([existsSync(join(top, 'a', 'b')), existsSync(join(top, 'a', 'b', 'c'))]).toEqual([true, false]);
  });

  it('stay where they were there before', async () => {
    mkdirSync(join(top, 'a'));
    await (
      await makeFolders(join(top, 'a'))
    )();
    expect(existsSync(join(top, 'a'))).toBeTrue();
    await (
      await makeFolders(join(top, 'a', 'b'))
    )();
    expect([existsSync(join(top, 'a')), existsSync(join(top, 'a', 'b'))]).toEqual([true, false]);
  });
});
