/** Models and lookups drawn by seed, which train a few steps: the same numbers on every backend. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { Random } from '../../helpers/random.js';

/** Numbers by what they are. */
export type Outcome = Readonly<Record<string, number[]>>;

export interface DrawnModel {
  readonly name: string;
  run(): Promise<Outcome>;
}

const OPTIMIZERS: readonly ((rate: number) => emb.SparseOptimizer)[] = [
  (learningRate) => emb.train.sgd({ learningRate }),
  (learningRate) => emb.train.sgd({ learningRate, momentum: 0.8, nesterov: true }),
  (learningRate) => emb.train.adagrad({ learningRate }),
  (learningRate) => emb.train.adagrad({ learningRate, clipNorm: 0.2, weightDecay: 0.01 }),
  (learningRate) => emb.train.rowWiseAdagrad({ learningRate }),
  (learningRate) => emb.train.adagradMomentum({ learningRate, momentum: 0.7, useNesterov: true }),
  (learningRate) => emb.train.adagradMomentum({ learningRate, exponent: 3, beta2: 0.9, lazy: false, epsilon: 0.01 }),
  (learningRate) => emb.train.adam({ learningRate, epsilon: 0.01 }),
  (learningRate) => emb.train.adam({ learningRate, epsilon: 0.01, amsgrad: true, lazy: false }),
  (learningRate) => emb.train.adamW({ learningRate, epsilon: 0.01, lazy: false }),
  (learningRate) => emb.train.ftrl({ learningRate, l1: 0.01, l2: 0.02 }),
  (learningRate) => emb.train.ftrl({ learningRate, learningRatePower: -0.7, multiplyLinearByLearningRate: true }),
  (learningRate) => emb.train.rmsprop({ learningRate, epsilon: 0.01 }),
  (learningRate) => emb.train.rmsprop({ learningRate, epsilon: 0.1, centered: true, momentum: 0.5 }),
  (learningRate) => emb.train.adagrad({ learningRate, clipValue: 0.05, clipWeightMin: -0.4, clipWeightMax: 0.3 }),
  (learningRate) => emb.train.sgd({ learningRate, globalClipNorm: 0.3 }),
];

const STEPS = 3;

interface Drawn {
  readonly random: Random;
  readonly rows: number;
  readonly dim: number;
  readonly batch: number;
  readonly combiner: 'sum' | 'mean' | 'sqrtn';
  readonly optimizer: emb.SparseOptimizer;
}

/** Rows of ids, some of which come again and again. */
function idRows({ random, rows, batch }: Drawn, shortest: number, longest: number): number[][] {
  const crowd = random.chance(0.5) ? Math.min(rows, 3) : rows;
  return Array.from({ length: batch }, () => {
    return Array.from({ length: random.whole(shortest, longest + 1) }, () => random.whole(0, crowd));
  });
}

/** Rows of one length, with -1 at their ends. */
function padded(rows: readonly (readonly number[])[], length: number): tf.Tensor2D {
  const full = rows.map((row) => [...row, ...new Array<number>(length).fill(-1)].slice(0, length));
  return tf.tensor2d(full, [rows.length, length], 'int32');
}

/** Fixed weights in place of drawn ones, which differ from backend to backend. */
function setWeights(model: tf.LayersModel, random: Random): void {
  const values = model.getWeights().map(({ shape, size }) => tf.tensor(random.floats(size, -0.5, 0.5), shape));
  model.setWeights(values);
  tf.dispose(values);
}

/** Trains a model on the same batch, and tells losses, predictions and weights. */
async function trained(
  model: tf.LayersModel,
  { random, optimizer, batch }: Drawn,
  inputs: tf.Tensor | tf.Tensor[],
): Promise<Outcome> {
  setWeights(model, random);
  model.compile({ optimizer: optimizer as never, loss: 'meanSquaredError' });
  const wanted = tf.tensor2d(random.floats(batch), [batch, 1]);
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) losses.push((await model.trainOnBatch(inputs, wanted)) as number);
  const predicted = model.predict(inputs) as tf.Tensor;
  const outcome: Record<string, number[]> = { losses, predicted: Array.from(await predicted.data()) };
  for (const { name, val } of model.weights as unknown as { name: string; val: tf.Variable }[]) {
    outcome[name.replace(/_\d+/g, '')] = Array.from(await val.data());
  }
  tf.dispose([wanted, predicted, ...(Array.isArray(inputs) ? inputs : [inputs])]);
  const held = (model.weights as unknown as { val: tf.Variable }[]).map(({ val }) => val);
  model.dispose();
  // tfjs keeps the weights of a layer that a model applies twice.
  tf.dispose(held.filter(({ isDisposed }) => !isDisposed));
  optimizer.dispose();
  return outcome;
}

