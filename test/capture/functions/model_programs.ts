/** Steps of models that users of `emb.capture` write by hand: ranking, text, and ways of training. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { computing, lookUp, square, stepping, type Bench, type Program } from './user_programs.js';

type Matrix = tf.Tensor2D;

const scalar = (x: tf.Tensor): tf.Scalar => x.asScalar();
const mean = (x: tf.Tensor): tf.Scalar => scalar(tf.mean(x));
const matrix = (variable: tf.Tensor): Matrix => variable as unknown as Matrix;
const rowsOf = (table: tf.Variable, ids: tf.Tensor): Matrix => lookUp(table, ids) as Matrix;
const dots = (a: tf.Tensor, b: tf.Tensor): tf.Tensor => tf.sum(tf.mul(a, b), -1);
const unit = (x: tf.Tensor): tf.Tensor => tf.div(x, tf.sqrt(tf.add(tf.sum(tf.square(x), -1, true), 1e-12)));
const sparse = (bench: Bench): tf.Optimizer => bench.keep(emb.train.adagrad({ learningRate: 0.1 }));

/** A program of users and items, with a loss of the rows of both. */
function pairs(loss: (users: Matrix, items: Matrix, negatives: Matrix) => tf.Scalar): Program {
  return (bench, capture) => {
    const [users, items] = [bench.table(20, 4), bench.table(20, 4)];
    const optimizer = sparse(bench);
    const step = capture((user: tf.Tensor1D, item: tf.Tensor1D, negative: tf.Tensor1D) =>
      optimizer.minimize(() => loss(rowsOf(users, user), rowsOf(items, item), rowsOf(items, negative)), true)!,
    );
    return () => {
      const given = [bench.ids(), bench.ids(), bench.ids()] as const;
      const result = step(...given);
      tf.dispose(given as unknown as tf.Tensor[]);
      return result;
    };
  };
}

/** A program of a matrix that a stock optimizer trains. */
function dense(loss: (weights: Matrix, x: Matrix) => tf.Scalar, make = (): tf.Optimizer => tf.train.sgd(0.1)): Program {
  return (bench, capture) => {
    const weights = bench.table(4, 4);
    const optimizer = bench.keep(make());
    const step = capture((x: Matrix) => optimizer.minimize(() => loss(matrix(weights), x), true)!);
    return () => {
      const x = bench.floats(6, 4) as Matrix;
      const result = step(x);
      x.dispose();
      return result;
    };
  };
}

/** A program of functions that share what `make` gives, called one after the other. */
function calls(make: (bench: Bench) => ((x: Matrix, step: number) => unknown)[]): Program {
  return (bench, capture) => {
    const all = make(bench).map((each) => capture(each as never) as (x: Matrix, step: number) => unknown);
    return (step) => {
      const x = bench.floats(6, 4) as Matrix;
      const results = all.map((each) => each(x, step % 2));
      x.dispose();
      return results;
    };
  };
}

/** The gradient of a matrix, which the caller disposes of. */
function gradientOf(weights: tf.Variable, loss: () => tf.Scalar): { value: tf.Scalar; gradient: Matrix } {
  const { value, grads } = tf.variableGrads(loss, [weights]);
  return { value, gradient: grads[weights.name] as Matrix };
}

const variable = (bench: Bench, make: () => tf.Tensor): tf.Variable =>
  bench.keep(tf.tidy(() => tf.variable(make(), false)));

