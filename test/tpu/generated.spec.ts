/**
 * TPUEmbedding, TPUEmbeddingV2, serving and plain layers over generated configs: they agree wherever all accept the
 * input, and what refuses it says so by an error of this package. TPU_EMBEDDING_CASES=2000 draws more.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import { casesOf } from '../forms/forms.js';
import { Random } from '../helpers/random.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

const SEED = Number(process.env['TFJS_EMBEDDINGS_TEST_SEED'] ?? 1);
const CASES = casesOf('TPU_EMBEDDING_CASES');
const STEPS = 2;
const TOLERANCE = 1e-5;
const MACHINES = [
  { chips: 1, coresPerChip: 1 },
  { chips: 2, coresPerChip: 2 },
  { chips: 1, coresPerChip: 8 },
  { chips: 3, coresPerChip: 1 },
];
const rate = { learningRate: 0.1 };

/** Each optimizer of the TPU API beside the same for layers. */
const OPTIMIZERS: readonly [() => tpu.TPUEmbeddingOptimizer, () => tf.Optimizer][] = [
  [() => new tpu.SGD({ ...rate, weightDecayFactor: 0.02 }), () => emb.train.sgd({ ...rate, weightDecay: 0.02 })],
  [
    () => new tpu.Adagrad({ ...rate, clipvalue: 0.4 }),
    () => emb.train.adagrad({ ...rate, epsilon: 0, clipValue: 0.4 }),
  ],
  [
    () => new tpu.Adam({ ...rate, epsilon: 1e-2 }),
    () => emb.train.adam({ ...rate, epsilon: 1e-2, biasCorrection: false, sumInsideSqrt: true }),
  ],
  [
    () => new tpu.FTRL({ ...rate, beta: 0.1 }),
    () => emb.train.ftrl({ ...rate, initialAccumulatorValue: 0.1, beta: 0.1 }),
  ],
  [
    () => new tpu.FTRL({ ...rate, l1RegularizationStrength: 0.05, multiplyLinearByLearningRate: true }),
    () => emb.train.ftrl({ ...rate, initialAccumulatorValue: 0.1, l1: 0.05, multiplyLinearByLearningRate: true }),
  ],
  [
    () => new tpu.AdagradMomentum({ ...rate, momentum: 0.9, useNesterov: true, beta2: 0.9, epsilon: 0.1 }),
    () => emb.train.adagradMomentum({ ...rate, momentum: 0.9, useNesterov: true, beta2: 0.9, epsilon: 0.1 }),
  ],
  [
    () => new tpu.Adam({ ...rate, epsilon: 1e-2, lazyAdam: false }),
    () => emb.train.adam({ ...rate, epsilon: 1e-2, biasCorrection: false, sumInsideSqrt: true, lazy: false }),
  ],
  [() => new tpu.SGD({ ...rate, useGradientAccumulation: false }), () => emb.train.sgd(rate)],
];

/** What refuses a case: only TPUEmbeddingV2, for its cores, its buffers, and what it has no form for. */
const REFUSED = /^(chips|maxIdsPerTable|maxUniqueIdsPerTable|features\.f\d+)$/;
const LONGEST = 3;

interface TableCase {
  readonly rows: number;
  readonly dim: number;
  readonly combiner: emb.Combiner;
  readonly values: Float32Array;
}

interface FeatureCase {
  readonly table: number;
  readonly kind: 'dense' | 'ragged' | 'sparse';
  /** `plain`: [samples]; `deep`: [samples / 2, 2]; `sequence`: [samples, LONGEST], each id by itself. */
  readonly form: 'plain' | 'deep' | 'sequence';
  /** Of each step, a list for each sample. */
  readonly ids: number[][][];
  readonly weights: number[][][] | null;
}

interface Case {
  readonly samples: number;
  readonly tables: readonly TableCase[];
  readonly features: readonly FeatureCase[];
  readonly optimizer: (typeof OPTIMIZERS)[number];
  readonly config: tpu.SparseCoreEmbeddingConfig;
  readonly gradients: readonly Float32Array[][];
}

const outputShapeOf = (form: FeatureCase['form'], samples: number): number[] => {
  if (form === 'plain') return [samples];
  return form === 'deep' ? [samples / 2, 2] : [samples, LONGEST];
};

