/** The reference against TensorFlow's numbers and against finite differences of the plain equations in double. */
import { HYPER_FIELDS, NEUTRAL_HYPER, packHyper, type Hyper, unpackHyper } from '../../../src/rules/hyper.js';
import { floatTable, type BagOptions, type HostBags } from '../../../src/backends/kernel_set.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { registerLookupBackends } from '../../../src/backends/register.js';
import { kernelSet, setKernels } from '../../../src/backends/registry.js';
import { bagCases, copyTable, type BagCase } from '../../helpers/bag_cases.js';
import { itEqualsTensorFlow, itEqualsTheReference } from '../../helpers/kernel_set_suite.js';
import { expectClose, finiteDifferences, firstDifference } from '../../helpers/tensors.js';
import { stepOne } from '../../helpers/kernel_calls.js';

/** sum over bags of gradient . pooled, straight from the definitions, in double. */
function score(example: BagCase, data: readonly number[], weights: readonly number[] | null): number {
  const { bags, options, gradient } = example;
  const { rows, dim } = example.table;
  let total = 0;
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    const places = Array.from(bags.values.keys()).slice(bags.rowSplits[b], bags.rowSplits[b + 1]);
    const w = places.map((i) => (weights === null ? 1 : weights[i]!));
    const vectors = places.map((i) => {
      const id = bags.values[i]!;
      if (id < 0 || id >= rows) return new Array<number>(dim).fill(0);
      const row = data.slice(id * dim, (id + 1) * dim);
      const norm = Math.hypot(...row);
      return options.maxNorm > 0 && norm > options.maxNorm ? row.map((x) => (x * options.maxNorm) / norm) : row;
    });
    const divisors: Record<string, number> = {
      sum: 1,
      mean: w.reduce((a, x) => a + x, 0),
      sqrtn: Math.sqrt(w.reduce((a, x) => a + x * x, 0)),
    };
    const divisor = divisors[options.combiner]!;
    if (divisor === 0) continue;
    for (let c = 0; c < dim; c++) {
      const sum = vectors.reduce((a, vector, i) => a + w[i]! * vector[c]!, 0);
      total += (gradient[b * dim + c]! * sum) / divisor;
    }
  }
  return total;
}

/** Small cases without bags whose weights cancel: there the quotient has no derivative. */
function smoothCases(): BagCase[] {
  return bagCases(400, 1000).filter(({ table, bags, options }) => {
    if (table.rows * table.dim > 200 || bags.values.length > 80 || bags.values.length === 0) return false;
    if (bags.weights === null || options.combiner === 'sum') return true;
    for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
      const w = Array.from(bags.weights.subarray(bags.rowSplits[b], bags.rowSplits[b + 1]));
      const divisor = w.reduce((a, x) => a + (options.combiner === 'mean' ? x : x * x), 0);
      if (w.length > 0 && divisor === 0) return false;
    }
    return true;
  });
}

describe('reference kernels', () => {
  itEqualsTensorFlow(() => referenceKernels);

  it('have gradients of the table that finite differences confirm', () => {
    const cases = smoothCases();
    expect(cases.length).toBeGreaterThan(30);
    expect(new Set(cases.map(({ options }) => `${options.combiner} ${options.maxNorm > 0}`)).size).toBe(6);
    for (const example of cases) {
      const { table, bags, options, gradient } = example;
      const weights = bags.weights === null ? null : Array.from(bags.weights);
      const expected = finiteDifferences((data) => score(example, data, weights), Array.from(table.data));
      const { uniqueIds, rowGradients } = referenceKernels.rowGradients(gradient, bags, table, options);
      const dense = new Float32Array(table.rows * table.dim);
      uniqueIds.forEach((id, u) => {
        dense.set(rowGradients.subarray(u * table.dim, (u + 1) * table.dim), id * table.dim);
      });
      const inside = bags.values.filter((id) => id >= 0 && id < table.rows);
      expect([...uniqueIds]).toEqual([...new Set(inside)].sort((a, b) => a - b));
      expectClose(dense, expected, 10, example.name, 1e-5);
    }
  });

  it('have gradients of the weights that finite differences confirm', () => {
    const cases = smoothCases().filter(({ bags }) => bags.weights !== null);
    expect(new Set(cases.map(({ options }) => `${options.combiner} ${options.maxNorm > 0}`)).size).toBe(6);
    for (const example of cases) {
      const { table, bags, options, gradient } = example;
      const data = Array.from(table.data);
      const expected = finiteDifferences((weights) => score(example, data, weights), Array.from(bags.weights!));
      const actual = new Float32Array(bags.values.length);
      referenceKernels.weightsGradient(table, gradient, bags, options, actual);
      expectClose(actual, expected, 10, example.name, 2e-5);
    }
  });
});

