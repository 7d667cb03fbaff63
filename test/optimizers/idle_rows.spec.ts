/** Limits of rows that the batch does not name, where an optimizer steps all rows; and the epsilon of dense variables. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';

const ROWS = 6;
const DIM = 3;
/** Rows that lie outside of the limits from the start. */
const START = Array.from({ length: ROWS * DIM }, (_, i) => ((i * 7) % 11) - 5);

interface Limited {
  readonly settings: object;
  readonly constraint?: 'nonNeg' | 'unitNorm';
  /** What a row without ids, whose slots are zero, becomes. */
  readonly limit: (row: readonly number[]) => number[];
}

const CASES: Record<string, Limited> = {
  'clipWeightMin and clipWeightMax': {
    settings: { clipWeightMin: -2, clipWeightMax: 1.5 },
    limit: (row) => row.map((w) => Math.min(Math.max(w, -2), 1.5)),
  },
  nonNeg: { settings: {}, constraint: 'nonNeg', limit: (row) => row.map((w) => Math.max(w, 0)) },
  unitNorm: {
    settings: {},
    constraint: 'unitNorm',
    limit(row) {
      const norm = Math.hypot(...row);
      return row.map((w) => w / (norm + 1e-7));
    },
  },
};

const OPTIMIZERS = ['sgd', 'adam', 'rmsprop', 'adamW'] as const;

describeForBackends(
  'Rows without ids',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    /** Steps a table of a layer with ids 1 and 4; returns its rows before and after. */
    async function step(name: (typeof OPTIMIZERS)[number], lazy: boolean, given: Limited): Promise<number[][]> {
      const layer = emb.layers.embedding({
        inputDim: ROWS,
        outputDim: DIM,
        combiner: 'sum',
        inputShape: [2],
        embeddingsConstraint:
          given.constraint === 'unitNorm' ? { className: 'UnitNorm', config: { axis: 1 } } : given.constraint,
      } as never);
      const model = tf.sequential({ layers: [layer] });
      tf.tidy(() => layer.setWeights([tf.tensor2d(START, [ROWS, DIM])]));
      const optimizer = emb.train[name]({ learningRate: 0.1, lazy, weightDecay: 0, ...given.settings } as never);
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const [ids, y] = [tf.tensor2d([[1, 4]], [1, 2], 'int32'), tf.zeros([1, DIM])];
      await model.trainOnBatch(ids, y);
      const rows = tf.tidy(() => layer.getWeights()[0]!.arraySync()) as number[][];
      tf.dispose([ids, y]);
      optimizer.dispose();
      model.dispose();
      return rows;
    }

    for (const [what, given] of Object.entries(CASES)) {
      for (const name of OPTIMIZERS) {
        it(`are limited by ${what} where ${name} steps all rows, and are left alone otherwise`, async () => {
          const [all, touched] = [await step(name, false, given), await step(name, true, given)];
          for (const row of [0, 2, 3, 5]) {
            const before = START.slice(row * DIM, (row + 1) * DIM);
            given.limit(before).forEach((wanted, c) => expect(all[row]![c]).toBeCloseTo(wanted, 5));
            expect(touched[row]).toEqual(before);
          }
          for (const row of [1, 4]) {
            all[row]!.forEach((value, c) => expect(value).toBeCloseTo(touched[row]![c]!, 5));
          }
        });
      }
    }

    for (const name of ['adagrad', 'rowWiseAdagrad'] as const) {
      it(`give dense variables the epsilon of ${name}`, () => {
        const variable = tf.tidy(() => tf.variable(tf.tensor1d([1])));
        for (const epsilon of [0, 1e-7, 3]) {
          tf.tidy(() => variable.assign(tf.tensor1d([1])));
          const optimizer = emb.train[name]({ learningRate: 0.5, initialAccumulatorValue: 0.25, epsilon });
          optimizer.minimize(() => variable.sum() as tf.Scalar, false, [variable]);
          expect(variable.dataSync()[0]).toBeCloseTo(1 - 0.5 / Math.sqrt(1.25 + epsilon), 6);
          optimizer.dispose();
        }
        variable.dispose();
        expect(tf.backend().epsilon()).toBeCloseTo(1e-7, 12);
      });
    }
  },
  ['cpu', 'wasm', 'tensorflow'],
);
