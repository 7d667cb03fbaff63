/** Stacks of tables against the layouts that TensorFlow makes. */
import { stackTables } from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { camel, layoutGoldens } from './goldens.js';

type Table = [string, number, number, string, number];
const MACHINE = { numPartitions: 1, sparseCoresPerPartition: 4 };
const alike = (names: string): Table[] => [...names].map((name) => [name, 100, 8, 'g', 16]);
const stacksOf = (layouts: { stackedTableName: string }[]): string[] =>
  layouts.map(({ stackedTableName }) => stackedTableName);

describe('stackTables', () => {
  for (const golden of layoutGoldens.layouts) {
    it(`lays tables out as TensorFlow does: ${golden.case}`, () => {
      const { act, var: shardBytes } = golden.options;
      const layouts = stackTables({
        tables: golden.tables,
        numPartitions: golden.num_partitions,
        sparseCoresPerPartition: golden.sparse_cores_per_partition,
        ...(act === undefined ? {} : { activationMemBytesLimit: act }),
        ...(shardBytes === undefined ? {} : { variableShardBytesLimit: shardBytes }),
      });
      expect(layouts).toEqual(golden.layouts.map(camel) as never);
    });
  }

  it('pads two tables and stacks them: 24 rows a core, the second one behind 16 of them and 4 cores on', () => {
    const tables: Table[] = [
      ['first', 100, 6, 'g', 16],
      ['second', 50, 5, 'g', 16],
    ];
    const [first, second] = stackTables({ tables, numPartitions: 2, sparseCoresPerPartition: 4 });
    const stack = { stackedTableName: 'first_second', totalRowsPerSparseCoreShard: 24, numSparseCores: 8 };
    expect(first).toEqual(
      jasmine.objectContaining({
        ...{ ...stack, sparseCoreShardRowOffset: 0, sparseCoreShardRotation: 0 },
        unshardedPaddedShape: [128, 8],
      }),
    );
    expect(second).toEqual(
      jasmine.objectContaining({
        ...{ ...stack, sparseCoreShardRowOffset: 16, sparseCoreShardRotation: 4 },
        unshardedPaddedShape: [64, 8],
      }),
    );
  });

  it('takes tables as objects too', () => {
    const table = { name: 'a', vocabularySize: 100, dim: 6, group: 'g', samples: 16 };
    expect(stackTables({ tables: [table], ...MACHINE })).toEqual(
      stackTables({ tables: [['a', 100, 6, 'g', 16]], ...MACHINE }),
    );
  });

  it('makes a stack for each table where stacking is disabled', () => {
    expect(stacksOf(stackTables({ tables: alike('abc'), ...MACHINE, disableTableStacking: true }))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('starts a new stack at the limit of tables, and at the one of rows', () => {
    const byTables = stackTables({ tables: alike('abc'), ...MACHINE, tableLimit: 2 });
    expect(stacksOf(byTables)).toEqual(['a_b', 'a_b', 'c']);
    // 128 padded rows each: two make 256, which must stay below the limit.
    const byRows = stackTables({ tables: alike('abc'), ...MACHINE, rowLimit: 257 });
    expect(stacksOf(byRows)).toEqual(['a_b', 'a_b', 'c']);
    expect(stacksOf(stackTables({ tables: alike('ab'), ...MACHINE, rowLimit: 256 }))).toEqual(['a', 'b']);
  });

  it('starts a new stack at the limits of bytes, which are those of a chip', () => {
    for (const numPartitions of [1, 2, 4]) {
      // 128 rows of 8 columns on all chips; 4 of 16 samples on a core.
      const [rows, activations] = [(4 * 8 * 128) / numPartitions, 4 * 8 * 4];
      const stacked = (limits: object): string[] =>
        stacksOf(stackTables({ tables: alike('ab'), ...MACHINE, numPartitions, ...limits }));
      for (const [limit, bytes] of [
        ['variableShardBytesLimit', rows],
        ['activationMemBytesLimit', activations],
      ] as const) {
        expect(stacked({ [limit]: 2 * bytes })).toEqual(['a', 'b']);
        expect(stacked({ [limit]: 2 * bytes + 1 })).toEqual(['a_b', 'a_b']);
      }
    }
  });

  it('has no limits where they are 0', () => {
    const limits = { activationMemBytesLimit: 0, variableShardBytesLimit: 0, rowLimit: 0, tableLimit: 0 };
    const large: Table[] = [...'abc'].map((name) => [name, 4_000_000, 128, 'g', 1_000_000]);
    expect(stacksOf(stackTables({ tables: large, ...MACHINE, ...limits }))).toEqual(['a_b_c', 'a_b_c', 'a_b_c']);
    expect(stacksOf(stackTables({ tables: large, ...MACHINE }))).toEqual(['a', 'b', 'c']);
  });

  it('refuses tables of one name, bad sizes and cores that are no power of two', () => {
    expectError(() => stackTables({ tables: alike('aa'), ...MACHINE }), 'ValueError', 'tables', 'a');
    const noRows: Table[] = [['a', 0, 8, 'g', 16]];
    expectError(() => stackTables({ tables: noRows, ...MACHINE }), 'ValueError', 'tables[0].vocabularySize');
    const cores = { numPartitions: 3, sparseCoresPerPartition: 4 };
    expectError(() => stackTables({ tables: alike('a'), ...cores }), 'ValueError', 'numPartitions', '12');
    const joined: Table[] = [
      ['a', 8, 8, 'g', 4],
      ['b_c', 8, 8, 'g', 4],
      ['a_b', 8, 8, 'h', 4],
      ['c', 8, 8, 'h', 4],
    ];
    expectError(() => stackTables({ tables: joined, ...MACHINE }), 'ValueError', 'tables', 'a_b_c');
  });
});
