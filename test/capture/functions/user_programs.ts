/** Programs of users of `emb.capture`: those that are captured, and those that run op by op with the reason. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';

export type Call = (...args: never[]) => unknown;
type Capture = <F extends Call>(f: F) => F;

/** What a program works on: tables, a matrix, drawn batches. All is freed when it ends. */
export class Bench {
  readonly random = new Random(11);
  readonly #made: { dispose(): void }[] = [];

  keep<T extends { dispose(): void }>(made: T): T {
    this.#made.push(made);
    return made;
  }

  table(rows: number, dim: number): tf.Variable<tf.Rank.R2> {
    const values = this.random.floats(rows * dim, -0.5, 0.5);
    return this.keep(tf.tidy(() => tf.variable(tf.tensor2d(values, [rows, dim]))));
  }

  ids(count = 8, rows = 20): tf.Tensor1D {
    return tf.tensor1d(
      Array.from({ length: count }, () => this.random.whole(0, rows)),
      'int32',
    );
  }

  floats(...shape: number[]): tf.Tensor {
    return tf.tensor(this.random.floats(shape.reduce((a, b) => a * b, 1)), shape);
  }

  get variables(): tf.Variable[] {
    return this.#made.filter((each) => each instanceof tf.Variable);
  }

  dispose(): void {
    for (const each of this.#made.reverse()) each.dispose();
  }
}

/** One call a step; returns the results of the step, which are disposed of by the runner. */
export type Program = (bench: Bench, capture: Capture) => (step: number) => unknown;

export const lookUp = (table: tf.Variable, ids: tf.Tensor): tf.Tensor =>
  emb.embeddingLookup(table as tf.Variable<tf.Rank.R2>, ids as tf.Tensor1D);
const scalar = (x: tf.Tensor): tf.Scalar => x.asScalar();
export const square = (x: tf.Tensor): tf.Scalar => scalar(tf.mean(tf.square(x)));
const embOptimizer = (bench: Bench): emb.SparseOptimizer => bench.keep(emb.train.adagrad({ learningRate: 0.1 }));

/** A program of one function of a batch of ids, and an optimizer of `emb.train`. */
export function stepping(
  loss: (given: { table: tf.Variable; weights: tf.Variable; ids: tf.Tensor1D; bench: Bench }) => tf.Scalar,
  optimizerOf: (bench: Bench) => tf.Optimizer = embOptimizer,
): Program {
  return (bench, capture) => {
    const [table, weights] = [bench.table(20, 4), bench.table(4, 3)];
    const optimizer = optimizerOf(bench);
    const step = capture((ids: tf.Tensor1D) => optimizer.minimize(() => loss({ table, weights, ids, bench }), true)!);
    return () => {
      const ids = bench.ids();
      const result = step(ids);
      ids.dispose();
      return result;
    };
  };
}

/** A program of one pure function of a batch. */
export function computing(f: (x: tf.Tensor, table: tf.Variable) => unknown): Program {
  return (bench, capture) => {
    const table = bench.table(4, 4);
    const call = capture((x: tf.Tensor) => f(x, table));
    return () => {
      const x = bench.floats(5, 4);
      const result = call(x);
      x.dispose();
      return result;
    };
  };
}

const product = ({ table, weights, ids }: { table: tf.Variable; weights: tf.Variable; ids: tf.Tensor }): tf.Tensor =>
  tf.matMul(lookUp(table, ids) as tf.Tensor2D, weights as unknown as tf.Tensor2D);

const ofMatrix = ({ weights, ids }: { weights: tf.Variable; ids: tf.Tensor }): tf.Scalar =>
  square(tf.matMul(tf.reshape(tf.cast(ids, 'float32'), [2, 4]), weights as unknown as tf.Tensor2D));

export const CAPTURED: Record<string, Program> = {
  'a step of a table and a matrix': stepping((given) => square(product(given))),
  'an early end that never comes': stepping((given) => (given.ids.size > 99 ? tf.scalar(0) : square(product(given)))),
  'a table looked up twice': stepping(({ table, ids }) =>
    square(tf.mul(lookUp(table, ids), lookUp(table, tf.reverse(ids)))),
  ),
  'a loss with a penalty': stepping((given) =>
    scalar(tf.add(square(product(given)), tf.mul(0.01, square(given.weights)))),
  ),
  'a bend': stepping((given) => {
    const rows = product(given);
    return scalar(tf.mean(tf.add(tf.maximum(rows, 0), tf.square(tf.minimum(rows, 0.1)))));
  }),
  'stock SGD': stepping(ofMatrix, (bench) => bench.keep(tf.train.sgd(0.1))),
  'stock Adam': stepping(ofMatrix, (bench) => bench.keep(tf.train.adam(0.01))),
  'stock Adagrad': stepping(ofMatrix, (bench) => bench.keep(tf.train.adagrad(0.01))),
  'stock RMSprop': stepping(ofMatrix, (bench) => bench.keep(tf.train.rmsprop(0.01))),
  'a rate that falls by a function': stepping(
    (given) => square(product(given)),
    (bench) => bench.keep(emb.train.sgd({ learningRate: (step) => 0.1 / (1 + step) })),
  ),
  'a rate by a schedule': stepping(
    (given) => square(product(given)),
    (bench) =>
      bench.keep(
        emb.train.adam({
          learningRate: {
            className: 'ExponentialDecay',
            config: { initial_learning_rate: 0.1, decay_steps: 3, decay_rate: 0.5 },
          } as never,
        }),
      ),
  ),
  'clipping of all gradients': stepping(
    (given) => square(product(given)),
    (bench) => bench.keep(emb.train.adam({ learningRate: 0.1, globalClipNorm: 0.01 })),
  ),
  'a factor that grows, by emb.live': (bench, capture) => {
    const table = bench.table(20, 4);
    const optimizer = embOptimizer(bench);
    let factor = 0;
    const give = (): number => factor;
    const step = capture((ids: tf.Tensor1D) =>
      optimizer.minimize(() => scalar(tf.mul(square(lookUp(table, ids)), emb.live(give))), true)!,
    );
    return () => {
      factor += 0.5;
      const ids = bench.ids();
      const result = step(ids);
      ids.dispose();
      return result;
    };
  },
  'two optimizers': (bench, capture) => {
    const [table, weights] = [bench.table(20, 4), bench.table(4, 3)];
    const [first, second] = [embOptimizer(bench), bench.keep(emb.train.adam({ learningRate: 0.01 }))];
    const step = capture((ids: tf.Tensor1D) => [
      first.minimize(() => square(lookUp(table, ids)), true),
      second.minimize(() => ofMatrix({ weights, ids }), true),
    ]);
    return () => {
      const ids = bench.ids();
      const result = step(ids);
      ids.dispose();
      return result;
    };
  },
  'gradients clipped by hand': (bench, capture) => {
    const weights = bench.table(4, 3);
    const optimizer = bench.keep(tf.train.sgd(0.5));
    const step = capture((x: tf.Tensor2D) =>
      tf.tidy(() => {
        const { value, grads } = tf.variableGrads(
          () => square(tf.matMul(x, weights as unknown as tf.Tensor2D)),
          [weights],
        );
        const clipped = tf.clipByValue(grads[weights.name]!, -0.01, 0.01);
        optimizer.applyGradients({ [weights.name]: clipped });
        return value;
      }),
    );
    return () => {
      const x = bench.floats(5, 4) as tf.Tensor2D;
      const result = step(x);
      x.dispose();
      return result;
    };
  },
  'gradients accumulated in variables': (bench, capture) => {
    const [weights, sum] = [bench.table(4, 3), bench.keep(tf.tidy(() => tf.variable(tf.zeros([4, 3]))))];
    const add = capture((x: tf.Tensor2D) =>
      tf.tidy(() => {
        const { value, grads } = tf.variableGrads(
          () => square(tf.matMul(x, weights as unknown as tf.Tensor2D)),
          [weights],
        );
        sum.assign(tf.add(sum, grads[weights.name]!));
        return value;
      }),
    );
    const apply = capture(() =>
      tf.tidy(() => {
        weights.assign(tf.sub(weights, tf.mul(0.1, sum)));
        sum.assign(tf.zerosLike(sum));
      }),
    );
    return (step) => {
      const x = bench.floats(5, 4) as tf.Tensor2D;
      const result = add(x);
      x.dispose();
      if (step % 3 === 2) apply();
      return result;
    };
  },
  'a pure function': computing((x, table) => tf.tanh(tf.matMul(x as tf.Tensor2D, table as unknown as tf.Tensor2D))),
  'whole numbers': computing((x) => tf.argMax(x as tf.Tensor2D, 1)),
  'whole numbers above 2^24': computing((x) =>
    tf.add(tf.argMax(x as tf.Tensor2D, 1).toInt(), tf.scalar(16777217, 'int32')),
  ),
  'truth values': computing((x) => tf.greater(x, 0)),
  'objects and lists': computing((x) => ({
    top: tf.topk(x, 2),
    list: [tf.sum(x), { mean: tf.mean(x), none: null }],
  })),
  'no result': computing((x, table) => {
    tf.tidy(() => table.assign(tf.add(table, tf.mean(x)) as tf.Tensor2D));
  }),
  'tensors left to the scope': computing((x) => {
    const unused = tf.exp(x);
    return tf.sum(tf.log(tf.add(unused, 1)));
  }),
  'a new variable in each call': computing((x) =>
    tf.tidy(() => {
      const made = tf.variable(x);
      const result = tf.square(made);
      made.dispose();
      return result;
    }),
  ),
  'a layer of tfjs': (bench, capture) => {
    const layer = tf.layers.dense({ units: 2, activation: 'relu', kernelInitializer: 'ones' });
    bench.keep(tf.tidy(() => layer.apply(tf.zeros([1, 4])) as tf.Tensor)).dispose();
    const step = capture((x: tf.Tensor) => tf.sum(layer.apply(x) as tf.Tensor));
    bench.keep({ dispose: () => void layer.dispose() });
    return () => {
      const x = bench.floats(5, 4);
      const result = step(x);
      x.dispose();
      return result;
    };
  },
  'numbers as arguments, each a kind': (bench, capture) => {
    const call = capture((x: tf.Tensor, factor: number) => tf.sum(tf.mul(x, factor)));
    return (step) => {
      const x = bench.floats(5, 4);
      const result = call(x, step % 2);
      x.dispose();
      return result;
    };
  },
  'batches of two shapes': (bench, capture) => {
    const call = capture((x: tf.Tensor) => tf.sum(x, 0));
    return (step) => {
      const x = bench.floats(5 + (step % 2), 4);
      const result = call(x);
      x.dispose();
      return result;
    };
  },
  'a variable as an argument': (bench, capture) => {
    const variables = [bench.table(4, 4), bench.table(4, 4)];
    const call = capture((variable: tf.Variable, x: tf.Tensor) => {
      tf.tidy(() => variable.assign(tf.add(variable, tf.sum(x)) as tf.Tensor2D));
    });
    return (step) => {
      const x = bench.floats(2);
      call(variables[step % 2]!, x);
      x.dispose();
    };
  },
};

export const REFUSED: Record<string, [Program, RegExp]> = {
  'tensors that are read': [computing((x) => tf.mul(x, tf.max(x).dataSync()[0]!)), /reads a tensor/],
  'gradients as slices, which are read': [
    (bench, capture) => {
      const table = bench.table(20, 4);
      const optimizer = embOptimizer(bench);
      const step = capture((ids: tf.Tensor1D) =>
        tf.tidy(() => {
          const { value, grads } = optimizer.computeGradients(() => square(lookUp(table, ids)));
          optimizer.applyGradients(grads);
          return value;
        }),
      );
      return () => {
        const ids = bench.ids();
        const result = step(ids);
        ids.dispose();
        return result;
      };
    },
    /reads a tensor/,
  ],
  'a table that was stepped and is read again': [
    (bench, capture) => {
      const [table, weights] = [bench.table(20, 4), bench.table(4, 3)];
      const [first, second] = [embOptimizer(bench), bench.keep(emb.train.adam({ learningRate: 0.01 }))];
      const step = capture((ids: tf.Tensor1D) => {
        const loss = (): tf.Scalar => square(product({ table, weights, ids }));
        return [first.minimize(loss, true, [table]), second.minimize(loss, true, [weights])];
      });
      return () => {
        const ids = bench.ids();
        const result = step(ids);
        ids.dispose();
        return result;
      };
    },
    /after it was stepped/,
  ],
  'ragged pairs, which are read': [
    (bench, capture) => {
      const table = bench.table(20, 4);
      const optimizer = embOptimizer(bench);
      const step = capture((rows: { rowSplits: tf.Tensor1D; values: tf.Tensor1D }) =>
        optimizer.minimize(() => square(emb.embeddingLookup(table, rows, { combiner: 'mean' } as never)), true)!,
      );
      return () => {
        const lengths = Array.from({ length: 6 }, () => bench.random.whole(1, 5));
        const splits = lengths.reduce((all, each) => [...all, all.at(-1)! + each], [0]);
        const rows = { rowSplits: tf.tensor1d(splits, 'int32'), values: bench.ids(splits.at(-1)) };
        const result = step(rows);
        tf.dispose(rows);
        return result;
      };
    },
    /reads a tensor/,
  ],
  'dense variables stepped by a stock optimizer of another': [
    (bench, capture) => {
      const [table, weights] = [bench.table(20, 4), bench.table(4, 3)];
      const dense = bench.keep(tf.train.sgd(0.1));
      const optimizer = bench.keep(emb.train.sgd({ learningRate: 0.1, dense }));
      const step = capture((ids: tf.Tensor1D) =>
        optimizer.minimize(() => square(product({ table, weights, ids })), true)!,
      );
      return (at) => {
        if (at === 5) optimizer.setLearningRate(0.5);
        const ids = bench.ids();
        const result = step(ids);
        ids.dispose();
        return result;
      };
    },
    /learning rate is a constant/,
  ],
  'random numbers of JavaScript': [computing((x) => tf.add(x, tf.mul(0, tf.randomUniform([4])))), /other numbers/],
  'a factor that grows': [
    (bench, capture) => {
      let factor = 0;
      return computing((x) => tf.mul(x, (factor += 1)))(bench, capture);
    },
    /other numbers/,
  ],
  'a branch by a count': [
    (bench, capture) => {
      let count = 0;
      return computing((x) => (count++ % 2 === 0 ? tf.exp(x) : tf.neg(x)))(bench, capture);
    },
    /other ops/,
  ],
  'an argument that is returned': [computing((x) => x.clone()), /input/],
  'tensors that are kept': [
    (bench, capture) => {
      let kept: tf.Tensor = bench.keep(tf.scalar(0));
      bench.keep({ dispose: () => kept.dispose() });
      return computing((x) => {
        const next = tf.keep(tf.add(kept, tf.sum(x)));
        kept.dispose();
        kept = next;
        return tf.neg(next);
      })(bench, capture);
    },
    /did not make|other numbers/,
  ],
};
