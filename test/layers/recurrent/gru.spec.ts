import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { GRU } from '../../../src/layers/recurrent/gru.js';
import { artifactsOf, cloneOf, expectClose, ids, leakFree, reload, take, useCpu } from '../setup.js';

const UNITS = 3;

type Args = ConstructorParameters<typeof GRU>[0];

/** Words of a vocabulary of 6, 0 for none, then the layer. */
function modelOf(args: Args = {}): tf.Sequential {
  const table = emb.layers.embedding({ inputDim: 6, outputDim: 4, maskZero: true, inputShape: [4] });
  const layer = new GRU({ units: UNITS, recurrentActivation: 'sigmoid', biasInitializer: 'glorotNormal', ...args });
  return tf.sequential({ layers: [table, layer as tf.layers.Layer] });
}

const WORDS = [
  [1, 5, 2, 0],
  [3, 0, 0, 0],
  [4, 4, 1, 2],
];

/** The state behind each sequence, number by number. */
function expected(model: tf.LayersModel): number[][] {
  const [table, kernel, recurrent, bias] = model.getWeights().map((weight) => weight.arraySync() as number[][]);
  const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
  const times = (x: number[], matrix: number[][], side: number): number[] =>
    matrix[0]!.map((_, j) => x.reduce((sum, each, i) => sum + each * matrix[i]![j]!, bias?.[side]![j] ?? 0));
  return WORDS.map((words) => {
    let h = new Array<number>(UNITS).fill(0);
    for (const word of words) {
      if (word === 0) continue;
      const [x, s] = [times(table![word]!, kernel!, 0), times(h, recurrent!, 1)];
      h = h.map((before, j) => {
        const [z, r] = [sigmoid(x[j]! + s[j]!), sigmoid(x[UNITS + j]! + s[UNITS + j]!)];
        return z * before + (1 - z) * Math.tanh(x[2 * UNITS + j]! + r * s[2 * UNITS + j]!);
      });
    }
    return h;
  });
}

describe('GRU with the reset after the product', () => {
  beforeAll(useCpu);

  for (const useBias of [true, false]) {
    it(
      `takes the steps of Keras where words are there, ${useBias ? 'with' : 'without'} biases`,
      leakFree(() => {
        const model = modelOf({ useBias });
        const input = ids(WORDS);
        expectClose(take(model.predict(input)), expected(model).flat());
        const shapes = model.getWeights().map(({ shape }) => shape);
        expect(shapes.slice(1)).toEqual([[4, 9], [3, 9], ...(useBias ? [[2, 9]] : [])]);
        input.dispose();
        model.dispose();
      }),
    );
  }

  it(
    'is saved and loaded as what it is, within Bidirectional too',
    leakFree(async () => {
      const model = modelOf({ returnSequences: true });
      const inner = new GRU({ units: 2, name: 'inner' }) as tf.layers.Layer;
      model.add(tf.layers.bidirectional({ layer: inner as tf.RNN, mergeMode: 'concat' }));
      const input = ids(WORDS);
      const again = await cloneOf(model);
      expect(again.layers[1]).toBeInstanceOf(GRU);
      expect(again.layers[1]!.getConfig()['resetAfter']).toBeTrue();
      expectClose(take(again.predict(input)), take(model.predict(input)));
      input.dispose();
      for (const each of [model, again]) each.dispose();
    }),
  );

  it(
    'learns, with dropout and state too',
    leakFree(async () => {
      const input = ids(WORDS);
      const target = tf.tensor2d([0.5, -0.5, 0.1, 0.2, 0.2, -0.3, -0.4, 0.3, 0.6], [3, UNITS]);
      const model = modelOf();
      model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.3 }), loss: 'meanSquaredError' });
      const before = take(model.evaluate(input, target))[0]!;
      await model.fit(input, target, { epochs: 40, verbose: 0 });
      expect(take(model.evaluate(input, target))[0]!).toBeLessThan(before / 3);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([input, target]);
    }),
  );

  for (const dropped of ['dropout', 'recurrent_dropout']) {
    it(
      `drops with ${dropped} while it trains, and then alone`,
      leakFree(async () => {
        const plain = modelOf();
        const artifacts = await artifactsOf(plain);
        const text = JSON.stringify(artifacts.modelTopology).replace(`"${dropped}":0`, `"${dropped}":0.5`);
        const model = await reload({ ...artifacts, modelTopology: JSON.parse(text) as object });
        const input = ids(WORDS);
        const run = (training: boolean): number[] => take(tf.tidy(() => model.apply(input, { training }) as tf.Tensor));
        const still = take(plain.predict(input));
        expectClose(run(false), still);
        const runs = Array.from({ length: 6 }, () => run(true));
        expect(runs.some((each) => each.join() !== still.join())).toBeTrue();
        expect(new Set(runs.map((each) => each.join())).size).toBeGreaterThan(1);
        expectClose(run(false), still);
        const { cell } = model.layers[1] as unknown as {
          cell: { dropoutMask?: tf.Tensor; recurrentDropoutMask?: tf.Tensor };
        };
        const masks = [cell.dropoutMask, cell.recurrentDropoutMask].map((mask) => (mask ?? null) !== null);
        expect(masks).toEqual([dropped === 'dropout', dropped !== 'dropout']);
        tf.dispose([cell.dropoutMask ?? [], cell.recurrentDropoutMask ?? [], input]);
        plain.dispose();
        model.dispose();
      }),
    );
  }
});
