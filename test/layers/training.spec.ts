import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { warningsWhile } from '../helpers/warnings.js';
import { expectClose, expectError, ids, leakFree, ramp, take, useCpu } from './setup.js';

interface Trained {
  readonly losses: number[];
  readonly table: number[];
}

const ROWS = 10;

/** Trains a layer on a fixed batch and gives the reported losses and the table at the end. */
async function train(
  args: Partial<emb.EmbeddingArgs>,
  optimizer: tf.Optimizer,
  steps = 3,
  rows = [
    [1, 2, 2],
    [3, 1, 1],
  ],
): Promise<Trained> {
  const layer = emb.layers.embedding({
    inputDim: ROWS,
    outputDim: 2,
    weights: [ramp(ROWS, 2)],
    combiner: 'sum',
    ...args,
  });
  const model = tf.sequential({ layers: [layer] });
  model.add(tf.layers.dense({ units: 1, kernelInitializer: 'ones', useBias: false, trainable: false }));
  const x = ids(rows);
  const y = tf.zeros([rows.length, 1]);
  try {
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const { history } = await model.fit(x, y, { epochs: steps, verbose: 0, shuffle: false });
    return { losses: history['loss'] as number[], table: Array.from(layer.getWeights()[0]!.dataSync()) };
  } finally {
    tf.dispose([x, y]);
    optimizer.dispose();
    model.dispose();
  }
}

