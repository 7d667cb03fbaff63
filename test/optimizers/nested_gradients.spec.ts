/** Passes that compute gradients within passes that compute gradients. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeEmulator } from '../backends/emulator/describe_emulator.js';
import { describeForBackends } from '../helpers/backends.js';
import { rowsOf } from '../helpers/dense_oracle.js';
import { expectError } from '../helpers/errors.js';
import { expectClose } from '../helpers/tensors.js';
import {
  type Problem,
  NEXT,
  SEEN,
  byLookup,
  expectGradients,
  valuesOf,
  type Loss,
  type Pool,
  withFreshProblem,
} from './two_tables.js';

function kept(slices: emb.IndexedSlices): emb.IndexedSlices {
  const copy = slices.mul(1);
  tf.keep(copy.indices);
  tf.keep(copy.values);
  return copy;
}

function itNestsPasses(): void {
  let problem: Problem;
  let optimizer: emb.SparseOptimizer;
  withFreshProblem((...fresh) => ([problem, optimizer] = fresh));

  it('computes gradients within a pass that computes gradients', () => {
    const { users, items, kernel } = problem;
    const inner: Loss = (pool) => problem.loss(pool, [[2, 8]], [[6]]);
    let found: emb.GradientMap = {};
    const outer = optimizer.computeGradients(() => {
      const result = optimizer.computeGradients(() => inner(byLookup));
      found = {
        [users.name]: kept(result.grads[users.name]),
        [items.name]: kept(result.grads[items.name]),
        [kernel.name]: tf.keep(result.grads[kernel.name].clone()),
      };
      return problem.loss();
    });
    expectGradients(found, problem.oracle(inner), { [users.name]: [2, 6, 8], [items.name]: [6] });
    expectGradients(outer.grads, problem.oracle(), problem.touched);
    tf.dispose([outer.value, outer.grads, found]);
  });

  it('gives lookups of the outer pass to the inner one, of other optimizers too, where varList has them', () => {
    const { users, items } = problem;
    const other = emb.train.adagrad();
    for (const [within, varList] of [[optimizer], [other], [other, [items]]] as [
      emb.SparseOptimizer,
      tf.Variable[]?,
    ][]) {
      const keys: string[] = [];
      const whole = (pool: Pool): tf.Scalar =>
        pool(users, SEEN, 'mean')
          .mul(pool(items, NEXT, 'sum'))
          .sum();
      const outer = optimizer.computeGradients(() => {
        const seen = byLookup(users, SEEN, 'mean');
        tf.tidy(() => {
          const { grads } = within.computeGradients(() => seen.mul(byLookup(items, NEXT, 'sum')).sum(), varList);
          keys.push(...Object.keys(grads).sort());
          const slices = grads[items.name] as emb.IndexedSlices;
          expectClose(valuesOf(slices.toDense()), problem.oracle(whole)[items.name]!, 1);
          if (varList === undefined) {
            const ofOuter = grads[users.name] as emb.IndexedSlices;
            expectClose(valuesOf(ofOuter.toDense()), problem.oracle(whole)[users.name]!, 1);
          }
        });
        return seen.sum();
      });
      expect(keys).toEqual(varList === undefined ? [users.name, items.name].sort() : [items.name]);
      expectGradients(
        outer.grads,
        problem.oracle((pool) => pool(users, SEEN, 'mean').sum()),
        { [users.name]: rowsOf(SEEN) },
      );
      tf.dispose([outer.value, outer.grads]);
    }
    other.dispose();
  });

  it('refuses gradients that a stock function takes of its lookups, and goes on with the next pass', () => {
    // tfjs itself leaves the value of a pass within a pass that fails.
    tf.tidy(() => {
      const pass = (): unknown =>
        optimizer.minimize(() => {
          const seen = byLookup(problem.users, SEEN, 'sum');
          tf.variableGrads(() => seen.square().sum());
          return seen.sum();
        });
      expectError(pass, 'RuntimeError', 'gradient');
      optimizer.minimize(() => problem.loss());
    });
  });

  it('takes gradients of gradients with respect to what is no table', () => {
    const loss = (pool: Pool): tf.Scalar => {
      const x = tf.tensor2d([[1, 2, 3, 4], [0.5, -1, 0, 2]]); // prettier-ignore
      const slope = tf.grad((each) => pool(problem.users, SEEN, 'mean').mul(each).sum().square())(x);
      return slope.square().sum();
    };
    const { value, grads } = optimizer.computeGradients(() => loss(byLookup), [problem.users]);
    const expected = problem.oracle(loss)[problem.users.name]!;
    const dense = (grads[problem.users.name] as emb.IndexedSlices).toDense();
    expectClose(valuesOf(dense), expected, Math.max(...expected.map(Math.abs)));
    tf.dispose([value, grads, dense]);
  });
}

describeForBackends('passes within passes', itNestsPasses);
describeEmulator('passes within passes, 2 devices', { chips: 2, coresPerChip: 1 }, itNestsPasses);