describe('agreement', () => {
  it('notices a value that is slightly wrong, missing, NaN or infinite', () => {
    expect(firstDifference([1, 2, 3], [1, 2, 3])).toBe(-1);
    expect(firstDifference([1, 2.000002, 3], [1, 2, 3])).toBe(1);
    expect(firstDifference([1, 2.000002, 3], [1, 2, 3], [0, 2, 0])).toBe(-1);
    expect(firstDifference([1, 2], [1, 2, 3])).toBe(2);
    expect(firstDifference([NaN], [1], 1e9)).toBe(0);
    expect(firstDifference([Infinity], [1], 1e9)).toBe(0);
    expect(firstDifference([NaN, Infinity], [NaN, Infinity])).toBe(-1);
  });
});

describe('reference kernels on generated cases', () => {
  itEqualsTheReference(() => referenceKernels, 30);
});

const NO_BAGS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** One step of the rows 0 and 1 of a table of three rows, with gradients given per row. */
function step(gradients: number[][], hyper: Partial<Hyper>, data = [1, -2, 3, 4, 0.5, -0.5]): number[] {
  const table = floatTable(Float32Array.from(data), 3, 2);
  const bags: HostBags = {
    values: Int32Array.from(gradients.keys()),
    rowSplits: Int32Array.from({ length: gradients.length + 1 }, (_, i) => i),
    weights: null,
  };
  const packed = packHyper({ ...NEUTRAL_HYPER, ...hyper });
  stepOne(referenceKernels, 'sgd', table, [], Float32Array.from(gradients.flat()), bags, NO_BAGS, packed);
  return Array.from(table.data);
}

