/**
 * Tables and slots after five steps on one backend, as hashes: `node tables.mjs BACKEND [CHECKOUT]` prints
 * `{key, groups: {group: {case: hash}}}`. Steps are op by op unless a group says otherwise.
 */
import { capturedGroups } from './captured.mjs';
import { Digest, drawFor, outcome, packageAt, useBackend } from './package.mjs';
import { PLAIN_TRAIN, TRAIN } from './optimizers.mjs';
import { tpuGroups } from './tpu_tables.mjs';

const STEPS = 5;
const [BATCH, LENGTH, ROWS] = [6, 4, 19];
const WAYS = [
  [null, false],
  ['sum', false],
  ['mean', false],
  ['sqrtn', false],
  ['sum', true],
  ['mean', true],
  ['sqrtn', true],
];

const [, , backend, root] = process.argv;
const found = await packageAt(root, { backends: [backend] });
const { tf, emb } = found;
const key = await useBackend(found, backend);
const onDevices = backend.startsWith('emulator');

/** Adds an optimizer's state, and frees it. */
async function addState(digest, optimizer) {
  for (const { name, tensor } of await optimizer.getWeights())
    digest.add(name.replace(/_\d+\b/g, '')).addTensor(tensor);
  optimizer.dispose();
}

/** Steps of `minimize` of a loss whose gradients depend on what was looked up; the digest of all that came of it. */
async function minimized(name, optimizer, layers, lookUp) {
  const [random, digest] = [drawFor(name), new Digest()];
  for (let step = 0; step < STEPS; step++) {
    const loss = tf.tidy(() => {
      const made = lookUp(random);
      const pushes = made.pushes;
      return optimizer.minimize(() => {
        const rows = made.rows();
        const losses = rows.map((each, i) => {
          const push = tf.tensor(pushes(i, each), each.shape);
          digest.addTensor(each);
          return tf.sum(tf.mul(tf.add(each, push), each));
        });
        return losses.length === 1 ? losses[0] : tf.addN(losses);
      }, true);
    });
    digest.addTensor(loss);
    loss.dispose();
  }
  for (const layer of layers) for (const weight of layer.getWeights()) digest.addTensor(weight);
  await addState(digest, optimizer);
  for (const layer of layers) layer.dispose();
  return digest.text;
}

/** A batch for one table: ids, weights where wanted, and what pushes the gradients. */
function batchOf(random, isWeighted) {
  const ids = tf.tensor2d(random.ids(BATCH * LENGTH, ROWS), [BATCH, LENGTH], 'int32');
  return isWeighted ? [ids, tf.tensor2d(random.floats(BATCH * LENGTH, 0.1, 2), [BATCH, LENGTH])] : ids;
}

function oneTable(name, [, optimizer, config], storage, dim, [combiner, isWeighted]) {
  const start = drawFor(`start ${name}`);
  const layer = emb.layers.embedding({
    inputDim: ROWS,
    outputDim: dim,
    combiner,
    name: 'items',
    weights: [tf.tensor2d(start.floats(ROWS * dim), [ROWS, dim])],
    // An odd seed was taken for the even one after it when the record was made.
    ...(storage === 'float32' ? {} : { storage, seed: 4 }),
  });
  return minimized(name, emb.train[optimizer](config), [layer], (random) => {
    const batch = batchOf(random, isWeighted);
    return { rows: () => [layer.apply(batch)], pushes: (_, rows) => random.floats(rows.size) };
  });
}

/** Every optimizer with every form of table and of lookup. */
async function tables() {
  const groups = {};
  for (const variant of TRAIN) {
    const cases = (groups[variant[0]] = {});
    for (const storage of onDevices ? ['float32'] : ['float32', 'float16']) {
      for (const dim of [8, 7]) {
        for (const way of WAYS) {
          const name = `${storage} ${dim} ${way[0] ?? 'none'}${way[1] ? ' weighted' : ''}`;
          cases[name] = await outcome(() => oneTable(`${variant[0]} ${name}`, variant, storage, dim, way));
        }
      }
    }
  }
  return groups;
}

const PLACED = {
  whole: {},
  columns: { columnSliceThreshold: 60 },
  rows: { rowSliceThreshold: 60 },
  copies: { dataParallelThreshold: 1000 },
};

