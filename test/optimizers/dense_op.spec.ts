/** Dense steps in one op: variables, and state under the names of tfjs, as the stock optimizers leave them. */
import * as tf from '@tensorflow/tfjs';
import { stepInOneOp } from '../../src/optimizers/dense_part.js';
import { runningPowers, stateOf } from '../../src/tfjs/stock_optimizer_state.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';

const SHAPES: readonly number[][] = [[], [7], [3, 5], [2, 3, 4]];
const MAKE: Record<string, () => tf.Optimizer> = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.1, 0.9),
  'momentum of Nesterov': () => tf.train.momentum(0.1, 0.9, true),
  adagrad: () => tf.train.adagrad(0.1, 0.3),
  adam: () => tf.train.adam(0.1, 0.8, 0.99, 1e-6),
};

/** Ends what the constructors of stock optimizers leave behind too. */
function end(optimizer: tf.Optimizer): void {
  const { c, m } = optimizer as unknown as { c?: tf.Tensor; m?: tf.Tensor };
  optimizer.dispose();
  for (const scalar of [c, m]) if (scalar instanceof tf.Tensor && !scalar.isDisposed) scalar.dispose();
}

function values(optimizer: tf.Optimizer, variables: readonly tf.Variable[]): Float32Array[] {
  const powers = runningPowers(optimizer);
  const state = stateOf(optimizer).map(({ tensor }) => tensor);
  const all = [...variables, ...state, ...(powers === null ? [] : [powers.accBeta1, powers.accBeta2])];
  return all.map((each) => Float32Array.from(each.dataSync()));
}

describeForBackends(
  'stepInOneOp',
  () => {
    let tensors: number;
    beforeEach(() => (tensors = tf.memory().numTensors));
    afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    for (const [name, make] of Object.entries(MAKE)) {
      it(`leaves what the stock optimizer leaves, over steps at several rates: ${name}`, () => {
        const random = new Random(11);
        const draw = (shape: number[]): tf.Tensor => {
          const size = tf.util.sizeFromShape(shape);
          return tf.tensor(random.floats(size), shape);
        };
        const starts = SHAPES.map(draw);
        const [ours, theirs] = [0, 1].map(() => starts.map((start) => tf.tidy(() => tf.variable(start.clone()))));
        const [one, stock] = [make(), make()];
        for (let step = 0; step < 12; step++) {
          const rate = 0.1 / (1 + step);
          const gradients = SHAPES.map(draw);
          // The third variable has no gradient in some steps.
          const list = (variables: tf.Variable[]): { name: string; tensor: tf.Tensor | null }[] =>
            variables.map((each, i) => ({ name: each.name, tensor: i === 2 && step % 3 === 1 ? null : gradients[i]! }));
          expect(stepInOneOp(one, list(ours!), () => rate)).toBeTrue();
          const setRate = stock as unknown as { learningRate: number; setLearningRate?: (rate: number) => void };
          if (setRate.setLearningRate !== undefined) setRate.setLearningRate(rate);
          else setRate.learningRate = rate;
          tf.tidy(() => stock.applyGradients(list(theirs!) as never));
          tf.dispose(gradients);
        }
        const kinds = (optimizer: tf.Optimizer): string[] =>
          stateOf(optimizer).map((each) => each.name.slice(each.name.lastIndexOf('/')));
        expect(kinds(one)).toEqual(kinds(stock));
        values(one, ours!).forEach((each, i) => expect(each).toEqual(values(stock, theirs!)[i]!));
        [one, stock].forEach(end);
        tf.dispose([starts, ours!, theirs!]);
      });
    }

    it('leaves alone what it does not know, and says so', () => {
      const w = tf.tidy(() => tf.variable(tf.ones([2])));
      const gradient = tf.ones([2]);
      const entry = { name: w.name, tensor: gradient };
      const known = tf.train.sgd(1);
      const unknown = tf.train.rmsprop(1);
      expect(stepInOneOp(unknown, [entry], () => 1)).toBeFalse();
      expect(stepInOneOp(known, [{ name: 'of nobody', tensor: gradient }], () => 1)).toBeFalse();
      expect(stepInOneOp(known, [{ name: w.name, tensor: null }], () => 1)).toBeFalse();
      const other = tf.ones([1]);
      expect(stepInOneOp(known, [{ name: w.name, tensor: other }], () => 1)).toBeFalse();
      expect(Array.from(w.dataSync())).toEqual([1, 1]);
      [known, unknown].forEach(end);
      tf.dispose([w, gradient, other]);
    });
  },
  ['tensorflow'],
);
