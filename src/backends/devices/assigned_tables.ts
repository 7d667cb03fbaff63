/**
 * Tables of variables to which other values were assigned. They stay until the variable is placed again, so that those
 * values come where others know the table, and nobody finds it gone meanwhile.
 */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import type { DeviceTable } from './machine/device_table.js';

type Variables = Readonly<Record<string, tf.Variable | undefined>>;

/** Those that were not disposed. */
function registered(): Variables {
  return (tf.engine() as unknown as { readonly state: { registeredVariables: Variables } }).state.registeredVariables;
}

/** What is asked of those who have the tables. */
export interface AssignedTo {
  /** The table of a variable; null: it lies elsewhere. */
  tableOf(variable: tf.Variable): DeviceTable | null;
  /** Takes the table from the data of a variable, whose end is no end of the table then. Returns what gives it back. */
  detach(variable: tf.Variable): () => void;
  /** Throws where nothing may be assigned. */
  check(): void;
  /** Called when what assigns has ended. */
  later(): void;
}

export class AssignedTables {
  private readonly tables = new Map<tf.Variable, DeviceTable>();
  private readonly watched = new WeakSet<tf.Variable>();
  private isOwn = false;

  constructor(private readonly to: AssignedTo) {}

  /** Hears of what is assigned to a variable from now on. */
  watch(variable: tf.Variable): void {
    if (this.watched.has(variable)) return;
    this.watched.add(variable);
    const assign = variable.assign.bind(variable);
    variable.assign = asOwn((value: tf.Tensor): void => {
      const table = this.isOwn ? null : this.to.tableOf(variable);
      if (table === null) return assign(value);
      this.to.check();
      // Others hold the values of before: they have a copy.
      const isShared = table.refCount > 1;
      const kept = isShared ? table.takenOver() : table;
      const attach = isShared ? null : this.to.detach(variable);
      try {
        assign(value);
      } catch (error) {
        if (attach === null) kept.free();
        else attach();
        throw error;
      }
      if (this.tables.size === 0) queueMicrotask(() => this.to.later());
      this.tables.set(variable, kept);
    });
  }

  /** The table that a variable had; null: it has it. */
  take(variable: tf.Variable): DeviceTable | null {
    this.sweep();
    const table = this.tables.get(variable) ?? null;
    this.tables.delete(variable);
    return table;
  }

  /** Those whose values are not where they belong. */
  variables(): tf.Variable[] {
    this.sweep();
    return [...this.tables.keys()];
  }

  /** Frees tables of variables that are gone. */
  sweep(): void {
    if (this.tables.size === 0) return;
    const names = registered();
    for (const [variable, table] of this.tables) {
      if (names[variable.name] === variable) continue;
      this.tables.delete(variable);
      table.free();
    }
  }

  /** What this assigns is no user's assignment. */
  without(assign: () => void): void {
    const before = this.isOwn;
    this.isOwn = true;
    try {
      assign();
    } finally {
      this.isOwn = before;
    }
  }
}
