/** The variables of a stack on the cores, and its tables in the global layout. */
import type * as tf from '@tensorflow/tfjs';
import { fillPart } from '../../backends/fill.js';
import { asVariable } from '../../backends/stores/slots.js';
import type { DevicesBackend } from '../../backends/devices/devices_backend.js';
import { ValueError } from '../../base/errors.js';
import type { TableLayout } from '../../partition/table_layout.js';
import { applyInBlocks, fillOf } from '../../tables/table_fill.js';
import { asInitializer, type TableInitializer } from '../config/table_initializer.js';
import type { SlotSpec } from '../optimizers/tpu_optimizer.js';
import { makeSlots } from '../tables/table_variables.js';
import { rowsInShard, type SparseCoreLayout } from './layouts.js';
import type { PlannedTable, SparseCorePlan, StackPlan } from './stack_plan.js';

/** Row r of a table on one shard: the first one, how many there are, and where they begin in the shard. */
interface ShardPart {
  readonly first: number;
  readonly count: number;
  readonly offset: number;
}

function partOn(shard: number, layout: SparseCoreLayout): ShardPart {
  const { numSparseCores: shards, sparseCoreShardRotation: rotation, sparseCoreShardRowOffset: offset } = layout;
  const first = (shard - (rotation % shards) + shards) % shards;
  const count = Math.max(0, Math.ceil((layout.unshardedShape[0] - first) / shards));
  return { first, count, offset };
}

/** Rows [firstRow, firstRow + rows) of a table on one shard. */
function rangeOn(shard: number, layout: SparseCoreLayout, firstRow: number, rows: number): ShardPart {
  const { numSparseCores: shards, sparseCoreShardRowOffset } = layout;
  const first = firstRow + ((partOn(shard, layout).first - (firstRow % shards) + shards) % shards);
  const count = Math.max(0, Math.ceil((firstRow + rows - first) / shards));
  return { first, count, offset: sparseCoreShardRowOffset + Math.floor(first / shards) };
}

/** Row of a table for a row of its stack. */
export function tableRow(stackRow: number, rowsPerShard: number, layout: SparseCoreLayout): number {
  const { first, offset } = partOn(Math.floor(stackRow / rowsPerShard), layout);
  return first + ((stackRow % rowsPerShard) - offset) * layout.numSparseCores;
}

/** Whether a row of the stack is one of the table's. */
export function holdsRow(stackRow: number, rowsPerShard: number, layout: SparseCoreLayout): boolean {
  const inShard = (stackRow % rowsPerShard) - layout.sparseCoreShardRowOffset;
  return inShard >= 0 && inShard < rowsInShard(layout);
}

/** Rows in equal shares: shard s has rows s x rowsPerShard and on. */
function stackLayout(shards: number, rowsPerShard: number, columns: number): TableLayout {
  return {
    kind: 'rows',
    rows: shards * rowsPerShard,
    columns,
    shards: Array.from({ length: shards }, (_, device) => ({
      device,
      rows: { first: device * rowsPerShard, step: 1, count: rowsPerShard },
      columns: [0, columns] as const,
      inHost: false,
    })),
  };
}

/** `initial`: as initializers say; `written`: tables and slots are written before they are read. */
export type FirstValues = 'initial' | 'written';

export class StackVariables {
  readonly parameters: tf.Variable;
  readonly slots: readonly tf.Variable[];

  constructor(
    private readonly emulator: DevicesBackend,
    readonly plan: StackPlan,
    private readonly shards: number,
    private readonly values: FirstValues,
  ) {
    const made: tf.Variable[] = [];
    try {
      this.parameters = this.makeParameters();
      made.push(this.parameters);
      this.slots = this.makeSlots(made);
      for (const { table, layout: of } of values === 'initial' ? plan.tables : []) {
        this.fill(this.parameters, of, plan.columns, asInitializer(table.config.initializer));
      }
    } catch (error) {
      for (const variable of made) variable.dispose();
      throw error;
    }
  }

  /** By name: `parameters`, then the slots. */
  named(): Map<string, tf.Variable> {
    const names = this.plan.optimizer?.slotNames ?? [];
    return new Map([['parameters', this.parameters], ...this.slots.map((slot, i) => [names[i]!, slot] as const)]);
  }

  /** Rows of a table, or of a slot of it, [rows, columns] or [rows] without its padding; by default all. */
  read(
    variable: tf.Tensor,
    layout: SparseCoreLayout,
    firstRow = 0,
    rows = layout.unshardedShape[0] - firstRow,
  ): Float32Array {
    const width = variable.shape[1] ?? 1;
    const columns = variable.rank === 1 ? 1 : layout.unshardedShape[1];
    const values = new Float32Array(rows * columns);
    for (let shard = 0; shard < this.shards; shard++) {
      const { first, count, offset } = rangeOn(shard, layout, firstRow, rows);
      if (count === 0) continue;
      const part = this.emulator.readRows(variable, shard * this.plan.rowsPerShard + offset, count);
      for (let i = 0; i < count; i++) {
        const row = first + i * this.shards - firstRow;
        values.set(part.subarray(i * width, i * width + columns), row * columns);
      }
    }
    return values;
  }

