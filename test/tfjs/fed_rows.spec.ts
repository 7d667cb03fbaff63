import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';
import { useCpu } from '../layers/setup.js';

const ROWS = 6;
const SAMPLES = 21;
/** The one sample that is wrong, and its column. */
const [BAD, COLUMN] = [17, 2];
const PLACE = `[${BAD}, ${COLUMN}]`;

/** Ids that are right but for one; each sample is another one. */
function samples(id = 9): number[][] {
  return Array.from({ length: SAMPLES }, (_, sample) =>
    Array.from({ length: 3 }, (_, column) => {
      if (sample === BAD && column === COLUMN) return id;
      return Math.floor(sample / ROWS ** (2 - column)) % ROWS;
    }),
  );
}

const idsOf = (rows: number[][], dtype: 'int32' | 'float32' = 'int32'): tf.Tensor2D =>
  tf.tensor2d(rows, [rows.length, 3], dtype);

async function receivedOf(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    return String((error as { received?: string }).received);
  }
  return 'nothing was thrown';
}

type Feed = (model: tf.LayersModel, x: tf.Tensor | tf.Tensor[], y: tf.Tensor) => unknown;

/** All that cuts inputs into batches. Where it throws, `fit` of tfjs leaves its index of rows and losses until then. */
const LOOPS: readonly (readonly [string, Feed, isClean: boolean])[] = [
  ['predict', (model, x) => model.predict(x, { batchSize: 5 }), true],
  ['evaluate', (model, x, y) => model.evaluate(x, y, { batchSize: 5 }), true],
  ['fit', (model, x, y) => model.fit(x, y, { batchSize: 5, epochs: 1, verbose: 0 }), false],
];

const TABLE = { inputDim: ROWS, outputDim: 2, combiner: 'sum' } as const;
const input = (dtype: 'int32' | 'float32' = 'int32'): tf.SymbolicTensor => tf.input({ shape: [3], dtype });

/** A model of one output; what it is made of tells how its layer is fed. */
interface Fed {
  readonly model: tf.LayersModel;
  readonly owner: string;
  /** The inputs, of which one holds the wrong id. */
  readonly x: () => tf.Tensor | tf.Tensor[];
}

function modelOf(inputs: tf.SymbolicTensor[], layer: tf.layers.Layer, x: Fed['x'], owner?: string): Fed {
  const pooled = inputs.map((each) => layer.apply(each) as tf.SymbolicTensor);
  const joined = pooled.length === 1 ? pooled[0]! : (tf.layers.concatenate().apply(pooled) as tf.SymbolicTensor);
  const outputs = tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor;
  return { model: tf.model({ inputs, outputs }), owner: owner ?? `layer ${layer.name}`, x };
}

/** A model in a model, on one of two inputs. */
function nested(isFirst: boolean): Fed {
  const layer = emb.layers.embedding({ ...TABLE, inputShape: [3] });
  const tower = tf.sequential({ layers: [layer] });
  const wide = tf.input({ shape: [2] });
  const ids = input();
  const joined = tf.layers.concatenate().apply([wide, tower.apply(ids) as tf.SymbolicTensor]) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor;
  const inOrder = <T>(first: T, second: T): T[] => (isFirst ? [first, second] : [second, first]);
  const model = tf.model({ inputs: inOrder(ids, wide), outputs });
  const x = (): tf.Tensor[] => inOrder<tf.Tensor>(idsOf(samples()), tf.zeros([SAMPLES, 2]));
  return { model, owner: `layer ${layer.name}`, x };
}

const MODELS: Record<string, () => Fed> = {
  embedding: () => modelOf([input()], emb.layers.embedding(TABLE), () => idsOf(samples())),
  'embedding that masks 0': () =>
    modelOf([input()], emb.layers.embedding({ ...TABLE, maskZero: true }), () => idsOf(samples())),
  'embedding of a float32 input': () =>
    modelOf([input('float32')], emb.layers.embedding(TABLE), () => idsOf(samples(), 'float32')),
  raggedEmbedding: () =>
    modelOf([input()], emb.layers.raggedEmbedding(TABLE), () =>
      idsOf(samples().map((row, i) => (i === BAD ? [-1, -1, 9] : row))),
    ),
  'one layer on two inputs, in the second': () =>
    modelOf([input(), input()], emb.layers.embedding(TABLE), () => [idsOf(samples(3)), idsOf(samples())]),
  'a shared table': () => {
    const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 2 });
    const layer = emb.layers.embedding({ table, combiner: 'mean' });
    return modelOf([input()], layer, () => idsOf(samples()), `layer ${layer.name}, table ${table.name}`);
  },
  concatOneHotEmbedding: () => {
    const layer = emb.layers.concatOneHotEmbedding({ featureSizes: [ROWS, ROWS, ROWS], embeddingWidth: 2 });
    const ids = input();
    const flat = tf.layers.flatten().apply(layer.apply(ids)) as tf.SymbolicTensor;
    const outputs = tf.layers.dense({ units: 1 }).apply(flat) as tf.SymbolicTensor;
    return { model: tf.model({ inputs: ids, outputs }), owner: `layer ${layer.name}`, x: () => idsOf(samples()) };
  },
  'a nested model on the first input': () => nested(true),
  'a nested model on the second input': () => nested(false),
  'distributedEmbedding, the second feature': () => {
    const layer = emb.layers.distributedEmbedding({
      embeddings: [
        { ...TABLE, name: 'wide', inputDim: 20 },
        { ...TABLE, name: 'items' },
      ],
    });
    const inputs = [input(), input()];
    const pooled = tf.layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]) as tf.SymbolicTensor;
    const outputs = tf.layers.dense({ units: 1 }).apply(pooled) as tf.SymbolicTensor;
    const owner = `layer ${layer.name}, table items`;
    // The first input holds what the second one must not, in another row.
    const first = samples().reverse();
    return { model: tf.model({ inputs, outputs }), owner, x: () => [idsOf(first), idsOf(samples())] };
  },
};

