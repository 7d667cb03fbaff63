/** Disk tables give what tables in memory give, whatever the cache holds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import '@tensorflow/tfjs-backend-wasm';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { leakFree } from '../../layers/setup.js';
import { inFolder, numbers, opened, rejects, shortNumbers, writeNpy, writeRows } from './setup.js';

const OPTIONS: emb.EmbeddingLookupOptions[] = [
  { combiner: 'sum' },
  { combiner: 'mean', outOfRange: 'zero' },
  { combiner: 'sqrtn', maxNorm: 1 },
  { combiner: 'max' },
  {},
];

/** Ids in any form, most of them low. */
function drawnIds(random: Random, rows: number): unknown {
  const id = (): number => Math.floor(rows * random.next() ** 3);
  const lists = Array.from({ length: random.whole(1, 6) }, () => Array.from({ length: 4 }, id));
  const form = random.whole(0, 3);
  if (form === 0) return lists;
  if (form === 1) return emb.RaggedTensor.fromRows(lists.map((list) => list.slice(0, random.whole(0, 4))));
  return tf.tensor2d(lists, [lists.length, 4], 'int32');
}

describe('diskTable', () => {
  for (const backend of ['cpu', 'tensorflow', 'wasm']) {
    it(
      `looks up what a tensor of the same numbers gives, on ${backend}`,
      inFolder(async (folder) => {
        await tf.setBackend(backend);
        await leakFree(async () => {
          const random = new Random(7);
          for (const cacheRows of [1, 23, 1000]) {
            const io = { threads: random.pick([1, 3]), direct: random.chance(0.5) };
            const { table, memory } = await opened(folder, { cacheBytes: cacheRows * 20, io });
            for (let round = 0; round < 30; round++) {
              const ids = drawnIds(random, 300);
              const options = random.pick(OPTIONS);
              const found = emb.embeddingLookup(table, ids, options);
              expect(numbers(found)).toEqual(numbers(emb.embeddingLookup(memory, ids as never, options)));
              tf.dispose(ids as tf.Tensor);
            }
            const { hits, misses, bytesRead } = table.stats();
            expect(hits).toBeGreaterThan(0);
            expect(bytesRead).toBeGreaterThanOrEqual(misses > 0 ? 20 : 0);
            table.close();
            memory.dispose();
          }
        })();
      }),
    );
  }

  it(
    'reads every format from every place',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const values = shortNumbers(50, 6);
      const path = (name: string): string => join(folder, name);
      for (const dtype of ['float32', 'float16', 'bfloat16'] as const) writeRows(path(dtype), dtype, values, 6, 13);
      writeNpy(path('f4.npy'), '<f4', values, 6);
      writeNpy(path('f2.npy'), '<f2', values, 6);
      writeFileSync(
        path('model.safetensors.index.json'),
        JSON.stringify({ metadata: {}, weight_map: { other: 'missing.safetensors', table: 'bfloat16' } }),
      );
      const ids = [49, 0, 7, 7, 31];
      const memory = tf.tensor2d(values, [50, 6]);
      const expected = numbers(emb.embeddingLookup(memory, ids));
      memory.dispose();
      for (const file of ['float32', 'float16', 'bfloat16', 'f4.npy', 'f2.npy', 'model.safetensors.index.json']) {
        const tensor = file.endsWith('.json') ? 'table' : null;
        const table = await emb.diskTable({ file: path(file), tensor });
        expect(numbers(table.lookup(ids) as tf.Tensor))
          .withContext(file)
          .toEqual(expected);
        expect(table.inputDim).toBe(50);
        table.close();
      }
    }),
  );

  it(
    'serves layers: masks, padding, several layers on one table, models saved and loaded',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const { table, memory } = await opened(folder, { name: 'grams' });
      const a = tf.input({ shape: [4], dtype: 'int32' });
      const b = tf.input({ shape: [3], dtype: 'int32' });
      const of = (args: object, shared: emb.EmbeddingTable): tf.SymbolicTensor[] => [
        emb.layers.embedding({ table: shared, combiner: 'mean', maskZero: true, ...args }).apply(a) as never,
        emb.layers.raggedEmbedding({ table: shared, combiner: 'sum' }).apply(b) as never,
      ];
      const model = tf.model({ inputs: [a, b], outputs: of({}, table) });
      const plain = emb.embeddingTable({ inputDim: 300, outputDim: 5, weights: [memory], name: 'plain' });
      const twin = tf.model({ inputs: [a, b], outputs: of({}, plain) });
      const data = [tf.tensor2d([[0, 5, 299, 5]], [1, 4], 'int32'), tf.tensor2d([[3, -1, 8]], [1, 3], 'int32')];
      const results = (of_: tf.LayersModel): number[] => (of_.predict(data) as tf.Tensor[]).flatMap(numbers);
      expect(results(model)).toEqual(results(twin));
      expect(model.weights.length).toBe(0);
      await model.save(`file://${folder}/model`);
      const loaded = await emb.loadLayersModel(`file://${folder}/model/model.json`);
      expect(results(loaded)).toEqual(results(twin));
      for (const each of [model, twin, loaded]) each.dispose();
      tf.dispose([memory, ...data]);
      table.close();
    }),
  );

  it(
    'reads the rows of the next batch while fit trains on this one, and stays as it is',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const { table, memory } = await opened(folder);
      const losses = await Promise.all(
        [table, emb.embeddingTable({ inputDim: 300, outputDim: 5, weights: [memory], trainable: false })].map(
          async (each) => {
            const model = tf.sequential({
              layers: [
                emb.layers.embedding({ table: each, combiner: 'sum', inputShape: [4] }),
                tf.layers.dense({ units: 1, kernelInitializer: 'ones' }),
              ],
            });
            model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
            const random = new Random(3);
            const x = tf.tensor2d(
              Int32Array.from({ length: 400 }, () => random.whole(0, 300)),
              [100, 4],
              'int32',
            );
            const y = tf.ones([100, 1]);
            const { history } = await model.fit(x, y, { batchSize: 8, epochs: 3, shuffle: false, verbose: 0 });
            if (each === table) expect(emb.stepInfo(model).reason).toContain('are read from its file');
            model.dispose();
            tf.dispose([x, y]);
            return history['loss'];
          },
        ),
      );
      expect(losses[0]).toEqual(losses[1]!);
      expect(numbers(table.lookup([0, 299]) as tf.Tensor)).toEqual(
        numbers(emb.embeddingLookup(memory, [0, 299]) as tf.Tensor),
      );
      memory.dispose();
      table.close();
    }),
  );

  it(
    'prefetches, exports, and tells the gradient of weights whatever is looked up before it',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const { table, memory } = await opened(folder, { cacheBytes: 8 * 20 });
      table.prefetch([5, 6, 700, -1, 5]);
      table.prefetch([6, 7]);
      expect(numbers(table.lookup([7, 5, 6, 8]) as tf.Tensor)).toEqual(
        numbers(emb.embeddingLookup(memory, [7, 5, 6, 8]) as tf.Tensor),
      );
      expect(table.stats()).toEqual(jasmine.objectContaining({ hits: 0, misses: 4, cacheRows: 8 }));
      const gradient = (given: tf.Tensor2D | emb.DiskTable): number[] => {
        return numbers(
          tf.grad((weights: tf.Tensor) => {
            const of = given as tf.Tensor2D;
            const ids = [
              [1, 2],
              [3, 4],
            ];
            const pooled = emb.embeddingLookup(of, ids, { combiner: 'sum', weights: weights as never });
            const other = emb.embeddingLookup(of, [50, 51, 52, 53, 54, 55, 56, 57]);
            return pooled.sum().add(other.sum());
          })(tf.ones([2, 2])),
        );
      };
      const held = table.variable!.dataId;
      expect(gradient(table)).toEqual(gradient(memory));
      // The cache was written where it lies.
      expect(table.variable!.dataId).toBe(held);
      const rows: number[] = [];
      for await (const chunk of table.export({ chunkRows: 70 })) {
        expect(chunk.firstRow * 5).toBe(rows.length);
        rows.push(...numbers(chunk.rows));
      }
      expect(rows).toEqual(numbers(memory));
      table.close();
      table.close();
    }),
  );

  it(
    'is refused by name where it is no table in memory, and once it is closed',
    inFolder(async (folder) => {
      await tf.setBackend('cpu');
      const { table, memory, file } = await opened(folder);
      const layer = emb.layers.embedding({ table, combiner: 'sum', inputShape: [2] });
      const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
      const call = async (run: () => unknown): Promise<unknown> => run();
      await rejects(
        call(() => layer.getWeights()),
        'RuntimeError',
        'getWeights',
        /export/,
      );
      await rejects(
        call(() => layer.setWeights([memory])),
        'RuntimeError',
        'setWeights',
        /disk table/,
      );
      await rejects(
        call(() => layer.extend({ rows: 1 })),
        'RuntimeError',
        'extend',
        /disk table/,
      );
      const query = tf.ones([1, 5]) as tf.Tensor2D;
      await rejects(
        call(() => emb.topK(query, table, 2)),
        'ValueError',
        'table',
        /disk table/,
      );
      await rejects(
        call(() => emb.layers.distributedEmbedding({ embeddings: [emb.layers.embedding({ table })] } as never)),
        'ValueError',
        'embeddings[0].table',
        /disk table/,
      );
      await rejects(
        call(() => emb.embeddingLookup(table, [1, 300])),
        'ValueError',
        'ids',
        /300 at \[1\].*300 rows/,
      );
      await rejects(
        call(() => emb.embeddingLookup(table, [NaN])),
        'ValueError',
        'ids',
        /NaN/,
      );
      const open = (args: object): Promise<unknown> => emb.diskTable({ file, ...args });
      await rejects(open({ file: `${file}.gone` }), 'ValueError', 'file', /a file that exists/);
      await rejects(open({ file: folder }), 'ValueError', 'file', /something else/);
      await rejects(open({ file: 7 }), 'TypeError', 'file', /the path of a file/);
      await rejects(open({ tensor: 'none' }), 'ValueError', 'tensor', /before, table/);
      await rejects(open({ tensor: 'before' }), 'ValueError', 'tensor', /F32/);
      await rejects(open({ cacheBytes: 19 }), 'ValueError', 'cacheBytes', /20 bytes/);
      await rejects(open({ cacheBytes: 1e15 }), 'ValueError', 'cacheBytes', /of memory/);
      await rejects(open({ cacheBytes: '1' }), 'TypeError', 'cacheBytes', /bytes/);
      await rejects(open({ io: { threads: 0 } }), 'ValueError', 'io.threads', /from 1 on/);
      await rejects(open({ io: { direct: 1 } }), 'TypeError', 'io.direct', /true or false/);
      await rejects(open({ caches: 1 }), 'ValueError', 'caches', /cacheBytes/);
      table.close();
      await rejects(
        call(() => table.lookup([1])),
        'RuntimeError',
        'table',
        /closed/,
      );
      model.dispose();
      tf.dispose([memory, query]);
    }),
  );
});