const dense = (): tf.layers.Layer => tf.layers.dense({ units: 1, name: 'head' });

function ofOneTable(drawn: Drawn): Promise<Outcome> {
  const { random, rows, dim, combiner } = drawn;
  const length = random.whole(1, 6);
  const isRagged = random.chance(0.6);
  const args = {
    ...{ inputDim: rows, outputDim: dim, combiner, inputShape: [length], name: 'table' },
    embeddingsRegularizer: random.chance(0.3) ? tf.regularizers.l2({ l2: 0.05 }) : null,
    embeddingsConstraint: random.pick([
      null,
      null,
      tf.constraints.nonNeg(),
      tf.constraints.maxNorm({ maxValue: 0.6, axis: 1 }),
    ]),
    maskZero: random.chance(0.3),
  };
  const layer = isRagged ? emb.layers.raggedEmbedding(args) : emb.layers.embedding(args);
  const model = tf.sequential({ layers: [layer as tf.layers.Layer, dense()] });
  return trained(model, drawn, padded(idRows(drawn, isRagged ? 0 : length, length), length));
}

/** A table of two features, whose uses are combined differently, and one of its own. */
function ofSharedTables(drawn: Drawn): Promise<Outcome> {
  const { random, rows, dim, combiner } = drawn;
  const lengths = [random.whole(1, 4), random.whole(1, 4), random.whole(1, 4)];
  const layer = emb.layers.distributedEmbedding({
    name: 'tables',
    embeddings: [
      { name: 'shared', inputDim: rows, outputDim: dim, combiner, ragged: true },
      { name: 'own', inputDim: rows, outputDim: dim, combiner: 'mean', ragged: true },
    ],
    inputTableMap: [0, 0, 1],
  });
  const inputs = lengths.map((length) => tf.input({ shape: [length], dtype: 'int32' }));
  const parts = layer.apply(inputs) as tf.SymbolicTensor[];
  const joined = tf.layers.concatenate().apply(parts);
  const model = tf.model({ inputs, outputs: dense().apply(joined) as tf.SymbolicTensor });
  return trained(
    model,
    drawn,
    lengths.map((length) => padded(idRows(drawn, 0, length), length)),
  );
}

/** Rows of a table without a combiner, used twice in a model. */
function ofSingleRows(drawn: Drawn): Promise<Outcome> {
  const { random, rows, dim } = drawn;
  const lengths = [random.whole(1, 4), random.whole(1, 4)];
  const table = emb.layers.embedding({ inputDim: rows, outputDim: dim, name: 'table' });
  const inputs = lengths.map((length) => tf.input({ shape: [length], dtype: 'int32' }));
  const flat = inputs.map((input) => tf.layers.flatten().apply(table.apply(input) as tf.SymbolicTensor));
  const outputs = dense().apply(tf.layers.concatenate().apply(flat as tf.SymbolicTensor[]));
  const model = tf.model({ inputs, outputs: outputs as tf.SymbolicTensor });
  return trained(
    model,
    drawn,
    lengths.map((length) => padded(idRows(drawn, length, length), length)),
  );
}

