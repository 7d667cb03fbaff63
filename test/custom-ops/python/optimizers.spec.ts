// runner: python
/** The optimizers of the wheel take the steps that those of `emb.train` take, to the bit. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { addonPath } from '../../../src/backends/native/addon.js';
import { PYTHON_TIMEOUT_MS, pythonWithSources, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { describeForBackends, skipOrFail } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';

const SCRIPT = fileURLToPath(new URL('train_cases.py', import.meta.url));
const [ROWS, DIM, BATCH, PLACES, STEPS] = [40, 5, 6, 4, 25];

type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  readonly optimizer: keyof typeof emb.train;
  readonly fields: Fields;
  readonly layer?: Fields;
  readonly weighted?: boolean;
  readonly uses?: number;
}

interface Step {
  readonly ids: readonly (readonly (readonly number[])[])[]; // by use
  readonly weights: readonly (readonly (readonly number[])[])[];
  readonly factors: readonly (readonly (readonly number[])[])[];
  readonly dense: readonly number[];
}

interface Trained {
  readonly table: readonly number[];
  readonly dense: readonly number[];
  readonly state: Readonly<Record<string, readonly number[]>>;
}

const KINDS: readonly Kind[] = [
  { optimizer: 'sgd', fields: { learningRate: 0.1 } },
  { optimizer: 'sgd', fields: { learningRate: 0.1, momentum: 0.9, nesterov: true }, layer: { combiner: 'sum' } },
  { optimizer: 'sgd', fields: { learningRate: 0.1, momentum: 0.5, lazy: false } },
  { optimizer: 'adagrad', fields: { learningRate: 0.1 } },
  { optimizer: 'adagrad', fields: { learningRate: 0.1 }, layer: { combiner: 'max' } },
  { optimizer: 'adagrad', fields: { learningRate: 0.1, clipNorm: 0.7, clipWeightMin: -0.5 }, weighted: true },
  { optimizer: 'adagrad', fields: { learningRate: 0.1, globalClipNorm: 1.5 }, layer: { combiner: 'sqrtn' } },
  { optimizer: 'adagrad', fields: { learningRate: 0.1 }, layer: { combiner: 'sum', maxNorm: 0.8 }, weighted: true },
  { optimizer: 'adagrad', fields: { learningRate: 0.1 }, uses: 3 },
  { optimizer: 'rowWiseAdagrad', fields: { learningRate: 0.1, weightDecay: 0.01 } },
  { optimizer: 'adagradMomentum', fields: { learningRate: 0.01, momentum: 0.9, useNesterov: true, exponent: 3 } },
  { optimizer: 'adagradMomentum', fields: { learningRate: 0.01, beta2: 0.9, lazy: false } },
  { optimizer: 'adam', fields: { learningRate: 0.01 } },
  { optimizer: 'adam', fields: { learningRate: 0.01, amsgrad: true, clipValue: [-0.3, null] } },
  { optimizer: 'adam', fields: { learningRate: 0.01, biasCorrection: false, sumInsideSqrt: true, lazy: false } },
  { optimizer: 'ftrl', fields: { learningRate: 0.1, l1: 0.01, l2: 0.02, beta: 0.1 } },
  { optimizer: 'ftrl', fields: { learningRate: 0.1, multiplyLinearByLearningRate: true, learningRatePower: -0.4 } },
  { optimizer: 'adamW', fields: { learningRate: 0.01, lazy: false } },
  { optimizer: 'adamW', fields: { learningRate: 0.01, weightDecay: 0.03, amsgrad: true } },
  { optimizer: 'rmsprop', fields: { learningRate: 0.01 } },
  { optimizer: 'rmsprop', fields: { learningRate: 0.01, centered: true, rho: 0.8 }, layer: { maskZero: true } },
  { optimizer: 'rmsprop', fields: { learningRate: 0.01, momentum: 0.9, centered: true } },
  { optimizer: 'rmsprop', fields: { learningRate: 0.01, momentum: 0.9, lazy: false } },
];

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const snakeKeys = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value]));

function listOf<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

class Case {
  readonly kind: Required<Kind>;
  readonly table: readonly number[];
  readonly dense: readonly number[];
  readonly steps: readonly Step[];

  constructor(kind: Kind, seed: number) {
    const random = new Random(seed);
    const floats = (count: number, low?: number): number[] => [...random.floats(count, low)];
    const uses = kind.uses ?? 1;
    this.kind = { layer: {}, weighted: false, uses, ...kind };
    this.table = floats(ROWS * DIM);
    this.dense = floats(3);
    const id = (): number => (random.chance(0.3) ? -1 : random.whole(0, ROWS));
    this.steps = listOf(STEPS, () => ({
      ids: listOf(uses, () => listOf(BATCH, () => listOf(PLACES, id))),
      weights: listOf(uses, () => listOf(BATCH, () => floats(PLACES, 0.1))),
      factors: listOf(uses, () => listOf(BATCH, () => floats(DIM))),
      dense: floats(3),
    }));
  }

  get title(): string {
    const { optimizer, fields, layer, weighted, uses } = this.kind;
    return JSON.stringify({ optimizer, ...fields, ...layer, ...(weighted ? { weighted } : {}), uses });
  }

  /** For Python; every other case runs in `tf.function`. */
  json(traced: boolean): Fields {
    const { optimizer, fields, layer, ...rest } = this.kind;
    const { table, dense, steps } = this;
    const names = { optimizer: snake(optimizer), fields: snakeKeys(fields), layer: snakeKeys(layer) };
    return { ...rest, ...names, table, dense, steps, traced, rows: ROWS, dim: DIM };
  }

  /** The same steps here. */
  async train(): Promise<Trained> {
    const { optimizer: name, fields, layer: options, weighted, uses } = this.kind;
    const layer = emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: DIM, combiner: 'mean', ...options } as never);
    layer.build([null, PLACES]);
    tf.tidy(() => layer.setWeights([tf.tensor2d([...this.table], [ROWS, DIM])]));
    const dense = tf.variable(tf.tensor1d([...this.dense]), true, `python_case_${Math.random()}`);
    const optimizer = (emb.train[name] as (fields: Fields) => tf.Optimizer)(fields);
    for (const step of this.steps) {
      const ids = tf.tensor3d(step.ids as number[][][], [uses, BATCH, PLACES], 'int32');
      const weights = tf.tensor3d(step.weights as number[][][]);
      const factors = tf.tensor3d(step.factors as number[][][]);
      const of = (all: tf.Tensor3D, use: number): tf.Tensor => all.slice([use], [1]).squeeze([0]);
      optimizer.minimize(() => {
        let loss = dense.mul(tf.tensor1d([...step.dense])).sum();
        for (let use = 0; use < uses; use++) {
          const inputs = weighted ? [of(ids, use), of(weights, use)] : of(ids, use);
          loss = loss.add((layer.apply(inputs) as tf.Tensor).mul(of(factors, use)).sum());
        }
        return loss as tf.Scalar;
      });
      tf.dispose([ids, weights, factors]);
    }
    const [table] = layer.getWeights() as [tf.Tensor];
    const state = await optimizer.getWeights();
    const tableName = layer.weights[0]!.originalName;
    const named = state.slice(1).map(({ name: of, tensor }) => {
      const own = of.replace(tableName, 'table').replace(dense.name, 'dense');
      return [own, [...tensor!.dataSync()]] as const;
    });
    const result = { table: [...table.dataSync()], dense: [...dense.dataSync()], state: Object.fromEntries(named) };
    tf.dispose(dense);
    optimizer.dispose();
    for (const weight of layer.weights) weight.dispose();
    return result;
  }
}