describe('training of layers', () => {
  beforeAll(useCpu);

  it(
    'by emb.train equals stock dense training',
    leakFree(async () => {
      const pairs: [tf.Optimizer, tf.Optimizer, number][] = [
        [emb.train.sgd({ learningRate: 0.01 }), tf.train.sgd(0.01), 1e-6],
        [emb.train.adagrad({ learningRate: 0.1 }), tf.train.adagrad(0.1), 1e-6],
        [emb.train.adam({ learningRate: 0.01, lazy: false }), tf.train.adam(0.01), 1e-5],
      ];
      for (const [sparse, stock, tolerance] of pairs) {
        const [a, b] = [await train({}, sparse, 10), await train({}, stock, 10)];
        expectClose(a.losses, b.losses, tolerance);
        expectClose(a.table, b.table, tolerance);
        expect(a.table.slice(2)).not.toEqual(Array.from(ramp(ROWS, 2)).slice(2));
      }
    }),
  );

  it(
    'adds a regularizer once per touched row, and its penalty to the loss',
    leakFree(async () => {
      const embeddingsRegularizer = tf.regularizers.l2({ l2: 0.1 });
      const plain = await train({}, emb.train.sgd({ learningRate: 0.01 }), 1);
      const penalized = await train({ embeddingsRegularizer }, emb.train.sgd({ learningRate: 0.01 }), 1);
      // Rows 1, 2 and 3: (r)^2 + (r + 0.25)^2.
      const penalty = [1, 2, 3].reduce((sum, row) => sum + 0.1 * (row ** 2 + (row + 0.25) ** 2), 0);
      expectClose([penalized.losses[0]! - plain.losses[0]!], [penalty], 1e-5);
      const start = ramp(ROWS, 2);
      plain.table.forEach((value, i) => {
        const row = Math.floor(i / 2);
        const decay = row >= 1 && row <= 3 ? 0.01 * 2 * 0.1 * start[i]! : 0;
        expectClose([penalized.table[i]!], [value - decay], 1e-5);
      });
      // Under a stock optimizer: the whole table, as stock layers do.
      const stock = await train({ embeddingsRegularizer }, tf.train.sgd(0.01), 1);
      const whole = start.reduce((sum, value) => sum + 0.1 * value ** 2, 0);
      expectClose([stock.losses[0]! - plain.losses[0]!], [whole], 1e-5);
    }),
  );

  it(
    'counts the penalty of a shared table once',
    leakFree(async () => {
      for (const isStock of [false, true]) {
        const make = (): tf.Optimizer => (isStock ? tf.train.sgd(0.01) : emb.train.sgd({ learningRate: 0.01 }));
        const losses: number[] = [];
        for (const embeddingsRegularizer of [null, 'l2']) {
          const weights = [ramp(ROWS, 1)];
          const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 1, weights, embeddingsRegularizer });
          const inputs = [1, 2].map(() => tf.input({ shape: [2], dtype: 'int32' }));
          const outputs = inputs.map(
            (input) => emb.layers.embedding({ table, combiner: 'sum' }).apply(input) as tf.SymbolicTensor,
          );
          const model = tf.model({ inputs, outputs: tf.layers.add().apply(outputs) as tf.SymbolicTensor });
          const optimizer = make();
          model.compile({ optimizer, loss: 'meanSquaredError' });
          const x = [ids([[1, 2]]), ids([[2, 4]])];
          const y = tf.tensor2d([[9]]);
          losses.push((await model.trainOnBatch(x, y)) as number);
          tf.dispose([...x, y]);
          optimizer.dispose();
          model.dispose();
        }
        const rows = isStock ? Array.from({ length: ROWS }, (_, row) => row) : [1, 2, 4];
        expectClose([losses[1]! - losses[0]!], [rows.reduce((sum, row) => sum + 0.01 * row * row, 0)], 1e-5);
      }
    }),
  );

  describe('constraints', () => {
    it(
      'act on touched rows',
      leakFree(async () => {
        const sgd = (): tf.Optimizer => emb.train.sgd({ learningRate: 0.2 });
        const free = await train({}, sgd(), 1);
        expect(free.table.slice(2, 8).some((value) => value < 0)).toBeTrue();
        const positive = await train({ embeddingsConstraint: 'nonNeg' }, sgd(), 1);
        expectClose(
          positive.table,
          free.table.map((value) => Math.max(value, 0)),
        );
        const norm = (table: number[], row: number): number => Math.hypot(table[2 * row]!, table[2 * row + 1]!);
        const short = await train(
          { embeddingsConstraint: tf.constraints.maxNorm({ maxValue: 0.5, axis: 1 }) },
          sgd(),
          1,
        );
        for (const row of [1, 2, 3])
          expectClose([norm(short.table, row)], [Math.min(0.5, norm(free.table, row))], 1e-5);
        expect(short.table.slice(8)).toEqual(Array.from(ramp(ROWS, 2)).slice(8));
        const unit = await train({ embeddingsConstraint: tf.constraints.unitNorm({ axis: -1 }) }, sgd(), 1);
        for (const row of [1, 2, 3]) expectClose([norm(unit.table, row)], [1], 1e-5);
        const between = tf.constraints.minMaxNorm({ minValue: 0.5, maxValue: 1, rate: 0.5, axis: 1 });
        const bounded = await train({ embeddingsConstraint: between }, sgd(), 1);
        for (const row of [1, 2, 3]) {
          const before = norm(free.table, row);
          const wanted = 0.5 * Math.min(1, Math.max(0.5, before)) + 0.5 * before;
          expectClose([norm(bounded.table, row)], [wanted], 1e-5);
        }
      }),
    );

    it('along another axis are refused by emb.train', async () => {
      const embeddingsConstraint = tf.constraints.maxNorm({ maxValue: 1 });
      let error: (Error & { argument?: string }) | undefined;
      await train({ embeddingsConstraint }, emb.train.sgd({ learningRate: 0.1 }), 1).catch(
        (thrown) => (error = thrown),
      );
      expect(error instanceof emb.ValueError).toBeTrue();
      expect(error!.argument).toBe('embeddingsConstraint');
      expect(error!.message).toContain('axis 1');
    });

    it('are said not to act under a stock optimizer', async () => {
      for (let round = 0; round < 2; round++) {
        const args = { embeddingsConstraint: 'nonNeg', name: 'warned' } as const;
        const texts = await warningsWhile(() => train(args, tf.train.sgd(0.1), 1));
        expect(texts.some((text) => text.includes('warned') && text.includes('embeddingsConstraint'))).toBeTrue();
      }
    });
  });

  it(
    'leaves a frozen table alone, frozen at construction or after compile',
    leakFree(async () => {
      const start = Array.from(ramp(ROWS, 2));
      for (const make of [() => emb.train.sgd({ learningRate: 0.1 }), () => tf.train.sgd(0.1)]) {
        for (const isLate of [false, true]) {
          const weights = [ramp(ROWS, 2)];
          const layer = emb.layers.embedding({
            inputDim: ROWS,
            outputDim: 2,
            weights,
            combiner: 'sum',
            trainable: isLate,
          });
          const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1, kernelInitializer: 'ones' })] });
          const optimizer = make();
          model.compile({ optimizer, loss: 'meanSquaredError' });
          layer.trainable = false;
          expect(layer.trainableWeights.length).toBe(0);
          expect(layer.nonTrainableWeights.length).toBe(1);
          const [x, y] = [ids([[1, 2]]), tf.zeros([1, 1])];
          await model.fit(x, y, { epochs: 2, verbose: 0 });
          expect(Array.from(layer.getWeights()[0]!.dataSync())).toEqual(start);
          expect((layer.getWeights()[0] as tf.Variable).trainable).toBeFalse();
          layer.trainable = true;
          expect((layer.getWeights()[0] as tf.Variable).trainable).toBeTrue();
          model.compile({ optimizer, loss: 'meanSquaredError' });
          await model.fit(x, y, { epochs: 1, verbose: 0 });
          expect(Array.from(layer.getWeights()[0]!.dataSync())).not.toEqual(start);
          tf.dispose([x, y]);
          optimizer.dispose();
          model.dispose();
        }
      }
    }),
  );

  it(
    'uses a layer’s own optimizer under emb.train',
    leakFree(async () => {
      const own = (): emb.SparseOptimizer => emb.train.adagrad({ learningRate: 0.3 });
      const wanted = await train({}, own());
      const optimizer = own();
      const result = await train({ optimizer }, emb.train.sgd({ learningRate: 0.001 }));
      optimizer.dispose();
      expectClose(result.table, wanted.table, 1e-6);
    }),
  );

  // Not counted: an error thrown within a step makes tfjs itself leave tensors.
  it('refuses a layer’s own optimizer under a stock one', async () => {
    let error: (Error & { argument?: string }) | undefined;
    await train({ optimizer: emb.train.sgd() }, tf.train.sgd(0.1)).catch((thrown) => (error = thrown));
    expect(error instanceof emb.ValueError).toBeTrue();
    expect(error!.argument).toBe('optimizer');
  });

  it(
    'takes pretrained tables as tensors, nested and typed arrays, which stay the user’s',
    leakFree(async () => {
      const typed = ramp(ROWS, 2);
      const nested = Array.from({ length: ROWS }, (_, row) => [row, row + 0.25]);
      const tensor = tf.tensor2d(typed, [ROWS, 2]);
      const copies = [typed, nested, tensor].map((each) =>
        JSON.stringify(each instanceof tf.Tensor ? each.arraySync() : each),
      );
      for (const table of [typed, nested, tensor, Float64Array.from(typed)]) {
        const { losses } = await train({ weights: [table] }, emb.train.sgd({ learningRate: 0.1 }), 2);
        expect(losses[0]).toBe((1.25 + 1 + 4.5 + 4) ** 2 / 2 + (3.25 + 3 + 2.5 + 2) ** 2 / 2);
      }
      const after = [typed, nested, tensor].map((each) =>
        JSON.stringify(each instanceof tf.Tensor ? each.arraySync() : each),
      );
      expect(after).toEqual(copies);
      tensor.dispose();
    }),
  );

  it(
    'sets weights, and names what does not fit',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2 });
      const zeros = [
        [0, 0],
        [0, 0],
        [0, 0],
      ];
      expectError(() => layer.setWeights([zeros]), 'RuntimeError', 'setWeights');
      const input = ids([[1]]);
      tf.dispose(layer.apply(input) as tf.Tensor);
      layer.setWeights([
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      ]);
      expect(take(layer.apply(input))).toEqual([3, 4]);
      const bad: [unknown, 'TypeError' | 'ValueError'][] = [
        [undefined, 'TypeError'],
        [[], 'ValueError'],
        [[zeros, zeros], 'ValueError'],
        [[[[1, 2]]], 'ValueError'],
        [[[[1], [2], [3]]], 'ValueError'],
        [['abc'], 'TypeError'],
        [
          [
            [
              ['a', 'b'],
              [0, 0],
              [0, 0],
            ],
          ],
          'TypeError',
        ],
        [[new Float32Array(5)], 'ValueError'],
      ];
      for (const [weights, type] of bad) expectError(() => layer.setWeights(weights as unknown[]), type, 'weights');
      const [wrongShape, wrongType] = [tf.zeros([2, 3]), tf.zeros([3, 2], 'int32')];
      expectError(() => layer.setWeights([wrongShape]), 'ValueError', 'weights');
      expectError(() => layer.setWeights([wrongType]), 'TypeError', 'weights');
      tf.dispose([input, wrongShape, wrongType]);
      layer.dispose();
    }),
  );

  it(
    'trains in fitDataset and with per-id weights as second input',
    leakFree(async () => {
      const input = tf.input({ shape: [2], dtype: 'int32', name: 'ids' });
      const perId = tf.input({ shape: [2], name: 'perId' });
      const layer = emb.layers.embedding({ inputDim: ROWS, outputDim: 1, weights: [ramp(ROWS, 1)], combiner: 'sum' });
      const model = tf.model({ inputs: [input, perId], outputs: layer.apply([input, perId]) as tf.SymbolicTensor });
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const rows = tf.data.zip({
        xs: tf.data.zip({ ids: tf.data.array([[1, 4]]), perId: tf.data.array([[1, -2]]) } as never),
        ys: tf.data.array([[1]]),
      } as never);
      await model.fitDataset(rows.batch(1) as tf.data.Dataset<tf.TensorContainer>, { epochs: 1, verbose: 0 });
      // Prediction 1 - 8 = -7, error -8: gradient 2 * -8 * weight.
      const table = Array.from(layer.getWeights()[0]!.dataSync());
      expectClose([table[1]!, table[4]!], [1 + 1.6, 4 - 3.2], 1e-5);
      optimizer.dispose();
      model.dispose();
    }),
  );
});
