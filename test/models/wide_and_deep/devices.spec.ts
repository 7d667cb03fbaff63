/** The wide-and-deep example with its tables on virtual devices: the predictions of one device, to the bit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as emb from 'tfjs-embeddings/node';
import { bytesText } from '../../../src/base/units.js';
import type { Outcome } from '../program.js';
import { learnableCsv, runMain, scratchFolder } from './program.js';

interface Report {
  backend: string;
  testError: number;
  predictionsSha256: string;
  reloadedEqual: boolean;
  reloadedOn?: number[];
  devices?: number;
  strategy?: string;
  plan?: emb.PlanData;
  counters?: { bytes: number; elements: number[]; peakMemory: number[] };
}

function reportOf({ code, stdout, stderr }: Outcome): Report {
  expect(code).withContext(stderr).toBe(0);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Report;
}

describe('npm start on virtual devices', () => {
  const folder = scratchFolder();
  const data = folder.write('data.csv', learnableCsv(600));
  const page = join(folder.path, 'pages', 'report.html');
  const common = ['--data', data, '--epochs', '3', '--batch', '50', '--json'];
  const start = (devices: number, ...more: string[]): Promise<Outcome> =>
    runMain(...common, '--backend', 'tpu-emulator', '--host', 'cpu', '--devices', String(devices), ...more);
  const byDefault = jasmine.DEFAULT_TIMEOUT_INTERVAL;
  let [host, one, tables, columns, rows]: Outcome[] = [];
  beforeAll(async () => {
    jasmine.DEFAULT_TIMEOUT_INTERVAL = 240_000; // each run starts processes
    [host, one] = await Promise.all([runMain(...common, '--backend', 'cpu'), start(1)]);
    [tables, columns] = await Promise.all([
      start(8, '--column-slice', '1000000', '--strategy', 'memory_balanced', '--report', page),
      start(3, '--column-slice', '100', '--reload-devices', '8'),
    ]);
    rows = await start(4, '--row-slice', '1');
  }, 240_000);
  afterAll(() => (jasmine.DEFAULT_TIMEOUT_INTERVAL = byDefault));
  afterAll(() => folder.remove());

  it('says what one device says, and that what its host says by itself', () => {
    const [alone, single] = [reportOf(host!), reportOf(one!)];
    expect(single.backend).toBe('tpu-emulator');
    expect(single.predictionsSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(single.predictionsSha256).toBe(alone.predictionsSha256);
    expect(single.reloadedEqual).toBeTrue();
    expect(single.reloadedOn).toEqual([1, 3]);
    expect(single.counters!.bytes).toBe(0);
    expect(Object.keys(alone)).not.toContain('devices');
    expect(alone.reloadedEqual).toBeTrue();
  });

  it('gives the same bits with whole tables on eight devices', () => {
    const { plan, ...report } = reportOf(tables!);
    expect(report.predictionsSha256).toBe(reportOf(one!).predictionsSha256);
    expect([report.devices, report.strategy]).toEqual([8, 'memory_balanced']);
    // Three features and the tags: a table of vectors and a table of numbers each.
    expect(plan!.tableGroups.tableParallel.length).toBe(8);
    for (const { tableParallel } of plan!.ranks) expect(tableParallel!.shards.length).toBe(1);
    expect([report.reloadedEqual, report.reloadedOn]).toEqual([true, [8, 3]]);
    expect(tables!.stdout).toContain(`Bytes over links: ${bytesText(report.counters!.bytes)} in all`);
    expect(report.counters!.bytes).toBeGreaterThan(1000);
    expect(report.counters!.elements.length).toBe(8);
    // Each holds its table, and two slots of Adam beside it.
    plan!.ranks.forEach(({ tableParallel }, device) => {
      expect(report.counters!.peakMemory[device]).toBeGreaterThanOrEqual(3 * 4 * tableParallel!.elements);
    });
  });

  it('gives the same bits with columns on three devices', () => {
    const { plan, ...report } = reportOf(columns!);
    expect(report.predictionsSha256).toBe(reportOf(one!).predictionsSha256);
    expect(report.strategy).toBe('cost_balanced');
    expect(plan!.tableParallel!.sliceWidthsPerTable.some((widths) => widths.length > 1)).toBeTrue();
    expect([report.reloadedEqual, report.reloadedOn]).toEqual([true, [3, 8]]);
  });

  it('errs as often with rows on four devices', () => {
    const { plan, ...report } = reportOf(rows!);
    expect(plan!.tableGroups.rowSlice.length).toBe(8);
    expect(Math.abs(report.testError - reportOf(one!).testError)).toBeLessThan(0.01); // 120 test rows: one more or less
    const loaded = rows!.stdout.match(/^another process loaded .*$/gm)!;
    expect(loaded[0]).toContain('on 4 devices: the same predictions to the bit');
    expect(loaded[1]).toMatch(/on 3 devices: (the same predictions to the bit|at most \d\.\de-\d+ apart)/);
    expect(report.reloadedEqual).toBe(loaded[1]!.endsWith('to the bit'));
  });

  it('prints the plan before training, the report after it, and writes a page', () => {
    const { stdout } = tables!;
    const order = ['plan: 8 tables for 8 inputs on 8 devices', ' was best: ', 'TPU emulator: 8 devices', 'test error'];
    const places = order.map((text) => stdout.indexOf(text));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(stdout).toContain(`wrote the report to ${page}`);
    for (const on of ['on 8 devices', 'on 3 devices']) {
      expect(stdout).toContain(`another process loaded the model ${on}: the same predictions to the bit`);
    }
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/^<!doctype html>/i);
    expect(html).toContain('deep_features_0');
  });

  it('says in one line which device is too small', async () => {
    const { code, stderr } = await start(2, '--device-memory', '2000');
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^error: .*bytes, which device \d still has of its 2000/);
    expect(stderr).not.toContain('    at ');
  });
});