const expectEqual = (a: readonly number[], b: readonly number[]): void => expect(a).toEqual([...b]);
const expectNear = (a: readonly number[], b: readonly number[]): void =>
  expect(a.every((value, i) => Math.abs(value - b[i]!) <= 2e-5))
    .withContext(`${a}\n${b}`)
    .toBeTrue();

const CASES = KINDS.map((kind, i) => new Case(kind, 100 + i));

describe('the optimizers of the wheel', () => {
  let python: Python | string;
  let inPython: readonly Trained[] = [];

  beforeAll(() => {
    python = pythonWithSources(addonPath());
    if (typeof python === 'string') return;
    const folder = mkdtempSync(join(tmpdir(), 'te-python-'));
    try {
      const file = join(folder, 'cases.json');
      writeFileSync(file, JSON.stringify(CASES.map((each, i) => each.json(i % 2 === 1))));
      inPython = JSON.parse(python.run(SCRIPT, file).trim().split('\n').at(-1)!) as Trained[];
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, PYTHON_TIMEOUT_MS);
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  describeForBackends(
    'step as emb.train, to the bit',
    ({ backend }) => {
      CASES.forEach((each, i) => {
        it(each.title, async () => {
          const here = await each.train();
          const there = inPython[i]!;
          const names = Object.keys(here.state);
          expect(Object.keys(there.state)).toEqual(names);
          // On `cpu` ops of tfjs sum norms, and step dense variables where a rule does it: in another order.
          const isNorm = 'globalClipNorm' in each.kind.fields;
          const isRule = names.some((name) => /^dense\/.*(momenta|velocities)$/.test(name));
          const ofTables = backend === 'cpu' && isNorm ? expectNear : expectEqual;
          const ofDense = backend === 'cpu' && (isNorm || isRule) ? expectNear : expectEqual;
          ofTables(there.table, here.table);
          ofDense(there.dense, here.dense);
          for (const name of names) {
            (name.startsWith('dense/') ? ofDense : ofTables)(there.state[name]!, here.state[name]!);
          }
          expect(here.table).not.toEqual([...each.table]);
        });
      });
    },
    ['cpu native', 'tensorflow'],
  );
});
