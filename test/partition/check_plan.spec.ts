/** Plans that were changed by hand: what is wrong with them must be said. */
import { checkPlan, planEmbedding, type PlanData, type RowModulo, type RowRange } from '../../src/partition/index.js';

const TABLES = [
  { name: 'a', inputDim: 100, outputDim: 8, combiner: 'sum' as const },
  { name: 'b', inputDim: 5, outputDim: 8, combiner: 'sum' as const },
  { name: 'c', inputDim: 10, outputDim: 8, combiner: 'mean' as const },
  { name: 'd', inputDim: 25, outputDim: 4, combiner: 'sum' as const },
  { name: 'e', inputDim: 3, outputDim: 2, combiner: null },
  { name: 'f', inputDim: 500, outputDim: 4, combiner: 'sum' as const },
];
const ARGS = {
  tables: TABLES,
  inputTableMap: [0, 1, 2, 3, 4, 5, 0],
  worldSize: 4,
  strategy: 'memory_balanced' as const,
  columnSliceThreshold: 45,
  dataParallelThreshold: 6,
  rowSliceThreshold: 2000,
};

function changed(change: (plan: PlanData) => void, extra: object = {}): string[] {
  const plan = planEmbedding({ ...ARGS, ...extra }).toJSON();
  expect(checkPlan(plan, TABLES)).toEqual([]);
  change(plan);
  return checkPlan(plan, TABLES);
}

interface Place {
  readonly path: string;
  /** The number that lies there, or null for a list. */
  readonly number: number | null;
  readonly spoil: () => void;
}

/** Every number and list of a value, with a way to change it. */
function places(value: unknown, path: string, found: Place[]): void {
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) {
    const holder = value as Record<string, unknown>;
    const item = holder[key];
    const at = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (typeof item === 'number') found.push({ path: at, number: item, spoil: () => (holder[key] = item + 1) });
    if (Array.isArray(item) && item.length > 0) {
      found.push({ path: at, number: null, spoil: () => (item.length -= 1) });
    }
    places(item, at, found);
  }
}

/** Numbers that follow from the rest: what is found there is told beside what must be there. */
const FOLLOWS = new RegExp(
  '^(revGroupIds|tableParallel\\.(slicedOut|widthsListFlat|revTpIds)|' +
    'ranks\\[\\d\\]\\.(tableParallel\\.(tableIds|inputIds|localMap|inputOffsets|weightOffsets|elements|physicalTables.*inputDim)|' +
    'rowSlice\\[0\\]\\.(inputOffset|inputDim|outputDim|modulo\\.divisor)))',
);
/** Lists that follow from the rest: where one is too short, both are shown whole. */
const WHOLE_LISTS =
  /^(revGroupIds|tableParallel\.(widthsListFlat|revTpIds|slicedOutRanges|slicedOutRangesBeforeMerge))$/;
/** What a complaint begins with. */
const BEGINS = /^(table \d+: \S|\w+(\[\d+\])*(\.\w+(\[\d+\])*)*(, (in all|slices of table \d+))?: \S)/;

