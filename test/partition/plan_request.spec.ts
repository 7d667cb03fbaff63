import { readRequest } from '../../src/partition/plan_request.js';
import { expectError } from '../helpers/errors.js';

const TABLES = [
  { inputDim: 10, outputDim: 4 },
  { inputDim: 20, outputDim: 4 },
];

const read = (args: object = {}): ReturnType<typeof readRequest> =>
  readRequest({ tables: TABLES, worldSize: 2, ...args });

describe('what the planner is asked for', () => {
  it('has defaults', () => {
    const { tables, machine, ...others } = read();
    expect(tables.length).toBe(2);
    expect(Object.values(machine).every((figure) => Number(figure) > 0)).toBeTrue();
    expect(others).toEqual({
      ...{
        inputTableMap: [0, 1],
        worldSize: 2,
        strategy: 'basic',
        columnSliceThreshold: null,
        rowSliceThreshold: null,
      },
      ...{ dataParallelThreshold: null, deviceMemory: null, dpInput: true, rowSharding: 'range', rowFallback: true },
      ...{ hotness: [1, 1], batchSize: 4096, network: null },
    });
  });

  it('keeps what is given', () => {
    const given = {
      ...{ inputTableMap: [1, 0, 1], worldSize: 65536, strategy: 'cost_balanced', columnSliceThreshold: 5 },
      ...{ rowSliceThreshold: 6, dataParallelThreshold: 7, deviceMemory: 8, rowSharding: 'modulo', rowFallback: false },
      ...{ hotness: [0, 2.5, 3], batchSize: 2 ** 31 - 1 },
    };
    expect(read(given)).toEqual(jasmine.objectContaining({ ...given, dpInput: true }) as never);
    expect(read({ inputTableMap: Int32Array.of(1), hotness: Float32Array.of(2) })).toEqual(
      jasmine.objectContaining({ inputTableMap: [1], hotness: [2] }) as never,
    );
    expect(read({ inputTableMap: null, hotness: null, columnSliceThreshold: null, deviceMemory: 0 })).toEqual(
      jasmine.objectContaining({
        inputTableMap: [0, 1],
        hotness: [1, 1],
        columnSliceThreshold: null,
        deviceMemory: 0,
      }) as never,
    );
    expect(read({ batchSize: 1 }).batchSize).toBe(1);
  });

  it('has no strategy, row slices and copies on one device, and no slices and copies where inputs come by device', () => {
    const given = {
      strategy: 'cost_balanced',
      rowSliceThreshold: 6,
      dataParallelThreshold: 7,
      columnSliceThreshold: 5,
    };
    const one = read({ ...given, worldSize: 1 });
    const none = { rowSliceThreshold: null, dataParallelThreshold: null, columnSliceThreshold: 5 };
    expect(one).toEqual(jasmine.objectContaining({ ...none, strategy: 'basic' }) as never);
    expect(read({ ...given, dpInput: false })).toEqual(
      jasmine.objectContaining({ ...none, strategy: 'cost_balanced' }) as never,
    );
  });

  it('names what is wrong, what was expected and what came', () => {
    const wrong: readonly (readonly [object, 'TypeError' | 'ValueError', string, string, string?])[] = [
      [{ worldSize: 0 }, 'ValueError', 'worldSize', '0', '1 to 65536'],
      [{ worldSize: 65537 }, 'ValueError', 'worldSize', '65537'],
      [{ worldSize: 1.5 }, 'ValueError', 'worldSize', '1.5'],
      [{ worldSize: '2' }, 'TypeError', 'worldSize', '2'],
      [{ batchSize: 0 }, 'ValueError', 'batchSize', '0', '1 to 2147483647'],
      [{ batchSize: 2 ** 31 }, 'ValueError', 'batchSize', '2147483648'],
      [
        { strategy: 'other' },
        'ValueError',
        'strategy',
        'other',
        'basic, memory_balanced, memory_optimized, cost_balanced',
      ],
      [{ strategy: 1 }, 'TypeError', 'strategy', '1'],
      [{ rowSharding: 'other' }, 'ValueError', 'rowSharding', 'other', 'range, modulo'],
      [{ dpInput: 1 }, 'TypeError', 'dpInput', '1', 'true or false'],
      [{ dpInput: null }, 'TypeError', 'dpInput', 'null'],
      [{ rowFallback: 'no' }, 'TypeError', 'rowFallback', 'no'],
      [{ inputTableMap: [] }, 'ValueError', 'inputTableMap', 'none'],
      [{ inputTableMap: [0, 2] }, 'ValueError', 'inputTableMap[1]', '2', '0 to 1'],
      [{ inputTableMap: [-1] }, 'ValueError', 'inputTableMap[0]', '-1'],
      [{ inputTableMap: [0.5] }, 'ValueError', 'inputTableMap[0]', '0.5'],
      [{ inputTableMap: [0, '1'] }, 'TypeError', 'inputTableMap[1]', '1', 'a number'],
      [{ inputTableMap: 1 }, 'TypeError', 'inputTableMap', '1', 'for each input, or null'],
      [{ inputTableMap: new DataView(new ArrayBuffer(8)) }, 'TypeError', 'inputTableMap', 'DataView'],
      [{ hotness: [1] }, 'ValueError', 'hotness', '1 for 2 inputs'],
      [{ hotness: [1, -1] }, 'ValueError', 'hotness[1]', '-1', 'a finite number >= 0'],
      [{ hotness: [Infinity, 1] }, 'ValueError', 'hotness[0]', 'Infinity'],
      [{ hotness: 'many' }, 'TypeError', 'hotness', 'many', 'ids per sample'],
      [{ other: 1 }, 'ValueError', 'other', 'other'],
    ];
    for (const [args, name, argument, received, expected] of wrong) {
      expectError(() => read(args), name, argument, argument === 'other' ? '' : received);
      if (expected !== undefined) expect(() => read(args)).toThrowError(new RegExp(expected));
    }
    for (const argument of ['columnSliceThreshold', 'rowSliceThreshold', 'dataParallelThreshold', 'deviceMemory']) {
      for (const value of [-1, NaN, Infinity])
        expectError(() => read({ [argument]: value }), 'ValueError', argument, String(value));
      expectError(() => read({ [argument]: '1' }), 'TypeError', argument, '1');
      expect(read({ [argument]: 0 })).toEqual(jasmine.objectContaining({ [argument]: 0 }) as never);
    }
  });
});
