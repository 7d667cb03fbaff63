import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../helpers/programs.js';
import { hostMark } from '../../src/base/at_work.js';
import { writeWhole } from '../../src/io/whole_file.js';
import { expectRejection } from '../helpers/errors.js';

const SOURCE = fileURLToPath(new URL('../../src/io/whole_file.ts', import.meta.url));

describe('a file that is written whole', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'whole (1) '))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (path: string): Promise<void> => writeWhole(path, true, (give) => give(Uint8Array.of(1)));

  it('has its drafts of killed processes removed when it is written again', async () => {
    const path = join(folder, 'table.npy');
    const program = `
      const { writeWhole } = await import(${JSON.stringify(SOURCE)});
      await writeWhole(${JSON.stringify(path)}, true, async (write) => {
        await write(Uint8Array.of(1));
        console.log('begun');
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      });`;
    const child = spawn(process.execPath, [...WITH_SOURCES, '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(readdirSync(folder).filter((name) => name.endsWith('.part')).length).toBe(1);
    await write(path);
    // Whoever is at work goes on.
    expect(readdirSync(folder).length).toBe(2);
    child.kill('SIGKILL');
    await ended;
    await write(path);
    expect(readdirSync(folder)).toEqual(['table.npy']);
  }, 60_000);

  it('does not take the place of another, unless it is told to, nor of a folder', async () => {
    const path = join(folder, 'table.npy');
    writeFileSync(path, 'old');
    let isFilled = false;
    const fill = async (give: (chunk: Uint8Array) => Promise<void>): Promise<void> => {
      isFilled = true;
      await give(Uint8Array.of(7, 8));
    };
    await expectRejection(() => writeWhole(path, false, fill), 'ValueError', 'file', 'which exists');
    expect(isFilled).toBeFalse();
    expect(readFileSync(path, 'utf8')).toBe('old');
    await expectRejection(() => writeWhole(folder, false, fill), 'ValueError', 'file', 'which exists');
    await expectRejection(() => writeWhole(folder, true, fill), 'ValueError', 'file', 'a folder');
    await writeWhole(path, true, fill);
    expect([...readFileSync(path)]).toEqual([7, 8]);
    const other = join(folder, 'other.npy');
    await writeWhole(other, false, fill);
    expect([...readFileSync(other)]).toEqual([7, 8]);
    const failing = writeWhole(path, true, () => Promise.reject(new Error('no values')));
    await expectAsync(failing).toBeRejectedWithError('no values');
    expect([...readFileSync(path)]).toEqual([7, 8]);
    // One that comes meanwhile stays.
    const late = join(folder, 'late.npy');
    const writing = writeWhole(late, false, async (give) => {
      await give(Uint8Array.of(1));
      writeFileSync(late, 'first');
    });
    await expectRejection(() => writing, 'ValueError', 'file', 'which exists');
    expect(readFileSync(late, 'utf8')).toBe('first');
    expect(readdirSync(folder).sort()).toEqual(['late.npy', 'other.npy', 'table.npy']);
  });

  it('leaves alone what belongs to other files and to processes at work', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const id = '0123456789abcdef';
    const others = [
      `table.npy.${id}.${process.ppid}.${hostMark()}.part`,
      `table.npy.${id}.${pid}.00000000.part`,
      `other.npy.${id}.${pid}.${hostMark()}.part`,
      `table.npy.mine.part`,
    ];
    const stale = `table.npy.${id}.${pid}.${hostMark()}.part`;
    for (const name of [...others, stale]) writeFileSync(join(folder, name), '');
    await write(join(folder, 'table.npy'));
    expect(readdirSync(folder).sort()).toEqual([...others, 'table.npy'].sort());
  });

  it('removes drafts that tell no process once they are a day old', async () => {
    const aged = (name: string, hours: number): void => {
      writeFileSync(join(folder, name), '');
      const then = Date.now() / 1000 - hours * 3600;
      utimesSync(join(folder, name), then, then);
    };
    const kept = [
      `table.npy.${'a'.repeat(16)}.part`,
      `other.npy.${'b'.repeat(16)}.part`,
      `table.npy.${'b'.repeat(15)}.part`,
      'table.npy.1.part',
    ];
    aged(kept[0]!, 23);
    kept.slice(1).forEach((name) => aged(name, 25));
    aged(`table.npy.${'b'.repeat(16)}.part`, 25);
    await write(join(folder, 'table.npy'));
    expect(readdirSync(folder).sort()).toEqual([...kept, 'table.npy'].sort());
  });
});
