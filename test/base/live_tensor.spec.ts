/** Tensors that hold another number of values than their shape says, as tfjs makes them of uneven rows. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { checkLive, checkWhole, isWhole } from '../../src/base/live_tensor.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError, expectRejection } from '../helpers/errors.js';
import { onCores, fixture } from '../tpu/embedding/fixture.js';

type Rows = readonly (readonly number[])[];

/** Uneven rows as a tensor whose shape is read off the first one. */
function odd(rows: Rows, dtype: 'int32' | 'float32'): tf.Tensor2D {
  return tf.tensor2d(rows as number[][], undefined, dtype);
}

type MakeTensor = (values: Int32Array | Float32Array, shape: number[], dtype: tf.DataType) => tf.Tensor1D;

/** The same without the axis of length 1, which on `tensorflow` no op takes off. */
function oddVector(rows: Rows, dtype: 'int32' | 'float32'): tf.Tensor1D {
  const values = dtype === 'int32' ? Int32Array.from(rows.flat()) : Float32Array.from(rows.flat());
  return (tf.engine() as unknown as { makeTensor: MakeTensor }).makeTensor(values, [rows.length], dtype);
}

/** A table of eight rows with another number of values in the sixth. */
function oddTable(): tf.Tensor2D {
  const rows: number[][] = new Array<number[]>(8).fill([1, 2]);
  rows[5] = [1, 2, 3];
  return odd(rows, 'float32');
}

const LONG: Rows = [[3], [1, 2], [4], [5, 6]];
const SUM = { combiner: 'sum' } as const;
const held = (values: number, shape: readonly number[]): string =>
  `holds ${values} values for shape [${shape.join(', ')}]`;
const LONG_HELD = held(6, [4, 1]);
const VECTOR_HELD = held(6, [4]);
const PAIRS: Rows = [
  [1, 0],
  [2, 1, 1],
  [0, 1],
];
const PAIRS_HELD = held(7, [3, 2]);

