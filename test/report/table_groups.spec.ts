/** Models of many tables: what is alike shares a line and a card. */
import { makeReport, type Report } from '../../src/report/report.js';
import { groupName, groupWhereText, tableGroups } from '../../src/report/table_groups.js';
import type { PlanTableArgs } from '../../src/partition/plan_table.js';
import { sourceOf } from './report_sources.js';

const named = (count: number, first: number, inputDim: number): PlanTableArgs[] =>
  Array.from({ length: count }, (_, i) => ({ name: `layer/t_${first + i}/embeddings`, inputDim, outputDim: 8 }));

function many(): Report {
  const tables = [...named(30, 0, 100), ...named(12, 30, 1000), ...named(2, 50, 100)];
  return makeReport(sourceOf({ tables, worldSize: 4 }));
}

describe('Groups of tables', () => {
  it('hold each table once, those of one size together', () => {
    const { tables } = many();
    const groups = tableGroups(tables, true);
    expect(groups.map(({ numbers }) => numbers.length)).toEqual([32, 12]);
    expect(groups.flatMap(({ numbers }) => [...numbers]).sort((a, b) => a - b)).toEqual(tables.map((_, i) => i));
    expect(groups[1]!.bytes).toBe(12 * 4 * 8000);
    expect(groups.map((group) => groupName(group))).toEqual(['layer/t_0-29, 50-51', 'layer/t_30-41']);
    expect(groupWhereText(groups[0]!, 1)).toBe('each whole, on 0-3, 8 on each');
    expect(tableGroups(tables, false).length).toBe(44);
  });

  it('keep tables apart that are cut in other ways', () => {
    const tables = [...named(2, 0, 100), ...named(2, 2, 100).map((table) => ({ ...table, rowCoupled: true }))];
    const report = makeReport(sourceOf({ tables, worldSize: 2, columnSliceThreshold: 400 }));
    const groups = tableGroups(report.tables, true);
    expect(groups.map((group) => groupWhereText(group, 1))).toEqual([
      'each in 2 column slices, on 0-1, 2 on each',
      'each whole, on 0-1, 1 on each',
    ]);
  });

  it('are named by the first and the last where names are no numbers', () => {
    const tables = ['users', 'items', 'ads'].map((name) => ({ name, inputDim: 9, outputDim: 4 }));
    const [group] = tableGroups(makeReport(sourceOf({ tables, worldSize: 1 })).tables, true);
    expect(groupName(group!)).toBe('users .. ads');
    const ends = ['t_1', 't_2a'].map((name) => ({ name, inputDim: 9, outputDim: 4 }));
    const [ended] = tableGroups(makeReport(sourceOf({ tables: ends, worldSize: 1 })).tables, true);
    expect(groupName(ended!)).toBe('t_1 .. t_2a');
    const inLayer = tables.map((table) => ({ ...table, name: `layer/${table.name}/embeddings` }));
    const [own] = tableGroups(makeReport(sourceOf({ tables: inLayer, worldSize: 1 })).tables, true);
    expect(groupName(own!)).toBe('layer/users .. layer/ads');
    expect(groupName(own!, 'layer/')).toBe('users .. ads');
  });

  it('share a line of the text and a card of the page where there are more than forty', () => {
    const report = many();
    const lines = String(report).split('\n');
    expect(lines).toContain('Tables of layer:');
    expect(lines).toContain(
      '    32  t_0-29, 50-51    100        8  102 kB    0 B    0   0 B  each whole, on 0-3, 8 on each',
    );
    expect(lines.some((line) => line.startsWith('44 tables; those of one size'))).toBeTrue();
    const page = report.toHTML();
    expect(page.match(/<figure>/g)!.length).toBe(2);
    // Each table is a tile, and stands in the list of all.
    expect(page.match(/class="piece" style="--h:\d+"><title>/g)!.length).toBe(44);
    for (const { name } of report.tables)
      expect(page.replaceAll('<wbr/>', '')).toContain(`<td class="left long">${name.replace('/embeddings', '')}</td>`);
  });

  it('of more than 96 tables have a tile for each of these, and say so', () => {
    const cardOf = (count: number): string =>
      makeReport(sourceOf({ tables: named(count, 0, 100), worldSize: 1 })).toHTML();
    const [all, some] = [cardOf(96), cardOf(97)];
    expect(all).toContain('<span>96 tables of 100 x 8</span>');
    expect(some).toContain('<span>97 tables of 100 x 8, 96 drawn</span>');
    for (const page of [all, some]) expect(page.match(/<g transform="translate/g)!.length).toBe(96);
    expect(some).toContain('viewBox="0 0 224 240"');
    expect(some).toContain('<g transform="translate(196 220)">');
  });
});
