/**
 * Exports of tables, beside copying a file of as many bytes through a buffer of 1 MB; both are on disk before the clock
 * stops. `EXPORT_GB=0.25` takes less room.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const GIGABYTES = Number(process.env['EXPORT_GB'] ?? 1);
const COLUMNS = 64;
const BUFFER_BYTES = 2 ** 20;
const ROUNDS = 3;

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
  // Turn by turn, as the disk is slower at some times than at others.
  const times: { export: number; copy: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const exported = await secondsOf(() => emb.savedModel.export(model, directory, { overwrite: true }));
    times.push({ export: exported, copy: await secondsOf(() => copy(data, join(folder, 'copy'))) });
    rmSync(join(folder, 'copy'));
  }
  const best = (field: 'export' | 'copy'): number => Math.min(...times.map((time) => time[field]));
  const [exportSeconds, copySeconds] = [best('export'), best('copy')];
  const ratio = exportSeconds / copySeconds;
  console.log(JSON.stringify({ bench: 'export', gigabytes: GIGABYTES, exportSeconds, copySeconds, ratio }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
