/** The process that makes the load: `load_client.ts URL SECONDS ITEMS EVENTS_PER_SECOND ASKS_PER_SECOND SEED`. */
import autocannon from 'autocannon';
import type { NewEvent } from './event.js';
import type { Point } from './gauges.js';
import type { LoadResult } from './load.js';
import { MadeUpVisitors } from './made_up_visitors.js';

const [url, ...numbers] = process.argv.slice(2);
const [seconds, items, eventsPerSecond, asksPerSecond, seed] = numbers.map(Number) as [
  number,
  number,
  number,
  number,
  number,
];
const visitors = new MadeUpVisitors(seed, items);

/** Events of a request while the items are made known, and requests on their way. */
const TOGETHER = 500;
const AHEAD = 20_000;

const get = async <T>(path: string): Promise<T> => (await (await fetch(url + path)).json()) as T;
const waiting = async (): Promise<number> => (await get<{ waiting: number }>('/status')).waiting;
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function post(events: readonly NewEvent[]): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/events`, { method: 'POST', headers, body: JSON.stringify(events) });
  if (answer.status !== 201) throw new Error(`events were answered by ${answer.status}: ${await answer.text()}`);
}

/** Learns every item once, so that recommendations are made from all of them. */
async function makeItemsKnown(): Promise<void> {
  const from = performance.now();
  let batch: NewEvent[] = [];
  for (const event of visitors.everyItem()) {
    batch.push(event);
    if (batch.length < TOGETHER) continue;
    await post(batch);
    batch = [];
    while ((await waiting()) > AHEAD) await pause(50);
  }
  if (batch.length > 0) await post(batch);
  while ((await waiting()) > 0) await pause(50);
  process.stdout.write(`${items} items made known in ${((performance.now() - from) / 1000).toFixed(1)} s\n`);
}

const sumOf = (metrics: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? NaN);
const learned = async (): Promise<number> =>
  sumOf(await (await fetch(`${url}/metrics`)).text(), 'online_events_learned_total');

await makeItemsKnown();
const [from, before] = [performance.now(), await learned()];
const options = { url: url!, duration: seconds, connections: 16 };
const [events, asks] = await Promise.all([
  autocannon({
    ...options,
    overallRate: eventsPerSecond,
    requests: [
      {
        method: 'POST',
        path: '/events',
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: JSON.stringify(visitors.event()) }),
      },
    ],
  }),
  autocannon({
    ...options,
    overallRate: asksPerSecond,
    requests: [{ method: 'GET', setupRequest: (request) => ({ ...request, path: `/recommend/${visitors.user()}` }) }],
  }),
]);
const took = (performance.now() - from) / 1000;
const points = (await get<Point[]>('/points')).slice(-5);
const mean = (of: (point: Point) => number): number =>
  points.reduce((sum, point) => sum + of(point), 0) / points.length;
const result: LoadResult = {
  eventsLearnedPerSecond: ((await learned()) - before) / took,
  eventsPerSecond: events['2xx'] / took,
  recommendationsPerSecond: asks['2xx'] / took,
  milliseconds: { p50: asks.latency.p50, p99: asks.latency.p99 },
  failed: events.non2xx + events.errors + asks.non2xx + asks.errors,
  items: (await get<{ items: number }>('/status')).items,
  auc: mean(({ auc }) => auc ?? NaN),
  recall: mean(({ recall }) => recall),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
