/** Steps of several tables that share memory for their ids but differ in one respect: each is that of its table alone. */
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { floatTable, type HostStep, type KernelSet } from '../../../src/backends/kernel_set.js';
import { namedKernelSet } from '../../../src/backends/registry.js';
import { skipOrFail } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';
import 'tfjs-embeddings/node';

const [ROWS, DIM] = [8, 3];
const kernels = (): Required<KernelSet> => namedKernelSet('native') as Required<KernelSet>;

/** The first four lie within one line of memory, wherever that begins. Row 1 is in many bags: who adds up first shows. */
const IDS = Int32Array.of(1, 2, 5, 1, 1, 2, 1, 1);
const SPLITS = Int32Array.of(0, 2, 4, 6, 8, 8);
const [WEIGHTS, OTHER_WEIGHTS] = [Float32Array.from(IDS), Float32Array.from(IDS, (id) => 3 - id)];

type Difference = Partial<Pick<HostStep, 'bags' | 'options' | 'useStarts' | 'hyper'>> & { readonly rows?: number };

const bags = { values: IDS, rowSplits: SPLITS, weights: null };
const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
const hyper = (lazy: number): Float32Array =>
  packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, epsilon: 0.1, beta1: 0.5, beta2: 0.9, lazy });

/** A step of a table of its own; the same each time. */
function stepOf({ rows = ROWS, ...difference }: Difference, seed: number): HostStep {
  const random = new Random(seed);
  const floats = (count: number): Float32Array => Float32Array.from(random.floats(count, 0.5, 1));
  const step = { bags, options, useStarts: null, hyper: hyper(1), ...difference };
  const batch = step.bags.rowSplits.length - 1;
  const table = floatTable(floats(rows * DIM), rows, DIM);
  return { ...step, table, slots: [floats(rows * DIM), floats(rows * DIM)], gradient: floats(batch * DIM) };
}

function numbersAfter(calls: readonly HostStep[][]): number[][] {
  for (const steps of calls) kernels().step('adam', steps);
  return calls.flat().map(({ table, slots }) => [...table.data, ...slots.flatMap((slot) => [...slot])]);
}

const SHORT = { values: IDS.subarray(0, 2), rowSplits: SPLITS.subarray(0, 2), weights: null };
const OTHER_STARTS = [Int32Array.of(1, 2), Int32Array.of(0, 1)] as const;

/** Takes ids that name no row, as one does unless there are more rows. */
const OF_ANY: Difference = {
  bags: { ...bags, values: Int32Array.of(1, 2, ROWS + 1, 1, 1, 2, 1, 1) },
  options: { ...options, outOfRange: 'zero' },
};

/** What two steps differ in, and both of them. */
const PAIRS: Readonly<Record<string, readonly [Difference, Difference]>> = {
  nothing: [{}, {}],
  ids: [
    { bags: { ...SHORT, values: IDS.subarray(0, 2) } },
    { bags: { ...SHORT, values: IDS.subarray(2, 4), rowSplits: SHORT.rowSplits } },
  ],
  'row splits': [{}, { bags: { ...bags, rowSplits: Int32Array.of(0, 1, 4, 6, 8, 8) } }],
  weights: [{ bags: { ...bags, weights: WEIGHTS } }, { bags: { ...bags, weights: OTHER_WEIGHTS } }],
  'weights that are there': [{}, { bags: { ...bags, weights: WEIGHTS } }],
  'how many bags and ids there are': [{}, { bags: SHORT }],
  'how many empty bags end the batch': [{}, { bags: { ...bags, rowSplits: SPLITS.subarray(0, 5) } }],
  combiners: [{}, { options: { ...options, combiner: 'mean' } }],
  uses: [{ useStarts: OTHER_STARTS[0] }, { useStarts: OTHER_STARTS[1] }],
  'how many uses there are': [{ useStarts: OTHER_STARTS[0].subarray(0, 1) }, { useStarts: OTHER_STARTS[0] }],
  'uses that are there': [{}, { useStarts: OTHER_STARTS[0] }],
  rows: [OF_ANY, { ...OF_ANY, rows: ROWS + 3 }],
  'whether rows without ids are stepped': [{ hyper: hyper(0) }, { hyper: hyper(1) }],
};

describe('steps of tables in one call that differ in', () => {
  beforeEach(() => {
    if (namedKernelSet('native') === undefined) skipOrFail('no addon here');
  });

  for (const [what, pair] of Object.entries(PAIRS)) {
    it(`${what} are those of each table alone`, () => {
      for (const inOrder of [
        [...pair, pair[0]],
        [pair[1], ...pair],
      ]) {
        const steps = (): HostStep[] => inOrder.map((each, seed) => stepOf(each, seed));
        expect(numbersAfter([steps()])).toEqual(numbersAfter(steps().map((step) => [step])));
      }
    });
  }

  it('what ids that name no row do', () => {
    const stray = { ...bags, values: IDS.map((id) => (id === 5 ? ROWS : id)) };
    const pair: Difference[] = [{ bags: stray, options: { ...options, outOfRange: 'zero' } }, { bags: stray }];
    for (const inOrder of [pair, pair.slice().reverse()]) {
      const steps = inOrder.map((each, seed) => stepOf(each, seed));
      expect(() => kernels().step('adam', steps)).toThrowError(/\b8\b/);
    }
  });
});
