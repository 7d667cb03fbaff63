/**
 * Passes objects of one copy of the package to another; prints as JSON what went wrong. Arguments: two addresses, each
 * `import:<path>` or `require:<path>`.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

async function load(address) {
  const [, how, path] = /^(import|require):(.*)$/.exec(address);
  return how === 'import' ? import(pathToFileURL(path).href) : require(path);
}

const [first, second] = process.argv.slice(2);
const one = await load(first);
const two = await load(second);
const tf = createRequire(first.slice(first.indexOf(':') + 1))('@tensorflow/tfjs');
await tf.setBackend('cpu');

const failures = [];

/** Runs a check, which may throw or return a sentence that says what is wrong. */
async function check(name, body) {
  try {
    const wrong = await body();
    if (typeof wrong === 'string') failures.push(`${name}: ${wrong}`);
  } catch (error) {
    failures.push(`${name}: ${error.stack}`);
  }
}

function thrown(body) {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const table = { name: 'movies', vocabularySize: 10, embeddingDim: 4 };
const feature = { name: 'seen', inputShape: [null, 2], outputShape: [null, 4] };

/** An instance of each public class. */
const MAKERS = {
  RaggedTensor: (emb) => emb.RaggedTensor.fromRows([[1, 2], [3]]),
  TypeError: (emb) => thrown(() => emb.layers.embedding()),
  ValueError: (emb) => thrown(() => emb.layers.embedding({ inputDim: 0, outputDim: 1 })),
  RuntimeError: (emb) => thrown(() => emb.layers.embedding({ inputDim: 1, outputDim: 1 }).setWeights([[[1]]])),
  Embedding: (emb) => emb.layers.embedding({ inputDim: 10, outputDim: 4, combiner: 'sum' }),
  RaggedEmbedding: (emb) => emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 4, combiner: 'sum' }),
  DistributedEmbedding: (emb) => emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 10, outputDim: 4 }] }),
  ConcatOneHotEmbedding: (emb) => emb.layers.concatOneHotEmbedding({ featureSizes: [2, 3], embeddingWidth: 4 }),
  DotInteraction: (emb) => emb.layers.dotInteraction(),
  FeatureCross: (emb) => emb.layers.featureCross(),
  IntegerLookupLayer: (emb) => emb.layers.integerLookup({ maxTokens: 5 }),
  EmbeddingTable: (emb) => emb.embeddingTable({ inputDim: 10, outputDim: 4 }),
  OpenTable: (emb) => emb.openTable({ capacity: 10, outputDim: 4 }),
  // Opened by the native addon alone; the main entry has none.
  DiskTable: (emb) => Object.create((emb.DiskTable ?? one.DiskTable ?? two.DiskTable).prototype),
  TableConfig: (emb) => new emb.TableConfig(table),
  FeatureConfig: (emb) => new emb.FeatureConfig({ ...feature, table: new emb.TableConfig(table) }),
  SparseOptimizer: (emb) => emb.train.adagrad({ learningRate: 0.1 }),
  IndexedSlices: (emb) => {
    const [indices, values] = [tf.tensor1d([1], 'int32'), tf.ones([1, 2])];
    return new emb.IndexedSlices({ indices, values, denseShape: [3, 2] });
  },
  TensorArray: (emb) => new emb.TensorArray({ size: 1 }),
  StringLookup: ({ preprocessing }) => new preprocessing.StringLookup({ vocabulary: ['a', 'b'] }),
  IntegerLookup: ({ preprocessing }) => new preprocessing.IntegerLookup({ vocabulary: [7, 8] }),
  Hashing: ({ preprocessing }) => new preprocessing.Hashing({ numBins: 3 }),
  Discretization: ({ preprocessing }) => new preprocessing.Discretization({ binBoundaries: [0, 1] }),
  TextVectorization: ({ preprocessing }) => new preprocessing.TextVectorization({ vocabulary: ['a'] }),
  HashedCrossing: ({ preprocessing }) => new preprocessing.HashedCrossing({ numBins: 3 }),
  CategoryEncoding: ({ preprocessing }) => new preprocessing.CategoryEncoding({ numTokens: 3 }),
  Normalization: ({ preprocessing }) => new preprocessing.Normalization({ mean: 0, variance: 1, axis: null }),
  Pipeline: ({ preprocessing }) => new preprocessing.Pipeline({ columns: { x: 'int' } }),
  MultiHeadAttention: (emb) => emb.layers.multiHeadAttention({ numHeads: 1, keyDim: 2 }),
  Attention: (emb) => emb.layers.attention(),
  AdditiveAttention: (emb) => emb.layers.additiveAttention(),
  GlobalAveragePooling1D: (emb) => emb.layers.globalAveragePooling1d(),
  UnitNormalization: (emb) => emb.layers.unitNormalization(),
  CandidateScores: (emb) => emb.layers.candidateScores(),
  BruteForceRetrieval: (emb) => emb.layers.bruteForceRetrieval({ candidates: [[1, 2]], k: 1 }),
  Operation: (emb) => emb.layers.operation({ operation: 'Tanh' }),
};

function classesOf(emb) {
  const all = { ...emb, ...emb.preprocessing };
  const isClass = (value) => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isClass(value)));
}

