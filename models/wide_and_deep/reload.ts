/** The second process: loads a saved model and predicts rows of text. Started by second_process.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import { startBackend } from './backend.js';
import { Encoder } from './data/encoder.js';
import type { ModelMetadata } from './metadata.js';
import { tablesByRows } from './model.js';
import type { ReloadAnswer, ReloadRequest } from './second_process.js';
import { predict } from './training.js';

const request = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as ReloadRequest;
await startBackend(request.backend, request.machine);
const model = await tf.loadLayersModel(`file://${request.model}/model.json`);
const { features } = model.getUserDefinedMetadata() as unknown as ModelMetadata;
const probabilities = predict(model, Encoder.fromConfig(features).encode(request.rows));
const answer: ReloadAnswer = {
  predictions: Buffer.from(probabilities.buffer).toString('base64'),
  tablesByRows: tablesByRows(model),
};
writeFileSync(request.output, JSON.stringify(answer));