export const MODELS: Record<string, Program> = {
  'BPR with drawn negatives': pairs((users, items, negatives) =>
    mean(tf.softplus(tf.sub(dots(users, negatives), dots(users, items)))),
  ),
  'softmax within the batch': pairs((users, items) => {
    const scores = tf.matMul(users, items, false, true);
    return mean(tf.sub(tf.logSumExp(scores, 1), dots(users, items)));
  }),
  'cosines with a margin': pairs((users, items, negatives) => {
    const [user, item, negative] = [unit(users), unit(items), unit(negatives)];
    const wrong = tf.relu(tf.sub(dots(user, negative), 0.2));
    return mean(tf.add(tf.sub(1, dots(user, item)), wrong));
  }),
  'hinge of a triplet': pairs((users, items, negatives) => {
    const distance = (rows: Matrix): tf.Tensor => tf.sum(tf.squaredDifference(users, rows), 1);
    return mean(tf.relu(tf.add(tf.sub(distance(items), distance(negatives)), 1)));
  }),
  'a loss of emb.losses': pairs((users, items) => {
    const scores = tf.matMul(users, items, false, true);
    return mean(emb.losses.inBatchSoftmax()(tf.range(0, 8, 1, 'int32'), scores));
  }),
  'a penalty on the rows of the batch': pairs((users, items) =>
    scalar(tf.add(mean(tf.square(dots(users, items))), tf.mul(0.01, tf.add(square(users), square(items))))),
  ),
  'items scored by all pairs of features': pairs((users, items, negatives) => {
    const stacked = tf.stack([users, items, negatives], 1) as tf.Tensor3D;
    const products = tf.matMul(stacked, stacked, false, true);
    return mean(tf.square(tf.sub(products, 0.5)));
  }),
  'biases as a table of one column': (bench, capture) => {
    const [table, bias] = [bench.table(20, 4), bench.table(20, 1)];
    const optimizer = sparse(bench);
    const step = capture((ids: tf.Tensor1D) =>
      optimizer.minimize(() => square(tf.add(tf.sum(rowsOf(table, ids), 1, true), rowsOf(bias, ids))), true)!,
    );
    return () => {
      const ids = bench.ids();
      const result = step(ids);
      ids.dispose();
      return result;
    };
  },
  'FTRL with a penalty': stepping(
    ({ table, ids }) => square(tf.sub(rowsOf(table, ids), 0.3)),
    (bench) => bench.keep(emb.train.ftrl({ learningRate: 0.1, l1: 0.001 })),
  ),
  'row-wise Adagrad': stepping(
    ({ table, ids }) => square(tf.sub(rowsOf(table, ids), 0.3)),
    (bench) => bench.keep(emb.train.rowWiseAdagrad({ learningRate: 0.1 })),
  ),
  'AdamW and a matrix': stepping(
    ({ table, weights, ids }) => square(tf.matMul(rowsOf(table, ids), matrix(weights))),
    (bench) => bench.keep(emb.train.adamW({ learningRate: 0.01, weightDecay: 0.1 })),
  ),
  'attention over a sequence': stepping(({ table, weights, ids }) => {
    const rows = tf.reshape(rowsOf(table, ids), [2, 4, 4]) as tf.Tensor3D;
    const scores = tf.div(tf.matMul(rows, rows, false, true), 2);
    const future = tf.sub(1, tf.linalg.bandPart(tf.ones([4, 4]), -1, 0));
    const attended = tf.matMul(tf.softmax(tf.sub(scores, tf.mul(future, 1e9))), rows);
    return square(tf.matMul(tf.reshape(attended, [8, 4]) as Matrix, matrix(weights)));
  }),
  'padding masked out of a mean': stepping(({ table, ids }) => {
    const mask = tf.cast(tf.notEqual(tf.reshape(ids, [2, 4]), 0), 'float32');
    const rows = tf.reshape(rowsOf(table, ids), [2, 4, 4]);
    const sum = tf.sum(tf.mul(rows, tf.expandDims(mask, 2)), 1);
    return square(tf.div(sum, tf.maximum(tf.sum(mask, 1, true), 1)));
  }),
  'convolution over embedded words': stepping(({ table, ids }) => {
    const rows = tf.reshape(rowsOf(table, ids), [1, 8, 4]) as tf.Tensor3D;
    const filters = tf.ones([3, 4, 2]) as tf.Tensor3D;
    return square(tf.max(tf.conv1d(rows, filters, 1, 'same'), 1));
  }),
  'a recurrent cell, step after step': dense((weights, x) => {
    let state: tf.Tensor = tf.zerosLike(x);
    for (let i = 0; i < 3; i++) state = tf.tanh(tf.add(tf.matMul(state as Matrix, weights), x));
    return square(state);
  }),
  'layer normalization by moments': dense((weights, x) => {
    const product = tf.matMul(x, weights);
    const { mean: center, variance } = tf.moments(product, 1, true);
    return mean(tf.abs(tf.div(tf.sub(product, center), tf.sqrt(tf.add(variance, 1e-3)))));
  }),
  'cross-entropy of smoothed labels': dense((weights, x) =>
    tf.losses.softmaxCrossEntropy(tf.oneHot(tf.argMax(x, 1), 4), tf.matMul(x, weights), undefined, 0.1),
  ),
  "tfjs's Huber loss": dense((weights, x) => tf.losses.huberLoss(tf.sum(x, 1), tf.sum(tf.matMul(x, weights), 1))),
  'stock Adamax': dense(
    (weights, x) => square(tf.matMul(x, weights)),
    () => tf.train.adamax(0.01),
  ),
  'a gradient that is turned round': dense((weights, x) => {
    const reversed = tf.customGrad((y, save) => {
      (save as tf.GradSaveFunc)([]);
      return { value: (y as tf.Tensor).clone(), gradFunc: (dy: tf.Tensor) => tf.neg(dy) };
    });
    return square(reversed(tf.matMul(x, weights)));
  }),
  'sums of segments': dense((weights, x) => {
    const segments = tf.tensor1d([0, 1, 0, 2, 1, 0], 'int32');
    return square(tf.unsortedSegmentSum(tf.matMul(x, weights), segments, 3));
  }),
  'parts of a matrix': dense((weights, x) => {
    const [left, right] = tf.split(tf.matMul(x, weights), 2, 1) as [tf.Tensor, tf.Tensor];
    const rows = tf.unstack(tf.mul(tf.sigmoid(left), right));
    return square(tf.stack(rows.slice(1)));
  }),
  'running sums': dense((weights, x) => square(tf.cumsum(tf.matMul(x, weights), 1))),
  'products by einsum': computing((x, table) => tf.einsum('ij,jk->ki', x, table)),
  'a norm clipped by hand': calls((bench) => {
    const weights = bench.table(4, 4);
    const optimizer = bench.keep(tf.train.sgd(0.5));
    return [
      (x) =>
        tf.tidy(() => {
          const { value, gradient } = gradientOf(weights, () => square(tf.matMul(x, matrix(weights))));
          const scale = tf.div(0.01, tf.maximum(tf.norm(gradient), 0.01));
          optimizer.applyGradients({ [weights.name]: tf.mul(gradient, scale) });
          return value;
        }),
    ];
  }),
  'momentum by hand': calls((bench) => {
    const weights = bench.table(4, 4);
    const velocity = variable(bench, () => tf.zeros([4, 4]));
    return [
      (x) =>
        tf.tidy(() => {
          const { value, gradient } = gradientOf(weights, () => square(tf.matMul(x, matrix(weights))));
          velocity.assign(tf.add(tf.mul(velocity, 0.9), gradient));
          weights.assign(tf.sub(weights, tf.mul(velocity, 0.1)) as Matrix);
          return value;
        }),
    ];
  }),
  'a teacher that follows slowly': calls((bench) => {
    const weights = bench.table(4, 4);
    const teacher = variable(bench, () => tf.zeros([4, 4]));
    const optimizer = bench.keep(tf.train.adam(0.05));
    return [
      (x) =>
        optimizer.minimize(() => {
          const target = tf.matMul(x, matrix(teacher));
          return square(tf.sub(tf.matMul(x, matrix(weights)), tf.add(target, 1)));
        }, true),
      () => tf.tidy(() => void teacher.assign(tf.add(tf.mul(teacher, 0.9), tf.mul(weights, 0.1)))),
    ];
  }),
  'statistics kept beside training': calls((bench) => {
    const [count, sum] = [variable(bench, () => tf.scalar(0)), variable(bench, () => tf.zeros([4]))];
    return [
      (x) =>
        tf.tidy(() => {
          count.assign(tf.add(count, x.shape[0]));
          sum.assign(tf.add(sum, tf.sum(x, 0)));
          return tf.div(sum, count);
        }),
    ];
  }),
  'a branch by an argument': calls(() => [
    (x, flag) => (flag === 1 ? tf.tidy(() => tf.exp(tf.neg(x))) : tf.tidy(() => tf.sqrt(tf.abs(x)))),
  ]),
  'training and evaluation of one matrix': calls((bench) => {
    const weights = bench.table(4, 4);
    const optimizer = bench.keep(emb.train.adam({ learningRate: 0.05 }));
    const loss = (x: Matrix): tf.Scalar => square(tf.sub(tf.matMul(x, matrix(weights)), x));
    return [(x) => optimizer.minimize(() => loss(x), true), (x) => tf.tidy(() => loss(x))];
  }),
  'best items of each user': computing((x, table) => tf.topk(tf.matMul(x as Matrix, table as Matrix, false, true), 3)),
};

