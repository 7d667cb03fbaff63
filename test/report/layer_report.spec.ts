/** Reports of layers that ran: which tables are theirs, what was looked up for them, and predictions that agree with it. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { leakFree, useCpu } from '../layers/setup.js';

const BATCH = 16;
const DIMS = { tables: 100, width: 8 };

function idsOf(length: number, batch = BATCH, rows = DIMS.tables): tf.Tensor2D {
  return tf.tensor2d(
    Int32Array.from({ length: batch * length }, (_, i) => (7 * i + 3) % rows),
    [batch, length],
    'int32',
  );
}

interface Inputs {
  readonly layer: emb.DistributedEmbedding;
  /** Ids per sample of each input. */
  readonly lengths: readonly number[];
}

function modelOf({ layer, lengths }: Inputs): tf.LayersModel {
  const inputs = lengths.map((length) => tf.input({ shape: [length], dtype: 'int32' }));
  const outputs = layer.apply(inputs) as tf.SymbolicTensor[];
  const flat = outputs.map((each) => (each.rank > 2 ? tf.layers.flatten().apply(each) : each) as tf.SymbolicTensor);
  const joined = flat.length === 1 ? flat[0]! : (tf.layers.concatenate().apply(flat) as tf.SymbolicTensor);
  return tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor });
}

/** Takes training steps and frees everything but the layer, whose tables and slots the report is about. */
async function trained(inputs: Inputs, steps: number, use: () => void): Promise<void> {
  const model = modelOf(inputs);
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const x = inputs.lengths.map((length) => idsOf(length));
  const y = tf.zeros([BATCH, 1]);
  for (let step = 0; step < steps; step++) await model.trainOnBatch(x, y);
  try {
    use();
  } finally {
    tf.dispose([...x, y]);
    model.dispose();
    optimizer.dispose();
  }
}

const phase = (prediction: emb.Report['prediction'], name: string): number =>
  prediction!.phases.find((each) => each.name === name)!.totalBytes;

const list = (combiners: readonly (emb.Combiner | null)[]): emb.DistributedItemArgs[] =>
  combiners.map((combiner) => ({ inputDim: DIMS.tables, outputDim: DIMS.width, combiner }));

