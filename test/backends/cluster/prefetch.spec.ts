// runner: servers
/** Lookups of the next batch in the call of this one's step: training is the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';

const [ROWS, RATE, TARGET] = [16, 0.125, 3];

/** Predicts the sum of the numbers of its rows. */
function makeModel(rows = ROWS): tf.LayersModel {
  const layer = emb.layers.distributedEmbedding({
    embeddings: [1, 2].map((i) => {
      return {
        name: `t${i}`,
        inputDim: rows,
        outputDim: 1,
        combiner: 'sum' as const,
        embeddingsInitializer: 'zeros' as const,
      };
    }),
  });
  const inputs = [1, 2].map(() => tf.input({ shape: [1], dtype: 'int32' }));
  const [first, second] = layer.apply(inputs) as tf.SymbolicTensor[];
  const model = tf.model({ inputs, outputs: [first!, second!] });
  model.compile({ optimizer: emb.train.sgd({ learningRate: RATE }), loss: 'meanSquaredError' });
  return model;
}

/** Trains on batches of one sample, in their order; returns the tables. */
async function fitted(ids: readonly number[], epochs = 1): Promise<Float32Array[]> {
  const model = makeModel();
  const inputs = [1, 2].map(() => tf.tensor2d([...ids], [ids.length, 1], 'int32'));
  const labels = [1, 2].map(() => tf.fill([ids.length, 1], TARGET));
  await model.fit(inputs, labels, { epochs, batchSize: 1, shuffle: false, verbose: 0 });
  const tables = model.getWeights().map((table) => table.dataSync<'float32'>());
  tf.dispose([inputs, labels]);
  model.optimizer.dispose();
  model.dispose();
  return tables;
}

