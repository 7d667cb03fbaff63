/** Compares the methods of tfjs's models before and after this package comes in, and prints those that are others. */
import * as tf from '@tensorflow/tfjs';

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const layer = tf.layers.Layer.prototype;
const graph = tf.LayersModel.prototype;
const CLASSES = {
  Layer: layer,
  Container: getPrototypeOf(graph),
  LayersModel: graph,
  Sequential: tf.Sequential.prototype,
};
/** What this package looks at as each model is made, and what it adds. */
const KNOWN = new Set(['Layer.built', 'LayersModel.pipeline']);

function methods() {
  return new Map(
    Object.entries(CLASSES).flatMap(([name, prototype]) =>
      Reflect.ownKeys(prototype).map((key) => [`${name}.${String(key)}`, getOwnPropertyDescriptor(prototype, key)]),
    ),
  );
}

function changed(before, after) {
  const names = new Set([...before.keys(), ...after.keys()].filter((name) => !KNOWN.has(name)));
  return [...names].filter((name) => {
    const [a, b] = [before.get(name), after.get(name)];
    return a === undefined || b === undefined || a.value !== b.value || a.get !== b.get || a.set !== b.set;
  });
}

/** What instances inherit, by name. */
function inherited(model) {
  const found = new Map();
  for (let each = getPrototypeOf(model); each !== Object.prototype; each = getPrototypeOf(each)) {
    for (const key of Reflect.ownKeys(each)) if (!found.has(key)) found.set(key, getOwnPropertyDescriptor(each, key));
  }
  for (const name of KNOWN) found.delete(name.split('.')[1]);
  return found;
}

function models() {
  const input = tf.input({ shape: [2] });
  const dense = tf.layers.dense({ units: 1 });
  return [
    tf.model({ inputs: input, outputs: dense.apply(input) }),
    tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] }),
  ];
}

const before = methods();
const [graphs, sequentials] = models().map(inherited);
const [kind] = process.argv.slice(2);
const emb = await import('tfjs-embeddings/node');
await emb.ready();
await tf.setBackend('cpu');
if (kind === 'mended') emb.mendTfjs();
if (kind === 'own') {
  const own = tf.sequential({
    layers: [emb.layers.embedding({ inputDim: 4, outputDim: 2, inputShape: [3] }), tf.layers.lstm({ units: 2 })],
  });
  own.compile({ optimizer: emb.train.adam({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  await own.fit(tf.ones([4, 3], 'int32'), tf.ones([4, 2]), { verbose: 0 });
  own.evaluate(tf.ones([4, 3], 'int32'), tf.ones([4, 2]));
  own.predict(tf.ones([4, 3], 'int32'));
}
const instances = models().flatMap((model, i) => {
  const [then, now] = [[graphs, sequentials][i], inherited(model)];
  return changed(
    new Map([...then].map(([key, value]) => [String(key), value])),
    new Map([...now].map(([key, value]) => [String(key), value])),
  );
});
// tfjs greets on standard output as it ends.
process.on('exit', () => {
  const compared = before.size + graphs.size + sequentials.size;
  process.stdout.write(`\n${JSON.stringify({ classes: changed(before, methods()), instances, compared })}`);
});
