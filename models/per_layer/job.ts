/** Makes a table in a file, and uses it: token by token, or in training. Tells times and memory. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { startBackend } from '../backend.js';
import { LanguageModel, makeTable, write } from './language.js';
import type { Options } from './options.mjs';
import { trainTowers } from './towers.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
const rounded = (value: number): number => Number(value.toPrecision(4));

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function runLanguage(options: Options, file: string, json: object): Promise<object> {
  const { vocabulary, layers, dim, sparse, tokens, cache, threads, seed } = options;
  const from = performance.now();
  const table = await makeTable(file, options, { sparse, cacheBytes: cache * 1e9, threads, seed });
  const seconds = (performance.now() - from) / 1000;
  const { size, blocks } = statSync(file);
  say(`${vocabulary} rows of ${layers} x ${dim}: ${megabytes(size)} MB, ${megabytes(blocks * 512)} on the disk`);
  const model = new LanguageModel({ vocabulary, layers, dim }, seed);
  const before = process.memoryUsage().rss;
  const found = write(model, table, tokens);
  const { rss } = process.memoryUsage();
  const stats = table.stats();
  table.close();
  model.dispose();
  const [ms, tableMs] = [median(found.ms), median(found.tableMs)];
  say(`${tokens} tokens, ${rounded(ms)} ms each (median), of which the table took ${rounded(tableMs)}`);
  say(
    `${stats.misses} rows were read and ${stats.hits} found in the cache; memory grew by ${megabytes(rss - before)} MB`,
  );
  return {
    ...json,
    ...{ fileMb: megabytes(size), diskMb: megabytes(blocks * 512), madeSeconds: rounded(seconds) },
    ...{ tokens, msPerToken: rounded(ms), tableMsPerToken: rounded(tableMs) },
    ...{ hits: stats.hits, misses: stats.misses, direct: stats.direct },
    ...{ rssMb: megabytes(rss), grewMb: megabytes(rss - before) },
  };
}

async function runTowers({ items, steps, seed }: Options, file: string, json: object): Promise<object> {
  const { first, last, stepsPerSecond, stats } = await trainTowers(file, items, steps, seed);
  say(`${steps} steps, ${rounded(stepsPerSecond)} a second; loss ${rounded(first)} at first, ${rounded(last)} at last`);
  say(`the cache holds ${stats.cacheRows} of ${items} items; ${stats.hits} were found there, ${stats.misses} read`);
  const { hits, misses, bytesRead, bytesWritten, cacheRows } = stats;
  const of = { hits, misses, bytesRead, bytesWritten, cacheRows, rssMb: megabytes(process.memoryUsage().rss) };
  const told = { firstLoss: rounded(first), lastLoss: rounded(last), stepsPerSecond: rounded(stepsPerSecond) };
  return { ...json, items, steps, ...told, ...of };
}

export async function run(options: Options): Promise<void> {
  const { backend } = await startBackend(options.backend, null);
  const folder = options.file === null ? mkdtempSync(join(tmpdir(), 'per-layer-')) : null;
  const file = options.file ?? join(folder!, 'table.safetensors');
  try {
    const report = await (options.towers ? runTowers : runLanguage)(options, file, { backend });
    if (options.json) say(JSON.stringify({ ...report, tensors: tf.memory().numTensors }));
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}
