/** Models that `emb.loadLayersModel` reads row by row: those that tfjs loads from the same files, to the bit. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { codecOf } from '../../src/codecs/codecs.js';
import { describeForBackends } from '../helpers/backends.js';
import { leakFree } from './setup.js';

/** More than is read at once. */
const ROWS = 40_000;
const STORAGES = ['float32', 'float16', 'int8'] as const;

function inFolder(run: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'loaded-model-'));
    try {
      await run(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

function made(storage: (typeof STORAGES)[number]): tf.LayersModel {
  const input = tf.input({ shape: [3], dtype: 'int32' });
  const table = { inputDim: ROWS, outputDim: 12, combiner: 'mean' as const, seed: 5, storage };
  const rows = emb.layers.embedding({ ...table, trainable: storage !== 'int8' }).apply(input) as tf.SymbolicTensor;
  const words = emb.layers.embedding({ inputDim: 7, outputDim: 12, combiner: 'sum', seed: 2 });
  const sum = tf.layers
    .add()
    .apply([rows, words.apply(tf.layers.activation({ activation: 'relu' }).apply(input))] as never);
  const outputs = tf.layers.dense({ units: 2, useBias: true }).apply(sum as tf.SymbolicTensor) as tf.SymbolicTensor;
  const model = tf.model({ inputs: input, outputs });
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.05 }), loss: 'meanSquaredError' });
  return model;
}

const idsOf = (): tf.Tensor => tf.tensor2d([0, 1, 2, 3, 4, 5, 6, 0, 6], [3, 3], 'int32');

async function step(model: tf.LayersModel): Promise<void> {
  const [x, y] = [idsOf(), tf.ones([3, 2])];
  await model.trainOnBatch(x, y);
  tf.dispose([x, y]);
}

/** Frozen weights come after the others. */
function tableIn(model: tf.LayersModel): tf.Tensor {
  return model.getWeights().find(({ shape }) => shape[0] === ROWS)!;
}

function numbersOf(model: tf.LayersModel): number[][] {
  return model.getWeights().map((weight) => Array.from(weight.dataSync()));
}

function dispose(model: tf.LayersModel): void {
  model.optimizer?.dispose();
  model.dispose();
}

describeForBackends(
  'a model of files',
  () => {
    for (const storage of STORAGES) {
      it(
        `has the weights and the next step that tfjs loads, of ${storage}`,
        leakFree(
          inFolder(async (folder) => {
            const model = made(storage);
            await step(model);
            await model.save(`file://${folder}`, { includeOptimizer: true });
            dispose(model);
            const path = `file://${folder}/model.json`;
            const [expected, found] = [await tf.loadLayersModel(path), await emb.loadLayersModel(path)];
            expect(numbersOf(found)).toEqual(numbersOf(expected));
            for (const each of [expected, found]) await step(each);
            expect(numbersOf(found)).toEqual(numbersOf(expected));
            [expected, found].forEach(dispose);
          }),
        ),
        60_000,
      );
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeForBackends(
  'a SavedModel of packed tables',
  () => {
    for (const storage of ['float16', 'int8'] as const) {
      it(
        `holds the numbers that its words stand for, of ${storage}`,
        leakFree(
          inFolder(async (folder) => {
            const model = made(storage);
            const words = tableIn(model).dataSync<'int32'>().slice();
            await emb.savedModel.export(model, join(folder, 'model'));
            dispose(model);
            const loaded = (await emb.savedModel.load(join(folder, 'model'))) as tf.LayersModel;
            const table = tableIn(loaded);
            expect(table.dtype).toBe('float32');
            expect(table.dataSync()).toEqual(codecOf(storage).unpack(words, 12));
            dispose(loaded);
          }),
        ),
        60_000,
      );
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeForBackends(
  'float32 numbers for a table of float16',
  () => {
    it(
      'are packed as they are read, and refused where float16 cannot keep them',
      leakFree(
        inFolder(async (folder) => {
          for (const last of [0.5, 1e6]) {
            const weights = [[[0.25, 1], [2, last]]]; // prettier-ignore
            const table = emb.layers.embedding({ inputDim: 2, outputDim: 2, weights, inputShape: [1], name: 'words' });
            const model = tf.sequential({ layers: [table] });
            await model.save(`file://${folder}`);
            dispose(model);
            const path = join(folder, 'model.json');
            const json = readFileSync(path, 'utf8');
            expect(json).toContain('"output_dim":2');
            writeFileSync(path, json.replace('"output_dim":2', '"output_dim":2,"storage":"float16"'));
            const loading = emb.loadLayersModel(`file://${path}`);
            if (last === 1e6) {
              await expectAsync(loading).toBeRejectedWithError(emb.ValueError, /float16.*1000000 in row 1, column 1/s);
              continue;
            }
            const loaded = await loading;
            const predicted = tf.tidy(() =>
              (loaded.predict(tf.tensor2d([[1]], [1, 1], 'int32')) as tf.Tensor).dataSync(),
            );
            expect(Array.from(predicted)).toEqual([2, 0.5]);
            dispose(loaded);
          }
        }),
      ),
    );
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeForBackends(
  'files that are no whole model',
  () => {
    it(
      'are refused by name, and nothing of the model is left',
      leakFree(
        inFolder(async (folder) => {
          const model = made('float32');
          await model.save(`file://${join(folder, 'whole')}`);
          dispose(model);
          const copy = (name: string): string => {
            cpSync(join(folder, 'whole'), join(folder, name), { recursive: true });
            return join(folder, name);
          };
          const cut = copy('cut');
          const weights = readdirSync(cut).find((name) => name !== 'model.json')!;
          truncateSync(join(cut, weights), 1_000_000);
          const other = copy('other');
          const json = readFileSync(join(other, 'model.json'), 'utf8');
          writeFileSync(join(other, 'model.json'), json.replace(`"shape":[7,12]`, `"shape":[12,7]`));
          const unknown = copy('unknown');
          writeFileSync(join(unknown, 'model.json'), json.replace(/"name":"([^"]*)\/bias"/, '"name":"$1/tilt"'));
          const load = (path: string): Promise<unknown> => emb.loadLayersModel(`file://${path}/model.json`);
          await expectAsync(load(cut)).toBeRejectedWithError(emb.ValueError, /cut\/model\.json.*1000000/s);
          await expectAsync(load(other)).toBeRejectedWithError(
            emb.ValueError,
            /other\/model\.json.*\[12, 7\].*\[7, 12\]/s,
          );
          await expectAsync(load(unknown)).toBeRejectedWithError(emb.ValueError, /unknown\/model\.json.*bias/s);
        }),
      ),
      60_000,
    );
  },
  ['cpu native'],
);
