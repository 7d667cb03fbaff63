/** Learning rates by functions that do more than to give a number, in steps that are repeated. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, modelOf, trainTwins, type Between } from './training.js';
import { expectEqual, type Twins } from './twins.js';

const STEPS = 12;
/** From which call on a function does it: in the first recording, or when steps have been captured. */
const FROM = [0, 7] as const;

type Change = (model: tf.LayersModel) => void;
const variableOf = (model: tf.LayersModel, at: number): tf.Variable =>
  (model.weights.at(at) as unknown as { val: tf.Variable }).val;
const shrink = (of: tf.Variable): void => tf.tidy(() => of.assign(of.mul(0.9)));

const CHANGES: Readonly<Record<string, Change>> = {
  'changes a table': (model) => shrink(variableOf(model, 0)),
  'changes all weights': (model) => model.weights.forEach((_, at) => shrink(variableOf(model, at))),
  'steps a table in place': (model) => {
    const table = variableOf(model, 0);
    const gradient = tf.onesLike(table);
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    optimizer.applyGradients([{ name: table.name, tensor: gradient }]);
    optimizer.dispose();
    gradient.dispose();
  },
};

/** Trains with a function that makes the change at every third call from one on. */
async function trainWith(change: Change, from: number): Promise<{ twins: Twins; calls: number[] }> {
  const calls: number[] = [];
  const between: Between = (model, step) => {
    if (step !== 0) return;
    const at = calls.push(0) - 1;
    (model.optimizer as emb.SparseOptimizer).setLearningRate((taken) => {
      if (calls[at]! >= from && calls[at]! % 3 === 1) change(model);
      calls[at]! += 1;
      return 0.02 / (1 + taken);
    });
  };
  return { twins: await trainTwins(() => modelOf(), { between, steps: STEPS }), calls };
}

describeSteps('Captured steps whose learning rate is a function', () => {
  for (const [what, change] of Object.entries(CHANGES)) {
    for (const from of FROM) {
      it(`are those op by op where it ${what} from call ${from} on`, async () => {
        const { twins, calls } = await trainWith(change, from);
        expectEqual(twins, 1e-5);
        expect(calls[1]).withContext('as often as op by op').toBe(calls[0]!);
        expect(twins.captured.info.captured).toBeFalse();
        expect(twins.captured.info.reason).toMatch(/its learning rate is a function that (changes variables|runs ops)/);
      });
    }
  }

  it('are captured where it only counts', async () => {
    const { twins, calls } = await trainWith(() => undefined, 0);
    expectEqual(twins, 1e-5);
    expect(calls[1]).withContext('as often as op by op').toBe(calls[0]!);
    expect(twins.captured.info.captured).toBeTrue();
  });

  it('take the rate that it gives, though it sets another one for the next step', async () => {
    const { twins } = await trainWith((model) => (model.optimizer as emb.SparseOptimizer).setLearningRate(0.3), 7);
    expectEqual(twins, 1e-5);
  });
});
