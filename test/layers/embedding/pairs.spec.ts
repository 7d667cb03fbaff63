/**
 * Two settings of an embedding layer at once: every two values of two settings meet in some case, whose results and steps
 * are those of products that tfjs differentiates by itself.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { codecOf } from '../../../src/codecs/codecs.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectRejection } from '../../helpers/errors.js';
import { composedBags, composedRows, type Bag } from '../../helpers/pairs/composed_lookup.js';
import { caseText, pairCases } from '../../helpers/pairs/covering.js';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';

const ROWS = 6;
const DIM = 4;
const BATCH = 3;
const LENGTH = 3;
const RATE = 0.5;

const SETTINGS = {
  kind: ['embedding', 'raggedEmbedding'],
  combiner: [null, 'sum', 'mean', 'sqrtn', 'max'],
  maskZero: [false, true],
  maxNorm: [null, 0.6],
  outOfRange: [undefined, 'error', 'zero'],
  weights: [false, true],
  form: ['dense', 'padded', 'float', 'cube', 'ragged', 'pair', 'sparse'],
  inputLength: [null, LENGTH],
  storage: ['float32', 'float16', 'int8'],
  regularizer: [null, 'l1', 'l2'],
  constraint: [null, 'nonNeg', 'maxNorm'],
  trainable: [true, false],
  isShared: [false, true],
  call: ['apply', 'predict', 'fit', 'minimize'],
} as const;

const RAGGED: readonly string[] = ['ragged', 'pair', 'sparse'];
const { legal, refused } = pairCases(SETTINGS, (given) => {
  if (given.weights && (given.combiner === null || given.combiner === 'max')) return 'combiner';
  if (given.form === 'cube' && given.inputLength !== null) return 'ids';
  if (given.form === 'sparse' && given.combiner === null) return 'combiner';
  const isStep = given.call === 'fit' || given.call === 'minimize';
  return isStep && given.storage === 'int8' && given.trainable ? 'storage' : null;
});
type Case = (typeof legal)[number];

/** The ids of a step as a layer takes them, and as they are meant. */
interface Ids {
  readonly bags: readonly Bag[];
  readonly given: unknown;
  readonly weights: unknown;
}

function drawIds(random: Random, { form, outOfRange, weights }: Case): Ids {
  const count = form === 'cube' ? 2 * BATCH : BATCH;
  const isRagged = RAGGED.includes(form);
  const idOf = (): number => {
    if (form === 'padded' && random.chance(0.25)) return -1;
    return outOfRange === 'zero' && random.chance(0.2) ? ROWS : random.whole(0, ROWS);
  };
  const lengths = Array.from({ length: count }, (_, i) => (isRagged ? [2, 0, 3][i % 3]! : LENGTH));
  const ids = lengths.map((length) => Array.from({ length }, idOf));
  const factors = weights ? ids.map((bag) => bag.map(() => random.whole(0, 9) / 4)) : null;
  const bags = ids.map((bag, i) => ({ ids: bag, weights: factors?.[i] ?? null }));
  const formOf = (values: number[][], dtype: 'int32' | 'float32'): unknown => {
    const flat = values.flat();
    const rowSplits = values.reduce((all, { length }) => [...all, all.at(-1)! + length], [0]);
    const places = values.flatMap((row, i) => row.map((_, j) => [i, j]));
    switch (form) {
      case 'ragged':
        return emb.RaggedTensor.fromRows(values, { dtype });
      case 'pair':
        return { values: dtype === 'int32' ? flat : Float32Array.from(flat), rowSplits };
      case 'sparse':
        return { indices: places, values: flat, denseShape: [BATCH, LENGTH] };
      case 'cube':
        return tf.tensor3d(flat, [BATCH, 2, LENGTH], dtype);
      default:
        return tf.tensor2d(flat, [BATCH, LENGTH], form === 'float' ? 'float32' : dtype);
    }
  };
  return { bags, given: formOf(ids, 'int32'), weights: factors && formOf(factors, 'float32') };
}

const REGULARIZERS = {
  l1: () => tf.regularizers.l1({ l1: 0.05 }),
  l2: () => tf.regularizers.l2({ l2: 0.05 }),
} as const;
const CONSTRAINTS = {
  nonNeg: () => tf.constraints.nonNeg(),
  maxNorm: () => tf.constraints.maxNorm({ maxValue: 0.8, axis: 1 }),
} as const;

