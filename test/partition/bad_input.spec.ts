/** Each argument of the planner refused with the right class, its name, what was expected and what came. */
import { ArgumentTypeError, ValueError, type ErrorFacts } from '../../src/base/errors.js';
import { checkPlan, planEmbedding, readPlan } from '../../src/partition/index.js';

const TABLES = [
  { inputDim: 10, outputDim: 4 },
  { inputDim: 20, outputDim: 4 },
];

type Class = typeof ValueError | typeof ArgumentTypeError;

function refused(run: () => unknown, kind: Class, argument: string): void {
  let thrown: unknown = null;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).withContext(argument).toBeInstanceOf(kind);
  const facts = thrown as ErrorFacts;
  expect(facts.argument).toBe(argument);
  expect((thrown as Error).message).toContain(
    `\`${argument}\`: expected ${facts.expected}, received ${facts.received}.`,
  );
  for (const words of [facts.expected, facts.received]) expect(words.trim()).not.toBe('');
}

describe('planEmbedding with bad arguments', () => {
  const wrong: [argument: string, value: unknown, kind: Class, named?: string][] = [
    ['tables', undefined, ArgumentTypeError],
    ['tables', {}, ArgumentTypeError],
    ['tables', [], ValueError],
    ['tables', [null], ArgumentTypeError, 'tables[0]'],
    ['tables', [{ inputDim: 4 }], ArgumentTypeError, 'tables[0].outputDim'],
    ['tables', [{ inputDim: '4', outputDim: 4 }], ArgumentTypeError, 'tables[0].inputDim'],
    ['tables', [{ inputDim: 0, outputDim: 4 }], ValueError, 'tables[0].inputDim'],
    ['tables', [{ inputDim: 2 ** 31, outputDim: 4 }], ValueError, 'tables[0].inputDim'],
    ['tables', [{ inputDim: 4, outputDim: 1.5 }], ValueError, 'tables[0].outputDim'],
    ['tables', [{ inputDim: 2 ** 31 - 1, outputDim: 2 ** 31 - 1 }], ValueError, 'tables[0]'],
    ['tables', [{ inputDim: 4, outputDim: 4, combiner: 'product' }], ValueError, 'tables[0].combiner'],
    ['tables', [{ inputDim: 4, outputDim: 4, combiner: 1 }], ArgumentTypeError, 'tables[0].combiner'],
    ['tables', [{ inputDim: 4, outputDim: 4, name: 1 }], ArgumentTypeError, 'tables[0].name'],
    ['tables', [{ inputDim: 4, outputDim: 4, rowCoupled: 1 }], ArgumentTypeError, 'tables[0].rowCoupled'],
    ['tables', [{ inputDim: 4, outputDim: 4, width: 1 }], ValueError, 'tables[0].width'],
    ['tables', TABLES.map((table) => ({ ...table, name: 'a' })), ValueError, 'tables[1].name'],
    ['inputTableMap', 'ab', ArgumentTypeError],
    ['inputTableMap', [], ValueError],
    ['inputTableMap', [0, 2], ValueError, 'inputTableMap[1]'],
    ['inputTableMap', [-1], ValueError, 'inputTableMap[0]'],
    ['inputTableMap', [0, '1'], ArgumentTypeError, 'inputTableMap[1]'],
    ['worldSize', undefined, ArgumentTypeError],
    ['worldSize', '2', ArgumentTypeError],
    ['worldSize', 0, ValueError],
    ['worldSize', 1.5, ValueError],
    ['worldSize', NaN, ValueError],
    ['worldSize', 1e9, ValueError],
    ['strategy', 'fast', ValueError],
    ['strategy', 1, ArgumentTypeError],
    ['columnSliceThreshold', '1', ArgumentTypeError],
    ['columnSliceThreshold', -1, ValueError],
    ['rowSliceThreshold', NaN, ValueError],
    ['rowSliceThreshold', true, ArgumentTypeError],
    ['dataParallelThreshold', Infinity, ValueError],
    ['dataParallelThreshold', [], ArgumentTypeError],
    ['deviceMemory', -4, ValueError],
    ['deviceMemory', '1 GB', ArgumentTypeError],
    ['dpInput', 0, ArgumentTypeError],
    ['rowSharding', 'mod', ValueError],
    ['rowSharding', true, ArgumentTypeError],
    ['rowFallback', 'no', ArgumentTypeError],
    ['hotness', 1, ArgumentTypeError],
    ['hotness', [1], ValueError],
    ['hotness', [1, -1], ValueError, 'hotness[1]'],
    ['hotness', [1, NaN], ValueError, 'hotness[1]'],
    ['hotness', [1, '1'], ArgumentTypeError, 'hotness[1]'],
    ['batchSize', 0, ValueError],
    ['batchSize', '8', ArgumentTypeError],
    ['machine', 'v5p', ArgumentTypeError],
    ['machine', { linkBandwidth: 0 }, ValueError, 'machine.linkBandwidth'],
    ['machine', { memoryBandwidth: '1' }, ArgumentTypeError, 'machine.memoryBandwidth'],
    ['machine', { bandwidth: 1 }, ValueError, 'bandwidth'],
    ['devices', 4, ValueError],
  ];
  wrong.forEach(([argument, value, kind, named], i) => {
    it(`refuses ${argument}, case ${i}`, () => {
      const args = { tables: TABLES, worldSize: 2, [argument]: value } as never;
      refused(() => planEmbedding(args), kind, named ?? argument);
    });
  });

  it('refuses anything but an object', () => {
    for (const args of [undefined, null, 1, 'tables', []]) {
      refused(() => planEmbedding(args as never), ArgumentTypeError, 'args');
    }
  });

  it('takes null and typed lists where they mean something', () => {
    const plan = planEmbedding({
      tables: TABLES,
      worldSize: 2,
      inputTableMap: Int32Array.of(0, 1, 1) as never,
      hotness: null,
      deviceMemory: null,
      machine: null,
      columnSliceThreshold: 0,
    });
    expect(plan.tableParallel!.sliceWidthsPerTable).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });
});