/** The ids of each row of the activations. */
const rowsOf = ({ form }: FeatureCase, lists: number[][]): number[][] =>
  form === 'sequence'
    ? lists.flatMap((list) => Array.from({ length: LONGEST }, (_, place) => list.slice(place, place + 1)))
    : lists;

function generatedCase(random: Random): Case {
  // Now and then a number of samples that some cores do not divide.
  const samples = random.pick([8, 8, 8, 16, 16, 24, 24, 6]);
  const tables = Array.from({ length: random.whole(1, 4) }, (): TableCase => {
    const [rows, dim] = [random.whole(1, 60), random.whole(1, 12)];
    const combiner = random.pick(['sum', 'mean', 'sqrtn'] as const);
    return { rows, dim, combiner, values: random.floats(rows * dim) };
  });
  // TPUEmbeddingV2 has no sequences.
  const hasSequences = random.chance(0.12);
  const features = Array.from({ length: random.whole(tables.length, 6) }, (_, i): FeatureCase => {
    const table = i < tables.length ? i : random.whole(0, tables.length);
    const kind = random.pick(['dense', 'ragged', 'sparse'] as const);
    const form = random.pick(['plain', 'deep', hasSequences && kind !== 'dense' ? 'sequence' : 'plain'] as const);
    const { rows } = tables[table]!;
    const lists = (): number[][] =>
      Array.from({ length: samples }, () =>
        Array.from({ length: kind === 'dense' ? 1 : random.whole(0, LONGEST + 2) }, () => random.whole(0, rows)),
      );
    const ids = Array.from({ length: STEPS }, lists);
    const isWeighted = kind !== 'dense' && form !== 'sequence' && random.chance(0.4);
    const weights = ids.map((step) => step.map((list) => list.map(() => Math.fround(0.25 + random.next()))));
    return { table, kind, form, ids, weights: isWeighted ? weights : null };
  });
  const limit = random.chance(0.08) ? 3 : 256;
  const names = ['', ...tables.map((_, i) => `t${i}`)];
  const stacks = names.flatMap((a) =>
    names.flatMap((b) => names.map((c) => [a, b, c].filter((n) => n !== '').join('_'))),
  );
  const limits = Object.fromEntries(stacks.filter((name) => name !== '').map((name) => [name, limit]));
  return {
    samples,
    tables,
    features,
    optimizer: random.pick(OPTIMIZERS),
    config: new tpu.SparseCoreEmbeddingConfig({
      disableTableStacking: random.chance(0.3),
      maxIdsPerTable: limits,
      maxUniqueIdsPerTable: limits,
    }),
    gradients: Array.from({ length: STEPS }, () =>
      features.map(({ table, form }) => {
        const rows = outputShapeOf(form, samples).reduce((size, length) => size * length);
        return random.floats(rows * tables[table]!.dim);
      }),
    ),
  };
}

type Api = 'TPUEmbedding' | 'TPUEmbeddingV2' | 'serving';

/** The ids or weights of a feature in the form that it has. */
function inputOf({ kind, form }: FeatureCase, lists: number[][], isFloat: boolean, api: Api): unknown {
  const isDeep = form === 'deep';
  if (kind === 'dense') {
    const flat = lists.flat();
    if (!isDeep) return Int32Array.from(flat);
    const pairs = Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2));
    // TPUEmbedding combines the last axis.
    return api === 'TPUEmbedding' ? pairs.map((pair) => pair.map((id) => [id])) : pairs;
  }
  const dtype = isFloat ? ('float32' as const) : ('int32' as const);
  if (kind === 'ragged') return emb.RaggedTensor.fromRows(lists, { dtype });
  const width = LONGEST + 2;
  if (!isDeep || api === 'TPUEmbeddingV2') {
    const indices = lists.flatMap((list, row) => list.map((_, column) => [row, column]));
    return { indices, values: lists.flat(), denseShape: [lists.length, width] };
  }
  const indices = lists.flatMap((list, row) => list.map((_, column) => [row >> 1, row & 1, column]));
  return { indices, values: lists.flat(), denseShape: [lists.length / 2, 2, width] };
}

interface Inputs {
  readonly features: Record<string, unknown>;
  readonly weights: Record<string, unknown>;
}

