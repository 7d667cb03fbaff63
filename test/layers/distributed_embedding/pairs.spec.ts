/**
 * Two settings of `DistributedEmbedding` at once: every two values of two settings of plan, table, lookup, optimizer and
 * machine meet in some case, which gives and trains what one device does.
 */
import { OPTIMIZER_NAMES } from '../../../src/rules/rules.js';
import { caseText, pairCases } from '../../helpers/pairs/covering.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { problemsOf } from './comparison.js';
import type { BatchCase, DistributedCase, InputCase, ItemCase, TableCase } from './generated_case.js';
import { runCase } from './run.js';
import { useCpu } from '../setup.js';

const STEPS = 2;
const BATCH = 5;
/** Sizes of the table that the settings are about, and of one beside it. */
const [ROWS, COLUMNS] = [24, 8];

const SETTINGS = {
  strategy: ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'],
  columnSliceThreshold: [null, 60],
  rowSliceThreshold: [null, 100],
  dataParallelThreshold: [null, 200],
  rowSharding: ['range', 'modulo'],
  deviceMemory: [null, 4 * ROWS * COLUMNS],
  dpInput: [true, false],
  combiner: ['sum', 'mean', 'sqrtn', 'max', null],
  maskZero: [false, true],
  maxNorm: [null, 0.1],
  outOfRange: ['error', 'zero'],
  ragged: [false, true],
  weights: [false, true],
  form: ['dense', 'float', 'cube', 'ragged', 'nested', 'uneven', 'pair', 'sparse'],
  optimizer: OPTIMIZER_NAMES,
  lazy: [true, false],
  constraint: [null, 'nonNeg', 'maxNorm'],
  regularized: [false, true],
  frozen: [false, true],
  own: [false, true],
  shared: [false, true],
  chips: [1, 2, 5],
  coresPerChip: [1, 2],
} as const;

const LAZY: readonly string[] = ['sgd', 'adagradMomentum', 'adam', 'adamW', 'rmsprop'];

const { legal } = pairCases(SETTINGS, (given) => {
  if (given.weights && (given.combiner === null || given.combiner === 'max')) return 'combiner';
  if (given.form === 'sparse' && given.combiner === null) return 'combiner';
  // The others have no such field.
  return !given.lazy && !LAZY.includes(given.optimizer) ? 'lazy' : null;
});
type Case = (typeof legal)[number];

function batchOf(random: Random, { form, weights, outOfRange, ragged }: Case, inner: number): BatchCase {
  const isDense = form === 'dense' || form === 'float' || form === 'cube';
  const bags = Array.from({ length: BATCH * inner }, (_, bag) => {
    return Array.from({ length: isDense ? 3 : [2, 0, 3, 1][bag % 4]! }, () => {
      if (isDense && ragged && random.chance(0.1)) return -1;
      return outOfRange === 'zero' && random.chance(0.1) ? ROWS : random.whole(0, ROWS);
    });
  });
  return { bags, weights: weights ? bags.map((bag) => bag.map(() => random.whole(1, 9) / 4)) : null };
}

function useOf(given: Case, seed: number): DistributedCase {
  const random = new Random(seed);
  const { combiner, maskZero, maxNorm, outOfRange, ragged, form, optimizer: name, lazy } = given;
  const epsilon = ['adam', 'adamW', 'rmsprop', 'adagradMomentum'].includes(name) ? { epsilon: 0.1 } : {};
  const optimizer = {
    name,
    config: { learningRate: 0.1, ...epsilon, ...(LAZY.includes(name) ? { lazy } : {}) },
    given: 'object',
  } as const;
  const table: TableCase = {
    name: 't0',
    rows: ROWS,
    columns: COLUMNS,
    combiner,
    initializer: 1,
    optimizer: given.own ? optimizer : null,
    constraint: given.constraint,
    isRegularized: given.regularized,
    isFrozen: given.frozen,
    isShared: given.shared,
    isTied: false,
  };
  const plain = { constraint: null, isRegularized: false, isFrozen: false, isShared: false, optimizer: null } as const;
  const item: ItemCase = { table: 0, combiner, maskZero, maxNorm, outOfRange, ragged };
  const other: ItemCase = { ...item, table: 1, combiner: 'sum', maskZero: false, maxNorm: null };
  const inner = form === 'cube' || form === 'nested' ? 2 : 1;
  const inputOf = (place: number, each: Case): InputCase => ({
    item: place,
    form: each.form,
    inner: place === 0 ? inner : 1,
    hasFlatWeights: false,
    isInLoss: true,
    batches: Array.from({ length: STEPS + 1 }, () => batchOf(random, each, place === 0 ? inner : 1)),
  });
  const dense: Case = { ...given, form: 'dense', weights: false, ragged: false, outOfRange: 'error' };
  return {
    seed,
    isConfig: false,
    structure: 'list',
    tables: [table, { ...table, ...plain, name: 't1', combiner: 'sum' }],
    items: [item, { ...other, ragged: false, outOfRange: 'error' }],
    // Two features look up the same table.
    hasMap: true,
    inputs: [inputOf(0, given), inputOf(1, dense), inputOf(0, given)],
    wishes: {
      strategy: given.strategy,
      columnSliceThreshold: given.columnSliceThreshold,
      rowSliceThreshold: given.rowSliceThreshold,
      dataParallelThreshold: given.dataParallelThreshold,
      rowSharding: given.rowSharding,
      deviceMemory: given.deviceMemory,
      dpInput: given.dpInput,
      seed: 7,
    },
    optimizer: given.own ? { name: 'sgd', config: { learningRate: 0.1 }, given: 'object' } : optimizer,
    machine: { chips: given.chips, coresPerChip: given.coresPerChip },
    devices: given.chips * given.coresPerChip,
    steps: STEPS,
  };
}

describe('two settings of DistributedEmbedding at once', () => {
  beforeAll(useCpu);

  it('give and train what one device does', async () => {
    spyOn(console, 'warn');
    for (const [seed, given] of legal.entries()) {
      try {
        const example = useOf(given, seed + 1);
        const expected = await expectNoLeakAsync(() => runCase(example));
        const problems = await problemsOf(example, example.machine, expected);
        expect(problems.slice(0, 3)).withContext(caseText(given)).toEqual([]);
      } catch (error) {
        fail(`${caseText(given)}: ${(error as Error).stack}`);
      }
    }
  });
});
