/**
 * Counts what becomes of graphs that gen_converted_graphs.py wrote with other values or of all rooms:
 * node --import ./custom-ops/typescript/register.mjs test/formats/graph_models/converted/main.ts FILE [--backend wasm] [--only TEXT]
 */
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { convertedGraphs, verdictOf } from '../converted_graphs.js';

const TEXT = { type: 'string' } as const;
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { backend: { ...TEXT, default: 'cpu' }, only: TEXT },
});
await emb.ready();
if (given.backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
if (given.backend === 'tensorflow') await import('@tensorflow/tfjs-node');
await tf.setBackend(given.backend);
emb.converter.registerOps();
const counts = { equal: 0, refused: 0, wrong: 0 };
for (const graph of convertedGraphs(positionals[0])) {
  if (given.only !== undefined && !graph.name.includes(given.only)) continue;
  const before = tf.memory().numTensors;
  const verdict = await verdictOf(graph);
  const left = tf.memory().numTensors - before;
  const difference = 'refused' in verdict || left === 0 ? verdict : { difference: `leaves ${left} tensors` };
  const kind = 'refused' in difference ? 'refused' : difference.difference === null ? 'equal' : 'wrong';
  counts[kind]++;
  if (kind !== 'equal')
    console.log(`${kind}\t${graph.name}\t${'refused' in difference ? difference.refused : difference.difference}`);
}
console.log(JSON.stringify(counts));
