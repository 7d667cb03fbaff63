/** Pictures of tables: their sizes, and what their tooltips say. */
import { scaleOf, tableCard, type Scale } from '../../../src/report/page/table_picture.js';
import { makeReport } from '../../../src/report/report.js';
import type { PlanEmbeddingArgs } from '../../../src/partition/index.js';
import type { ReportTable } from '../../../src/report/report_data.js';
import { sourceOf } from '../report_sources.js';

function tablesOf(
  sizes: readonly (readonly [rows: number, columns: number])[],
  changes: Partial<PlanEmbeddingArgs> = {},
): readonly ReportTable[] {
  const tables = sizes.map(([inputDim, outputDim], i) => ({ name: `t${i}`, inputDim, outputDim }));
  return makeReport(sourceOf({ tables, worldSize: 2, ...changes })).tables;
}

function sizeOf(table: ReportTable, scale: Scale): [width: number, height: number] {
  const [, width, height] = /<svg width="([\d.]+)" height="([\d.]+)"/.exec(tableCard(table, scale, ''))!;
  return [Number(width), Number(height)];
}

function titles(table: ReportTable, scale: Scale): string[] {
  return [...tableCard(table, scale, '').matchAll(/<title>([^<]*)</g)].map(([, title]) => title!);
}

describe('Picture of a table', () => {
  it('is as wide as its columns and as high as the logarithm of its rows', () => {
    const tables = tablesOf([[999, 16], [99, 8], [9, 12]]); // prettier-ignore
    const scale = scaleOf(tables, 2);
    expect(tables.map((table) => sizeOf(table, scale))).toEqual([
      [220, 150],
      [110, 100],
      [165, 50],
    ]);
  });

  it('is never smaller than what its labels need', () => {
    const tables = tablesOf([[999, 100], [1, 1]]); // prettier-ignore
    const scale = scaleOf(tables, 2);
    // log(2) / log(1000) of 150 would be 15.05.
    expect(sizeOf(tables[1]!, scale)).toEqual([26, 16]);
    const many = { worldSize: 4, columnSliceThreshold: 1 };
    const [wide, narrow] = tablesOf([[9, 400], [9, 4]], many); // prettier-ignore
    const least = scaleOf([wide!, narrow!], 4);
    expect(narrow!.shards.length).toBe(4);
    expect(sizeOf(narrow!, least)).toEqual([4 * 12, 150]);
    const [high, low] = tablesOf([[1e6, 4], [8, 4]], { worldSize: 8, rowSliceThreshold: 1 }); // prettier-ignore
    expect(low!.shards.length).toBe(8);
    expect(sizeOf(low!, scaleOf([high!, low!], 8))).toEqual([220, 8 * 12]);
  });

  it('leaves room for the sheets of copies behind it', () => {
    const [table] = tablesOf([[9, 4]], { worldSize: 4, dataParallelThreshold: 100 }); // prettier-ignore
    const card = tableCard(table!, scaleOf([table!], 4), '');
    const sheets = [...card.matchAll(/<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/g)].map((match) =>
      match.slice(1).map(Number),
    );
    expect(sheets).toEqual([3, 2, 1, 0].map((place) => [place * 5, (3 - place) * 5, 220 - 15, 150 - 15]));
    expect(sizeOf(table!, scaleOf([table!], 4))).toEqual([220, 150]);
    expect(card).toContain('>x4</text>');
    const [many] = tablesOf([[9, 4]], { worldSize: 9, dataParallelThreshold: 100 }); // prettier-ignore
    const cut = tableCard(many!, scaleOf([many!], 9), '');
    expect(cut.match(/<rect /g)!.length).toBe(5);
    expect(cut).toContain('>x9</text>');
  });

  it('is smaller where tables are many', () => {
    const scales = [6, 7, 24, 25].map((count) => {
      const { card, width, height } = scaleOf(tablesOf(Array.from({ length: count }, () => [9, 4] as const)), 2);
      return [card, width, height];
    });
    expect(scales).toEqual([
      [240, 220, 150],
      [166, 150, 110],
      [166, 150, 110],
      [140, 120, 98],
    ]);
    const { mostColumns, mostRows, devices } = scaleOf(tablesOf([[9, 4], [3, 7]]), 2); // prettier-ignore
    expect([mostColumns, mostRows, devices]).toEqual([7, 9, 2]);
  });

  it('says of each shard which rows and columns it is', () => {
    const say = (changes: Partial<PlanEmbeddingArgs>, size: readonly [number, number] = [2000, 16]): string[] => {
      const tables = tablesOf([size], changes);
      return titles(tables[0]!, scaleOf(tables, 2));
    };
    expect(say({ worldSize: 1 })).toEqual(['t0 on device 0: all 2,000 rows, all 16 columns, 128 kB']);
    expect(say({})).toEqual([
      't0 on device 0: all 2,000 rows, columns 0..8 of 16, 64.0 kB',
      't0 on device 1: all 2,000 rows, columns 8..16 of 16, 64.0 kB',
    ]);
    expect(say({ rowSliceThreshold: 1 })).toEqual([
      't0 on device 0: rows 0..1,000, all 16 columns, 64.0 kB',
      't0 on device 1: rows 1,000..2,000, all 16 columns, 64.0 kB',
    ]);
    const [first, second] = [...new Set(say({ rowSliceThreshold: 1, rowSharding: 'modulo' }, [2001, 16]))];
    expect(first).toBe('t0 on device 0: rows with id mod 2 = 0 (1,001), all 16 columns, 64.1 kB');
    expect(second).toBe('t0 on device 1: rows with id mod 2 = 1 (1,000), all 16 columns, 64.0 kB');
    expect(say({ worldSize: 1, deviceMemory: 0 })).toEqual([
      't0 on device 0: all 2,000 rows, all 16 columns, 128 kB, in the memory of the host',
    ]);
  });

  it('of rows that are dealt out shows the first rounds', () => {
    const [table] = tablesOf([[10, 4]], { rowSliceThreshold: 1, rowSharding: 'modulo' });
    const card = tableCard(table!, scaleOf([table!], 2), '');
    const stripes = [
      ...card.matchAll(/<rect x="0" y="([\d.]+)" width="220" height="25"[^>]*><title>t0 on device (\d)/g),
    ];
    expect(stripes.map(([, y, device]) => [Number(device), Number(y)])).toEqual([
      [0, 0],
      [0, 50],
      [0, 100],
      [1, 25],
      [1, 75],
      [1, 125],
    ]);
    // Of three rows on two devices there are two rounds.
    const [few] = tablesOf([[3, 4]], { rowSliceThreshold: 1, rowSharding: 'modulo' });
    expect(tableCard(few!, scaleOf([few!], 2), '').match(/<rect /g)!.length).toBe(4);
  });

  it('comes with size and place of the table, and of its slots where there are some', () => {
    const texts = (table: ReportTable): string[] => {
      return [...tableCard(table, scaleOf([table], 2), '').matchAll(/<span[^>]*>([^<]*)</g)].map(([, text]) => text!);
    };
    const [table] = tablesOf([[2000, 16]]); // prettier-ignore
    const where = 'columns 0..8 on 0, 8..16 on 1';
    expect(texts(table!)).toEqual(['t0', '2,000 x 16', '128 kB', where, 'not looked up']);
    expect(texts({ ...table!, slotBytes: 1000, ids: 1, linkBytes: 0 })).toEqual([
      ...['t0', '2,000 x 16', '128 kB + 1.00 kB slots', where, '1 ids, 0 B sent'],
    ]);
  });
});
