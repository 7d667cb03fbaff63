/** Tables in their stacks, read and written piece by piece in the global layout. */
import * as tpu from 'tfjs-embeddings/tpu';
import { currentEmulator } from '../../../src/backends/emulator/register.js';
import { planStacks } from '../../../src/tpu/sparse_core/stack_plan.js';
import { holdsRow, SparseCoreVariables, tableRow } from '../../../src/tpu/sparse_core/stack_variables.js';
import { Random } from '../../helpers/random.js';
import { FOUR, onCores } from './v2_on_cores.js';

const SIZES = { a: [50, 6], b: [33, 8], c: [3, 1] } as const;

describe('SparseCoreVariables', () => {
  const optimizer = new tpu.CustomOptimizer({
    customComputation: ({ parameters, slots }) => ({ parameters, slots: Object.values(slots) }),
    slotNames: ['rows'],
    slotInitializers: [0.5],
    slotDims: [1],
  });
  const tables = Object.entries(SIZES).map(([name, [vocabularySize, dim]]) => {
    const initializer = new tpu.RowIdInitializer();
    return { name, config: new tpu.TableConfig({ vocabularySize, dim, name, initializer }), optimizer };
  });
  const features = tables.map((table) => ({ path: table.name, table, outputShape: [8] }));

  it('reads and writes any range of rows, and nothing else', async () => {
    await onCores(FOUR, () => {
      const plan = planStacks(tables, features, FOUR, false);
      expect(plan.stacks.map(({ name }) => name)).toEqual(['a_b_c']);
      const variables = new SparseCoreVariables(currentEmulator('spec'), plan);
      const random = new Random(8);
      for (const table of tables) {
        const { stack, layout } = variables.of(table);
        const [rows, dim] = SIZES[table.name as keyof typeof SIZES];
        for (const [variable, columns] of [
          [stack.parameters, dim],
          [stack.slots[0]!, 1],
        ] as const) {
          const whole = stack.read(variable, layout);
          if (variable === stack.parameters) {
            expect([...whole]).toEqual(Array.from({ length: rows * dim }, (_, i) => Math.floor(i / dim)));
          } else expect(new Set(whole)).toEqual(new Set([0.5]));
          for (let round = 0; round < 12; round++) {
            const first = random.whole(0, rows);
            const count = random.whole(0, rows - first + 1);
            const part = random.floats(count * columns);
            stack.write(variable, layout, part, first);
            whole.set(part, first * columns);
            const from = random.whole(0, rows);
            expect(stack.read(variable, layout, from)).toEqual(whole.slice(from * columns));
            expect(stack.read(variable, layout)).toEqual(whole);
          }
        }
      }
      variables.dispose();
    });
  });

  it('knows which table holds a row of a stack, and which row of it that is', async () => {
    await onCores(FOUR, () => {
      const plan = planStacks(tables, features, FOUR, false);
      const variables = new SparseCoreVariables(currentEmulator('spec'), plan);
      for (const { parameters, plan: stack } of variables.stacks.values()) {
        const values = parameters.arraySync() as number[][];
        const found = new Map<string, Set<number>>();
        values.forEach((row, stackRow) => {
          const held = stack.tables.filter(({ layout }) => holdsRow(stackRow, stack.rowsPerShard, layout));
          expect(held.length).toBe(1);
          const { table, layout } = held[0]!;
          const number = tableRow(stackRow, stack.rowsPerShard, layout);
          // What pads a table are zeros.
          const isReal = number < table.config.vocabularySize;
          expect(row[0])
            .withContext(`row ${number} of ${table.name}`)
            .toBe(isReal ? number : 0);
          if (isReal) found.set(table.name, (found.get(table.name) ?? new Set()).add(number));
        });
        expect([...found].map(([name, rows]) => [name, rows.size]).sort()).toEqual([
          ['a', 50],
          ['b', 33],
          ['c', 3],
        ]);
      }
      variables.dispose();
    });
  });
});
