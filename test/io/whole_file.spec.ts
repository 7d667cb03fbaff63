import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostMark } from '../../src/base/at_work.js';
import { writeWhole } from '../../src/io/whole_file.js';

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
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
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
