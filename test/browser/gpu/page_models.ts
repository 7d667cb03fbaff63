/** Models of a page, drawn by seed: our layers before and behind those of tfjs, with masks, many tables and reductions. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { Random } from '../../helpers/random.js';
import type { DrawnModel, Outcome } from './models.js';

type Symbolic = tf.SymbolicTensor;

const STEPS = 2;
const ROWS = 9;

const OPTIMIZERS: readonly (() => emb.SparseOptimizer)[] = [
  () => emb.train.sgd({ learningRate: 0.1 }),
  () => emb.train.adagrad({ learningRate: 0.1, globalClipNorm: 0.2 }),
  () => emb.train.adam({ learningRate: 0.05, epsilon: 0.01, globalClipNorm: 0.5 }),
];

interface Drawn {
  readonly random: Random;
  readonly dim: number;
  readonly length: number;
  readonly batch: number;
}

/** A model and how many inputs of ids it has. */
interface Made {
  readonly model: tf.LayersModel;
  readonly lengths: readonly number[];
}

const ids = (length: number): Symbolic => tf.input({ shape: [length], dtype: 'int32' });

function whole(inputs: Symbolic[], end: Symbolic, lengths: readonly number[]): Made {
  const outputs = tf.layers.dense({ units: 1, name: 'head' }).apply(end) as Symbolic;
  return { model: tf.model({ inputs, outputs }), lengths };
}

function embedded(input: Symbolic, dim: number): Symbolic {
  return emb.layers.embedding({ inputDim: ROWS, outputDim: dim, maskZero: true }).apply(input) as Symbolic;
}

function ofLargest({ dim, length, random }: Drawn): Made {
  const input = ids(length);
  const args = { inputDim: ROWS, outputDim: dim, combiner: 'max', maskZero: random.chance(0.5) } as const;
  const layer = random.chance(0.5) ? emb.layers.embedding(args) : emb.layers.raggedEmbedding(args);
  return whole([input], layer.apply(input) as Symbolic, [length]);
}

function ofMaskedLoops({ dim, length, random }: Drawn): Made {
  const input = ids(length);
  const kind = random.pick(['lstm', 'gru', 'simpleRNN'] as const);
  const loop = tf.layers[kind]({ units: 3, returnSequences: random.chance(0.5), recurrentInitializer: 'glorotNormal' });
  const steps = loop.apply(embedded(input, dim)) as Symbolic;
  const end = steps.rank === 3 ? (emb.layers.globalAveragePooling1d({}).apply(steps) as Symbolic) : steps;
  return whole([input], end, [length]);
}

function ofMeans({ dim, length, random }: Drawn): Made {
  const input = ids(length);
  const pooling = emb.layers.globalAveragePooling1d({ keepdims: random.chance(0.3) });
  const mean = pooling.apply(embedded(input, dim)) as Symbolic;
  return whole([input], mean.rank === 3 ? (tf.layers.flatten().apply(mean) as Symbolic) : mean, [length]);
}

function ofAttention({ dim, length, random }: Drawn): Made {
  const input = ids(length);
  const steps = embedded(input, dim);
  const other = tf.layers.dense({ units: dim }).apply(steps) as Symbolic;
  const layer = random.pick([
    () => emb.layers.multiHeadAttention({ numHeads: 2, keyDim: 3, useCausalMask: random.chance(0.5) }),
    () => emb.layers.attention({ useScale: true, useCausalMask: random.chance(0.5) }),
    () => emb.layers.additiveAttention({}),
  ])();
  const attended = layer.apply([other, steps]) as Symbolic;
  return whole([input], emb.layers.globalAveragePooling1d({}).apply(attended) as Symbolic, [length]);
}

/** More tables than a shader has buffers. */
function ofManyTables({ dim, length, random }: Drawn): Made {
  const inputs = Array.from({ length: random.whole(7, 13) }, () => ids(length));
  const args = { inputDim: ROWS, outputDim: dim, combiner: 'mean' } as const;
  const parts = inputs.map((input) => emb.layers.embedding(args).apply(input) as Symbolic);
  const merge = random.pick([tf.layers.add, tf.layers.average, tf.layers.concatenate]);
  return whole(
    inputs,
    merge().apply(parts) as Symbolic,
    inputs.map(() => length),
  );
}

