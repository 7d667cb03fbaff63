/** Tables of `emb.tpu` after five steps on virtual devices: TPUEmbedding, and TPUEmbeddingV2 with its stacks. */
import { Digest, drawFor, outcome } from './package.mjs';
import { TPU } from './optimizers.mjs';

const STEPS = 5;
const BATCH = 8;

/** Three features over three tables, two of which are stacked in version 2. */
function configOf({ tf, emb }, name) {
  const random = drawFor(`start ${name}`);
  const initializer = (shape) => tf.tensor(random.floats(shape[0] * shape[1]), shape);
  const table = (of, vocabularySize, dim, combiner) =>
    new emb.tpu.TableConfig({ vocabularySize, dim, combiner, name: of, initializer });
  const [video, user, place] = [
    table('video', 19, 8, 'sum'),
    table('user', 11, 8, 'mean'),
    table('place', 7, 5, 'sqrtn'),
  ];
  return {
    watched: new emb.tpu.FeatureConfig({ table: video, name: 'watched' }),
    friends: new emb.tpu.FeatureConfig({ table: user, name: 'friends' }),
    seen: new emb.tpu.FeatureConfig({ table: place, name: 'seen' }),
  };
}

function batchOf({ emb }, random) {
  const rows = (vocabulary) =>
    emb.RaggedTensor.fromRows(Array.from({ length: BATCH }, () => [...random.ids(random.whole(4), vocabulary)]));
  return { watched: rows(19), friends: rows(11), seen: rows(7) };
}

/** What one step of either version gives and takes. */
const VERSIONS = {
  TPUEmbedding(embedding, batch) {
    embedding.enqueue(batch);
    return [embedding.dequeue(), (gradients) => embedding.applyGradients(gradients)];
  },
  TPUEmbeddingV2(embedding, batch) {
    const [activations, preserved] = embedding.embeddingLookup(batch);
    return [activations, (gradients) => embedding.applyGradients(gradients, preserved)];
  },
};

function stepped(found, version, [variant, optimizer, args]) {
  const { tf, emb } = found;
  const name = `${version} ${variant}`;
  const [random, digest] = [drawFor(name), new Digest()];
  const featureConfig = configOf(found, name);
  const embedding = new emb.tpu[version]({ featureConfig, optimizer: new emb.tpu[optimizer](args) });
  for (let step = 0; step < STEPS; step++) {
    tf.tidy(() => {
      const [activations, apply] = VERSIONS[version](embedding, batchOf(found, random));
      const gradients = Object.entries(activations).map(([feature, rows]) => {
        digest.add(feature).addTensor(rows);
        return [feature, tf.add(rows, tf.tensor(random.floats(rows.size), rows.shape))];
      });
      apply(Object.fromEntries(gradients));
    });
  }
  tf.tidy(() => {
    for (const value of embedding.getWeights()) digest.addTensor(value);
  });
  // Version 2 keeps stacks: their layout is what checkpoints hold.
  for (const [stack, variables] of embedding.variables ?? []) {
    for (const [slot, value] of variables) digest.add(`${stack} ${slot}`).addTensor(value);
  }
  embedding.dispose();
  return digest.text;
}

export async function tpuGroups(found) {
  const groups = {};
  for (const version of Object.keys(VERSIONS)) {
    const cases = (groups[version] = {});
    for (const variant of TPU) cases[variant[0]] = await outcome(() => stepped(found, version, variant));
  }
  return groups;
}