describe('checkPlan', () => {
  it('finds each single number that is one too high and each list that is one too short', () => {
    // Thresholds and loads tell where the plan comes from, and notes what was decided: any value is right.
    const free = /effective|predicted|notes/;
    let spoiled = 0;
    for (const rowSharding of ['range', 'modulo'] as const) {
      const list = (): (Place & { plan: PlanData })[] => {
        const plan = planEmbedding({ ...ARGS, rowSharding }).toJSON();
        const found: Place[] = [];
        places(plan, '', found);
        return found.filter(({ path }) => !free.test(path)).map((place) => ({ ...place, plan }));
      };
      const count = list().length;
      for (let i = 0; i < count; i++) {
        const { path, number, spoil, plan } = list()[i]!;
        spoil();
        const lines = checkPlan(plan, TABLES);
        expect(lines.length).withContext(path).toBeGreaterThan(0);
        for (const line of lines) expect(line).withContext(path).toMatch(BEGINS);
        if (number !== null && FOLLOWS.test(path)) {
          expect(lines).toContain(`${path}: expected ${number}, found ${number + 1}`);
        }
        if (WHOLE_LISTS.test(path)) {
          expect(lines.some((line) => line.startsWith(`${path}: expected [`)))
            .withContext(lines.join('\n'))
            .toBeTrue();
        }
        spoiled++;
      }
    }
    expect(spoiled).toBeGreaterThan(400);
  });

  it('says where columns are missing, doubled or too many', () => {
    const shards = (plan: PlanData, device: number): { table: number; columns: [number, number] }[] =>
      plan.ranks[device]!.tableParallel!.shards;
    expect(changed((plan) => (shards(plan, 1)[0]!.columns = [3, 4]))[0]).toBe('table 0: columns 2..3 are on no device');
    expect(changed((plan) => (shards(plan, 1)[0]!.columns = [1, 4]))).toContain(
      'table 0: device 1: columns 1..2 are held twice',
    );
    expect(changed((plan) => (shards(plan, 3)[0]!.columns = [6, 9]))).toContain(
      'table 0: device 3: columns 6..9 go beyond the 8 there are',
    );
  });

  it('says where rows are missing or doubled', () => {
    const rows = (plan: PlanData, device: number): RowRange => plan.ranks[device]!.rowSlice![0] as RowRange;
    expect(changed((plan) => (rows(plan, 2).rows = [260, 375]))).toContain('table 5: rows 250..260 are on no device');
    expect(changed((plan) => (rows(plan, 2).rows = [240, 375]))).toContain(
      'table 5: device 2: rows 240..250 are held twice',
    );
    const modulo = (plan: PlanData, device: number): RowModulo => plan.ranks[device]!.rowSlice![0] as RowModulo;
    const lines = changed((plan) => (modulo(plan, 2).modulo.remainder = 1), { rowSharding: 'modulo' });
    expect(lines).toContain('table 5: device 2: remainders 1..2 are held twice');
    expect(lines).toContain('table 5: remainders 2..3 are on no device');
    const mixed = (plan: PlanData): unknown =>
      (plan.ranks[0]!.rowSlice = [{ table: 5, rows: [0, 125], inputOffset: 0, inputDim: 125, outputDim: 4 }]);
    expect(changed(mixed, { rowSharding: 'modulo' })).toContain(
      'table 5: some devices hold ranges of rows, others every n-th',
    );
  });

  it('says which keys are missing, unknown or of another kind', () => {
    expect(changed((plan) => delete (plan as Partial<PlanData>).mapGroups)).toEqual(['mapGroups: missing']);
    expect(changed((plan) => Object.assign(plan, { extra: 1 }))).toEqual(['extra: no such key in a plan']);
    expect(changed((plan) => Object.assign(plan.ranks[0]!.tableParallel!, { elements: '9' }))).toEqual([
      'ranks[0].tableParallel.elements: expected a whole number >= 0, found "9"',
    ]);
    expect(changed((plan) => delete plan.ranks[2]!.tableParallel)).toContain('ranks[2].tableParallel: missing');
    expect(changed((plan) => delete plan.tableParallel)).toContain('tableParallel: missing');
  });

  it('says which groups do not fit', () => {
    expect(changed((plan) => plan.tableGroups.rowSlice.push(1))).toEqual([
      'tableGroups: table 1 is in 2 groups instead of 1',
    ]);
    expect(changed((plan) => (plan.tableGroups.rowSlice[0] = 6))).toEqual([
      'tableGroups.rowSlice[0]: there is no table 6',
      'tableGroups: table 5 is in 0 groups instead of 1',
    ]);
    expect(changed((plan) => (plan.inputGroups.tableParallel[4] = 7))).toEqual([
      'inputGroups.tableParallel[4]: there is no input 7',
      'inputGroups: input 6 is in 0 groups instead of 1',
    ]);
    expect(changed((plan) => plan.inputGroups.tableParallel.pop())).toEqual([
      'mapGroups.tableParallel.length: expected 4, found 5',
    ]);
    expect(changed((plan) => (plan.mapGroups.tableParallel[3] = 4))).toEqual([
      'mapGroups.tableParallel[3]: the group has no table 4',
    ]);
    expect(changed((plan) => (plan.ranks = []))).toContain('ranks: expected at least one device, found none');
  });

  it('says which shards are in no weight, in two, or not there', () => {
    const weights = (plan: PlanData, device: number): number[][] => plan.ranks[device]!.tableParallel!.concatGroups;
    const path = (device: number): string => `ranks[${device}].tableParallel.concatGroups`;
    expect(changed((plan) => (weights(plan, 0)[0] = [1, 1]))).toEqual([
      `${path(0)}: shard 0 is in 0 weights instead of 1`,
      `${path(0)}: shard 1 is in 2 weights instead of 1`,
    ]);
    expect(changed((plan) => (weights(plan, 3)[1] = [2]))).toEqual([
      `${path(3)}[1]: there is no shard 2`,
      `${path(3)}: shard 1 is in 0 weights instead of 1`,
    ]);
    expect(changed((plan) => (weights(plan, 3)[1] = []))).toEqual([
      `${path(3)}[1]: no shards`,
      `${path(3)}: shard 1 is in 0 weights instead of 1`,
    ]);
    expect(changed((plan) => (plan.ranks[0]!.tableParallel!.shards[1]!.table = 4))).toContain(
      'ranks[0].tableParallel.shards[1]: table 4 is not in the table-parallel group',
    );
  });

  it('says which devices hold pieces of a table that they must not hold', () => {
    const rank = (plan: PlanData, device: number) => plan.ranks[device]!;
    const shards = (plan: PlanData, device: number) => rank(plan, device).tableParallel!.shards;
    const swap = (plan: PlanData): void => {
      [shards(plan, 0)[0]!.columns, shards(plan, 1)[0]!.columns] = [[2, 4], [0, 2]]; // prettier-ignore
    };
    expect(changed(swap)).toContain('table 0: device 1 holds columns that precede those of device 0');
    expect(changed((plan) => (shards(plan, 0)[0]!.columns = [2, 2]))).toContain(
      'table 0: device 0 holds none of its columns',
    );
    expect(changed((plan) => (shards(plan, 0)[0]!.columns = [2, 1]))).toContain(
      'table 0: device 0: columns 2..1 end before they start',
    );
    expect(changed((plan) => shards(plan, 0).push({ table: 0, columns: [0, 1] }))).toContain(
      'table 0: device 0 holds several shards of it; merge them',
    );
    expect(changed((plan) => rank(plan, 1).rowSlice!.push(rank(plan, 1).rowSlice![0]!))).toContain(
      'table 5: device 1 holds rows of it twice',
    );
    expect(changed((plan) => (rank(plan, 0).rowSlice![0]!.table = 1))).toContain(
      'ranks[0].rowSlice[0]: table 1 is not in the row group',
    );
    const dealt = (plan: PlanData): RowModulo => rank(plan, 3).rowSlice![0] as RowModulo;
    expect(changed((plan) => (dealt(plan).modulo.remainder = 4), { rowSharding: 'modulo' })).toContain(
      'ranks[3].rowSlice[0].modulo.remainder: expected less than 4, found 4',
    );
  });

  it('says where the lists of the group do not fit its tables', () => {
    const whole = (plan: PlanData) => plan.tableParallel!;
    expect(changed((plan) => whole(plan).dividedIds.pop())).toContain(
      'tableParallel.dividedIds.length: expected 4, found 3',
    );
    expect(changed((plan) => (whole(plan).dividedIds[0]![1] = 4))).toEqual([
      'tableParallel.dividedIds, slices of table 3: expected 4, found 3',
      'tableParallel.dividedIds[0]: the group has no table 4',
    ]);
    expect(changed((plan) => (whole(plan).sliceWidthsPerTable[2] = [4, 5]))).toContain(
      'tableParallel.sliceWidthsPerTable[2], in all: expected 8, found 9',
    );
    expect(changed((plan) => whole(plan).sliceWidthsPerTable.pop())).toContain(
      'tableParallel.sliceWidthsPerTable.length: expected 4, found 3',
    );
    expect(changed((plan) => delete plan.dataParallelTables)).toEqual([
      'dataParallelTables: expected [{"table":4,"inputDim":3,"outputDim":2}], found undefined',
    ]);
    expect(changed((plan) => (plan.tableNames![1] = 'x'))).toEqual(['tableNames[1]: expected "b", found "x"']);
  });

  it('says where a weight has more rows than an int32 id can name', () => {
    const tables = [1.5e9, 1.5e9].map((inputDim) => ({ inputDim, outputDim: 4 }));
    const plan = planEmbedding({ tables, worldSize: 1 }).toJSON();
    const rank = plan.ranks[0]!.tableParallel!;
    rank.concatGroups = [[0, 1]];
    rank.weightOffsets = [[0, 1.5e9, 3e9]];
    rank.physicalTables = [{ inputDim: 3e9, outputDim: 4, combiner: null, cpuOffload: false }];
    rank.localMap = [0, 0];
    rank.inputOffsets = [0, 1.5e9];
    expect(checkPlan(plan, tables)).toEqual([
      'ranks[0].tableParallel.physicalTables[0]: more rows than an int32 id can name',
    ]);
  });

  it('says which tables must not share a weight or be cut', () => {
    const tables = TABLES.map((table, i) => (i === 3 ? { ...table, initializer: 'zeros' } : table));
    expect(checkPlan(planEmbedding(ARGS), tables).join()).toMatch(/tables 0, 3 differ in what a weight has one of/);
    const coupled = TABLES.map((table, i) => (i === 0 ? { ...table, rowCoupled: true } : table));
    expect(checkPlan(planEmbedding(ARGS), coupled)).toContain(
      'table 0: its rows are coupled, but its columns are on 4 devices',
    );
    expect(checkPlan(planEmbedding({ ...ARGS, tables: coupled }), coupled)).toEqual([]);
  });

  it('says so where the columns of a table with coupled rows are on as few as two devices', () => {
    const tables = [{ inputDim: 10, outputDim: 4 }];
    const plan = planEmbedding({ tables, worldSize: 2 });
    expect(plan.ranks.map(({ tableParallel }) => tableParallel!.shards.length)).toEqual([1, 1]);
    expect(checkPlan(plan, [{ ...tables[0]!, rowCoupled: true }])).toEqual([
      'table 0: its rows are coupled, but its columns are on 2 devices',
    ]);
    const whole = [{ ...tables[0]!, rowCoupled: true }, tables[0]!];
    expect(checkPlan(planEmbedding({ tables: whole, worldSize: 2 }), whole)).toEqual([]);
  });

  it('says where slices and shards tell different stories', () => {
    const two = [
      { inputDim: 10, outputDim: 4 },
      { inputDim: 20, outputDim: 4 },
    ];
    const swapped = planEmbedding({ tables: two, worldSize: 2 }).toJSON();
    swapped.tableParallel!.dividedIds = [[1], [0]];
    expect(checkPlan(swapped, two)[0]).toMatch(/^ranks\[0\]\.tableParallel\.shards\[0\]: expected \{"table":1/);
    const cut = [{ inputDim: 10, outputDim: 5 }];
    const uneven = planEmbedding({ tables: cut, worldSize: 2 }).toJSON();
    uneven.tableParallel!.sliceWidthsPerTable = [[2, 3]];
    expect(checkPlan(uneven, cut)[0]).toMatch(/^ranks\[0\]\.tableParallel\.shards\[0\]: .*\[0,2\].*, found .*\[0,3\]/);
    uneven.tableParallel!.sliceWidthsPerTable = [[0, 5]];
    expect(checkPlan(uneven, cut)).toEqual(['tableParallel.sliceWidthsPerTable[0]: a slice has no columns']);
  });

  it('takes ranges of rows on whichever devices they lie', () => {
    const swap = ({ ranks }: PlanData): void => {
      [ranks[0]!.rowSlice, ranks[2]!.rowSlice] = [ranks[2]!.rowSlice!, ranks[0]!.rowSlice!];
    };
    expect(changed(swap)).toEqual([]);
  });

  it('takes a plan that was rightly forced: another placement, unjoined weights, no loads', () => {
    const tables = [
      { inputDim: 10, outputDim: 4 },
      { inputDim: 20, outputDim: 4 },
    ];
    const plan = planEmbedding({ tables, worldSize: 1 }).toJSON();
    const rank = plan.ranks[0]!.tableParallel!;
    delete plan.ranks[0]!.predicted;
    rank.concatGroups = [[0], [1]];
    rank.weightOffsets = [
      [0, 10],
      [0, 20],
    ];
    rank.physicalTables = [10, 20].map((inputDim) => ({ inputDim, outputDim: 4, combiner: null, cpuOffload: false }));
    rank.localMap = [0, 1];
    rank.inputOffsets = [0, 0];
    expect(checkPlan(plan, tables)).toEqual([]);
  });
});
