/** Sizes that no memory holds: tables without rows may have any number of columns. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';

const SUM = { combiner: 'sum' } as const;

describeForBackends('sizes that no memory holds', ({ name }) => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left behind').toBe(tensors));

  const table = (dim: number): tf.Tensor2D => tf.zeros([0, dim]);
  const splits = (bags: number): tf.Tensor1D => tf.zeros([bags + 1], 'int32');

  for (const [bags, dim] of [
    [4, 2 ** 45],
    [2 ** 19, 2 ** 45],
    [2 ** 17, 2 ** 45],
    [3, 2 ** 32 + 4],
  ] as const) {
    // TensorFlow waits ten seconds for memory that could exist to become free.
    const waits = name === 'tensorflow' && 4 * bags * dim < 2 ** 63;
    if (waits && bags === 3) continue;
    it(`are refused where pooled rows need them: [${bags}, ${dim}]`, () => {
      const others = [{ ...SUM, maxNorm: 1 }, { combiner: 'mean', weights: [] as number[] } as const];
      for (const options of [SUM, ...(waits ? [] : others)]) {
        const lookUp = (): unknown => tf.tidy(() => emb.ops.embeddingBag(table(dim), [], splits(bags), options));
        expectError(
          lookUp,
          'ValueError',
          'table',
          `pooled rows of shape [${bags}, ${dim}] (${BigInt(4 * bags * dim)} bytes)`,
        );
      }
    });
  }

  it('are refused, if at all, with a ValueError where nothing is to be done', () => {
    const none = (): tf.Tensor1D => tf.tensor1d([], 'int32');
    for (const dim of [2 ** 45, 2 ** 32 + 4]) {
      const wide = (): tf.Tensor2D => tf.zeros([0, dim]);
      const variable = (): tf.Variable => tf.variable(wide());
      const nothing = { values: none(), rowSplits: splits(0) };
      const step = { ...nothing, combiner: 'sum', learningRate: 1 } as const;
      for (const run of [
        () => emb.ops.embeddingBag(wide(), none(), splits(0), SUM),
        () => emb.ops.embeddingBagGrad(wide(), none(), splits(0), { ...SUM, rows: 2 ** 31 - 1 }),
        () => emb.ops.embeddingBagGrad(wide(), none(), splits(0), { ...SUM, rows: 0 }),
        () => emb.ops.sparseApply('sgd', { ...step, table: variable(), gradient: wide() }),
        () =>
          emb.ops.sparseApply('adam', {
            ...step,
            table: variable(),
            slots: [variable(), variable()],
            gradient: wide(),
          }),
      ]) {
        const others = new Set(Object.values(tf.engine().registeredVariables));
        tf.engine().startScope();
        let error: unknown;
        try {
          run();
        } catch (thrown) {
          error = thrown;
        }
        for (const each of Object.values(tf.engine().registeredVariables)) if (!others.has(each)) each.dispose();
        tf.engine().endScope();
        if (error !== undefined) expect(error).withContext(`${name}: ${run.toString()}`).toBeInstanceOf(emb.ValueError);
      }
      tf.dispose(nothing);
    }
  });
});