describe('reference steps', () => {
  it('sum over occurrences before anything else', () => {
    const table = floatTable(Float32Array.of(0, 0), 1, 2);
    const slots = [Float32Array.of(0, 0)];
    const bags: HostBags = { values: Int32Array.of(0, 0, 0), rowSplits: Int32Array.of(0, 2, 3), weights: null };
    const packed = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
    stepOne(referenceKernels, 'adagrad', table, slots, Float32Array.of(1, 2, 2, -4), bags, NO_BAGS, packed);
    expect([...slots[0]!]).toEqual([16, 0]); // (1 + 1 + 2)^2 and (2 + 2 - 4)^2
    expect([...table.data]).toEqual([-1, 0]); // and a zero gradient over a zero accumulator moves nothing
  });

  it('clip by the norm of the whole gradient, then by value', () => {
    const clipped = step(
      [
        [3, 0],
        [0, 4],
      ],
      { learningRate: 1, clipNorm: 1 },
    );
    expectClose(clipped, [1 - 0.6, -2, 3, 4 - 0.8, 0.5, -0.5], 4);
    const both = step(
      [
        [3, 0],
        [0, 4],
      ],
      { learningRate: 1, clipNorm: 1, clipGradientMin: -1, clipGradientMax: 0.7 },
    );
    expectClose(both, [1 - 0.6, -2, 3, 4 - 0.7, 0.5, -0.5], 4);
    expectClose(
      step(
        [
          [0.3, 0],
          [0, 0.4],
        ],
        { learningRate: 1, clipNorm: 1 },
      ),
      [0.7, -2, 3, 3.6, 0.5, -0.5],
      4,
    );
  });

  it('decay touched rows before the optimizer and limit them after it', () => {
    const hyper = { learningRate: 1, weightDecay: 0.1, clipWeightMin: -1.5, clipWeightMax: 2 };
    expectClose(
      step(
        [
          [0.5, 0.5],
          [1, 1],
        ],
        hyper,
      ),
      [0.9 - 0.5, -1.5, 2.7 - 1, 2, 0.5, -0.5],
      4,
    );
  });

  it('keep touched rows non-negative', () => {
    expectClose(
      step(
        [
          [0, 0],
          [5, 1],
        ],
        { learningRate: 1, constraint: 1 },
      ),
      [1, 0, 0, 3, 0.5, -0.5],
      4,
    );
  });

  it('bring the norms of touched rows between limits at a rate', () => {
    const hyper = { constraint: 2, constraintMin: 0, constraintMax: 2.5, constraintRate: 0.5 };
    // |[3, 4]| = 5: half of the way to 2.5 is 3.75; |[1, -2]| stays.
    expectClose(
      step(
        [
          [0, 0],
          [0, 0],
        ],
        hyper,
      ),
      [1, -2, 3 * 0.75, 4 * 0.75, 0.5, -0.5],
      4,
    );
  });

  it('give row-wise Adagrad one accumulator per row', () => {
    const table = floatTable(Float32Array.of(1, 1, 1, 1), 2, 2);
    const slots = [Float32Array.of(0.5, 7)];
    const bags: HostBags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    const packed = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.5, epsilon: 0.25 });
    stepOne(referenceKernels, 'rowWiseAdagrad', table, slots, Float32Array.of(1, 2), bags, NO_BAGS, packed);
    expectClose(slots[0]!, [3, 7]); // 0.5 + (1 + 4) / 2
    expectClose(table.data, [1 - 0.5 / Math.sqrt(3.25), 1 - 1 / Math.sqrt(3.25), 1, 1], 1);
  });

  it('step all rows where lazy is 0, the untouched ones without decay and within the limits', () => {
    const table = floatTable(Float32Array.of(4, 4), 2, 1);
    const slots = [Float32Array.of(1, 1), Float32Array.of(4, 4)];
    const bags: HostBags = { values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null };
    const hyper = { learningRate: 1, beta1: 0.5, beta2: 1, weightDecay: 0.5, clipWeightMax: 1, lazy: 0 };
    const packed = packHyper({ ...NEUTRAL_HYPER, ...hyper });
    stepOne(referenceKernels, 'adam', table, slots, Float32Array.of(0), bags, NO_BAGS, packed);
    expectClose(slots[0]!, [0.5, 0.5]);
    expectClose(table.data, [1, 1], 4); // 4 * 0.5 - 0.25 and 4 - 0.5 / 2, limited to 1
    table.data.fill(4);
    const unlimited = packHyper({ ...NEUTRAL_HYPER, ...hyper, clipWeightMax: 100 });
    stepOne(referenceKernels, 'adam', table, slots, Float32Array.of(0), bags, NO_BAGS, unlimited);
    expectClose(table.data, [2 - 0.125, 4 - 0.125], 4); // the momenta are 0.25
  });

  it('read hyper-parameters in the order in which they are packed', () => {
    const hyper = Object.fromEntries(HYPER_FIELDS.map((field, i) => [field, i])) as Hyper;
    expect(unpackHyper(packHyper(hyper))).toEqual(hyper);
  });

  it('leave a table alone when there is nothing to step', () => {
    for (const lazy of [0, 1]) {
      const example = bagCases(200).find(({ bags }) => bags.rowSplits.length === 1)!;
      const table = copyTable(example.table);
      const packed = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, clipNorm: 1, weightDecay: 0.5, lazy });
      stepOne(referenceKernels, 'sgd', table, [], example.gradient, example.bags, example.options, packed);
      expect(table.data).toEqual(example.table.data);
    }
  });
});

describe('The reference', () => {
  afterEach(() => setKernels('auto'));

  it('is one of the kernels to choose from', () => {
    registerLookupBackends();
    setKernels('reference');
    expect(kernelSet()).toBe(referenceKernels);
    expect(kernelSet().info()).toEqual({ implementation: 'reference', instructionSet: 'javascript', threads: 1 });
  });
});