function suite(): void {
  let tensors = 0;
  beforeEach(() => {
    tensors = tf.memory().numTensors;
    tf.engine().startScope();
  });
  afterEach(() => {
    tf.engine().endScope();
    expect(tf.memory().numTensors).withContext('tensors left behind').toBe(tensors);
  });

  /** Each call must be refused under the name of the argument. */
  function expectRefused(cases: readonly (readonly [argument: string, received: string, run: () => unknown])[]): void {
    for (const [argument, received, run] of cases) {
      tf.tidy(() => expectError(() => void run(), 'ValueError', argument, received));
    }
  }
  const table = (): tf.Tensor2D => tf.zeros([8, 2]);
  const ids = (): tf.Tensor2D => odd(LONG, 'int32');
  const vector = (): tf.Tensor1D => oddVector(LONG, 'int32');
  const floats = (): tf.Tensor2D => odd(LONG, 'float32');
  const floatVector = (): tf.Tensor1D => oddVector(LONG, 'float32');
  const four = (): tf.Tensor1D => tf.tensor1d([0, 1, 2, 3], 'int32');

  it('are refused by the lookups', () => {
    const { embeddingBag, embeddingBags } = emb.ops;
    expectRefused([
      ['ids', LONG_HELD, () => emb.embeddingLookup(table(), ids())],
      ['ids', LONG_HELD, () => emb.embeddingLookup(table(), ids(), SUM)],
      ['ids', LONG_HELD, () => emb.embeddingLookup(table(), floats(), SUM)],
      ['ids', LONG_HELD, () => emb.safeEmbeddingLookup(table(), ids(), SUM)],
      ['ids', PAIRS_HELD, () => emb.embeddingLookup(table(), odd(PAIRS, 'int32'), SUM)],
      ['weights', LONG_HELD, () => emb.embeddingLookup(table(), four().reshape([4, 1]), { ...SUM, weights: floats() })],
      ['table', LONG_HELD, () => emb.embeddingLookup(floats(), [[0, 1]], SUM)],
      ['ids.values', VECTOR_HELD, () => emb.embeddingLookup(table(), { values: vector(), rowSplits: [0, 4] }, SUM)],
      ['ids.rowSplits', VECTOR_HELD, () => emb.embeddingLookup(table(), { values: [1], rowSplits: vector() }, SUM)],
      ['values', VECTOR_HELD, () => embeddingBag(table(), vector(), [0, 4], SUM)],
      ['rowSplits', VECTOR_HELD, () => embeddingBag(table(), four(), vector(), SUM)],
      ['weights', VECTOR_HELD, () => embeddingBag(table(), four(), [0, 4], { ...SUM, weights: floatVector() })],
      ['table', LONG_HELD, () => embeddingBag(floats(), four(), [0, 4], SUM)],
      ['bags[0].values', VECTOR_HELD, () => embeddingBags([table()], [{ values: vector(), rowSplits: [0, 4] }], SUM)],
    ]);
  });

  it('are refused as sparse and ragged ids, and as padded ones', () => {
    const sparse = (part: object): never => {
      return { indices: four().reshape([4, 1]).tile([1, 2]), values: four(), denseShape: [4, 4], ...part } as never;
    };
    expectRefused([
      ['ids.values', VECTOR_HELD, () => emb.embeddingLookup(table(), sparse({ values: vector() }), SUM)],
      [
        'ids.indices',
        held(9, [4, 2]),
        () =>
          emb.embeddingLookup(
            table(),
            sparse({
              indices: odd(
                [
                  [0, 0],
                  [1, 1, 1],
                  [2, 2],
                  [3, 3],
                ],
                'int32',
              ),
            }),
            SUM,
          ),
      ],
      ['values', VECTOR_HELD, () => emb.RaggedTensor.fromRowSplits(vector(), [0, 4])],
      ['rowSplits', VECTOR_HELD, () => emb.RaggedTensor.fromRowSplits([1, 2], vector())],
      ['padded', LONG_HELD, () => emb.RaggedTensor.fromPadded(ids())],
    ]);
  });

  it('are refused by the layers', () => {
    const size = { inputDim: 8, outputDim: 2 };
    const { embedding, raggedEmbedding, concatOneHotEmbedding, distributedEmbedding } = emb.layers;
    const given = emb.layers.embedding(size);
    const layers = [
      [embedding(size), 'ids', ids(), LONG_HELD],
      [embedding({ ...size, combiner: 'mean' }), 'ids', ids(), LONG_HELD],
      [embedding({ ...size, combiner: 'mean' }), 'weights', [tf.zeros([4, 1], 'int32'), floats()], LONG_HELD],
      [raggedEmbedding({ ...size, combiner: 'sum' }), 'ids', ids(), LONG_HELD],
      [concatOneHotEmbedding({ featureSizes: [8], embeddingWidth: 2 }), 'ids', ids(), LONG_HELD],
      [emb.layers.integerLookup({ maxTokens: 4 }), 'inputs', ids(), LONG_HELD],
      [emb.layers.dotInteraction(), 'inputs[1]', [tf.zeros([4, 1]), floats()], LONG_HELD],
      [emb.layers.featureCross(), 'inputs', odd(PAIRS, 'float32'), PAIRS_HELD],
      [
        distributedEmbedding({
          embeddings: [
            { ...size, combiner: 'sum' },
            { ...size, combiner: 'sum' },
          ],
        }),
        'inputs[1]',
        [tf.zeros([4, 1], 'int32'), ids()],
        LONG_HELD,
      ],
    ] as const;
    for (const [layer, argument, inputs, received] of layers) {
      expectRefused([[argument, received, () => (layer as tf.layers.Layer).apply(inputs as never)]]);
      if ((layer as tf.layers.Layer).built) layer.dispose();
    }
    expectRefused([['weights', held(17, [8, 2]), () => given.setWeights([oddTable()])]]);
  });

  it('are refused by gradients and steps', () => {
    const [variable, slot] = [table(), table()].map((tensor) => tf.variable(tensor));
    const name = JSON.stringify(variable!.name);
    const step = {
      table: variable!,
      gradient: tf.ones<tf.Rank.R2>([1, 2]),
      values: [0, 1],
      rowSplits: [0, 2],
      ...SUM,
    } as const;
    const sgd = emb.train.sgd({ learningRate: 1 });
    const gradients = (tensor: tf.Tensor): void => sgd.applyGradients({ [variable!.name]: tensor } as never);
    const wrong = oddTable;
    const slices = { indices: four(), values: tf.zeros<tf.Rank.R2>([4, 1]), denseShape: [8, 1] } as const;
    expectRefused([
      [
        'gradient',
        PAIRS_HELD,
        () =>
          emb.ops.sparseApply('sgd', {
            ...step,
            gradient: odd(PAIRS, 'float32'),
            rowSplits: [0, 1, 2, 2],
            learningRate: 1,
          }),
      ],
      [
        'values',
        VECTOR_HELD,
        () => emb.ops.sparseApply('sgd', { ...step, values: vector(), rowSplits: [0, 4], learningRate: 1 }),
      ],
      [
        'gradient',
        PAIRS_HELD,
        () => emb.ops.embeddingBagGrad(odd(PAIRS, 'float32'), [0, 1], [0, 1, 2, 2], { ...SUM, rows: 8 }),
      ],
      [`grads[${name}]`, held(17, [8, 2]), () => gradients(wrong())],
      ['indices', VECTOR_HELD, () => new emb.IndexedSlices({ ...slices, indices: vector() })],
      ['values', LONG_HELD, () => new emb.IndexedSlices({ ...slices, values: floats() })],
    ]);
    expect(Array.from(variable!.dataSync())).toEqual(new Array(16).fill(0));
    sgd.dispose();
    tf.dispose([variable!, slot!]);
  });

  it('are refused as tables and slots', () => {
    const fine = tf.variable(table());
    const wrong = tf.variable(oddTable());
    const step = { gradient: tf.ones<tf.Rank.R2>([1, 2]), values: [0], rowSplits: [0, 1], ...SUM, learningRate: 1 };
    expectRefused([
      ['table', held(17, [8, 2]), () => emb.ops.sparseApply('sgd', { ...step, table: wrong })],
      ['slots[0]', held(17, [8, 2]), () => emb.ops.sparseApply('adagrad', { ...step, table: fine, slots: [wrong] })],
    ]);
    tf.dispose([fine, wrong]);
  });

  it('are refused by preprocessing and arrays of tensors', () => {
    const array = new emb.TensorArray({ size: 1, dtype: 'int32' });
    const { Hashing, IntegerLookup } = emb.preprocessing;
    expectRefused([
      ['data', LONG_HELD, () => new Hashing({ numBins: 3 }).apply(ids())],
      ['data', LONG_HELD, () => new IntegerLookup({ vocabulary: [1, 2] }).apply(ids())],
      ['value', LONG_HELD, () => array.write(0, ids())],
    ]);
    array.close();
  });

  it('are refused where a model is fed, however it cuts them', async () => {
    const layer = emb.layers.embedding({ inputDim: 8, outputDim: 2, inputLength: 1, combiner: 'sum' });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ loss: 'meanSquaredError', optimizer });
    const [x, y] = [ids(), tf.ones([4, 1])];
    const rows = [
      { xs: [3], ys: [1] },
      { xs: [1, 2], ys: [1] },
      { xs: [4], ys: [1] },
    ];
    const data = tf.data.array(rows as never).batch(3) as tf.data.Dataset<{ xs: tf.Tensor; ys: tf.Tensor }>;
    expectRefused([
      ['x', LONG_HELD, () => model.predict(x, { batchSize: 2 })],
      ['x', LONG_HELD, () => model.predict(floats())],
      ['x', LONG_HELD, () => model.predictOnBatch(x)],
      ['x', LONG_HELD, () => model.evaluate(x, y)],
    ]);
    for (const run of [
      () => model.fit(x, y, { batchSize: 2 }),
      () => model.fit(x, y, { validationSplit: 0.5 }),
      () => model.trainOnBatch(x, y),
    ]) {
      await expectRejection(run, 'ValueError', 'x', LONG_HELD);
    }
    // Uneven arrays of `tf.data` are ragged rows, and this input takes one id of each.
    await expectRejection(() => model.fitDataset(data, { epochs: 1, verbose: 0 }), 'ValueError', 'xs', 'one of 2');
    optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
  });

  it('are none of our business in models without a layer of ours', () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1] })] });
    const stock = tf.sequential({ layers: [emb.layers.featureCross({ inputShape: [1] })] });
    expectRefused([['x', LONG_HELD, () => stock.predict(floats())]]);
    expect(() => tf.tidy(() => model.predict(floats(), { batchSize: 2 }))).not.toThrowError(/holds 6 values/);
    model.dispose();
    stock.dispose();
  });

  it('with as many values as places are taken, whatever their shape', () => {
    expect(emb.embeddingLookup(table(), tf.tensor2d([[3], [1]], undefined, 'int32')).shape).toEqual([2, 1, 2]);
    expect(emb.embeddingLookup(table(), tf.zeros([0, 3], 'int32'), SUM).shape).toEqual([0, 2]);
    expect(emb.embeddingLookup(table(), ids().shape.length).shape).toEqual([2]);
  });
}

