/** Tables and slots of stacks in the global layout: what is saved, loaded, read and written by users. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import {
  loadVariables,
  saveVariables,
  writeVariables,
  type RowsElsewhere,
  type SavedVariable,
} from '../checkpoint/checkpoint.js';
import type { SparseCoreLayout } from './layouts.js';
import type { PlannedTable } from './stack_plan.js';
import type { SparseCoreVariables, StackVariables } from './stack_variables.js';

/** A table, or a slot of one, in the variable of its stack. */
class StackedPart implements RowsElsewhere {
  /** Slots with one value for each row have one column. */
  readonly shape: readonly [rows: number, columns: number];

  constructor(
    private readonly stack: StackVariables,
    private readonly layout: SparseCoreLayout,
    private readonly stacked: tf.Variable,
  ) {
    const [rows, dim] = layout.unshardedShape;
    this.shape = [rows, stacked.rank === 1 ? 1 : dim];
  }

  read(firstRow: number, rows: number): Float32Array {
    return this.stack.read(this.stacked, this.layout, firstRow, rows);
  }

  write(firstRow: number, values: Float32Array): void {
    this.stack.write(this.stacked, this.layout, values, firstRow);
  }
}

export class GlobalTables {
  private readonly parts: readonly (SavedVariable & { readonly variable: StackedPart })[];

  /** The tables in their order, then their slots. */
  constructor(
    private readonly tables: readonly PlannedTable[],
    variables: SparseCoreVariables,
  ) {
    const found = tables.map((table) => ({ table, ...variables.of(table) }));
    this.parts = [
      ...found.map(({ table: { name }, stack, layout }) => {
        return { name, variable: new StackedPart(stack, layout, stack.parameters) };
      }),
      ...found.flatMap(({ table: { name, optimizer }, stack, layout }) =>
        stack.slots.map((slot, i) => {
          return { name: `${name}/${optimizer!.slotNames[i]}`, variable: new StackedPart(stack, layout, slot) };
        }),
      ),
    ];
  }

  /** Copies of everything. */
  read(): tf.Tensor2D[] {
    return this.parts.map(({ variable }) => {
      const [rows, columns] = variable.shape;
      return tf.tensor2d(variable.read(0, rows), [rows, columns]);
    });
  }

  /** Writes the tables, or tables and slots, in the order of `read`; nothing where anything is wrong. */
  write(weights: unknown): void {
    const [few, all] = [this.tables.length, this.parts.length];
    const expected = `a list of ${few} tables, or of ${all} tables and slots`;
    if (!Array.isArray(weights)) throw new ArgumentTypeError('weights', expected, weights);
    if (weights.length !== few && weights.length !== all) {
      throw new ValueError('weights', expected, described(`a list of ${weights.length}`));
    }
    writeVariables(this.parts.slice(0, weights.length), weights as unknown[], (i) => `weights[${i}]`);
  }

  async save(directory: unknown, options: unknown): Promise<void> {
    await saveVariables(this.parts, directory, options);
  }

  async load(directory: unknown): Promise<void> {
    await loadVariables(this.parts, directory);
  }
}
