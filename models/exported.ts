/** Loads an export through tfjs-node and predicts. Started by export_proof.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
// Mends what tfjs-node lacks on newer versions of Node.
import 'tfjs-embeddings/node';
import * as tf from '@tensorflow/tfjs-node';
import type { ExportedRequest } from './export_proof.js';

const [, , request, output] = process.argv;
const { directory, inputs } = JSON.parse(readFileSync(request!, 'utf8')) as ExportedRequest;
const model = await tf.node.loadSavedModel(directory);
const given = Object.entries(inputs).map(([name, { shape, values }]) => {
  return [name, tf.tensor([...values], [...shape], 'int32')] as const;
});
const outputs = model.predict(Object.fromEntries(given), {}) as tf.NamedTensorMap;
writeFileSync(output!, Float32Array.from(Object.values(outputs).flatMap((each) => Array.from(each.dataSync()))));
