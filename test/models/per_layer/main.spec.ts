/** The per-layer table as a process: small ones, read and trained. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../../../models/per_layer/options.mjs';
import { reportOf, runModel, type Outcome } from '../program.js';
import { scratchFolder } from '../wide_and_deep/program.js';

const run = (...args: string[]): Promise<Outcome> => runModel('per_layer', [...args, '--json', '--backend', 'cpu']);

describe('a per-layer table', () => {
  const folder = scratchFolder();
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  beforeAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = 120_000)); // each spec starts processes
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());

  it('is read token by token, and found in the cache again', async () => {
    const file = join(folder.path, 'table');
    const shape = ['--vocabulary', '2000', '--layers', '3', '--dim', '8'];
    const found = reportOf<Record<string, number>>(await run(...shape, '--file', file, '--tokens', '60'));
    expect(found['misses']! + found['hits']!).toBe(60);
    expect(found['hits']).toBeGreaterThan(0);
    expect(found['misses']).toBeGreaterThan(1);
    expect(found['fileMb']).toBe(0);
    expect(found['tensors']).toBe(0);
    expect(existsSync(file)).toBeTrue();
  });

  it('of 21 GB takes no room where it has holes, and little memory', async () => {
    const found = reportOf<Record<string, number>>(
      await run('--sparse', '--dim', '1365', '--tokens', '20', '--cache', '0.02'),
    );
    expect(found['fileMb']).toBeGreaterThan(21_000);
    expect(found['diskMb']).toBeLessThan(10);
    expect(found['grewMb']).toBeLessThan(300);
  });

  it('of items is trained beside a cache of a tenth of it', async () => {
    const found = reportOf<Record<string, number>>(await run('--towers', '--items', '2000', '--steps', '300'));
    expect(found['cacheRows']).toBe(200);
    expect(found['lastLoss']).toBeLessThan(0.9 * found['firstLoss']!);
    expect(found['bytesWritten']).toBeGreaterThan(0);
    expect(found['tensors']).toBe(0);
  });

  it('refuses options of towers without them', () => {
    expect(() => readOptions(['--items', '200'])).toThrowError(/--towers/);
    expect(readOptions(['--towers', '--items', '200']).items).toBe(200);
  });
});