export const MODELS_REFUSED: Record<string, [Program, RegExp]> = {
  'a step that is left out where the loss is no number': [
    dense((weights, x) => {
      const loss = square(tf.matMul(x, weights));
      return Number.isNaN(loss.dataSync()[0]) ? tf.scalar(0) : loss;
    }),
    /reads a tensor/,
  ],
  'random dropout': [computing((x) => tf.mul(tf.dropout(x, 0.5), 0)), /other (numbers|ops)/],
  'a rate by the clock': [
    (bench, capture) => {
      let clock = 0;
      return computing((x) => tf.mul(x, Math.sin((clock += 7))))(bench, capture);
    },
    /other numbers/,
  ],
  'a history that grows': [
    (bench, capture) => {
      const history: tf.Tensor[] = [];
      bench.keep({ dispose: () => tf.dispose(history) });
      return computing((x) => {
        history.push(tf.keep(tf.sum(x)));
        return tf.neg(x);
      })(bench, capture);
    },
    /did not make|beside those/,
  ],
  'variables that take turns': [
    (bench, capture) => {
      const all = [bench.table(4, 4), bench.table(4, 4)];
      let turn = 0;
      return computing((x) => tf.add(tf.sum(x), tf.sum(all[turn++ % 2]!)))(bench, capture);
    },
    /other (variables|ops|numbers|tensors)/,
  ],
};