/** Whole numbers and truths as floats, along an axis that is not the last. */
function ofReductions({ dim, length, random }: Drawn): Made {
  const input = ids(length);
  const operation = (name: string, settings: object, operands?: unknown[]): tf.layers.Layer =>
    emb.layers.operation({ operation: name, settings, ...(operands === undefined ? {} : { operands }) } as never);
  const present = operation('NotEqual', {}, [{ tensor: 0 }, 0]).apply(input) as Symbolic;
  const floats = operation('Cast', { dtype: 'float32' }).apply(random.chance(0.5) ? present : input) as Symbolic;
  const wide = operation('ExpandDims', { axis: -1 }).apply(floats) as Symbolic;
  const summed = operation('Cumsum', { axis: 1 }).apply(wide) as Symbolic;
  const scaled = operation('Multiply', {}).apply([summed, embedded(input, dim)]) as Symbolic;
  const name = random.pick(['Sum', 'Mean', 'Max', 'Min', 'Prod']);
  return whole([input], operation(name, { axis: 1, keepdims: false }).apply(scaled) as Symbolic, [length]);
}

/** Idle places of the ids are 0. */
function padded(random: Random, batch: number, length: number): tf.Tensor2D {
  const rows = Array.from({ length: batch }, () => {
    const count = random.whole(1, length + 1);
    return Array.from({ length }, (_, i) => (i < count ? random.whole(1, ROWS) : 0));
  });
  return tf.tensor2d(rows, [batch, length], 'int32');
}

async function trained(
  { model, lengths }: Made,
  { random, batch }: Drawn,
  optimizer: emb.SparseOptimizer,
): Promise<Outcome> {
  const values = model.getWeights().map(({ shape, size }) => tf.tensor(random.floats(size, -0.5, 0.5), shape));
  model.setWeights(values);
  model.compile({ optimizer: optimizer as never, loss: 'meanSquaredError' });
  const given = lengths.map((length) => padded(random, batch, length));
  const inputs = given.length === 1 ? given[0]! : given;
  const wanted = tf.tensor2d(random.floats(batch), [batch, 1]);
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) losses.push((await model.trainOnBatch(inputs, wanted)) as number);
  const predicted = model.predict(inputs) as tf.Tensor;
  const outcome: Record<string, number[]> = { losses, predicted: Array.from(await predicted.data()) };
  for (const [i, { val }] of (model.weights as unknown as { val: tf.Variable }[]).entries())
    outcome[`weight ${i}`] = Array.from(await val.data());
  tf.dispose([values, given, wanted, predicted]);
  model.dispose();
  optimizer.dispose();
  return outcome;
}

/** A lookup in a table of parts, with its gradients. */
async function ofPartitions({ random, dim, batch }: Drawn, optimizer: emb.SparseOptimizer): Promise<Outcome> {
  const count = random.whole(7, 11);
  const partitionStrategy = random.pick(['mod', 'div'] as const);
  const combiner = random.pick(['sum', 'mean', 'max'] as const);
  const parts = Array.from({ length: count }, () =>
    tf.tidy(() => tf.variable(tf.tensor2d(random.floats(3 * dim), [3, dim]))),
  );
  const lists = Array.from({ length: batch }, () =>
    Array.from({ length: random.whole(1, 5) }, () => random.whole(0, 3 * count)),
  );
  const bags = emb.RaggedTensor.fromRows(lists, { dtype: 'int32' });
  const wanted = tf.tensor2d(random.floats(batch * dim), [batch, dim]);
  const loss = (): tf.Scalar => {
    const options = { combiner, partitionStrategy } as never;
    const pooled = emb.embeddingLookup(parts as never, bags, options) as unknown as tf.Tensor;
    return tf.sum(tf.squaredDifference(pooled, wanted));
  };
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const value = optimizer.minimize(loss, true, parts)!;
    losses.push((await value.data())[0]!);
    value.dispose();
  }
  const outcome: Record<string, number[]> = { losses };
  for (const [i, part] of parts.entries()) outcome[`part ${i}`] = Array.from(await part.data());
  tf.dispose([parts, wanted]);
  optimizer.dispose();
  return outcome;
}

const MODELS = { ofLargest, ofMaskedLoops, ofMeans, ofAttention, ofManyTables, ofReductions };
const KINDS = [...Object.keys(MODELS), 'ofPartitions'];

/** What a seed trains. */
export function drawnPageModel(seed: number): DrawnModel {
  const random = new Random(seed);
  const kind = KINDS[seed % KINDS.length]!;
  // Each kind comes with each of them, and a few models with all of both.
  const number = seed % OPTIMIZERS.length;
  const drawn = { random, dim: random.pick([2, 4, 5]), length: random.whole(2, 6), batch: random.pick([1, 2, 5]) };
  return {
    name: `seed ${seed}: ${kind} of ${drawn.dim}, ${drawn.batch} rows of ${drawn.length}, optimizer ${number}`,
    run: () => {
      const optimizer = OPTIMIZERS[number]!();
      if (kind === 'ofPartitions') return ofPartitions(drawn, optimizer);
      return trained(MODELS[kind as keyof typeof MODELS](drawn), drawn, optimizer);
    },
  };
}
