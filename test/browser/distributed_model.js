/**
 * A model of several tables that Node and a page train alike on the devices of the emulator: plain JavaScript without
 * imports, so that both can load it. Everything that could be random is fixed.
 */
const EXAMPLES = 64;
/** Ids per sample of each input, and the rows of its table. */
const INPUTS = [
  { length: 5, rows: 60, ragged: true },
  { length: 3, rows: 40, ragged: false },
  { length: 4, rows: 40, ragged: true },
  { length: 2, rows: 30, ragged: false },
  { length: 4, rows: 500, ragged: true },
  { length: 1, rows: 5, ragged: false },
];

function numbers(seed) {
  return () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
}

/** The layer: split by columns, split by rows, on every device, shared by two inputs, and without a combiner. */
export function makeLayer(emb) {
  return emb.layers.distributedEmbedding({
    name: 'tables',
    seed: 17,
    strategy: 'memory_balanced',
    columnSliceThreshold: 300,
    rowSliceThreshold: 3000,
    dataParallelThreshold: 20,
    embeddings: [
      { name: 'sliced', inputDim: 60, outputDim: 8, combiner: 'mean', ragged: true },
      { name: 'shared', inputDim: 40, outputDim: 6, combiner: 'sum', ragged: true },
      { name: 'plain', inputDim: 30, outputDim: 4 },
      { name: 'rows', inputDim: 500, outputDim: 8, combiner: 'mean', ragged: true },
      { name: 'everywhere', inputDim: 5, outputDim: 4, combiner: 'mean' },
    ],
    inputTableMap: [0, 1, 1, 2, 3, 4],
  });
}

/** The model and what it is trained on; `dispose` frees all of it. */
export function makeModel(tf, emb) {
  const random = numbers(12345);
  const tensor = (shape) =>
    tf.tensor(
      Array.from({ length: shape.reduce((size, length) => size * length, 1) }, () => random() - 0.5),
      shape,
    );
  const ids = INPUTS.map(({ length, rows, ragged }) =>
    Array.from({ length: EXAMPLES }, () =>
      Array.from({ length }, (_, i) => (ragged && i > 0 && random() < 0.3 ? -1 : Math.floor(random() * rows))),
    ),
  );
  const labels = ids[0].map((row, i) => [(row[0] + ids[1][i][0]) % 3 === 0 ? 1 : 0]);

  const layer = makeLayer(emb);
  const inputs = INPUTS.map(({ length }) => tf.input({ shape: [length] }));
  const parts = layer.apply(inputs);
  parts[3] = tf.layers.flatten().apply(parts[3]);
  const joined = tf.layers.concatenate().apply(parts);
  const width = joined.shape[1];
  const hidden = tf.layers.dense({ units: 8, activation: 'tanh' });
  const last = tf.layers.dense({ units: 1, activation: 'sigmoid' });
  const model = tf.model({ inputs, outputs: last.apply(hidden.apply(joined)) });
  const start = [tensor([width, 8]), tensor([8]), tensor([8, 1]), tensor([1])];
  hidden.setWeights(start.slice(0, 2));
  last.setWeights(start.slice(2));
  const optimizer = emb.train.adagrad({ learningRate: 0.1 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  const x = ids.map((rows) => tf.tensor2d(rows, undefined, 'int32'));
  const y = tf.tensor2d(labels);
  const dispose = () => {
    tf.dispose([start, x, y]);
    model.dispose();
    optimizer.dispose();
  };
  return { layer, model, x, y, dispose };
}

/** Predictions after a few epochs, and where that ran. */
export async function trainDistributedModel(tf, emb) {
  const { layer, model, x, y, dispose } = makeModel(tf, emb);
  const history = await model.fit(x, y, { epochs: 5, batchSize: 16, shuffle: false, verbose: 0 });
  const predictions = model.predict(x);
  const values = Array.from(await predictions.data());
  predictions.dispose();
  const { tableGroups, tableParallel } = layer.plan;
  const slices = tableParallel.slicedOutRanges.length;
  const { devices, kernels } = emb.backendInfo();
  dispose();
  return { predictions: values, losses: history.history.loss, tableGroups, slices, devices, kernels };
}

/** Starts an emulator of four devices. */
export async function startDevices(tf, emb, settings) {
  emb.configureTpuEmulator({ chips: 4, coresPerChip: 1, ...settings });
  await tf.setBackend('tpu-emulator');
  await tf.ready();
}
