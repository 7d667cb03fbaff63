/**
 * Makes, saves and loads a table with the slots of its optimizer, and prints by how many bytes the process grew while it
 * made the table, and in all.
 *   memory_program.ts BACKEND BYTES FOLDER LAYER FORMAT
 * BYTES: of the table; the slots take as much. LAYER: embedding or distributedEmbedding. FORMAT: SavedModel, or model.json.
 */
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const [backend, bytes, folder, layer, format] = process.argv.slice(2) as [string, string, string, string, string];
const COLUMNS = 64;
const collect = (globalThis as { gc?: () => void }).gc!;

function peak(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Once the last table was made, before it had slots. */
let peakOfMaking = 0;

function distributed(embeddings: emb.DistributedItemArgs[]): tf.layers.Layer {
  return emb.layers.distributedEmbedding({ embeddings });
}

async function makeModel(rows: number): Promise<tf.LayersModel> {
  const input = tf.input({ shape: [1], dtype: 'int32' });
  const table = { inputDim: rows, outputDim: COLUMNS, combiner: 'sum' as const, seed: 1 };
  const output =
    layer === 'embedding'
      ? emb.layers.embedding(table).apply(input)
      : distributed([{ name: 'large', ...table }]).apply([input] as never);
  const model = tf.model({ inputs: input, outputs: output as unknown as tf.SymbolicTensor });
  peakOfMaking = peak();
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  const [ids, labels] = [tf.tensor2d([0, rows - 1], [2, 1], 'int32'), tf.ones([2, COLUMNS])];
  await model.trainOnBatch(ids, labels);
  tf.dispose([ids, labels]);
  return model;
}

function lastRows(model: tf.LayersModel, rows: number): number[] {
  return tf.tidy(() => {
    const ids = tf.tensor2d([0, rows - 1], [2, 1], 'int32');
    return Array.from((model.predict(ids) as tf.Tensor).dataSync());
  });
}

function dispose(model: tf.LayersModel): void {
  model.optimizer.dispose();
  model.dispose();
  collect();
}

async function save(model: tf.LayersModel, name: string): Promise<void> {
  if (format === 'SavedModel') await emb.savedModel.export(model, join(folder, name), { includeOptimizer: true });
  else await model.save(`file://${join(folder, name)}`, { includeOptimizer: true });
}

async function load(name: string): Promise<tf.LayersModel> {
  if (format === 'SavedModel') return (await emb.savedModel.load(join(folder, name))) as tf.LayersModel;
  return emb.loadLayersModel(`file://${join(folder, name, 'model.json')}`);
}

/** Throws where what is loaded is not what was saved. */
async function goRound(rows: number, name: string): Promise<void> {
  const made = await makeModel(rows);
  const before = lastRows(made, rows);
  await save(made, name);
  dispose(made);
  const loaded = await load(name);
  if (lastRows(loaded, rows).join() !== before.join()) throw new Error('other rows');
  await save(loaded, `${name}-again`);
  dispose(loaded);
}

if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
if (backend === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
await tf.setBackend(backend);
await emb.ready();
// Everything that takes memory of its own, whatever the size of the table.
await goRound(2 ** 15, 'small');
const before = peak();
await goRound(Number(bytes) / (COLUMNS * Float32Array.BYTES_PER_ELEMENT), 'large');
console.log(`making it grew by ${peakOfMaking - before}, all by ${peak() - before}`);
process.exit();
