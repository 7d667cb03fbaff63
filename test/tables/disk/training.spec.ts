/** Trained disk tables equal tables in memory to the bit, whatever the cache and the threads. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import '@tensorflow/tfjs-backend-wasm';
import * as emb from 'tfjs-embeddings/node';
import { findRows } from '../../../src/tables/disk/row_source.js';
import { casesOf } from '../../forms/forms.js';
import { Random } from '../../helpers/random.js';
import { leakFree } from '../../layers/setup.js';
import { inFolder, numbers, rejects } from './setup.js';
import { DIM, ROWS, START, modelOf, steps } from './trained_model.js';

const OPTIMIZERS: Record<string, () => emb.SparseOptimizer> = {
  sgd: () => emb.train.sgd({ learningRate: 0.1 }),
  momentum: () => emb.train.sgd({ learningRate: 0.1, momentum: 0.9 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.1, initialAccumulatorValue: 0.25 }),
  clipped: () => emb.train.adagrad({ learningRate: 0.1, globalClipNorm: 0.01 }),
  rowWiseAdagrad: () => emb.train.rowWiseAdagrad({ learningRate: 0.1 }),
  adam: () => emb.train.adam({ learningRate: 0.1 }),
  amsgrad: () => emb.train.adam({ learningRate: 0.1, amsgrad: true }),
  ftrl: () => emb.train.ftrl({ learningRate: 0.1 }),
};

async function rowsOf(table: emb.DiskTable): Promise<number[]> {
  const rows: number[] = [];
  for await (const chunk of table.export({ chunkRows: 17 })) rows.push(...numbers(chunk.rows));
  return rows;
}

describe('training of disk tables', () => {
  for (const backend of ['cpu', 'wasm', 'tensorflow']) {
    it(
      `equals that of memory to the bit, with every optimizer, on ${backend}`,
      inFolder(async (folder) => {
        await tf.setBackend(backend);
        emb.setCapture(false);
        const random = new Random(29);
        try {
          await leakFree(async () => {
            for (const [name, make] of Object.entries(OPTIMIZERS)) {
              const seed = random.whole(0, 1000);
              const plain = emb.embeddingTable({ inputDim: ROWS, outputDim: DIM, ...START });
              const [twin, optimizer] = [modelOf(plain, make()), make()];
              await steps(twin, new Random(seed), 30);
              const expected = Array.from(plain.variable!.dataSync());
              const file = join(folder, name);
              const table = await emb.diskTable.create({
                file,
                rows: ROWS,
                outputDim: DIM,
                ...START,
                cacheBytes: random.pick([24, 30, 59, 200]) * DIM * 4,
                io: { threads: random.pick([1, 4]), direct: random.chance(0.3) },
              });
              const model = modelOf(table, optimizer);
              const drawn = new Random(seed);
              await steps(model, drawn, 20);
              if (random.chance(0.5)) table.checkpoint();
              await steps(model, drawn, 10);
              expect(await rowsOf(table))
                .withContext(`${backend}, ${name}`)
                .toEqual(expected);
              table.close();
              expect(existsSync(`${file}.journal`) || existsSync(`${file}.lock`)).toBeFalse();
              const read = await emb.weights.readSafetensors(file);
              expect(Array.from(read['embeddings']!.dataSync())).withContext(name).toEqual(expected);
              tf.dispose(read);
              for (const each of [model, twin]) each.dispose();
              for (const each of [optimizer, twin.optimizer as tf.Optimizer]) each.dispose();
            }
          })();
        } finally {
          emb.setCapture(true);
        }
      }),
      60_000,
    );
  }

  it(
    'goes on after the file was closed and the model loaded as if it had not been',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const path = join(folder, 'table');
      const how = { cacheBytes: 30 * DIM * 4, name: 'items' };
      const finals: number[][] = [];
      for (const interrupted of [false, true]) {
        const file = `${path}-${interrupted}`;
        let table = await emb.diskTable.create({ file, rows: ROWS, outputDim: DIM, ...START, ...how });
        let model = modelOf(table, emb.train.adam({ learningRate: 0.1 }));
        const random = new Random(5);
        await steps(model, random, 15);
        if (interrupted) {
          const copying = model.save(`file://${folder}/model`, { copyTables: true } as tf.io.SaveConfig);
          await rejects(copying, 'ValueError', 'copyTables', /refers to the files/);
          await model.save(`file://${folder}/model`, { includeOptimizer: true });
          expect(existsSync(`${file}.journal`)).toBeFalse();
          model.dispose();
          table.close();
          model = await emb.loadLayersModel(`file://${folder}/model/model.json`);
          table = (model.layers.find((layer) => 'table' in layer) as unknown as { table: emb.DiskTable }).table;
        }
        await steps(model, random, 15);
        finals.push(await rowsOf(table));
        model.dispose();
        if (interrupted) expect(existsSync(`${file}.lock`)).toBeFalse();
        table.close();
      }
      expect(finals[1]).toEqual(finals[0]!);
    }),
  );

  it(
    'takes gradients that are changed between computing and applying them',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const plain = emb.embeddingTable({ inputDim: ROWS, outputDim: DIM, ...START });
      const how = { rows: ROWS, outputDim: DIM, ...START, cacheBytes: 8 * DIM * 4 };
      const disk = await emb.diskTable.create({ file: join(folder, 'table'), ...how });
      const [first, second] = [plain, disk].map((table) => {
        const layer = emb.layers.embedding({ table, combiner: 'sum' });
        const optimizer = emb.train.adagrad({ learningRate: 0.1 });
        const slices: number[][] = [];
        for (const ids of [[[50, 2, 2, 40]], [[9, 8, 7, 50]]]) {
          tf.tidy(() => {
            const { grads } = optimizer.computeGradients(() => (layer.apply(ids) as tf.Tensor).square().sum());
            const [name] = Object.keys(grads);
            const given = grads[name!] as emb.IndexedSlices;
            expect(given.denseShape).toEqual([ROWS, DIM]);
            slices.push(Array.from(given.indices.dataSync()), Array.from(given.values.dataSync()));
            // Others take the places of these rows.
            if (table === disk) emb.embeddingLookup(disk, [20, 21, 22, 23, 24, 25, 26, 27]);
            optimizer.applyGradients(grads);
          });
        }
        optimizer.dispose();
        return slices;
      });
      expect(second).toEqual(first!);
      expect(await rowsOf(disk)).toEqual(Array.from(plain.variable!.dataSync()));
      const dense = { [disk.variable!.name]: tf.zeros([ROWS, DIM]) };
      const optimizer = emb.train.sgd({ learningRate: 1 });
      await rejects(
        (async () => optimizer.applyGradients(dense))(),
        'ValueError',
        `grads["${disk.variable!.name}"]`,
        /IndexedSlices/,
      );
      disk.close();
    }),
  );

  it(
    'makes files of every dtype, and copies of files that are not its own',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const plain = emb.embeddingTable({ inputDim: 20, outputDim: 5, ...START });
      const twin = tf.sequential({ layers: [emb.layers.embedding({ table: plain, inputShape: [1] })] });
      const values = plain.variable!.dataSync();
      for (const [dtype, tolerance] of [
        ['float32', 0],
        ['float16', 1e-4],
        ['bfloat16', 1e-3],
        ['int8', 1e-3],
      ] as const) {
        const file = join(folder, dtype);
        const table = await emb.diskTable.create({ file, rows: 20, outputDim: 5, dtype, ...START });
        expect(table.trainable).toBe(dtype === 'float32');
        const found = await rowsOf(table);
        found.forEach((value, i) => expect(Math.abs(value - values[i]!)).toBeLessThanOrEqual(tolerance));
        table.close();
        const copyTo = join(folder, `${dtype}-copy`);
        const copy = await emb.diskTable({ file, copyTo, trainable: true });
        const model = tf.sequential({
          layers: [
            emb.layers.embedding({ table: copy, combiner: 'sum', inputShape: [2] }),
            tf.layers.dense({ units: 1 }),
          ],
        });
        model.compile({ optimizer: emb.train.sgd({ learningRate: 1 }), loss: 'meanSquaredError' });
        const [x, y] = [tf.tensor2d([[3, 19]], [1, 2], 'int32'), tf.tensor2d([[100]])];
        await model.trainOnBatch(x, y);
        const changed = await rowsOf(copy);
        const others = found.filter((value, i) => value !== changed[i]);
        expect(others.length).withContext(dtype).toBe(10);
        model.dispose();
        copy.close();
        expect(findRows(copyTo, null).format.dtype).toBe('float32');
        const again = await emb.diskTable({ file });
        expect(await rowsOf(again)).toEqual(found);
        again.close();
        tf.dispose([x, y]);
      }
      twin.dispose();
    }),
  );

  it(
    'is refused by name where it cannot be',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const file = join(folder, 'table');
      const create = (args: object): Promise<emb.DiskTable> =>
        emb.diskTable.create({ file, rows: ROWS, outputDim: DIM, cacheBytes: 6 * DIM * 4, ...START, ...args });
      const table = await create({});
      const train = async (optimizer: tf.Optimizer, of: emb.DiskTable = table): Promise<void> => {
        const model = tf.sequential({
          layers: [
            emb.layers.embedding({ table: of, combiner: 'sum', inputShape: [9] }),
            tf.layers.dense({ units: 1 }),
          ],
        });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const [x, y] = [tf.tensor2d([[1, 2, 3, 4, 5, 6, 6, 6, 6]], [1, 9], 'int32'), tf.ones([1, 1])];
        const wide = tf.tensor2d([[1, 2, 3, 4, 5, 6, 7, 8, 9]], [1, 9], 'int32');
        try {
          await model.trainOnBatch(x, y);
          await rejects(
            model.trainOnBatch(wide, y) as never,
            'ValueError',
            'cacheBytes',
            /9 distinct rows.*room for 6/,
          );
        } finally {
          tf.dispose([x, y, wide]);
          model.dispose();
        }
      };
      await train(emb.train.adagrad({ learningRate: 0.1 }));
      await rejects(train(emb.train.adam({ learningRate: 0.1 })), 'ValueError', 'optimizer', /adagrad.*copyTo/);
      await rejects(
        train(emb.train.adagrad({ learningRate: 1, initialAccumulatorValue: 3 })),
        'ValueError',
        'optimizer',
        /adagrad/,
      );
      await rejects(train(emb.train.adam({ learningRate: 0.1, lazy: false })), 'ValueError', 'lazy', /lie in a file/);
      await rejects(train(tf.train.adam(0.1)), 'RuntimeError', 'optimizer', /an emb.train optimizer/);
      await rejects(create({}), 'ValueError', 'file', /where nothing is/);
      const other = { file: join(folder, 'other') };
      await rejects(create({ ...other, rows: 0 }), 'ValueError', 'rows', /positive/);
      await rejects(create({ ...other, dtype: 'int3' }), 'ValueError', 'dtype', /'bfloat16'/);
      await rejects(create({ ...other, dtype: 'int8', trainable: true }), 'ValueError', 'trainable', /int8/);
      await rejects(
        create({ ...other, rows: 2 ** 31 - 1, outputDim: 2 ** 20 }),
        'RuntimeError',
        'file',
        /bytes of room/,
      );
      await rejects(create({ file: join(folder, 'none', 'x') }), 'RuntimeError', 'path', /can be written/);
      await rejects(emb.diskTable({ file, trainable: true }), 'RuntimeError', 'file', /this process/);
      await rejects(emb.diskTable({ file, copyTo: 'x' }), 'ValueError', 'copyTo', /trainable/);
      await rejects(
        emb.diskTable({ file, copyTo: file, trainable: true }),
        'RuntimeError',
        'file',
        /as its last checkpoint left it/,
      );
      table.close();
      tf.ones([2, 2]).dispose();
      await emb.weights.writeSafetensors(`${file}.s`, { t: tf.ones([2, 2]) });
      await rejects(
        emb.diskTable({ file: `${file}.s`, trainable: true }),
        'ValueError',
        'trainable',
        /did not make.*copyTo/,
      );
    }),
  );

  it(
    `equals that of memory over ${casesOf('DISK_TABLE_STEPS')} steps`,
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const count = casesOf('DISK_TABLE_STEPS');
      const plain = emb.embeddingTable({ inputDim: ROWS, outputDim: DIM, ...START });
      const file = join(folder, 'table');
      const table = await emb.diskTable.create({
        file,
        rows: ROWS,
        outputDim: DIM,
        ...START,
        cacheBytes: 25 * DIM * 4,
      });
      const models = [plain, table].map((each) => modelOf(each, emb.train.adagrad({ learningRate: 0.05 })));
      for (const model of models) await steps(model, new Random(1), count);
      expect(await rowsOf(table)).toEqual(Array.from(plain.variable!.dataSync()));
      expect(table.stats().bytesWritten).toBeGreaterThan(count * 10);
      for (const model of models) model.dispose();
      table.close();
    }),
    600_000,
  );
});
