/**
 * Counts what becomes of drawn models: node --import ./custom-ops/typescript/register.mjs test/formats/keras/drawn/main.ts
 * --keras 3 --seed 1 --count 100 [--backend cpu] [--cases FILE, which is written where it is not there] [--only SEED]
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { pythonWithKeras } from '../../../backends/tensorflow/python_tensorflow.js';
import { outcomeOf, type DrawnModel } from './drawn_models.js';

const SCRIPT = fileURLToPath(new URL('draw_models.py', import.meta.url));
const TEXT = { type: 'string' } as const;
const { values: given } = parseArgs({
  options: {
    keras: { ...TEXT, default: '3' },
    seed: { ...TEXT, default: '1' },
    count: { ...TEXT, default: '100' },
    backend: { ...TEXT, default: 'cpu' },
    cases: TEXT,
    only: TEXT,
  },
});

const folder = mkdtempSync(join(tmpdir(), 'drawn '));
const path = given.cases ?? join(folder, 'cases.jsonl');
if (!existsSync(path)) {
  const python = pythonWithKeras();
  if (typeof python === 'string') throw new Error(python);
  writeFileSync(path, python.run(SCRIPT, folder, given.keras, given.seed, given.count));
}
await emb.ready();
if (given.backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
if (given.backend === 'tensorflow') await import('@tensorflow/tfjs-node');
await tf.setBackend(given.backend);
console.warn = () => {};
const counts: Record<string, number> = {};
for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
  if (!line.startsWith('{')) continue;
  const drawn = JSON.parse(line) as DrawnModel;
  if (given.only !== undefined && given.only !== `${drawn.seed}`) continue;
  const { kind, detail } =
    drawn.skipped === undefined ? await outcomeOf(drawn) : { kind: 'skipped', detail: drawn.skipped };
  counts[kind] = (counts[kind] ?? 0) + 1;
  if (kind === 'equal' || kind === 'skipped') continue;
  console.log(`${kind}\t${drawn.keras}:${drawn.seed}\t${detail}\t${drawn.layers.join(' ')}`);
}
console.log(JSON.stringify(counts));
