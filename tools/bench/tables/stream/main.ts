/**
 * How well tables of less and less memory foresee the next day of a stream whose items come and go: open ones by what they
 * admit, evict and share, and rows of hashes. Each day is ranked by what the days before left, and then learned, once.
 * Prints JSON lines, the mean AUC of days 11 to 30; `--write` draws the pictures of docs/open_tables.md.
 *   node --import tsx tools/bench/tables/stream/main.ts [--write]
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import { expectedAuc } from '../../../../models/metrics.js';
import { printLine } from '../../stopwatch.js';
import { svgOf, type Line } from './chart.js';
import { STREAM, streamOf } from './events.js';
import { foreseen, hashedRows, openBytes, openRows, type Kind } from './learner.js';

await import('../../../../src/node.js');
await tf.setBackend('tensorflow');
// That many keys have no row is what is looked at.
console.warn = () => {};

/** Days before that are left out: tables are not full yet. */
const FIRST_DAY = 10;
const SHARES = [0.01, 0.02, 0.05, 0.1, 0.3];
/** The share of the bytes that rows for all unknown keys take. */
const OF_SHARED = 0.1;

const { days, items } = streamOf(STREAM);
const seen = new Set(days.flatMap((day) => [...day.items])).size;
const all = openBytes(seen);
const meanOf = (aucs: readonly number[]): number => {
  const counted = aucs.slice(FIRST_DAY);
  return counted.reduce((sum, auc) => sum + auc, 0) / counted.length;
};

type Open = Extract<Kind, { open: unknown }>['open'];

function open(bytes: number, rules: Omit<Open, 'capacity'> = {}): Kind {
  return { open: { capacity: openRows(bytes), ...rules } };
}

function shared(bytes: number, rules: Omit<Open, 'capacity'> = {}): Kind {
  const unknown = { shared: hashedRows(bytes * OF_SHARED), hashes: 2 };
  return open(bytes * (1 - OF_SHARED), { ...rules, unknown });
}

const tracked = STREAM.items;
const KINDS: Record<string, (bytes: number) => Kind> = {
  'rows of hashes': (bytes) => ({ rows: hashedRows(bytes) }),
  'open table, lru': (bytes) => open(bytes),
  distanceLfu: (bytes) => open(bytes, { evict: { policy: 'distanceLfu' } }),
  lfu: (bytes) => open(bytes, { evict: { policy: 'lfu' } }),
  l2: (bytes) => open(bytes, { evict: { policy: 'l2' } }),
  'after 2': (bytes) => open(bytes, { admit: { after: 2, tracked } }),
  'after 3': (bytes) => open(bytes, { admit: { after: 3, tracked } }),
  'probability 0.3': (bytes) => open(bytes, { admit: { probability: 0.3 } }),
  shared: (bytes) => shared(bytes),
  'after 2, shared': (bytes) => shared(bytes, { admit: { after: 2, tracked } }),
};

async function measured(what: string, share: number | null, kind: Kind): Promise<number> {
  const auc = meanOf(await foreseen(days, STREAM.users, kind));
  printLine({ bench: 'stream', what, share, ...('open' in kind ? kind.open : kind), auc });
  return auc;
}

const best = meanOf(days.map(({ truth }) => expectedAuc(truth, truth)));
printLine({ bench: 'stream', ...STREAM, itemsInAll: items, seen, bytes: all, best });
// Rows to spare, so that no shard is full.
const unlimited = await measured('unlimited', null, { open: { capacity: Math.ceil(1.3 * seen), evict: null } });
const lines = new Map<string, Line>();
for (const [name, kindOf] of Object.entries(KINDS)) {
  const points: [number, number][] = [];
  for (const share of SHARES) points.push([share, await measured(name, share, kindOf(share * all))]);
  lines.set(name, { name, points });
}

function draw(file: string, label: string, shown: Record<string, string>): void {
  const chosen = Object.entries(shown).map(([kind, name]) => ({ ...lines.get(kind)!, name }));
  const path = fileURLToPath(new URL(`../../../../docs/${file}.svg`, import.meta.url));
  writeFileSync(path, svgOf({ label, lines: chosen, limit: { name: 'a row for every key', auc: unlimited } }));
}

if (process.argv.includes('--write')) {
  draw('open_tables_memory', 'AUC of the next day by the memory of the table, beside rows of hashes', {
    'open table, lru': 'open table',
    shared: 'some rows shared',
    'rows of hashes': 'rows of hashes',
  });
  draw('open_tables_evict', 'AUC of the next day by the memory of the table, for each policy of eviction', {
    distanceLfu: 'distanceLfu',
    'open table, lru': 'lru',
    l2: 'l2',
    lfu: 'lfu',
  });
  draw('open_tables_admit', 'AUC of the next day by the memory of the table, for rules of admission', {
    'open table, lru': 'on sight',
    'after 2': 'after 2',
    'after 3': 'after 3',
    'probability 0.3': 'probability 0.3',
    'after 2, shared': 'after 2, rows shared',
  });
}