function inputs({ features }: Case, step: number, api: Api): Inputs {
  const of = (lists: (feature: FeatureCase) => number[][] | null, isFloat: boolean): Record<string, unknown> =>
    Object.fromEntries(
      features.map((feature, i) => {
        const found = lists(feature);
        return [`f${i}`, found === null ? null : inputOf(feature, found, isFloat, api)];
      }),
    );
  return { features: of(({ ids }) => ids[step]!, false), weights: of(({ weights }) => weights?.[step] ?? null, true) };
}

function configOf({ tables, features, samples }: Case): Record<string, tpu.FeatureConfig> {
  const made = tables.map(({ rows, dim, combiner, values }, i) => {
    const initializer = (shape: number[]): tf.Tensor => tf.tensor(values, shape);
    return new tpu.TableConfig({ vocabularySize: rows, dim, combiner, name: `t${i}`, initializer });
  });
  return Object.fromEntries(
    features.map(({ table, form }, i) => {
      const shape =
        form === 'sequence' ? { maxSequenceLength: LONGEST } : { outputShape: outputShapeOf(form, samples) };
      return [`f${i}`, new tpu.FeatureConfig({ table: made[table]!, ...shape })];
    }),
  );
}

/** Activations of the first step by feature, and tables after the last one. */
interface Outcome {
  readonly activations: number[][];
  readonly tables: Float32Array[];
}

/** Takes activations, by feature, and gives gradients for them. */
type Train = (activations: Record<string, tf.Tensor>) => Record<string, tf.Tensor>;

function trainer(example: Case, seen: number[][]): Train {
  let step = 0;
  return (activations) => {
    const names = example.features.map((_, i) => `f${i}`);
    if (step === 0) seen.push(...names.map((name) => [...activations[name]!.dataSync()]));
    const gradients = names.map((name, i) => {
      return [name, tf.tensor(example.gradients[step]![i]!, activations[name]!.shape)] as const;
    });
    step++;
    return Object.fromEntries(gradients);
  };
}

function run(example: Case, make: () => tpu.TPUEmbedding | tpu.TPUEmbeddingV2): Outcome {
  const activations: number[][] = [];
  const train = trainer(example, activations);
  const embedding = make();
  try {
    for (let step = 0; step < STEPS; step++) {
      const isSecond = embedding instanceof tpu.TPUEmbeddingV2;
      const { features, weights } = inputs(example, step, isSecond ? 'TPUEmbeddingV2' : 'TPUEmbedding');
      if (embedding instanceof tpu.TPUEmbeddingV2) {
        const [found, preserved] = embedding.embeddingLookup(features, weights);
        const gradients = train(found as Record<string, tf.Tensor>);
        embedding.applyGradients(gradients, preserved);
        tf.dispose([found as tf.TensorContainer, gradients]);
      } else {
        embedding.enqueue(features, weights);
        const found = embedding.dequeue() as Record<string, tf.Tensor>;
        const gradients = train(found);
        embedding.applyGradients(gradients);
        tf.dispose([found, gradients]);
      }
    }
    const weights = embedding.getWeights();
    const order = orderOf(example);
    const tables = example.tables.map((_, i) => weights[order.indexOf(i)]!.dataSync<'float32'>());
    if (embedding instanceof tpu.TPUEmbeddingV2) tf.dispose(weights);
    return { activations, tables };
  } finally {
    embedding.dispose();
  }
}

/** Tables in the order in which features name them first. */
function orderOf({ features }: Case): number[] {
  return [...new Set(features.map(({ table }) => table))];
}

function runServing(example: Case): number[][] {
  const serving = new tpu.TPUEmbeddingForServing({ featureConfig: configOf(example), optimizer: null });
  const { features, weights } = inputs(example, 0, 'serving');
  const found = serving.call(features as never, weights as never) as Record<string, tf.Tensor>;
  const values = example.features.map((_, i) => [...found[`f${i}`]!.dataSync()]);
  tf.dispose(found);
  serving.dispose();
  return values;
}

