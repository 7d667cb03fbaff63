/**
 * Matrix factorization by pairs (BPR): a step of 9,216 ids of dim 16, Adagrad. By `minimize` op by op, by `emb.capture`, and
 * in `fit` by a loss of the user's, marked and not; PyTorch beside them in the same rounds, where PYTHON (or python3) has it.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import '@tensorflow/tfjs-node';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Load, median, printLine } from './stopwatch.js';

const [USERS, ITEMS, DIM, BATCH, STEPS, ROUNDS] = [6040, 3706, 16, 3072, 200, 7];
const RATE = 0.05;

const ids = (rows: number, count: number): tf.Tensor1D => tf.randomUniform([count], 0, rows, 'int32');
const table = (rows: number): tf.Variable<tf.Rank.R2> =>
  tf.tidy(() => tf.variable(tf.randomNormal([rows, DIM], 0, 0.1) as tf.Tensor2D));
const optimizerOf = (): emb.SparseOptimizer => emb.train.adagrad({ learningRate: RATE });

type Step = (user: tf.Tensor1D, liked: tf.Tensor1D, other: tf.Tensor1D) => tf.Scalar;

function loop(wrap: (step: Step) => Step): () => number {
  const [users, items, optimizer] = [table(USERS), table(ITEMS), optimizerOf()];
  const step = wrap((user, liked, other) =>
    optimizer.minimize(() => {
      const rows = emb.embeddingLookup(users, user);
      const apart = tf.sub(emb.embeddingLookup(items, liked), emb.embeddingLookup(items, other));
      return tf.mean(tf.softplus(tf.neg(tf.sum(tf.mul(rows, apart), 1))));
    }, true)!,
  );
  const batches = Array.from({ length: 8 }, () => [ids(USERS, BATCH), ids(ITEMS, BATCH), ids(ITEMS, BATCH)] as const);
  return () => {
    const from = performance.now();
    for (let i = 0; i < STEPS; i++) step(...batches[i % batches.length]!).dispose();
    return (performance.now() - from) / STEPS;
  };
}

const bpr = (yTrue: tf.Tensor, yPred: tf.Tensor): tf.Tensor => tf.mean(tf.softplus(tf.neg(tf.mul(yTrue, yPred))), -1);

function fit(loss: typeof bpr): () => Promise<number> {
  const inputs = ['user', 'liked', 'other'].map((name) => tf.input({ shape: [1], dtype: 'int32', name }));
  const layer = emb.layers.distributedEmbedding({
    embeddings: [USERS, ITEMS].map((inputDim) => emb.layers.embedding({ inputDim, outputDim: DIM, combiner: 'sum' })),
    inputTableMap: [0, 1, 1],
  });
  const [user, liked, other] = layer.apply(inputs) as tf.SymbolicTensor[];
  const dot = (a: tf.SymbolicTensor, b: tf.SymbolicTensor): tf.SymbolicTensor =>
    tf.layers.dot({ axes: 1 }).apply([a, b]) as tf.SymbolicTensor;
  const outputs = emb.layers
    .operation({ operation: 'Subtract' })
    .apply([dot(user!, liked!), dot(user!, other!)]) as tf.SymbolicTensor;
  const model = tf.model({ inputs, outputs });
  model.compile({ optimizer: optimizerOf(), loss });
  const samples = BATCH * STEPS;
  const x = [USERS, ITEMS, ITEMS].map((rows) => ids(rows, samples).reshape([samples, 1]));
  const y = tf.ones([samples, 1]);
  return async () => {
    const from = performance.now();
    await model.fit(x, y, { batchSize: BATCH, epochs: 1, verbose: 0 });
    return (performance.now() - from) / STEPS;
  };
}

const python = process.env['PYTHON'] ?? 'python3';
const script = fileURLToPath(new URL('torch_pairs.py', import.meta.url));
const numbers = [USERS, ITEMS, DIM, BATCH, STEPS, RATE].map(String);

function torch(): number | null {
  const { status, stdout } = spawnSync(python, [script, ...numbers], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : null;
}

await tf.setBackend('tensorflow');
const measured: Record<string, () => number | null | Promise<number>> = {
  'minimize, op by op': loop((step) => step),
  'minimize by emb.capture': loop((step) => emb.capture(step)),
  'fit, own loss': fit((yTrue, yPred) => bpr(yTrue, yPred)),
  'fit, own loss by emb.pure': fit(emb.pure(bpr)),
  torch,
};
for (const [name, run] of Object.entries(measured)) if (name !== 'torch') await run();
const load = new Load();
const taken = Object.fromEntries(Object.keys(measured).map((name) => [name, [] as number[]]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(measured)) {
    const ms = await run();
    if (ms !== null) taken[name]!.push(ms);
  }
}
const otherCpu = load.ofOthers();
const all = Object.entries(taken).filter(([, ms]) => ms.length > 0);
const rival = taken['torch']!.length > 0 ? median(taken['torch']!) : null;
for (const [name, ms] of all) {
  const msMedian = median(ms);
  const beside = rival === null ? {} : { ofTorch: msMedian / rival };
  printLine({ bench: 'own functions', case: name, msMedian, msMin: Math.min(...ms), ...beside, otherCpu });
}
if (rival === null) console.error(`torch: left out, ${python} has no torch`);
