/** Memory that tables are given while they are stepped. */
import { spawnSync } from 'node:child_process';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { loadNative } from '../../../src/backends/native/register.js';
import { expectError } from '../../helpers/errors.js';

const MEBIBYTE = 2 ** 20;

describe('memory for tables of the native kernels', () => {
  const kernels = loadNative();

  for (const length of [0, 1, 16, 1000, MEBIBYTE - 1, MEBIBYTE, 3 * MEBIBYTE + 5]) {
    it(`holds zeros at the best place: ${length}`, () => {
      const table = kernels.allocate(length);
      expect(table.length).toBe(length);
      expect(table.every((value) => value === 0)).toBeTrue();
      expect(table.byteOffset).toBe(kernels.addon.tableOffset(table.buffer as ArrayBuffer, table.byteLength));
    });
  }

  it('is refused beyond what there is', () => {
    for (const length of [2 ** 50, 2 ** 60]) {
      expectError(
        () => kernels.allocate(length),
        'ValueError',
        'table',
        `values of shape [${length}] (${4n * BigInt(length)} bytes)`,
      );
    }
  });

  it('begins at a line or a huge page only where there is room to move', () => {
    const { addon } = kernels;
    for (const bytes of [64, 4096, 5 * MEBIBYTE]) {
      const buffer = new ArrayBuffer(bytes);
      expect(addon.tableOffset(buffer, bytes)).toBe(0);
      expect(addon.tableOffset(buffer, bytes + 1)).toBe(0);
      expect(addon.tableOffset(buffer, bytes - 64)).toBeLessThanOrEqual(64);
    }
    const buffer = new ArrayBuffer(8 * MEBIBYTE);
    const offset = addon.tableOffset(buffer, 6 * MEBIBYTE);
    expect(offset).toBeLessThan(2 * MEBIBYTE);
    expect(addon.tableOffset(buffer, 6 * MEBIBYTE + 1) % 64).toBe(offset % 64);
    expect(() => addon.tableOffset(new SharedArrayBuffer(8) as never, 8)).toThrowError(TypeError);
    expect(() => addon.tableOffset(buffer, -1)).toThrowError(RangeError);
  });

  // A loop that never returns to the event loop makes and drops 200 tables of 8 MiB.
  it('is given back without a turn of the event loop', () => {
    const program = `
      import { loadNative } from './src/backends/native/register.ts';
      const kernels = loadNative();
      for (let i = 0; i < 200; i++) kernels.allocate(2 ** 21).fill(1);
      console.log(process.resourceUsage().maxRSS);`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...WITH_SOURCES, '--input-type=module', '--eval', program],
      { cwd: new URL('../../..', import.meta.url), encoding: 'utf8' },
    );
    const kibibytes = Number(stdout.trim());
    expect(kibibytes)
      .withContext(stderr)
      .toBeGreaterThan(8 * 1024);
    expect(kibibytes)
      .withContext(stderr)
      .toBeLessThan(800 * 1024);
  }, 60_000);
});