  /** Writes rows of a table, or of a slot of it; what pads them stays as it is. */
  write(variable: tf.Variable, layout: SparseCoreLayout, values: Float32Array, firstRow = 0): void {
    const width = variable.shape[1] ?? 1;
    const columns = variable.rank === 1 ? 1 : layout.unshardedShape[1];
    for (let shard = 0; shard < this.shards; shard++) {
      const { first, count, offset } = rangeOn(shard, layout, firstRow, values.length / columns);
      if (count === 0) continue;
      const at = shard * this.plan.rowsPerShard + offset;
      const part = columns === width ? new Float32Array(count * width) : this.emulator.readRows(variable, at, count);
      for (let i = 0; i < count; i++) {
        const row = first + i * this.shards - firstRow;
        part.set(values.subarray(row * columns, (row + 1) * columns), i * width);
      }
      this.emulator.writeRows(variable, at, part);
    }
  }

  dispose(): void {
    for (const variable of [this.parameters, ...this.slots]) if (!variable.isDisposed) variable.dispose();
  }

  private makeParameters(): tf.Variable {
    const { name, rowsPerShard, columns } = this.plan;
    const layout = stackLayout(this.shards, rowsPerShard, columns);
    const tensor = this.emulator.create({ name, layout, fill: { kind: 'constant', value: 0 } });
    const variable = asVariable(tensor);
    this.emulator.place(variable, { layout, name });
    return variable;
  }

  private makeSlots(made: tf.Variable[]): tf.Variable[] {
    const { optimizer } = this.plan;
    const isInitial = this.values === 'initial';
    const isGiven = isInitial && (optimizer?.slotVariableCreationFn ?? null) !== null;
    // Padding begins like the rest where that is one number: some optimizers divide by it.
    const constant = ({ initialValue }: SlotSpec): number => (typeof initialValue === 'number' ? initialValue : 0);
    const slots = makeSlots(this.parameters, this.plan, this.emulator, isGiven ? null : constant);
    made.push(...slots);
    if (isInitial && !isGiven) {
      for (const [i, { initialValue }] of (optimizer?.slots ?? []).entries()) {
        if (typeof initialValue !== 'number') this.fillSlot(slots[i]!, initialValue);
      }
    }
    return slots;
  }

  private fillSlot(slot: tf.Variable, initializer: TableInitializer): void {
    for (const { layout } of this.plan.tables) {
      this.fill(slot, layout, slot.shape[1] ?? 1, asInitializer(initializer), slot.rank === 1);
    }
  }

  /** Gives a table, or a slot of it, its first values: the same on any number of cores. */
  private fill(
    variable: tf.Variable,
    layout: SparseCoreLayout,
    width: number,
    initializer: ReturnType<typeof asInitializer>,
    isVector = false,
  ): void {
    const [rows, dim] = layout.unshardedShape;
    const columns = isVector ? 1 : dim;
    const table = { rows, columns, name: layout.tableName, argument: 'initializer' };
    const fill = fillOf(initializer, table, null);
    if (fill === null) {
      applyInBlocks(initializer, table, (row, block) => this.write(variable, layout, block, row));
      return;
    }
    for (let shard = 0; shard < this.shards; shard++) {
      const { first, count, offset } = partOn(shard, layout);
      if (count === 0) continue;
      const part = { firstRow: first, rowStep: this.shards, rows: count, firstColumn: 0, columns };
      const values = new Float32Array(count * columns);
      fillPart(values, part, fill);
      const padded = columns === width ? values : new Float32Array(count * width);
      if (padded !== values) {
        for (let i = 0; i < count; i++) padded.set(values.subarray(i * columns, (i + 1) * columns), i * width);
      }
      this.emulator.writeRows(variable, shard * this.plan.rowsPerShard + offset, padded);
    }
  }
}

/** The variables of all stacks, and the tables in them by name. */
export class SparseCoreVariables {
  readonly stacks: ReadonlyMap<string, StackVariables>;

  constructor(emulator: DevicesBackend, plan: SparseCorePlan, values: FirstValues = 'initial') {
    const stacks = new Map<string, StackVariables>();
    try {
      for (const stack of plan.stacks) stacks.set(stack.name, new StackVariables(emulator, stack, plan.shards, values));
    } catch (error) {
      for (const stack of stacks.values()) stack.dispose();
      throw error;
    }
    this.stacks = stacks;
  }

  /** The stack of a table, and where the table lies in it. */
  of(table: PlannedTable): { stack: StackVariables; layout: SparseCoreLayout } {
    for (const stack of this.stacks.values()) {
      const found = stack.plan.tables.find((member) => member.table === table);
      if (found !== undefined) return { stack, layout: found.layout };
    }
    throw new ValueError('table', 'a table of the config', table.name);
  }

  dispose(): void {
    for (const stack of this.stacks.values()) stack.dispose();
  }
}