describeForBackends('tensors with other numbers of values', (choice) => {
  suite();
  // `wasm` itself refuses to make them.
  if (choice.backend === 'wasm') return;
  it('are known where they were made before the package was imported', () => {
    const engine = tf.engine();
    const before = (values: number[], shape: number[]): tf.Tensor => {
      const dataId = engine.backend.write(Int32Array.from(values), shape, 'int32');
      return engine.makeTensorFromDataId(dataId, shape, 'int32');
    };
    tf.tidy(() => {
      const [few, fine] = [before([3, 1], [3]), before([3, 1, 2], [3])];
      expect([isWhole(few), isWhole(fine)]).toEqual([false, true]);
      expectError(() => checkWhole(few, 'ids'), 'ValueError', 'ids', held(2, [3]));
      expectError(() => checkLive(few, 'ids'), 'ValueError', 'ids', held(2, [3]));
      expect(() => checkLive(fine, 'ids')).not.toThrow();
      // What ops make is taken as it is.
      expect(isWhole(fine.add(1))).toBeTrue();
    });
  });

  it('are refused with fewer values too', () => {
    const few = odd([[1, 2], [3]], 'int32');
    expectError(() => emb.embeddingLookup(tf.zeros([8, 2]), few), 'ValueError', 'ids', held(3, [2, 2]));
    few.dispose();
  });
});