describe('Report of a layer', () => {
  beforeAll(useCpu);

  const FORMS: readonly [string, () => Inputs][] = [
    [
      'tables of one size, with and without combiners',
      () => ({
        layer: emb.layers.distributedEmbedding({ embeddings: list(['sum', 'mean', null]) }),
        lengths: [4, 3, 2],
      }),
    ],
    [
      'inputs that share a table',
      () => ({
        layer: emb.layers.distributedEmbedding({ embeddings: list(['sum', 'sum']), inputTableMap: [0, 1, 1] }),
        lengths: [2, 3, 5],
      }),
    ],
    [
      'column slices that are merged, by another strategy',
      () => ({
        layer: emb.layers.distributedEmbedding({
          embeddings: list(['sum', 'sum']),
          columnSliceThreshold: 200,
          strategy: 'memory_balanced',
        }),
        lengths: [4, 1],
      }),
    ],
  ];

  for (const [what, make] of FORMS) {
    it(
      `predicts the traffic that was counted: ${what}`,
      leakFree(() =>
        withTpuEmulator({ chips: 4, coresPerChip: 1 }, () => {
          const inputs = make();
          return trained(inputs, 3, () => {
            const { prediction, plans, links, devices, tables } = emb.tpuEmulator().report({ generation: 'v5p' });
            expect(plans[0]!.measured!.trainingCalls).toBe(3);
            expect(prediction!.batchSizes).toEqual([BATCH]);
            const step = phase(prediction, 'ids') + phase(prediction, 'pooled rows') + phase(prediction, 'gradients');
            expect(links.totalBytes).toBe(3 * step);
            expect(tables.reduce((sum, { linkBytes }) => sum + linkBytes, 0)).toBe(links.totalBytes);
            const ids = inputs.lengths.reduce((sum, length) => sum + 3 * BATCH * length, 0);
            expect(tables.reduce((sum, table) => sum + table.ids, 0)).toBe(ids);
            const wanted = devices.map(({ memory: { tables, slots, exchange } }) => tables + slots + exchange);
            expect(prediction!.mostBytesWanted).toBe(Math.max(...wanted));
          });
        }),
      ),
    );
  }

  it(
    'predicts the traffic of weights too, and the room that they take',
    leakFree(() =>
      withTpuEmulator({ chips: 2, coresPerChip: 1 }, () => {
        const layer = emb.layers.distributedEmbedding({ embeddings: list(['sum', 'mean', 'sum']) });
        const ids = [idsOf(10), idsOf(3), idsOf(2)];
        const weights = [tf.ones([BATCH, 10]), tf.ones([BATCH, 3]), null];
        const optimizer = emb.train.sgd({ learningRate: 0.1 });
        optimizer.minimize(
          () => tf.addN((layer.apply(ids, { weights }) as tf.Tensor[]).map((each) => each.sum())) as tf.Scalar,
        );
        const { prediction, links, devices } = emb.tpuEmulator().report({ generation: 'v5p' });
        const step = phase(prediction, 'ids') + phase(prediction, 'pooled rows') + phase(prediction, 'gradients');
        expect(links.totalBytes).toBe(step);
        const wanted = devices.map(({ memory: { tables, slots, exchange } }) => tables + slots + exchange);
        expect(prediction!.mostBytesWanted).toBe(Math.max(...wanted));
        tf.dispose([...ids, ...weights.slice(0, 2)] as tf.Tensor[]);
        optimizer.dispose();
        layer.dispose();
        return Promise.resolve();
      }),
    ),
  );

  it(
    'gives slots to the table that they were made for, and frees them with it',
    leakFree(() =>
      withTpuEmulator({ chips: 2, coresPerChip: 1 }, async () => {
        const make = (): Inputs => {
          return { layer: emb.layers.distributedEmbedding({ embeddings: list(['sum']), name: 'same' }), lengths: [2] };
        };
        const [one, two] = [modelOf(make()), modelOf(make())];
        const optimizers = [emb.train.adagrad(), emb.train.adam()];
        const x = idsOf(2);
        const y = tf.zeros([BATCH, 1]);
        const slotsOf = (): number[] =>
          emb
            .tpuEmulator()
            .report()
            .tables.map(({ slotBytes }) => slotBytes);
        const onDevices = (): number =>
          emb
            .tpuEmulator()
            .report()
            .devices.reduce((sum, { memory }) => sum + memory.slots, 0);
        one.compile({ optimizer: optimizers[0]!, loss: 'meanSquaredError' });
        two.compile({ optimizer: optimizers[1]!, loss: 'meanSquaredError' });
        await one.trainOnBatch(x, y);
        const bytes = 4 * DIMS.tables * DIMS.width;
        expect(slotsOf()).toEqual([bytes, 0]);
        await two.trainOnBatch(x, y);
        expect(slotsOf().sort((a, b) => a - b)).toEqual([bytes, 2 * bytes]);
        expect(onDevices()).toBe(3 * bytes);
        two.dispose();
        expect(onDevices()).toBe(bytes);
        one.dispose();
        expect(onDevices()).toBe(0);
        for (const optimizer of optimizers) optimizer.dispose();
        tf.dispose([x, y]);
      }),
    ),
  );

  it(
    'counts predictions as calls, and training steps alone as such',
    leakFree(() =>
      withTpuEmulator({ chips: 2, coresPerChip: 1 }, async () => {
        const model = modelOf({ layer: emb.layers.distributedEmbedding({ embeddings: list(['sum']) }), lengths: [2] });
        const optimizer = emb.train.sgd({ learningRate: 0.1 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const [x, more] = [idsOf(2), idsOf(2, 4 * BATCH)];
        const [y, moreY] = [tf.zeros([BATCH, 1]), tf.zeros([4 * BATCH, 1])];
        const measured = (): (number | undefined)[] => {
          const [plan] = emb.tpuEmulator().report().plans;
          return [plan!.measured?.calls, plan!.measured?.trainingCalls, plan!.measured?.batch];
        };
        tf.dispose(model.predict(more, { batchSize: 4 * BATCH }));
        tf.dispose(model.evaluate(more, moreY, { batchSize: 4 * BATCH }));
        expect(measured()).toEqual([2, 0, 4 * BATCH]);
        for (let step = 0; step < 3; step++) await model.trainOnBatch(x, y);
        tf.dispose(model.predict(more, { batchSize: 4 * BATCH }));
        // The batch is that of training steps.
        expect(measured()).toEqual([6, 3, BATCH]);
        tf.dispose([x, more, y, moreY]);
        model.dispose();
        optimizer.dispose();
      }),
    ),
  );

  it(
    'predicts row slices and copies within the spread of the ids',
    leakFree(() =>
      withTpuEmulator({ chips: 4, coresPerChip: 1 }, () => {
        const embeddings = [...list(['sum']), { inputDim: 10, outputDim: 2, combiner: 'sum' as const }];
        const wishes = { rowSliceThreshold: 800, dataParallelThreshold: 20 };
        const layer = emb.layers.distributedEmbedding({ embeddings, ...wishes });
        const ids = [idsOf(5), idsOf(2, BATCH, 10)];
        tf.dispose(layer.apply(ids) as tf.Tensor[]);
        const { prediction, links } = emb.tpuEmulator().report({ generation: 'v5p' });
        const both = phase(prediction, 'ids') + phase(prediction, 'pooled rows');
        expect(both / links.totalBytes).toBeGreaterThan(0.8);
        expect(both / links.totalBytes).toBeLessThan(1.25);
        tf.dispose(ids);
        layer.dispose();
        return Promise.resolve();
      }),
    ),
  );

  it(
    'tells two layers and an ordinary one apart, which have tables of one size and name',
    leakFree(() =>
      withTpuEmulator({ chips: 2, coresPerChip: 1 }, () => {
        const other = emb.layers.embedding({ inputDim: DIMS.tables, outputDim: DIMS.width, name: 'table_0' });
        const first = emb.layers.distributedEmbedding({ embeddings: list(['sum']), name: 'first' });
        const table = new emb.TableConfig({ name: 'table_0', vocabularySize: DIMS.tables, embeddingDim: DIMS.width });
        const feature = new emb.FeatureConfig({ name: 'f', table, inputShape: [BATCH, 3], outputShape: [BATCH, 8] });
        const second = emb.layers.distributedEmbedding({ features: { f: feature }, name: 'second' });
        const ids = [idsOf(1), idsOf(4, 6), idsOf(3)];
        tf.dispose(other.apply(ids[0]!) as tf.Tensor);
        tf.dispose(first.apply([ids[1]!]) as tf.Tensor[]);
        tf.dispose(second.apply({ f: ids[2]! }) as tf.TensorContainer);
        const { prediction, plans, tables } = emb.tpuEmulator().report({ generation: 'v4', chips: 64 });
        expect(plans.map(({ name, tables: places }) => [name, places.map((place) => tables[place!]!.name)])).toEqual([
          ['first', ['first/table_0/embeddings']],
          ['second', ['second/table_0/embeddings']],
        ]);
        expect(plans.map(({ measured }) => [measured!.calls, measured!.batch, measured!.idsPerSample])).toEqual([
          [1, 6, [4]],
          [1, BATCH, [3]],
        ]);
        expect(prediction!.batchSizes).toEqual([6, BATCH]);
        expect(prediction!.devices).toBe(64);
        expect(prediction!.assumptions.join()).toContain('1 table outside plans');
        tf.dispose(ids);
        for (const layer of [first, second, other]) layer.dispose();
        return Promise.resolve();
      }),
    ),
  );

  it(
    'forgets with the counters',
    leakFree(() =>
      withTpuEmulator({ chips: 2, coresPerChip: 1 }, () => {
        const layer = emb.layers.distributedEmbedding({ embeddings: list(['sum']) });
        const ids = idsOf(4);
        tf.dispose(layer.apply([ids]) as tf.Tensor[]);
        emb.tpuEmulator().resetCounters();
        const { prediction, plans } = emb.tpuEmulator().report({ generation: 'v5p' });
        expect(plans[0]!.measured).toBeNull();
        expect(prediction!.assumptions[0]).toContain('nothing was looked up yet');
        ids.dispose();
        layer.dispose();
        return Promise.resolve();
      }),
    ),
  );
});
