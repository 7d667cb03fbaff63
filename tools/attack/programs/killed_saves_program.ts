/**
 * Loads the model in a folder and says which save it is; then trains and saves it, or exports it, until it is killed.
 *   node --import tsx tools/attack/programs/killed_saves_program.ts <folder> <backend> <tag> save|export
 * Each save bears a mark of its own in its topology, and is known by a digest over that mark, the weights and the state of
 * the optimizer. Prints a JSON line before and after each save, written out before anything else happens.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

const [folder, backend, tag, way] = process.argv.slice(2) as [string, string, string, 'save' | 'export'];
const isExport = way === 'export';
const [ROWS, COLUMNS, IDS, BATCH] = [20_000, 16, 4, 64];

export interface Said {
  /** The mark of a save: loaded, about to be written, or written. */
  readonly loaded?: string | null;
  readonly begun?: string;
  readonly done?: string;
  readonly digest?: string;
  /** Files in the folder after the save; beside an export, what lies next to it counts. */
  readonly files?: number;
}

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

function makeModel(): tf.LayersModel {
  const table = emb.layers.embedding({ inputDim: ROWS, outputDim: COLUMNS, combiner: 'sum', inputShape: [IDS] });
  const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 1 })] });
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }), loss: 'meanSquaredError' });
  return model;
}

interface Named {
  readonly name: string;
  readonly tensor: tf.Tensor;
}

async function digestOf(model: tf.LayersModel): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(model.getUserDefinedMetadata()));
  const weights = model.weights.map((weight): Named => ({ name: weight.originalName, tensor: weight.read() }));
  const state = (await model.optimizer.getWeights()) as Named[];
  const byName = (a: Named, b: Named): number => (a.name < b.name ? -1 : 1);
  for (const { name, tensor } of [...weights.sort(byName), ...state.sort(byName)]) {
    const { buffer, byteOffset, byteLength } = await tensor.data();
    hash.update(name).update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}

function markOf(model: tf.LayersModel): string {
  return (model.getUserDefinedMetadata() as unknown as { mark: string }).mark;
}

async function trainStep(model: tf.LayersModel): Promise<void> {
  const ids = tf.randomUniform([BATCH, IDS], 0, ROWS, 'int32');
  const wanted = tf.randomNormal([BATCH, 1]);
  await model.trainOnBatch(ids, wanted);
  tf.dispose([ids, wanted]);
}

if (backend === 'tensorflow') await import('@tensorflow/tfjs-node');
await tf.setBackend(backend);
const isThere = existsSync(isExport ? folder : `${folder}/model.json`);

async function load(): Promise<tf.LayersModel> {
  if (isExport) return (await emb.savedModel.load(folder)) as tf.LayersModel;
  return tf.loadLayersModel(`file://${folder}/model.json`);
}

const model = isThere ? await load() : makeModel();
say(isThere ? { loaded: markOf(model), digest: await digestOf(model) } : { loaded: null });
for (let number = 0; ; number++) {
  await trainStep(model);
  model.setUserDefinedMetadata({ mark: `${tag}-${number}` });
  say({ begun: `${tag}-${number}`, digest: await digestOf(model) });
  if (isExport) await emb.savedModel.export(model, folder, { includeOptimizer: true, overwrite: true });
  else await model.save(`file://${folder}`, { includeOptimizer: true });
  say({ done: `${tag}-${number}`, files: readdirSync(isExport ? dirname(folder) : folder).length });
}
