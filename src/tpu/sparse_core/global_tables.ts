/** Tables and slots of stacks in the global layout: what is saved, loaded, read and written by users. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../errors.js';
import { loadVariables, saveVariables, writeVariables, type SavedVariable } from '../checkpoint/checkpoint.js';
import type { SparseCoreLayout } from './layouts.js';
import type { PlannedTable } from './stack_plan.js';
import type { SparseCoreVariables, StackVariables } from './stack_variables.js';

/** A table or a slot of one, and the variable of its stack in which it lies. */
interface Part {
  readonly name: string;
  readonly stack: StackVariables;
  readonly layout: SparseCoreLayout;
  readonly variable: tf.Variable;
  /** [rows, columns]; slots with one value for each row have one column. */
  readonly shape: [number, number];
}

export class GlobalTables {
  private readonly parts: readonly Part[];

  /** The tables in their order, then their slots. */
  constructor(
    private readonly tables: readonly PlannedTable[],
    variables: SparseCoreVariables,
  ) {
    const found = tables.map((table) => ({ table, ...variables.of(table) }));
    const partOf = (name: string, stack: StackVariables, layout: SparseCoreLayout, variable: tf.Variable): Part => {
      const [rows, dim] = layout.unshardedShape;
      return { name, stack, layout, variable, shape: [rows, variable.rank === 1 ? 1 : dim] };
    };
    this.parts = [
      ...found.map(({ table, stack, layout }) => partOf(table.name, stack, layout, stack.parameters)),
      ...found.flatMap(({ table, stack, layout }) =>
        stack.slots.map((slot, i) => partOf(`${table.name}/${table.optimizer!.slotNames[i]}`, stack, layout, slot)),
      ),
    ];
  }

  /** Copies of everything. */
  read(): tf.Tensor2D[] {
    return this.parts.map(({ stack, layout, variable, shape }) => tf.tensor2d(stack.read(variable, layout), shape));
  }

  /** Writes the tables, or tables and slots, in the order of `read`; nothing where anything is wrong. */
  write(weights: unknown): void {
    const [few, all] = [this.tables.length, this.parts.length];
    const expected = `a list of ${few} tables, or of ${all} tables and slots`;
    if (!Array.isArray(weights)) throw new ArgumentTypeError('weights', expected, weights);
    if (weights.length !== few && weights.length !== all) {
      throw new ValueError('weights', expected, described(`a list of ${weights.length}`));
    }
    const copies = this.copies(this.parts.slice(0, weights.length), false);
    try {
      writeVariables(copies, weights as unknown[], (i) => `weights[${i}]`);
      this.takeIn(copies);
    } finally {
      tf.dispose(copies.map(({ variable }) => variable));
    }
  }

  async save(directory: unknown, options: unknown): Promise<void> {
    const copies = this.copies(this.parts, true);
    try {
      await saveVariables(copies, directory, options);
    } finally {
      tf.dispose(copies.map(({ variable }) => variable));
    }
  }

  async load(directory: unknown): Promise<void> {
    const copies = this.copies(this.parts, false);
    try {
      await loadVariables(copies, directory);
      this.takeIn(copies);
    } finally {
      tf.dispose(copies.map(({ variable }) => variable));
    }
  }

  /** Variables on the host in the shapes of the parts, with their values or with zeros. */
  private copies(parts: readonly Part[], areFilled: boolean): SavedVariable[] {
    return parts.map(({ name, stack, layout, variable, shape }) => {
      const tensor = areFilled ? tf.tensor2d(stack.read(variable, layout), shape) : tf.zeros<tf.Rank.R2>(shape);
      const copy = tf.variable(tensor, false);
      tensor.dispose();
      return { name, variable: copy };
    });
  }

  private takeIn(copies: readonly SavedVariable[]): void {
    copies.forEach(({ variable: copy }, i) => {
      const { stack, layout, variable } = this.parts[i]!;
      stack.write(variable, layout, copy.dataSync<'float32'>());
    });
  }
}
