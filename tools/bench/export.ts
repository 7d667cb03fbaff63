/**
 * Exports of tables, beside copying a file of as many bytes through a buffer of 1 MB; both are on disk before the clock
 * stops; then of the model of the wide-and-deep example. `EXPORT_GB=0.25` takes less room. Speed of shared disks varies: both
 * take turns, and medians are told with the fastest and the slowest.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { censusModel } from './census_model.js';
import { median, printLine } from './stopwatch.js';

const GIGABYTES = Number(process.env['EXPORT_GB'] ?? 1);
const COLUMNS = 64;
const BUFFER_BYTES = 2 ** 20;
const ROUNDS = 7;

async function copy(from: string, to: string): Promise<void> {
  const [source, target] = [await open(from, 'r'), await open(to, 'w')];
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES, null);
    if (bytesRead === 0) break;
    await target.write(buffer, 0, bytesRead);
  }
  await target.sync();
  await Promise.all([source.close(), target.close()]);
}

function spread(seconds: readonly number[]): { median: number; min: number; max: number } {
  return { median: median(seconds), min: Math.min(...seconds), max: Math.max(...seconds) };
}

async function secondsOf(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}

await tf.setBackend('cpu');
const folder = mkdtempSync(join(tmpdir(), 'export-bench-'));
try {
  const inputDim = Math.round((GIGABYTES * 1e9) / (COLUMNS * Float32Array.BYTES_PER_ELEMENT));
  const table = emb.layers.embedding({ inputDim, outputDim: COLUMNS, combiner: 'sum', inputShape: [2] });
  const model = tf.sequential({ layers: [table] });
  const directory = join(folder, 'model');
  const data = join(directory, 'variables', 'variables.data-00000-of-00001');
  const copied = join(folder, 'copy');
  const times: { readonly export: number; readonly copy: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const exported = await secondsOf(() => emb.savedModel.export(model, directory));
    times.push({ export: exported, copy: await secondsOf(() => copy(data, copied)) });
    rmSync(copied);
    rmSync(directory, { recursive: true });
  }
  const [exportSeconds, copySeconds] = (['export', 'copy'] as const).map((what) =>
    spread(times.map((each) => each[what])),
  );
  const ratio = exportSeconds!.median / copySeconds!.median;
  const census = censusModel(512, 1);
  const small: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    small.push(await secondsOf(() => emb.savedModel.export(census, directory, { overwrite: true })));
  }
  printLine({ bench: 'export', model: 'wide and deep', rounds: ROUNDS, exportSeconds: spread(small) });
  printLine({ bench: 'export', gigabytes: GIGABYTES, rounds: ROUNDS, exportSeconds, copySeconds, ratio });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
