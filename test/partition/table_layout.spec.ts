/** Where plans put the parts of tables: every element once, or once on each device. */
import { planEmbedding } from '../../src/partition/index.js';
import {
  sameLayout,
  shardSize,
  slotLayout,
  tableLayouts,
  wholeOn,
  type TableLayout,
  type TableSize,
} from '../../src/partition/table_layout.js';
import { STRATEGY_NAMES } from '../../src/partition/plan.js';
import { generatedArgs, wholeNumbers } from './table_sets.js';

/** How often each element of a table is held, on all devices or on one. */
function holders({ rows, columns, shards }: TableLayout, device: number | null = null): Uint8Array {
  const counts = new Uint8Array(rows * columns);
  for (const shard of shards) {
    if (device !== null && shard.device !== device) continue;
    for (let r = 0; r < shard.rows.count; r++) {
      const row = shard.rows.first + shard.rows.step * r;
      for (let column = shard.columns[0]; column < shard.columns[1]; column++) counts[row * columns + column]!++;
    }
  }
  return counts;
}

/** What is wrong with a layout, or ''. */
function complaint(layout: TableLayout, size: TableSize, devices: number): string {
  const { kind, rows, columns, shards } = layout;
  if (rows !== size.rows || columns !== size.columns) return `size [${rows}, ${columns}]`;
  if (shards.length === 0) return 'no shards';
  for (const shard of shards) {
    const last = shard.rows.first + shard.rows.step * (shard.rows.count - 1);
    if (shard.device < 0 || shard.device >= devices) return `device ${shard.device}`;
    if (shardSize(shard) < 1) return 'an empty shard';
    if (shard.rows.first < 0 || last >= rows) return `rows ${shard.rows.first} to ${last}`;
    if (shard.columns[0] < 0 || shard.columns[1] > columns) return `columns ${shard.columns.join()}`;
    const wholeColumns = shard.columns[0] === 0 && shard.columns[1] === columns;
    if (kind !== 'columns' && !wholeColumns) return 'some columns only';
    if (kind !== 'rows' && (shard.rows.count !== rows || shard.rows.step !== 1)) return 'some rows only';
  }
  const groups = kind === 'replicated' ? Array.from({ length: devices }, (_, device) => device) : [null];
  for (const device of groups) {
    const at = holders(layout, device).findIndex((count) => count !== 1);
    if (at >= 0) return `element ${at} is held ${holders(layout, device)[at]} times by ${device ?? 'all'}`;
  }
  if (kind === 'rows' && shards.some(({ device }, i) => i > 0 && device <= shards[i - 1]!.device)) return 'order';
  return '';
}

describe('tableLayouts', () => {
  it('hold each element of generated tables once, copies once on each device', () => {
    const seen = { columns: 0, rows: 0, replicated: 0, modulo: 0, inHost: 0, split: 0, few: 0 };
    for (let seed = 0; seed < 1200; seed++) {
      const args = generatedArgs(seed, STRATEGY_NAMES);
      const below = wholeNumbers(seed + 100_000);
      const worldSize = 1 + below(16);
      const tables = args.tables.map((table) => (below(3) === 0 ? { ...table, inputDim: 1 + below(4) } : table));
      const plan = planEmbedding({ ...args, tables, worldSize });
      const sizes = tables.map(({ inputDim, outputDim }) => ({ rows: inputDim, columns: outputDim }));
      tableLayouts(plan, sizes).forEach((layout, table) => {
        expect(complaint(layout, sizes[table]!, worldSize))
          .withContext(`seed ${seed}, table ${table}`)
          .toBe('');
        seen[layout.kind]++;
        if (layout.shards.some(({ rows }) => rows.step > 1)) seen.modulo++;
        if (layout.shards.some(({ inHost }) => inHost)) seen.inHost++;
        if (layout.kind === 'columns' && layout.shards.length > 1) seen.split++;
        if (layout.kind === 'rows' && layout.rows < worldSize) seen.few++;
      });
    }
    for (const [what, count] of Object.entries(seen)) expect(count).withContext(what).toBeGreaterThan(20);
  });

  it('follow a plan', () => {
    const tables = [
      { inputDim: 3, outputDim: 2, combiner: 'sum' as const },
      { inputDim: 10, outputDim: 4, combiner: 'sum' as const },
      { inputDim: 5, outputDim: 20, combiner: 'sum' as const },
    ];
    const plan = planEmbedding({
      tables,
      worldSize: 2,
      dataParallelThreshold: 6,
      columnSliceThreshold: 20,
      rowSliceThreshold: 100,
      rowSharding: 'modulo',
    });
    const sizes = tables.map(({ inputDim, outputDim }) => ({ rows: inputDim, columns: outputDim }));
    const [copies, columns, rows] = tableLayouts(plan, sizes) as [TableLayout, TableLayout, TableLayout];
    const all = { first: 0, step: 1, inHost: false };
    expect(copies.shards.map(({ device, rows: { count } }) => [device, count])).toEqual([[0, 3], [1, 3]]); // prettier-ignore
    expect(columns.shards.map((shard) => [shard.device, ...shard.columns])).toEqual([[0, 0, 2], [1, 2, 4]]); // prettier-ignore
    expect(rows.shards).toEqual([
      { device: 0, rows: { first: 0, step: 2, count: 3 }, columns: [0, 20], inHost: all.inHost },
      { device: 1, rows: { first: 1, step: 2, count: 2 }, columns: [0, 20], inHost: all.inHost },
    ]);
  });
});

describe('layouts', () => {
  const size = { rows: 4, columns: 6 };
  const whole = wholeOn(2, size);

  it('of one device hold everything', () => {
    expect(complaint(whole, size, 3)).toBe('');
    expect(whole.shards.length).toBe(1);
    expect(whole.shards[0]!.device).toBe(2);
  });

  it('of slots follow the table', () => {
    expect(slotLayout(whole, 6)).toBe(whole);
    const perRow = slotLayout(whole, 1);
    expect(complaint(perRow, { rows: 4, columns: 1 }, 3)).toBe('');
  });

  it('are the same where everything lies in the same places', () => {
    const [shard] = whole.shards as [TableLayout['shards'][number]];
    const changed: TableLayout[] = [
      { ...whole, kind: 'rows' },
      { ...whole, rows: 5 },
      { ...whole, columns: 5 },
      { ...whole, shards: [] },
      { ...whole, shards: [shard, shard] },
      { ...whole, shards: [{ ...shard, device: 1 }] },
      { ...whole, shards: [{ ...shard, inHost: true }] },
      { ...whole, shards: [{ ...shard, columns: [1, 6] }] },
      { ...whole, shards: [{ ...shard, columns: [0, 5] }] },
      { ...whole, shards: [{ ...shard, rows: { ...shard.rows, first: 1 } }] },
      { ...whole, shards: [{ ...shard, rows: { ...shard.rows, step: 2 } }] },
      { ...whole, shards: [{ ...shard, rows: { ...shard.rows, count: 3 } }] },
    ];
    expect(sameLayout(whole, structuredClone(whole) as TableLayout)).toBeTrue();
    for (const layout of changed) expect(sameLayout(whole, layout)).withContext(JSON.stringify(layout)).toBeFalse();
  });
});
