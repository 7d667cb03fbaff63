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

/** Every number, flag and list of a value, with a way to change it. */
function places(value: unknown, path: string, found: { path: string; spoil: () => void }[]): void {
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) {
    const holder = value as Record<string, unknown>;
    const item = holder[key];
    const at = `${path}.${key}`;
    if (typeof item === 'number') found.push({ path: at, spoil: () => (holder[key] = item + 1) });
    if (Array.isArray(item) && item.length > 0) found.push({ path: at, spoil: () => (item.length -= 1) });
    places(item, at, found);
  }
}

describe('checkPlan', () => {
  it('finds each single number that is one too high and each list that is one too short', () => {
    // Thresholds and loads tell where the plan comes from, and notes what was decided: any value is right.
    const free = /effective|predicted|notes/;
    let spoiled = 0;
    for (const rowSharding of ['range', 'modulo'] as const) {
      const list = (): { path: string; spoil: () => void; plan: PlanData }[] => {
        const plan = planEmbedding({ ...ARGS, rowSharding }).toJSON();
        const found: { path: string; spoil: () => void }[] = [];
        places(plan, '', found);
        return found.filter(({ path }) => !free.test(path)).map((place) => ({ ...place, plan }));
      };
      const count = list().length;
      for (let i = 0; i < count; i++) {
        const { path, spoil, plan } = list()[i]!;
        spoil();
        expect(checkPlan(plan, TABLES).length).withContext(path).toBeGreaterThan(0);
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
    expect(changed((plan) => plan.inputGroups.tableParallel.pop())).toContain(
      'mapGroups.tableParallel.length: expected 4, found 5',
    );
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
