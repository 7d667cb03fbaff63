/**
 * A small model that Node and a page train alike: plain JavaScript without imports, so that both can load it.
 * Returns predictions after a few epochs; everything that could be random is fixed.
 */
export async function trainSmallModel(tf, emb) {
  const rows = 50;
  const dim = 6;
  const examples = 64;
  let seed = 12345;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  const tensor = (shape) =>
    tf.tensor(
      Array.from({ length: shape.reduce((size, length) => size * length, 1) }, () => random() - 0.5),
      shape,
    );
  const ids = Array.from({ length: examples }, () =>
    Array.from({ length: 4 }, (_, i) => (i > 0 && random() < 0.3 ? -1 : Math.floor(random() * rows))),
  );
  const labels = ids.map((row) => [row.filter((id) => id >= 0 && id % 3 === 0).length > 1 ? 1 : 0]);

  const start = [tensor([rows, dim]), tensor([dim, 8]), tensor([8]), tensor([8, 1]), tensor([1])];
  const model = tf.sequential({
    layers: [
      emb.layers.raggedEmbedding({ inputDim: rows, outputDim: dim, combiner: 'mean', inputShape: [4] }),
      tf.layers.dense({ units: 8, activation: 'tanh' }),
      tf.layers.dense({ units: 1, activation: 'sigmoid' }),
    ],
  });
  model.setWeights(start);
  const optimizer = emb.train.adagrad({ learningRate: 0.3 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  const x = tf.tensor2d(ids, [examples, 4], 'int32');
  const y = tf.tensor2d(labels);
  const history = await model.fit(x, y, { epochs: 10, batchSize: 16, shuffle: false, verbose: 0 });
  const predictions = model.predict(x);
  const values = Array.from(await predictions.data());
  tf.dispose([predictions, x, y, start]);
  model.dispose();
  optimizer.dispose();
  return { predictions: values, losses: history.history.loss, kernels: emb.backendInfo().kernels };
}
