/**
 * One page whole, element by element. What it should hold is worked out in other specs; this one tells of every change.
 * Where a change is meant, look at the page and write the file anew: `TFJS_EMBEDDINGS_APPROVE=1 npm test -- approved_page`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { makeReport } from '../../../src/report/report.js';
import type { PlanEmbeddingArgs } from '../../../src/partition/index.js';
import type { ReportSource } from '../../../src/backends/devices/report_source.js';
import { busyCounters, sourceOf } from '../report_sources.js';

const APPROVED = new URL('approved_page.txt', import.meta.url);

/** Tables that are whole, cut by columns, cut by rows, copied and with the host, with slots and counts. */
function source(): ReportSource {
  const tables = [
    { name: 'model/users/embeddings', inputDim: 1000, outputDim: 16 },
    { name: 'model/items_by_day/embeddings', inputDim: 100, outputDim: 8 },
    { name: 'model/few/embeddings', inputDim: 5, outputDim: 2 },
    { name: 'model/words/embeddings', inputDim: 4000, outputDim: 12 },
  ];
  const request: PlanEmbeddingArgs = {
    tables,
    worldSize: 4,
    dataParallelThreshold: 10,
    columnSliceThreshold: 5000,
    rowSliceThreshold: 40_000,
  };
  const training = { calls: 3, samples: [96, 96, 96, 96], bags: [96, 96, 96, 96], ids: [240, 96, 96, 960], weights: [0, 0, 0, 960] }; // prettier-ignore
  const plain = sourceOf(request, {
    slots: [{ name: 'rowWise', columns: 1 }],
    plan: { measured: { all: training, training } },
    hbmBytesPerChip: 1e6,
  });
  const reported = plain.tables.map((table, i) => {
    // As if there had been no room for the second table.
    const shards = table.layout.shards.map((shard) => ({ ...shard, inHost: i === 1 }));
    return { ...table, layout: { ...table.layout, shards }, counts: { ids: 768 * i, linkBytes: 12_345 * i } };
  });
  return { ...plain, tables: reported, counters: busyCounters(plain.counters, 3, 64) };
}

/** The elements of a page, one a line, without its style. */
function linesOf(page: string): string[] {
  return page
    .replace(/<style>[^<]*<\/style>/, '')
    .trimEnd()
    .replaceAll('><', '>\n<')
    .split('\n');
}

describe('Approved page', () => {
  it('is what a report gives', () => {
    const lines = linesOf(makeReport(source(), { generation: 'v5e' }).toHTML());
    if (process.env['TFJS_EMBEDDINGS_APPROVE'] === '1') writeFileSync(APPROVED, `${lines.join('\n')}\n`);
    const approved = readFileSync(APPROVED, 'utf8').trimEnd().split('\n');
    const other = lines.findIndex((line, i) => line !== approved[i]);
    // The first line that differs, with the one before it.
    if (other >= 0) expect(lines.slice(other - 1, other + 1)).toEqual(approved.slice(other - 1, other + 1));
    expect(lines.length).toBe(approved.length);
  });
});
