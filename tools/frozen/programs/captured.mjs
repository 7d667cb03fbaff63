/** Captured steps on `tensorflow`: whole models by `fit` and `evaluate`, and loops of one's own by `emb.capture`. */
import { fill, modelsOf } from './models.mjs';
import { PLAIN_TRAIN } from './optimizers.mjs';
import { Digest, drawFor, outcome } from './package.mjs';

const [STEPS, BATCH, ROWS, DIM] = [12, 6, 19, 8];

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);
const one = (list) => (list.length === 1 ? list[0] : list);

/** Whether steps were captured belongs to the result: op by op they are another case. */
const told = (digest, isCaptured) => `${digest.text}${isCaptured ? '' : ', op by op'}`;

/** A model that was made for files, trained and asked. */
async function trained({ tf, emb }, name, make) {
  const { model, inputs, isTrained, isFilled } = await make();
  if (!isFilled) fill(tf, model);
  if (!isTrained) model.compile({ optimizer: emb.train.adam({ learningRate: 0.05 }), loss: 'meanSquaredError' });
  const targets = model.outputs.map(({ shape }, i) => {
    const full = shape.map((size) => size ?? inputs[0].shape[0]);
    return tf.tensor(drawFor(`${name} ${i}`).floats(sizeOf(full)), full);
  });
  const digest = new Digest();
  // Tables of a quantized model take no steps; one that has nothing else only predicts.
  if (model.trainableWeights.length > 0) {
    const args = { epochs: STEPS, shuffle: false, verbose: 0, batchSize: inputs[0].shape[0] };
    const { history } = await model.fit(one(inputs), one(targets), args);
    digest.add(JSON.stringify(history));
  }
  const { captured } = emb.stepInfo(model);
  tf.tidy(() => {
    for (const loss of [model.evaluate(one(inputs), one(targets))].flat()) digest.addTensor(loss);
    for (const output of [model.predict(one(inputs))].flat()) digest.addTensor(output);
    for (const weight of model.getWeights()) digest.addTensor(weight);
  });
  tf.dispose([inputs, targets]);
  model.dispose();
  return told(digest, captured);
}

/** Pairs of a user's vector with those of a liked item and of others, over two tables. */
async function factorized({ tf, emb }, [name, optimizer, config]) {
  const random = drawFor(`factors ${name}`);
  const table = () => tf.variable(tf.tensor2d(random.floats(ROWS * DIM), [ROWS, DIM]));
  const [users, items] = [table(), table()];
  const train = emb.train[optimizer](config);
  const step = emb.capture((user, liked, others) =>
    train.minimize(() => {
      const of = emb.embeddingLookup(users, user);
      const scores = (ids) => of.mul(emb.embeddingLookup(items, ids, { combiner: 'mean' })).sum(1);
      return tf.softplus(scores(others).sub(scores(liked))).mean();
    }, true),
  );
  const digest = new Digest();
  for (let i = 0; i < STEPS; i++) {
    const ids = (width) => {
      const shape = width === null ? [BATCH] : [BATCH, width];
      return tf.tensor(random.ids(sizeOf(shape), ROWS), shape, 'int32');
    };
    const batch = [ids(null), ids(2), ids(3)];
    const loss = step(...batch);
    digest.addTensor(loss);
    tf.dispose([batch, loss]);
  }
  for (const each of [users, items]) digest.addTensor(each);
  for (const { tensor } of await train.getWeights()) digest.addTensor(tensor);
  const { captured } = step.info;
  step.dispose();
  train.dispose();
  tf.dispose([users, items]);
  return told(digest, captured);
}

/** Groups of the backend `tensorflow`, with captured steps. */
export async function capturedGroups(found) {
  const groups = { 'models, captured': {}, 'emb.capture': {} };
  for (const [name, make] of Object.entries(modelsOf(found))) {
    // These train on the emulator alone.
    if (name.startsWith('tpuEmbedding')) continue;
    groups['models, captured'][name] = await outcome(() => trained(found, name, make));
  }
  for (const variant of PLAIN_TRAIN) {
    groups['emb.capture'][variant[0]] = await outcome(() => factorized(found, variant));
  }
  return groups;
}
