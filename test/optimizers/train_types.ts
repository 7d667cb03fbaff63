/** What compiles and what must not; the compiler checks it with all other sources. */
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

export function compiles(table: tf.Variable, loss: () => tf.Scalar): void {
  const optimizers: tf.Optimizer[] = [
    emb.train.sgd(),
    emb.train.sgd({ learningRate: (step) => 1 / (1 + step), globalClipNorm: 1, clipValue: [null, 1] }),
    emb.train.adam({ learningRate: { className: 'CosineDecay', config: {} }, lazy: false, epsilon: null }),
    emb.train.adagradMomentum({ momentum: 0.9, useNesterov: true }),
    emb.train.ftrl({ l1: 0.1, dense: emb.train.sgd() }),
  ];
  const names: emb.OptimizerName[] = ['sgd', 'ftrl'];
  for (const name of names) optimizers.push(emb.train[name]({ learningRate: 0.1, weightDecay: 0.1 }));
  const config: emb.TrainConfig<'adam'> = { beta1: 0.5 };
  const optimizer: emb.SparseOptimizer = emb.train.adam(config);

  const { value, grads } = optimizer.computeGradients(loss, [table]);
  const slices: emb.IndexedSlices = grads[table.name];
  const half: emb.IndexedSlices = slices.mul(0.5).add(slices);
  optimizer.applyGradients({ [table.name]: half });
  optimizer.applyGradients([{ name: table.name, tensor: half.toDense() }]);
  optimizer.applyGradients(emb.train.clipByGlobalNorm(grads, 1).grads);
  const { grads: clipped, norm } = emb.train.clipByGlobalNorm({ table: half }, 1);
  const results: [tf.Scalar, tf.Scalar, emb.IndexedSlices] = [value, norm, clipped.table];
  void results;
}

export function doesNotCompile(optimizer: emb.SparseOptimizer): void {
  // @ts-expect-error momentum belongs to sgd, adagradMomentum and rmsprop
  emb.train.adagrad({ momentum: 0.9 });
  // @ts-expect-error beta1 belongs to adam
  emb.train.adagrad({ beta1: 0.9 });
  // @ts-expect-error lazy belongs to adam and adagradMomentum
  emb.train.ftrl({ lazy: true });
  // @ts-expect-error a misspelt name
  emb.train.adam({ lerningRate: 0.1 });
  // @ts-expect-error a rate by position
  emb.train.adam(0.01);
  // @ts-expect-error a rate of text
  emb.train.adam({ learningRate: '0.1' });
  // @ts-expect-error slices are scaled by numbers and scalars
  optimizer.applyGradients({ table: ({} as emb.IndexedSlices).mul('2') });
  // @ts-expect-error gradients are tensors or IndexedSlices
  optimizer.applyGradients({ table: [1, 2] });
  // @ts-expect-error no optimizer of that name
  emb.train.adamw();
}
