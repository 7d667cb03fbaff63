/** The second process: loads a saved model and predicts rows of text. Started by job.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import { startBackend } from '../backend.js';
import type { Machine } from '../device_options.mjs';
import type { LabelColumn, TextTable } from './data.js';
import { Encoder, type Feature } from './features.js';
import { tablesByRows } from './model.js';
import { predict } from './training.js';

/** What a saved model knows beside its weights and its pipeline: how to read rows of text, and what it predicts. */
export type ModelMetadata = Readonly<{ features: readonly Feature[]; label: LabelColumn }>;
/** Files and names, no weights and no ids; the machine is added for each process. */
export type ReloadRequest = Readonly<{ folder: string; backend: string; machine?: Machine | null; rows: TextTable }>;

const [, , request, output] = process.argv;
const { folder, backend, machine = null, rows } = JSON.parse(readFileSync(request!, 'utf8')) as ReloadRequest;
await startBackend(machine === null ? backend : null, machine);
const model = await tf.loadLayersModel(`file://${folder}/model.json`);
const { features } = model.getUserDefinedMetadata() as unknown as ModelMetadata;
writeFileSync(output!, predict(model, new Encoder(model.pipeline!, features).encode(rows)));
process.stdout.write(String(tablesByRows(model)));