function specs(host: string, models: readonly string[], within: (body: () => Promise<void>) => Promise<void>): void {
  for (const title of models) {
    it(`are told by their row in all inputs: ${title}${host}`, () =>
      within(async () => {
        for (const [what, feed, isClean] of LOOPS) {
          const before = tf.memory().numTensors;
          const { model, owner, x } = MODELS[title]!();
          const optimizer = emb.train.sgd({ learningRate: 0.1 });
          model.compile({ optimizer, loss: 'meanSquaredError' });
          const layers = model.layers.filter((layer) => layer instanceof emb.Embedding);
          const given = x();
          const y = tf.zeros([SAMPLES, 1]);
          expect(await receivedOf(() => feed(model, given, y)))
            .withContext(what)
            .toBe(`9 at ${PLACE} (${owner}: ${ROWS} rows)`);
          tf.dispose([given, y]);
          model.dispose();
          optimizer.dispose();
          // tfjs frees a layer once for each time that it was applied.
          if (title.startsWith('one layer on two inputs')) layers.forEach((layer) => layer.dispose());
          if (isClean) expect(tf.memory().numTensors).withContext(what).toBe(before);
        }
      }));
  }
}

describe('ids that a model is fed', () => {
  beforeAll(useCpu);

  specs('', Object.keys(MODELS), (body) => body());
  const onDevices = ['embedding', 'raggedEmbedding', 'distributedEmbedding, the second feature'];
  specs(', on devices', onDevices, (body) => withTpuEmulator({ chips: 2 }, body));

  it('are told in validation data where they lie there', async () => {
    const { model, owner } = MODELS['embedding']!();
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    const [x, wrong, y] = [idsOf(samples(3)), idsOf(samples()), tf.zeros([SAMPLES, 1])];
    const options = { verbose: 0, batchSize: 4, validationData: [wrong, y] as [tf.Tensor, tf.Tensor] } as const;
    expect(await receivedOf(() => model.fit(x, y, options))).toBe(`9 at ${PLACE} (${owner}: ${ROWS} rows)`);
    tf.dispose([x, wrong, y]);
    model.dispose();
  });

  it('are told by the batch where nobody knows the inputs', async () => {
    const { model, owner } = MODELS['embedding']!();
    model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
    const [x, y] = [idsOf(samples().slice(BAD - 1)), tf.zeros([SAMPLES - BAD + 1, 1])];
    const wanted = `9 at [1, ${COLUMN}] of the batch (${owner}: ${ROWS} rows)`;
    expect(await receivedOf(() => model.trainOnBatch(x, y))).toBe(wanted);
    const data = tf.data.array([{ xs: x, ys: y }]) as unknown as tf.data.Dataset<{ xs: tf.Tensor; ys: tf.Tensor }>;
    expect(await receivedOf(() => model.fitDataset(data, { epochs: 1, verbose: 0 }))).toBe(wanted);
    tf.dispose([x, y]);
    model.dispose();
  });

  it('are told by the batch where a layer lies between', async () => {
    const layer = emb.layers.embedding(TABLE);
    const lookup = emb.layers.integerLookup({ maxTokens: 100 });
    const inputs = input();
    const ids = lookup.apply(inputs) as tf.SymbolicTensor;
    const model = tf.model({ inputs, outputs: layer.apply(ids) as tf.SymbolicTensor });
    const x = tf.tensor2d([[1, 2, 3], [4, 5, 70], [80, 1, 1]], [3, 3], 'int32'); // prettier-ignore
    const wanted = `6 at [0, 2] of the batch (layer ${layer.name}: ${ROWS} rows)`;
    expect(await receivedOf(() => model.predict(x, { batchSize: 1 }))).toBe(wanted);
    x.dispose();
    model.dispose();
  });

  it('are told as they came where the layer is applied by itself', async () => {
    const layer = emb.layers.embedding(TABLE);
    const owner = `(layer ${layer.name}: ${ROWS} rows)`;
    const ids = idsOf(samples());
    for (const [given, place] of [
      [ids, PLACE],
      [samples(), PLACE],
      [emb.RaggedTensor.fromRows([[], ...samples()]), `row ${BAD + 1}, position ${COLUMN}`],
      [{ values: [1, 9], rowSplits: [0, 0, 2] }, 'row 1, position 1'],
      [{ indices: [[0, 4], [2, 30]], values: [1, 9], denseShape: [3, 31] }, 'index [2, 30]'], // prettier-ignore
    ] as const) {
      expect(await receivedOf(() => layer.apply(given))).toBe(`9 at ${place} ${owner}`);
    }
    ids.dispose();
    layer.dispose();
  });
});