for (const [giver, taker] of [
  [one, two],
  [two, one],
]) {
  const way = giver === one ? 'first to second' : 'second to first';
  const classes = classesOf(taker);
  for (const name of Object.keys(classes)) {
    await check(`${name}, ${way}`, () => {
      if (classes[name] === classesOf(giver)[name]) return 'both copies have one class, so nothing is tested';
      if (MAKERS[name] === undefined) return 'no maker: say in this program how one is made';
      const instance = MAKERS[name](giver);
      const { prototype } = classes[name];
      const isBase = (other) => Object.prototype.isPrototypeOf.call(classes[other].prototype, prototype);
      const kinds = Object.keys(classes).filter((other) => instance instanceof classes[other] && !isBase(other));
      return kinds.join() === name ? undefined : `is taken for [${kinds.join()}]`;
    });
  }
  await check(`a class derived from Embedding, ${way}`, () => {
    class Derived extends taker.Embedding {}
    const [own, other] = [new Derived({ inputDim: 2, outputDim: 2 }), MAKERS.Embedding(taker)];
    const isTold = own instanceof Derived && own instanceof giver.Embedding && !(other instanceof Derived);
    return isTold ? undefined : 'is not told apart';
  });
  await check(`ragged ids and weights, ${way}`, () => {
    const [ids, weights] = [MAKERS.RaggedTensor(giver), giver.RaggedTensor.fromRows([[1, 0.5], [2]])];
    const rows = tf.randomNormal([10, 4]);
    taker.embeddingLookup(rows, ids, { combiner: 'mean', weights });
    taker.safeEmbeddingLookup(rows, ids, { combiner: 'mean', weights });
    MAKERS.Embedding(taker).apply(ids);
    MAKERS.RaggedEmbedding(taker).apply(ids);
    new taker.preprocessing.Hashing({ numBins: 3 }).apply(ids);
    MAKERS.IntegerLookupLayer(taker).apply(ids);
    const nested = taker.RaggedTensor.fromRowSplits(ids, [0, 2]).toRows();
    if (JSON.stringify(nested) !== '[[[1,2],[3]]]') return JSON.stringify(nested);
    return ids.hasSplitsOf(taker.RaggedTensor.fromRows([[0, 0], [0]])) ? undefined : 'other splits';
  });
  await check(`a table and its optimizer, ${way}`, () => {
    const shared = giver.embeddingTable({ inputDim: 10, outputDim: 4, optimizer: MAKERS.SparseOptimizer(taker) });
    const layer = taker.layers.embedding({ table: shared });
    giver.layers.embedding({ table: shared }).apply(tf.tensor2d([[1]], [1, 1], 'int32'));
    layer.apply(tf.tensor2d([[1]], [1, 1], 'int32'));
    taker.layers.distributedEmbedding({ embeddings: [{ table: MAKERS.EmbeddingTable(giver) }] });
  });
  await check(`layers in a distributed layer, ${way}`, () => {
    const embeddings = [MAKERS.Embedding(giver), MAKERS.RaggedEmbedding(giver)];
    taker.layers.distributedEmbedding({ embeddings }).apply([[[1]], [[1]]]);
  });
  await check(`a table of a layer in a layer, ${way}`, () => {
    const config = new giver.TableConfig({ ...table, optimizer: MAKERS.SparseOptimizer(taker) });
    const features = { seen: new taker.FeatureConfig({ ...feature, table: config }) };
    giver.layers.distributedEmbedding({ features }).apply({ seen: [[1, 2]] });
  });
  await check(`a plan, ${way}`, () => {
    const tables = [{ inputDim: 10, outputDim: 4, combiner: 'sum' }];
    taker.checkPlan(giver.planEmbedding({ tables, worldSize: 1 }), tables);
  });
  await check(`an id outside the table, ${way}`, () => {
    const error = thrown(() => taker.embeddingLookup(tf.zeros([3, 2]), [[7]], { combiner: 'sum' }));
    return error instanceof giver.ValueError && error.argument === 'ids' ? undefined : String(error);
  });
  await check(`a model of layers and an optimizer, ${way}`, async () => {
    const layer = giver.layers.embedding({ inputDim: 10, outputDim: 4, combiner: 'sum', inputLength: 2 });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
    model.compile({ optimizer: MAKERS.SparseOptimizer(taker), loss: 'meanSquaredError' });
    const ids = tf.tensor2d([[1, 2]], [1, 2], 'int32');
    await model.fit(ids, tf.tensor2d([[1]]), { epochs: 2, verbose: 0 });
    let saved;
    await model.save(
      tf.io.withSaveHandler(async (artifacts) => ((saved = artifacts), { modelArtifactsInfo: {} })),
      {
        includeOptimizer: true,
      },
    );
    const again = await tf.loadLayersModel(tf.io.fromMemory(saved));
    await again.fit(ids, tf.tensor2d([[1]]), { epochs: 1, verbose: 0 });
    if (!(again.layers[0] instanceof giver.Embedding)) return 'the loaded layer is no Embedding';
    return again.optimizer instanceof giver.SparseOptimizer ? undefined : 'the loaded optimizer is none of ours';
  });
}

await check('the emulator of one copy in the other', async () => {
  one.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline' });
  await tf.setBackend('tpu-emulator');
  const layer = two.layers.distributedEmbedding({ embeddings: [{ inputDim: 10, outputDim: 4, combiner: 'sum' }] });
  layer.apply([[[1, 2]]])[0].dataSync();
  const { devices } = one.tpuEmulator().counters();
  const error = thrown(() => two.embeddingLookup(layer.weights[0].read(), [[70]], { combiner: 'sum' }));
  if (!(error instanceof two.ValueError)) return String(error);
  two.tpuEmulator().injectFault(0, 'kernelError');
  const fault = thrown(() => layer.apply([[[1, 2]]]));
  if (!(fault instanceof one.RuntimeError)) return String(fault);
  tf.removeBackend('tpu-emulator');
  return devices.length === 2 ? undefined : `${devices.length} devices`;
});

process.stdout.write(`\n${JSON.stringify(failures)}\n`);