describe('tensors with other numbers of values [tpu-emulator]', () => {
  let before: string;
  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
    emb.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline', host: 'cpu' });
    await tf.setBackend('tpu-emulator');
  });
  afterAll(async () => {
    await tf.setBackend(before);
    tf.removeBackend('tpu-emulator');
    emb.configureTpuEmulator({});
  });
  suite();
});

describe('tensors with other numbers of values, for TPUEmbedding', () => {
  it('are refused as ids, weights and gradients', async () => {
    await onCores(2, () => {
      const { features } = fixture();
      const optimizer = new emb.tpu.SGD({ learningRate: 1 });
      const tpu = new emb.tpu.TPUEmbedding({ featureConfig: features, optimizer });
      const [ids, floats] = [odd(LONG, 'int32'), odd(LONG, 'float32')];
      const fine = tf.zeros([4, 1], 'int32');
      tpu.build([
        [4, 1],
        [4, 1],
        [4, 1],
      ]);
      const refused = (run: () => unknown, argument: string): void =>
        expectError(run, 'ValueError', argument, LONG_HELD);
      refused(() => tpu.enqueue([fine, ids, fine] as never), 'features[1]');
      tpu.enqueue([fine, fine, fine]);
      const rows = tpu.dequeue() as tf.Tensor[];
      const gradients = rows.map(({ shape }) => tf.zeros(shape));
      const wide = odd(
        [
          [1, 2, 3, 4],
          [1, 2, 3, 4, 5],
          [1, 2, 3, 4],
          [1, 2, 3, 4],
        ],
        'float32',
      );
      const run = (): void => tpu.applyGradients([wide, gradients[1]!, gradients[2]!]);
      expectError(run, 'ValueError', 'gradients[0]', held(17, [4, 4]));
      tf.dispose([rows, gradients, wide]);
      tpu.dispose();
      tf.dispose([ids, floats, fine]);
    });
  });
});