describe('readPlan with bad input', () => {
  it('names everything that is wrong', () => {
    refused(() => readPlan('{'), ValueError, 'stored');
    refused(() => readPlan(3 as never), ArgumentTypeError, 'stored');
    refused(() => readPlan('[]'), ArgumentTypeError, 'stored');
    const { ranks, ...rest } = planEmbedding({ tables: TABLES, worldSize: 2 }).toJSON();
    expect(ranks.length).toBe(2);
    refused(() => readPlan(rest as never), ValueError, 'stored');
    expect(() => readPlan({ ...rest, revGroupIds: [-1] } as never)).toThrowError(/revGroupIds\[0\].*; ranks: missing/);
  });
});

describe('checkPlan with bad input', () => {
  it('takes any plan and refuses bad tables', () => {
    const plan = planEmbedding({ tables: TABLES, worldSize: 2 });
    refused(() => checkPlan(plan, 'x' as never), ArgumentTypeError, 'tables');
    for (const [bad, text] of [
      [null, 'null'],
      [undefined, 'undefined'],
      [1, '1'],
      ['x', '"x"'],
      [[], '[]'],
    ]) {
      // prettier-ignore
      expect(checkPlan(bad as never, TABLES)).toEqual([`plan: expected an object, found ${text}`]);
    }
    const keys = ['effectiveStrategy', 'effectiveRowSliceThreshold', 'effectiveDataParallelThreshold', 'tableGroups'];
    const missing = [...keys, 'inputGroups', 'mapGroups', 'revGroupIds', 'ranks'].map((key) => `${key}: missing`);
    expect(checkPlan({} as never, TABLES)).toEqual(missing);
  });
});