function runPlain(example: Case): Outcome {
  const layers = example.tables.map(({ rows, dim, combiner, values }) => {
    const layer = emb.layers.embedding({ inputDim: rows, outputDim: dim, combiner });
    layer.build([null, null]);
    const tensor = tf.tensor2d(values, [rows, dim]);
    layer.setWeights([tensor]);
    tensor.dispose();
    return layer;
  });
  const optimizer = example.optimizer[1]();
  const activations: number[][] = [];
  for (let step = 0; step < STEPS; step++) {
    const loss = (): tf.Scalar =>
      tf.addN(
        example.features.map((feature, i) => {
          const { table, ids, weights } = feature;
          const rows = emb.RaggedTensor.fromRows(rowsOf(feature, ids[step]!), { dtype: 'int32' });
          const perId = weights === null ? null : emb.RaggedTensor.fromRows(weights[step]!, { dtype: 'float32' });
          const options = perId === null ? {} : { weights: perId };
          const pooled = layers[table]!.apply(rows as never, options as never) as unknown as tf.Tensor;
          if (step === 0) activations[i] = [...pooled.dataSync()];
          return pooled.mul(tf.tensor(example.gradients[step]![i]!, pooled.shape)).sum() as tf.Scalar;
        }),
      );
    optimizer.minimize(loss)?.dispose();
  }
  const tables = layers.map((layer) => layer.getWeights()[0]!.dataSync<'float32'>());
  optimizer.dispose();
  for (const { weights } of layers) for (const weight of weights) weight.dispose();
  return { activations, tables };
}

/** What a run gives, or the error of this package that it throws. */
function attempt<T>(body: () => T): T | Error {
  try {
    return body();
  } catch (error) {
    const { name, argument } = error as Error & { argument?: string };
    if (!['ValueError', 'TypeError', 'RuntimeError'].includes(name) || argument === undefined) throw error;
    return error as Error;
  }
}

function expectNear(found: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    worst = Math.max(worst, Math.abs(found[i]! - expected[i]!) / (1 + Math.abs(expected[i]!)));
  }
  expect(found.length).withContext(what).toBe(expected.length);
  expect(worst).withContext(what).toBeLessThan(TOLERANCE);
}

describe('generated configs of TPU embeddings', () => {
  MACHINES.forEach((machine, number) => {
    const cores = machine.chips * machine.coresPerChip;
    it(
      `give the same by both versions, serving and plain layers on ${cores} cores`,
      async () => {
        const random = new Random(100 * SEED + 1 + number);
        const examples = Array.from({ length: Math.ceil(CASES / MACHINES.length) }, () => generatedCase(random));
        const plain = examples.map((example) => ({ ...runPlain(example), served: runServing(example) }));
        await withTpuEmulator(machine, () => {
          const agreed = [0, 0];
          examples.forEach((example, i) => {
            const before = tf.memory().numTensors;
            const [optimizer, featureConfig] = [example.optimizer[0](), configOf(example)];
            const sparseCoreEmbeddingConfig = example.config;
            const results = [
              attempt(() => run(example, () => new tpu.TPUEmbedding({ featureConfig, optimizer }) as tpu.TPUEmbedding)),
              attempt(() =>
                run(
                  example,
                  () =>
                    new tpu.TPUEmbeddingV2({
                      featureConfig,
                      optimizer,
                      sparseCoreEmbeddingConfig,
                    }) as tpu.TPUEmbeddingV2,
                ),
              ),
            ];
            expect(tf.memory().numTensors).withContext(`case ${i}: tensors`).toBe(before);
            plain[i]!.activations.forEach((expected, feature) =>
              expectNear(plain[i]!.served[feature]!, expected, `case ${i}, serving, feature ${feature}`),
            );
            results.forEach((result, version) => {
              if (result instanceof Error) {
                const { name, argument } = result as Error & { argument: string };
                expect([version, name]).withContext(`case ${i}: ${result.message}`).toEqual([1, 'ValueError']);
                expect(argument).withContext(result.message).toMatch(REFUSED);
                return;
              }
              agreed[version]!++;
              const what = `case ${i}, version ${version + 1}`;
              result.activations.forEach((found, f) =>
                expectNear(found, plain[i]!.activations[f]!, `${what}, feature ${f}`),
              );
              result.tables.forEach((found, t) => expectNear(found, plain[i]!.tables[t]!, `${what}, table ${t}`));
            });
            if (cores === 3) expect(results[1]).toBeInstanceOf(Error);
          });
          // TPUEmbedding takes every case; TPUEmbeddingV2 no sequences, and no 3 cores.
          expect(agreed[0]).toBe(examples.length);
          expect(agreed[1]! / examples.length).toBeGreaterThanOrEqual(cores === 3 ? 0 : 0.5);
        });
      },
      Math.max(60_000, CASES * 2_000),
    );
  });
});