describe('Prefetch', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 120_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  const train = (prefetch: 0 | 1, ids: readonly number[], epochs = 1): Promise<Float32Array[]> =>
    withCluster(servers, { prefetch }, () => fitted(ids, epochs));

  it('changes nothing where batches have no rows in common', async () => {
    const ids = Array.from({ length: ROWS }, (_, i) => i);
    const { numTensors } = tf.memory();
    expect(await train(1, ids, 3)).toEqual(await train(0, ids, 3));
    expect(tf.memory().numTensors).toBe(numTensors);
  });

  it('does the same on tensorflow, whose tensors devices share', async () => {
    const ids = Array.from({ length: ROWS }, (_, i) => i);
    const found = await withCluster(servers, { prefetch: 1, host: 'tensorflow' }, () => fitted(ids, 3));
    expect(found).toEqual(await train(0, ids, 3));
  });

  it('finds the rows that the step before has left', async () => {
    const steps = 9;
    // Of a sample's loss (w - target)^2.
    let w = 0;
    for (let k = 0; k < steps; k++) w = Math.fround(w - Math.fround(RATE * Math.fround(2 * Math.fround(w - TARGET))));
    const [first, second] = await train(1, new Array<number>(steps).fill(5));
    expect(first![5]).toBe(w);
    expect(second).toEqual(first!);
    expect(first!.filter((value) => value !== 0).length).toBe(1);
  });

  it('takes one call of each server a step', async () => {
    const callsOf = (prefetch: 0 | 1): Promise<number[]> =>
      withCluster(servers, { prefetch }, async () => {
        const calls = (): number[] =>
          emb
            .cluster()
            .counters()
            .servers.map((server) => server.calls);
        const model = makeModel();
        const inputs = [1, 2].map(() => tf.range(0, ROWS, 1, 'int32').expandDims(1));
        const labels = [1, 2].map(() => tf.fill([ROWS, 1], TARGET));
        const settings = { batchSize: 1, shuffle: false, verbose: 0 } as const;
        await model.fit(inputs, labels, settings);
        const before = calls();
        await model.fit(inputs, labels, settings);
        const after = calls();
        tf.dispose([inputs, labels]);
        model.optimizer.dispose();
        model.dispose();
        return after.map((each, i) => each - before[i]!);
      });
    expect(await callsOf(0)).toEqual([2 * ROWS, 2 * ROWS]);
    // The first batch of a run has no step before it.
    expect(await callsOf(1)).toEqual([ROWS + 1, ROWS + 1]);
  });

  it('looks nothing up ahead that was not asked for', async () => {
    await withCluster(servers, { prefetch: 1 }, async () => {
      const ids = Array.from({ length: ROWS }, (_, i) => i);
      await fitted(ids);
      expect(emb.cluster().counters().lookUps).toBe(ROWS);
      expect(emb.backendInfo().devices).toEqual(jasmine.objectContaining({ prefetch: 1 }));
    });
  });

  it('gives nobody the rows of other ids', async () => {
    await withCluster(servers, { prefetch: 1 }, async () => {
      const model = makeModel();
      const [inputs, labels] = [
        [1, 2].map(() => tf.fill([6, 1], 5, 'int32')),
        [1, 2].map(() => tf.fill([6, 1], TARGET)),
      ];
      const untouched: number[] = [];
      const onBatchEnd = (): void =>
        tf.tidy(() => {
          const found = model.predict([1, 2].map(() => tf.fill([1, 1], 4, 'int32'))) as tf.Tensor[];
          untouched.push(...found.map((each) => each.dataSync()[0]!));
        });
      await model.fit(inputs, labels, { batchSize: 1, shuffle: false, verbose: 0, callbacks: { onBatchEnd } });
      expect(untouched).toEqual(new Array<number>(12).fill(0));
      expect(model.getWeights()[0]!.dataSync()[5]).not.toBe(0);
      tf.dispose([inputs, labels]);
      model.optimizer.dispose();
      model.dispose();
    });
  });

  it('gives no rows of before a step in between', async () => {
    const trained = (prefetch: 0 | 1): Promise<number> =>
      withCluster(servers, { prefetch }, async () => {
        const model = makeModel();
        const [inputs, labels] = [
          [1, 2].map(() => tf.fill([4, 1], 5, 'int32')),
          [1, 2].map(() => tf.fill([4, 1], TARGET)),
        ];
        const between = emb.train.sgd({ learningRate: RATE });
        const table = model.getWeights()[0]!;
        const onBatchEnd = (): void => {
          between.minimize(() => tf.sum(emb.embeddingLookup(table, tf.tensor1d([5], 'int32'))));
        };
        await model.fit(inputs, labels, { batchSize: 1, shuffle: false, verbose: 0, callbacks: { onBatchEnd } });
        const found = table.dataSync()[5]!;
        tf.dispose([inputs, labels]);
        between.dispose();
        model.optimizer.dispose();
        model.dispose();
        return found;
      });
    expect(await trained(1)).toBe(await trained(0));
  });

  it('gives nobody the rows of the same ids with other weights', async () => {
    const found = (prefetch: 0 | 1): Promise<number[]> =>
      withCluster(servers, { prefetch }, async () => {
        const item = { inputDim: ROWS, outputDim: 1, combiner: 'sum' as const, embeddingsInitializer: 'ones' as const };
        const layer = emb.layers.distributedEmbedding({ embeddings: [item, item] });
        const ids = [1, 2].map(() => tf.input({ shape: [2], dtype: 'int32' }));
        const weights = tf.input({ shape: [2] });
        const sums = layer.apply(ids, { weights: [weights, weights] } as never) as tf.SymbolicTensor[];
        const model = tf.model({ inputs: [...ids, weights], outputs: sums });
        model.compile({ optimizer: emb.train.sgd({ learningRate: RATE }), loss: 'meanSquaredError' });
        const x = [1, 2].map(() => tf.tensor2d(new Array<number>(12).fill(5), [6, 2], 'int32'));
        const many = tf.ones([6, 2]);
        const labels = [1, 2].map(() => tf.fill([6, 1], TARGET));
        const asked = [1, 2].map(() => tf.tensor2d([5, 5], [1, 2], 'int32'));
        const told: number[] = [];
        // The ids of the batch that is looked up ahead, each time with other weights: what is asked here is another batch.
        const onBatchEnd = (batch: number): void =>
          tf.tidy(() => {
            const own = tf.tensor2d([batch + 2, -3], [1, 2]);
            told.push(...(model.predict([...asked, own]) as tf.Tensor[]).map((each) => each.dataSync()[0]!));
          });
        const settings = { batchSize: 1, shuffle: false, verbose: 0, callbacks: { onBatchEnd } } as const;
        await model.fit([...x, many], labels, settings);
        told.push(...model.getWeights().map((table) => table.dataSync()[5]!));
        tf.dispose([x, many, labels, asked]);
        model.optimizer.dispose();
        model.dispose();
        return told;
      });
    const ahead = await found(1);
    expect(ahead).toEqual(await found(0));
    expect(new Set(ahead).size).toBeGreaterThan(5);
  });

  it('gives no rows of before a restore', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    try {
      await withCluster(servers, { prefetch: 1 }, async () => {
        const model = makeModel();
        await emb.cluster().save(join(folder, 'zeros'));
        const inputs = [1, 2].map(() => tf.fill([6, 1], 5, 'int32'));
        const labels = [1, 2].map(() => tf.fill([6, 1], TARGET));
        const onBatchEnd = (batch: number): void => {
          if (batch === 2) throw new Error('enough');
        };
        const fitting = model.fit(inputs, labels, {
          batchSize: 1,
          shuffle: false,
          verbose: 0,
          callbacks: { onBatchEnd },
        });
        await expectAsync(fitting).toBeRejectedWithError('enough');
        await emb.cluster().restore(join(folder, 'zeros'));
        const one = [1, 2].map(() => tf.fill([1, 1], 5, 'int32'));
        const found = model.predict(one) as tf.Tensor[];
        expect(found.map((each) => each.dataSync()[0])).toEqual([0, 0]);
        tf.dispose([inputs, labels, one, found]);
        model.optimizer.dispose();
        model.dispose();
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('leaves an id outside a table to the step that has it', async () => {
    await withCluster(servers, { prefetch: 1 }, async () => {
      await expectAsync(fitted([1, 2, ROWS, 3])).toBeRejectedWithError(emb.ValueError, new RegExp(`${ROWS}`));
      // The cluster goes on.
      expect((await fitted([1, 2]))[0]![1]).not.toBe(0);
    });
  });
});