/** The layer of a case, with rows that halves hold exactly. */
function makeLayer(given: Case, values: number[][]): emb.Embedding | emb.RaggedEmbedding {
  const { kind, combiner, maskZero, maxNorm, outOfRange, inputLength, storage, trainable } = given;
  const ofTable = {
    inputDim: ROWS,
    outputDim: DIM,
    weights: [values],
    storage,
    embeddingsRegularizer: given.regularizer && REGULARIZERS[given.regularizer](),
    embeddingsConstraint: given.constraint && CONSTRAINTS[given.constraint](),
  };
  const table = given.isShared ? { table: emb.embeddingTable(ofTable) } : ofTable;
  return emb.layers[kind]({ ...table, combiner, maskZero, maxNorm, outOfRange, inputLength, trainable } as never);
}

/** The numbers that a layer's rows stand for. */
function rowsOf(layer: { getWeights(): tf.Tensor[] }, storage: Case['storage']): Float32Array {
  const words = layer.getWeights()[0]!.dataSync<'float32' | 'int32'>();
  return Float32Array.from(codecOf(storage).unpack(words, DIM));
}

/** Which ids stand for nothing. */
function isAbsent({ combiner, maskZero }: Case): (id: number) => boolean {
  // Without a combiner the row of id 0 is there, and masked.
  return (id) => id < 0 || (maskZero && combiner !== null && id === 0);
}

/** What the layer gives, by products: of bags, or of all ids in their order. */
function composed(given: Case, table: tf.Tensor2D, bags: readonly Bag[]): tf.Tensor2D {
  const { combiner, maxNorm } = given;
  const options = { maxNorm, isAbsent: isAbsent(given) };
  if (combiner !== null) return composedBags(table, bags, { ...options, combiner });
  return composedRows(
    table,
    bags.flatMap(({ ids }) => ids),
    options,
  );
}

/** One row for each of `composed`: what a loss multiplies results with. */
const drawFactors = (random: Random, { combiner }: Case, bags: readonly Bag[]): tf.Tensor2D => {
  const rows = combiner === null ? bags.reduce((sum, { ids }) => sum + ids.length, 0) : bags.length;
  return tf.tensor2d(random.floats(rows * DIM), [rows, DIM]);
};

/** A step of SGD on the rows that a loss touches, with its penalty and what rows are held to. */
function stepped(given: Case, values: Float32Array, bags: readonly Bag[], factors: tf.Tensor2D): Float32Array {
  const touched = [...new Set(bags.flatMap(({ ids }) => ids))].filter((id) => !isAbsent(given)(id) && id < ROWS);
  const table = tf.tensor2d(values, [ROWS, DIM]);
  const gradient = tf.grad((x) => {
    const loss = composed(given, x as tf.Tensor2D, bags)
      .mul(factors)
      .sum();
    const own = composedRows(x as tf.Tensor2D, touched, { maxNorm: null });
    if (given.regularizer === null || touched.length === 0) return loss;
    return loss.add(given.regularizer === 'l1' ? own.abs().sum().mul(0.05) : own.square().sum().mul(0.05));
  })(table);
  const rows = table.sub(gradient.mul(RATE)).arraySync() as number[][];
  for (const row of given.constraint === null ? [] : touched.map((id) => rows[id]!)) {
    const scale = Math.min(1, 0.8 / Math.hypot(...row));
    row.forEach((value, c) => (row[c] = given.constraint === 'nonNeg' ? Math.max(value, 0) : value * scale));
  }
  return Float32Array.from(rows.flat());
}

/** Results as [rows, DIM], without the places that rows of a model are padded by. */
function resultRows(result: unknown, given: Case, bags: readonly Bag[]): ArrayLike<number> {
  if (result instanceof emb.RaggedTensor) return result.values as Float32Array;
  const values = (result as tf.Tensor).dataSync();
  if (given.combiner !== null || !RAGGED.includes(given.form)) return values;
  const longest = Math.max(...bags.map(({ ids }) => ids.length));
  return bags.flatMap(({ ids }, b) => [...values.slice(b * longest * DIM, (b * longest + ids.length) * DIM)]);
}

/** Factors in the shape of a model's result. */
function targets(given: Case, bags: readonly Bag[], factors: tf.Tensor2D): tf.Tensor {
  if (given.combiner !== null) return given.form === 'cube' ? factors.reshape([BATCH, 2, DIM]) : factors;
  if (given.form === 'cube') return factors.reshape([BATCH, 2, LENGTH, DIM]);
  const longest = Math.max(...bags.map(({ ids }) => ids.length));
  const rows = factors.arraySync();
  const padding = new Array<number>(DIM).fill(9);
  return tf.tensor3d(
    bags.map(({ ids }) => Array.from({ length: longest }, (_, i) => (i < ids.length ? rows.shift()! : padding))),
  );
}

class Run {
  readonly layer: ReturnType<typeof makeLayer>;
  model: tf.LayersModel | null = null;
  readonly optimizer = emb.train.sgd({ learningRate: RATE });
  readonly other = tf.variable(tf.scalar(1));
  readonly random: Random;