/** Four features over three tables, one of them ragged. */
function manyTables(name, [, optimizer, config], placement) {
  const start = drawFor(`start ${name}`);
  const sizes = [
    [ROWS, 8],
    [11, 8],
    [7, 5],
  ];
  const layer = emb.layers.distributedEmbedding({
    embeddings: [
      { name: 'users', inputDim: ROWS, outputDim: 8, combiner: 'sum' },
      { name: 'items', inputDim: 11, outputDim: 8, combiner: 'mean' },
      { name: 'places', inputDim: 7, outputDim: 5, combiner: 'sqrtn' },
    ],
    inputTableMap: [0, 1, 2, 0],
    ...placement,
  });
  layer.build([LENGTH, LENGTH, LENGTH, LENGTH].map((length) => [null, length]));
  layer.setWeights(sizes.map(([rows, dim]) => tf.tensor2d(start.floats(rows * dim), [rows, dim])));
  return minimized(name, emb.train[optimizer](config), [layer], (random) => {
    const dense = [ROWS, 11, 7].map((rows) => tf.tensor2d(random.ids(BATCH * LENGTH, rows), [BATCH, LENGTH], 'int32'));
    const lengths = Array.from({ length: BATCH }, () => random.whole(LENGTH));
    const ragged = emb.RaggedTensor.fromRows(lengths.map((length) => [...random.ids(length, ROWS)]));
    return { rows: () => layer.call([...dense, ragged], {}), pushes: (_, rows) => random.floats(rows.size) };
  });
}

async function distributed() {
  const groups = {};
  for (const [placed, placement] of Object.entries(onDevices ? PLACED : { whole: {} })) {
    const cases = (groups[`distributed, ${placed}`] = {});
    for (const variant of TRAIN) {
      cases[variant[0]] = await outcome(() => manyTables(`distributed ${variant[0]}`, variant, placement));
    }
  }
  return groups;
}

/** `fit` of a model with a dense layer: op by op, and captured where the backend can. */
async function fitted(name, [, optimizer, config], storage, isCaptured) {
  emb.setCapture(isCaptured);
  const [start, random, digest] = [drawFor(`start ${name}`), drawFor(name), new Digest()];
  const layer = emb.layers.raggedEmbedding({
    inputDim: ROWS,
    outputDim: 8,
    combiner: 'mean',
    inputShape: [LENGTH],
    name: 'items',
    maxNorm: 1.5,
    ...(storage === 'float32' ? {} : { storage, seed: 4 }),
  });
  const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1, activation: 'sigmoid', name: 'head' })] });
  const weights = [[ROWS, 8], [8, 1], [1]].map((shape) =>
    tf.tensor(start.floats(shape.reduce((a, b) => a * b)), shape),
  );
  model.setWeights(weights);
  model.compile({ optimizer: emb.train[optimizer](config), loss: 'binaryCrossentropy' });
  const samples = BATCH * STEPS;
  const ids = tf
    .tensor2d(random.ids(samples * LENGTH, ROWS + 1), [samples, LENGTH], 'int32')
    .sub(tf.scalar(1, 'int32'));
  const labels = tf.tensor2d(random.ids(samples, 2), [samples, 1], 'int32').cast('float32');
  const { history } = await model.fit(ids, labels, { batchSize: BATCH, epochs: 2, shuffle: false, verbose: 0 });
  digest.add(JSON.stringify(history.loss));
  // A step that was not captured would be the other group once more.
  const { captured } = emb.stepInfo(model);
  if (isCaptured && captured !== true) throw new Error(`not captured: ${JSON.stringify(emb.stepInfo(model))}`);
  for (const weight of model.getWeights()) digest.addTensor(weight);
  digest.addTensor(model.predict(ids));
  await addState(digest, model.optimizer);
  model.dispose();
  tf.dispose([ids, labels, weights]);
  return digest.text;
}

async function fits() {
  const groups = {};
  for (const isCaptured of backend === 'tensorflow' ? [false, true] : [false]) {
    const cases = (groups[isCaptured ? 'fit, captured' : 'fit, op by op'] = {});
    for (const storage of onDevices ? ['float32'] : ['float32', 'float16']) {
      for (const variant of isCaptured ? PLAIN_TRAIN : TRAIN) {
        const name = `${variant[0]} ${storage}`;
        cases[name] = await outcome(() => fitted(`fit ${name}`, variant, storage, isCaptured));
      }
    }
  }
  emb.setCapture(true);
  return groups;
}

emb.setCapture(false);
const groups = { ...(await tables()), ...(await distributed()), ...(await fits()) };
if (onDevices) Object.assign(groups, await tpuGroups(found));
if (backend === 'tensorflow') Object.assign(groups, await capturedGroups(found));
process.stdout.write(JSON.stringify({ key, groups }), () => process.exit(0));