/** Functions: ragged ids with weights that are trained too, norms and ids beyond the table. */
async function ofLookups(drawn: Drawn): Promise<Outcome> {
  const { random, rows, dim, batch, combiner, optimizer } = drawn;
  const table = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(rows * dim), [rows, dim])));
  const isZero = random.chance(0.4);
  const lists = idRows(drawn, 0, 4).map((row) => row.map((id) => (isZero && random.chance(0.2) ? rows + id : id)));
  const ids = emb.RaggedTensor.fromRows(lists, { dtype: 'int32' });
  const weights = tf.tidy(() => tf.variable(tf.tensor1d(random.floats(lists.flat().length, 0.2, 2))));
  const isWeighted = random.chance(0.6);
  const options = {
    combiner,
    maxNorm: random.chance(0.4) ? 0.7 : null,
    outOfRange: isZero ? 'zero' : 'error',
  } as const;
  const wanted = tf.tensor2d(random.floats(batch * dim), [batch, dim]);
  const loss = (): tf.Scalar => {
    const of = isWeighted ? { ...options, weights: { values: weights, rowSplits: ids.rowSplits } } : options;
    const pooled = emb.embeddingLookup(table, ids, of as never) as unknown as tf.Tensor2D;
    return tf.sum(tf.squaredDifference(pooled, wanted));
  };
  const losses: number[] = [];
  const varList = isWeighted ? [table, weights] : [table];
  for (let step = 0; step < STEPS; step++) {
    const value = optimizer.minimize(loss, true, varList)!;
    losses.push((await value.data())[0]!);
    value.dispose();
  }
  const pooled = tf.tidy(() => emb.embeddingLookup(table, ids, options) as unknown as tf.Tensor2D);
  const outcome = {
    losses,
    pooled: Array.from(await pooled.data()),
    table: Array.from(await table.data()),
    weights: Array.from(await weights.data()),
  };
  tf.dispose([table, weights, wanted, pooled]);
  optimizer.dispose();
  return outcome;
}

/** A table that is looked up twice, each time under another norm, and used as it is beside. */
async function ofTiedWeights(drawn: Drawn): Promise<Outcome> {
  const { random, rows, dim, combiner, optimizer } = drawn;
  const table = tf.tidy(() => tf.variable(tf.tensor2d(random.floats(rows * dim), [rows, dim])));
  const lists = [idRows(drawn, 0, 4), idRows(drawn, 1, 3)].map((each) =>
    emb.RaggedTensor.fromRows(each, { dtype: 'int32' }),
  );
  const norms = [0.5, random.chance(0.5) ? 0.9 : null];
  const isTied = random.chance(0.7);
  const loss = (): tf.Scalar => {
    const [a, b] = lists.map((ids, i) => emb.embeddingLookup(table, ids, { combiner, maxNorm: norms[i]! } as never));
    const parts = [a!, b!].map((pooled) => (pooled as unknown as tf.Tensor).sub(0.3).square().sum());
    const own = table.mul(0.1).square().sum();
    return tf.addN(isTied ? [...parts, own] : parts) as tf.Scalar;
  };
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const value = optimizer.minimize(loss, true, [table])!;
    losses.push((await value.data())[0]!);
    value.dispose();
  }
  const outcome = { losses, table: Array.from(await table.data()) };
  table.dispose();
  optimizer.dispose();
  return outcome;
}

const KINDS = { ofOneTable, ofSharedTables, ofSingleRows, ofLookups, ofTiedWeights };

/** What a seed trains. */
export function drawnModel(seed: number): DrawnModel {
  const random = new Random(seed);
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  const kind = kinds[seed % kinds.length]!;
  const optimizer = Math.floor(seed / kinds.length) % OPTIMIZERS.length;
  const drawn = {
    random,
    rows: random.pick([2, 7, 50, 400]),
    dim: random.pick([1, 3, 4, 8, 17, 32]),
    batch: random.pick([1, 2, 9]),
    combiner: random.pick(['sum', 'mean', 'sqrtn'] as const),
  };
  const { rows, dim, batch, combiner } = drawn;
  return {
    name: `seed ${seed}: ${kind} [${rows}, ${dim}], ${batch} bags, ${combiner}, optimizer ${optimizer}`,
    run: () => KINDS[kind]({ ...drawn, optimizer: OPTIMIZERS[optimizer]!(0.05) }),
  };
}

/** Runs what a seed trains. */
export function outcomeOf(model: DrawnModel): Promise<Outcome> {
  return model.run();
}