  constructor(
    readonly given: Case,
    seed: number,
  ) {
    this.random = new Random(seed);
    const values = Array.from({ length: ROWS }, () =>
      Array.from({ length: DIM }, () => this.random.whole(-64, 65) / 64),
    );
    this.layer = makeLayer(given, values);
  }

  /** Makes the model, where the case has one. */
  build(): void {
    if (this.given.call === 'predict' || this.given.call === 'fit') this.model = this.#modelOf();
  }

  #modelOf(): tf.LayersModel {
    const { form, inputLength, weights } = this.given;
    const shape = form === 'cube' ? [2, null] : [inputLength];
    const ids = tf.input({ shape, dtype: 'int32' });
    const inputs = weights ? [ids, tf.input({ shape })] : [ids];
    const outputs = this.layer.apply(inputs.length === 1 ? ids : inputs) as tf.SymbolicTensor;
    const model = tf.model({ inputs, outputs });
    model.compile({ optimizer: this.optimizer, loss: (y: tf.Tensor, p: tf.Tensor) => y.mul(p).sum() as tf.Scalar });
    return model;
  }

  get inputs(): { given: unknown; bags: readonly Bag[] } {
    const { bags, given, weights } = drawIds(this.random, this.given);
    return { bags, given: weights === null ? given : [given, weights] };
  }

  #apply(inputs: unknown, isStep: boolean): unknown {
    return this.layer.apply(inputs as tf.Tensor, isStep ? { training: true } : undefined);
  }

  expectResult(what: string): void {
    tf.tidy(() => {
      const { given, bags } = this.inputs;
      const result = this.model === null ? this.#apply(given, false) : this.model.predict(given as tf.Tensor);
      const table = tf.tensor2d(rowsOf(this.layer, this.given.storage), [ROWS, DIM]);
      const expected = composed(this.given, table, bags).dataSync();
      expectClose(resultRows(result, this.given, bags), expected, 4, what, 2e-6);
    });
  }

  /** Two steps. Results of ragged rows without a combiner are no tensors: a model alone trains them. */
  async expectSteps(what: string): Promise<void> {
    const { call, storage, trainable } = this.given;
    for (let step = 0; step < 2; step++) {
      const { given, bags } = this.inputs;
      const factors = drawFactors(this.random, this.given, bags);
      const before = rowsOf(this.layer, storage);
      const expected = trainable ? tf.tidy(() => stepped(this.given, before, bags, factors)) : before;
      const y = targets(this.given, bags, factors);
      if (call === 'fit') {
        // Nothing is trained then.
        if (!trainable) return;
        await this.model!.trainOnBatch(given as tf.Tensor, y);
      } else {
        this.optimizer.minimize(() => {
          const result = this.#apply(given, true) as tf.Tensor;
          const penalties = trainable ? this.layer.calculateLosses() : [];
          return tf.addN([result.mul(y.reshape(result.shape)).sum(), this.other, ...penalties]) as tf.Scalar;
        });
      }
      const tolerance = storage === 'float32' ? 1e-6 : 1e-3;
      expectClose(rowsOf(this.layer, storage), expected, 2, `${what}, step ${step}`, tolerance);
    }
  }

  dispose(): void {
    const { layer, model } = this;
    if (model !== null) model.dispose();
    // tfjs disposes no layer that was built and then refused its first inputs.
    else if (layer.embeddings !== null && (layer as unknown as { _refCount: number | null })._refCount === null) {
      layer.embeddings.dispose();
    } else if (layer.embeddings !== null) layer.dispose();
    this.optimizer.dispose();
    this.other.dispose();
  }
}

async function runCase(given: Case, seed: number): Promise<void> {
  tf.engine().startScope();
  const run = new Run(given, seed);
  try {
    const what = caseText(given);
    run.build();
    run.expectResult(what);
    if (given.call === 'fit' || (given.call === 'minimize' && !isRaggedResult(given))) await run.expectSteps(what);
  } finally {
    run.dispose();
    tf.engine().endScope();
  }
}

/** Whether the layer itself gives a RaggedTensor, which no loss takes. */
function isRaggedResult({ combiner, form }: Case): boolean {
  return combiner === null && (form === 'ragged' || form === 'pair');
}

describeForBackends(
  'two settings of an embedding layer at once',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('give and train what products do', async () => {
      for (const [seed, given] of legal.entries()) {
        await runCase(given, seed + 1).catch((error: unknown) => fail(`${caseText(given)}: ${(error as Error).stack}`));
      }
    });

    it('are refused where they do not go together', async () => {
      expect(refused.length).toBeGreaterThan(0);
      for (const { given, argument } of refused) {
        await expectRejection(() => runCase(given, 1), 'ValueError', argument);
      }
    });
  },
  ['cpu native', 'wasm'],
);
