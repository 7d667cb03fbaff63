/** Specs that every implementation must pass: values of TensorFlow, and the reference over generated cases. */
import { readFileSync } from 'node:fs';
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../src/rules/hyper.js';
import { IdOutOfRange, floatTable, type BagOptions, type KernelSet } from '../../src/backends/kernel_set.js';
import { referenceKernels } from '../../src/backends/reference/reference_kernel_set.js';
import type { Combiner } from '../../src/base/types.js';
import { UPDATE_NAMES, SLOT_NAMES, slotShapes, type UpdateName } from '../../src/rules/rules.js';
import {
  bagCases,
  copyTable,
  drawnHyper,
  hyperCase,
  packedHyperCase,
  usedSlots,
  withoutNumbers,
  type BagCase,
} from './bag_cases.js';
import { itReachesEveryColumn } from './every_column.js';
import { gradientMagnitude, pooledMagnitudes, weightsGradientMagnitude } from './magnitudes.js';
import { expectClose, firstDifference } from './tensors.js';
import { itLimitsWeights } from './weight_limits.js';
import { lookUpInto, stepOne } from './kernel_calls.js';

/** The kernels under test. */
export type Kernels = Omit<KernelSet, 'name' | 'info' | 'setThreads' | 'allocate'>;

function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../goldens/${name}`, import.meta.url), 'utf8')) as T;
}

const RATES_IN_MOMENTA: readonly UpdateName[] = ['momentum', 'rmspropMomentum', 'rmspropCenteredMomentum'];
interface LookupIds {
  readonly kind: 'sparse' | 'ragged';
  readonly values: number[];
  readonly indices?: number[][];
  readonly dense_shape?: number[];
  readonly row_splits?: number[];
}

interface LookupGolden {
  readonly op: string;
  readonly combiner: Combiner;
  readonly max_norm: number | null;
  readonly case: string;
  readonly ids: LookupIds;
  readonly weights: LookupIds | null;
  readonly output: number[][];
  readonly grad_of_sum_y_times_1_to_n: number[][];
}

function splitsOf(ids: LookupIds): Int32Array {
  if (ids.row_splits !== undefined) return Int32Array.from(ids.row_splits);
  const splits = new Int32Array(ids.dense_shape![0]! + 1);
  for (const [row] of ids.indices!) splits[row! + 1]!++;
  for (let row = 1; row < splits.length; row++) splits[row]! += splits[row - 1]!;
  return splits;
}

function lookupGoldens(kernels: Kernels): void {
  const goldens = readGolden<{ table: number[][]; cases: LookupGolden[] }>('lookup_sparse.json');
  const data = Float32Array.from(goldens.table.flat());
  const table = floatTable(data, goldens.table.length, goldens.table[0]!.length);
  // The safe lookup prunes before it comes to a kernel.
  const cases = goldens.cases.filter(({ op }) => op === 'embedding_lookup_sparse');
  for (const golden of cases) {
    const what = `${golden.combiner} ${golden.case} maxNorm ${golden.max_norm}`;
    const bags = {
      values: Int32Array.from(golden.ids.values),
      rowSplits: splitsOf(golden.ids),
      weights: golden.weights === null ? null : Float32Array.from(golden.weights.values),
    };
    const batch = bags.rowSplits.length - 1;
    const options: BagOptions = { combiner: golden.combiner, outOfRange: 'error', maxNorm: golden.max_norm ?? 0 };
    const expected = new Float32Array(batch * table.dim); // TensorFlow leaves trailing empty rows out
    expected.set(golden.output.flat());
    const pooled = new Float32Array(batch * table.dim).fill(NaN);
    lookUpInto(kernels, table, bags, options, pooled);
    expectClose(pooled, expected, 10, what);
    const upstream = Float32Array.from({ length: pooled.length }, (_, i) => i + 1);
    // d/dy of sum(y * [1..n]) counts through the columns of all rows.
    const { uniqueIds, rowGradients } = kernels.rowGradients(
      upstreamOf(golden, upstream, table.dim),
      bags,
      table,
      options,
    );
    const dense = new Float32Array(data.length);
    uniqueIds.forEach((id, u) => dense.set(rowGradients.subarray(u * table.dim, (u + 1) * table.dim), id * table.dim));
    expectClose(dense, golden.grad_of_sum_y_times_1_to_n.flat(), 50, `${what}, gradient`);
  }
  expect(cases.length).toBeGreaterThan(20);
}

/** The goldens number the values of their own output, trailing empty rows left out. */
function upstreamOf(golden: LookupGolden, numbered: Float32Array, dim: number): Float32Array {
  return numbered.map((value, i) => (i < golden.output.length * dim ? value : 0));
}

interface OptimizerGolden {
  readonly name: string;
  readonly optimizer: string;
  readonly learning_rate: number;
  readonly hyper: Readonly<Record<string, number | boolean>>;
  readonly slots_initial: Readonly<Record<string, number>>;
  readonly slot_names: string[];
  readonly clip_w?: [number, number];
  readonly clip_g?: [number, number];
  readonly steps: Readonly<Record<string, number[][]>>[];
}

const OPTIMIZERS: Readonly<Record<string, UpdateName>> = {
  sgd: 'sgd',
  adagrad: 'adagrad',
  adagrad_momentum: 'adagradMomentum',
  adam: 'adam',
  ftrl: 'ftrl',
};

function hyperOf(golden: OptimizerGolden): Float32Array {
  const { hyper: given } = golden;
  const number = (name: string, otherwise: number): number => Number(given[name] ?? otherwise);
  const hyper: Hyper = {
    ...NEUTRAL_HYPER,
    learningRate: golden.learning_rate,
    epsilon: number('epsilon', 0),
    momentum: number('momentum', 0),
    useNesterov: number('use_nesterov', 0),
    exponent: number('exponent', 2),
    beta1: number('beta_1', 0),
    beta2: number('beta2', number('beta_2', 1)),
    sumInsideSqrt: number('sum_inside_sqrt', 0),
    lazy: number('lazy_adam', 1),
    learningRatePower: number('learning_rate_power', -0.5),
    l1: number('l1_regularization_strength', 0),
    l2: number('l2_regularization_strength', 0),
    beta: number('beta', 0),
    multiplyLinearByLearningRate: number('multiply_linear_by_learning_rate', 0),
    clipGradientMin: golden.clip_g?.[0] ?? -Infinity,
    clipGradientMax: golden.clip_g?.[1] ?? Infinity,
    clipWeightMin: golden.clip_w?.[0] ?? -Infinity,
    clipWeightMax: golden.clip_w?.[1] ?? Infinity,
  };
  return packHyper(hyper);
}

function optimizerGoldens(kernels: Kernels): void {
  const goldens = readGolden<{
    table: number[][];
    batches: { ids: number[]; grads: number[][] }[];
    cases: OptimizerGolden[];
  }>('optimizers.json');
  for (const golden of goldens.cases) {
    const optimizer = OPTIMIZERS[golden.optimizer]!;
    expect(golden.slot_names).toEqual([...SLOT_NAMES[optimizer]]);
    const rows = goldens.table.length;
    const table = floatTable(Float32Array.from(goldens.table.flat()), rows, goldens.table[0]!.length);
    const slots = golden.slot_names.map((name) =>
      new Float32Array(table.data.length).fill(golden.slots_initial[name]!),
    );
    goldens.batches.forEach(({ ids, grads }, step) => {
      const bags = {
        values: Int32Array.from(ids),
        rowSplits: Int32Array.from({ length: ids.length + 1 }, (_, i) => i),
        weights: null,
      };
      const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
      const gradient = Float32Array.from(grads.flat());
      stepOne(kernels, optimizer, table, slots, gradient, bags, options, hyperOf(golden));
      const expected = golden.steps[step]!;
      expectClose(table.data, expected['parameters']!.flat(), 2, `${golden.name}, step ${step}`, 2e-6);
      golden.slot_names.forEach((name, i) => {
        expectClose(slots[i]!, expected[name]!.flat(), 10, `${golden.name}, step ${step}, ${name}`, 2e-6);
      });
    });
  }
  expect(goldens.cases.length).toBe(15);
}

/** Lookups, gradients and steps against numbers that TensorFlow computed. */
export function itEqualsTensorFlow(kernels: () => Kernels): void {
  it('equals TensorFlow in lookups and their gradients', () => lookupGoldens(kernels()));
  it('equals TensorFlow in optimizer steps', () => optimizerGoldens(kernels()));
}

/** Generated cases against the reference. */
export function itEqualsTheReference(kernels: () => Kernels, count = 120): void {
  const cases = bagCases(count);
  const some = cases.slice(0, 54); // each width six times

  it('pools as the reference does', () => {
    for (const example of cases) {
      const { table, bags, options } = example;
      const length = (bags.rowSplits.length - 1) * table.dim;
      const [expected, actual] = [new Float32Array(length), new Float32Array(length).fill(NaN)];
      lookUpInto(referenceKernels, table, bags, options, expected);
      lookUpInto(kernels(), table, bags, options, actual);
      expectClose(actual, expected, pooledMagnitudes(example), example.name);
    }
  });

  it('gives the reference gradients of the table', () => {
    for (const example of cases) {
      const { table, bags, options, gradient } = example;
      const expected = referenceKernels.rowGradients(gradient, bags, table, options);
      const actual = kernels().rowGradients(gradient, bags, table, options);
      expect([...actual.uniqueIds])
        .withContext(example.name)
        .toEqual([...expected.uniqueIds]);
      expectClose(actual.rowGradients, expected.rowGradients, gradientMagnitude(example), example.name);
    }
  });

  it('gives the reference gradients of the weights', () => {
    for (const example of cases.filter(({ bags }) => bags.weights !== null)) {
      const { table, bags, options, gradient } = example;
      const length = bags.values.length;
      const [expected, actual] = [new Float32Array(length), new Float32Array(length).fill(NaN)];
      referenceKernels.weightsGradient(table, gradient, bags, options, expected);
      kernels().weightsGradient(table, gradient, bags, options, actual);
      expectClose(actual, expected, weightsGradientMagnitude(example), example.name);
    }
  });

  /** A step of a case by both; squares of gradients enter the slots, so `magnitude` is that of the numbers there are. */
  const expectStep = (
    optimizer: UpdateName,
    example: BagCase,
    seed: number,
    hyper: Float32Array,
    magnitude = gradientMagnitude(example),
  ): void => {
    const { bags, options, gradient } = example;
    const run = (set: Kernels): Float32Array[] => {
      const table = copyTable(example.table);
      const slots = usedSlots(optimizer, table, seed);
      stepOne(set, optimizer, table, slots, gradient, bags, options, hyper);
      return [table.data, ...slots];
    };
    const expected = run(referenceKernels);
    run(kernels()).forEach((each, i) => {
      expectClose(each, expected[i]!, (1 + magnitude) ** 2, `${example.name} [${i}]`, 4e-6);
    });
  };

  for (const optimizer of UPDATE_NAMES) {
    it(`steps as the reference does: ${optimizer}`, () => {
      cases.forEach((example, seed) => expectStep(optimizer, example, seed, packedHyperCase(optimizer, seed)));
    });

    it(`steps as the reference does with every hyper-parameter set: ${optimizer}`, () => {
      some.forEach((example, seed) => expectStep(optimizer, example, seed, packHyper(drawnHyper(seed))));
    });

    it(`steps as the reference does by gradients and weights that are no finite numbers: ${optimizer}`, () => {
      some.forEach((example, seed) => {
        const hyper = packedHyperCase(optimizer, seed);
        expectStep(optimizer, withoutNumbers(example, seed), seed, hyper, gradientMagnitude(example));
      });
    });
  }

  itReachesEveryColumn(kernels);
  itLimitsWeights(kernels);

  it('changes no weight at learning rate 0, and trains on as if that step of ftrl had not been', () => {
    for (const optimizer of UPDATE_NAMES.filter((each) => !RATES_IN_MOMENTA.includes(each))) {
      cases.slice(0, 30).forEach((example, seed) => {
        const { bags, options, gradient } = example;
        const hyper = hyperCase(optimizer, seed, {});
        const table = copyTable(example.table);
        const slots = usedSlots(optimizer, table, seed);
        const step = (learningRate: number): void => {
          const packed = packHyper({ ...hyper, learningRate });
          stepOne(kernels(), optimizer, table, slots, gradient, bags, options, packed);
        };
        step(0);
        const what = `${optimizer}, ${example.name}`;
        expect(firstDifference(table.data, example.table.data, 0, 0))
          .withContext(what)
          .toBe(-1);
        expect(slots.every((slot) => slot.every(Number.isFinite)))
          .withContext(what)
          .toBeTrue();
        if (optimizer === 'ftrl') {
          const before = usedSlots(optimizer, table, seed);
          slots.forEach((slot, i) =>
            expect(firstDifference(slot, before[i]!, 0, 0))
              .withContext(what)
              .toBe(-1),
          );
        }
        step(0.1);
        expect(table.data.every(Number.isFinite)).withContext(what).toBeTrue();
      });
    }
  });

  it('leaves a row of zeros as it is under a constraint on norms', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const bags = { values: Int32Array.of(0, 1), rowSplits: Int32Array.of(0, 1, 2), weights: null };
    for (const constraintMin of [0, 0.5, 1]) {
      const table = floatTable(Float32Array.of(0, 0, 3, 4), 2, 2);
      const hyper = { ...NEUTRAL_HYPER, learningRate: 1, constraint: 2, constraintMin, constraintMax: 1 };
      stepOne(kernels(), 'sgd', table, [], new Float32Array(4), bags, options, packHyper(hyper));
      expectClose(table.data, [0, 0, 0.6, 0.8], 1, `at least ${constraintMin}`);
    }
  });

  it('keeps NaN in a gradient whose values are clipped', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const bags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    for (const clip of [{ clipGradientMin: -0.5 }, { clipGradientMax: 0.5 }]) {
      const table = floatTable(Float32Array.of(1, 1, 1, 1, 1), 1, 5);
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, ...clip });
      stepOne(kernels(), 'sgd', table, [], Float32Array.of(0.25, NaN, 0.25, NaN, 0.25), bags, options, hyper);
      expect([...table.data]).toEqual([0.75, NaN, 0.75, NaN, 0.75]);
    }
  });

  it('keeps the weights finite where squares of gradients are too small for a float', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const bags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    for (const optimizer of UPDATE_NAMES) {
      const table = floatTable(Float32Array.of(1, 1), 1, 2);
      const slots = slotShapes(optimizer, [1, 2]).map(([, dim = 1]) => new Float32Array(dim));
      // Means of all squares so far where a step adds none, and squares alone where it forgets all others.
      const beta2 = optimizer.endsWith('ByRow') ? 0.99 : 1;
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, beta1: 0.9, beta2 });
      stepOne(kernels(), optimizer, table, slots, Float32Array.of(1e-30, 0), bags, options, hyper);
      for (const value of [...table.data, ...slots.flatMap((slot) => [...slot])]) {
        expect(Math.abs(value)).withContext(optimizer).toBeLessThanOrEqual(1);
      }
      expect(table.data[1]).withContext(optimizer).toBe(1);
    }
  });

  it('spoils the whole gradient where its norm is no number', () => {
    const table = floatTable(Float32Array.of(1, 1, 1), 3, 1);
    const bags = { values: Int32Array.of(0, 1), rowSplits: Int32Array.of(0, 1, 2), weights: null };
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, clipNorm: 0.5 });
    stepOne(kernels(), 'sgd', table, [], Float32Array.of(NaN, 1), bags, options, hyper);
    expect([...table.data]).toEqual([NaN, NaN, 1]);
  });

  // Rows of one chunk, of several, and with maxNorm are pooled by different loops.
  for (const [dim, maxNorm] of [
    [2, 0],
    [300, 0],
    [5, 1],
  ] as const) {
    it(`refuses an id outside the table, with id, position and rows, before it writes: dim ${dim}, maxNorm ${maxNorm}`, () => {
      const table = floatTable(new Float32Array(3 * dim).fill(1), 3, dim);
      const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm };
      for (const bad of [3, -1, 2147483647, -2147483648]) {
        for (const position of [0, 2]) {
          const values = Int32Array.of(2, 0, 1, -7);
          values[position] = bad;
          const bags = { values, rowSplits: Int32Array.of(0, 1, 4), weights: Float32Array.of(1, 1, 1, 1) };
          const gradient = new Float32Array(2 * dim).fill(1);
          const mine = copyTable(table);
          const runs: (() => unknown)[] = [
            () => lookUpInto(kernels(), mine, bags, options, new Float32Array(2 * dim)),
            () => kernels().rowGradients(gradient, bags, mine, options),
            () => kernels().weightsGradient(mine, gradient, bags, options, new Float32Array(4)),
            () => {
              const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
              stepOne(kernels(), 'sgd', mine, [], gradient, bags, options, hyper);
            },
          ];
          for (const run of runs) {
            expect(run).toThrowMatching(
              (error: unknown) =>
                error instanceof IdOutOfRange && error.id === bad && error.position === position && error.rows === 3,
            );
          }
          expect([...mine.data]).toEqual([...table.data]);
        }
      }
    });
  }

  it('stops where an accumulator is infinite, and starts where one is 0', () => {
    const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const bags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    for (const optimizer of ['adagrad', 'rowWiseAdagrad', 'adagradMomentum'] as const) {
      // A root so high that it would be a number even of the largest float.
      for (const exponent of [2, 20]) {
        for (const start of [Infinity, 0]) {
          const table = floatTable(Float32Array.of(1, 1, 1, 1, 1), 1, 5);
          const length = optimizer === 'rowWiseAdagrad' ? 1 : 5;
          const slots = SLOT_NAMES[optimizer].map((_, i) => new Float32Array(length).fill(i === 0 ? start : 0));
          const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.25, exponent });
          stepOne(kernels(), optimizer, table, slots, Float32Array.of(1, 1, 1, 1, 1), bags, options, hyper);
          const expected = start === 0 ? 0.75 : 1;
          expectClose(table.data, Array<number>(5).fill(expected), 0, `${optimizer}, ${start}, ${exponent}`);
        }
      }
    }
  });
}
