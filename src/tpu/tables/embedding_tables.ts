/** The variables of all tables of an embedding object: tables and slots, where the backend wants them. */
import * as tf from '@tensorflow/tfjs';
import { devicesInUse, storeInUse } from '../../backends/registry.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { writeVariables } from '../checkpoint/checkpoint.js';
import type { GivenTableConfig } from '../config/table_config.js';
import type { NamedTable } from './read_tables.js';
import { makeSlots, makeTable, moduloLayout, sizeOfTable } from './table_variables.js';

/** A table and its slots. */
export interface TableVariables {
  readonly table: tf.Variable;
  readonly slots: readonly tf.Variable[];
}

/** A variable under the name by which it is saved: `<table>` or `<table>/<slot>`. */
export interface NamedVariable {
  readonly name: string;
  readonly variable: tf.Variable;
}

/** Takes a new variable over: what it returns is used in its place, and it is the taker's to dispose. */
export type TakeOver = (name: string, made: tf.Variable, isSlot: boolean) => tf.Variable;

export class EmbeddingTables {
  #made: TableVariables[] | null = null;

  constructor(
    readonly tables: readonly NamedTable[],
    private readonly takeOver: TakeOver | null = null,
  ) {}

  get areMade(): boolean {
    return this.#made !== null;
  }

  /** Makes all variables, unless that was done; on the devices where there are some, or on the host. */
  make(where: 'devices' | 'host' = 'devices'): void {
    if (this.#made !== null) return;
    const devices = where === 'devices' ? devicesInUse() : null;
    const made: TableVariables[] = [];
    try {
      for (const named of this.tables) {
        const table = makeTable(named, devices);
        const slots: tf.Variable[] = [];
        made.push({ table, slots });
        slots.push(...makeSlots(table, named, devices));
      }
    } catch (error) {
      for (const { table, slots } of made) tf.dispose([table, ...slots]);
      throw error;
    }
    this.#made = this.takeOver === null ? made : made.map((each, i) => this.#taken(each, this.tables[i]!));
    if (where === 'devices') this.place();
  }

  #taken({ table, slots }: TableVariables, { name, optimizer }: NamedTable): TableVariables {
    const names = optimizer?.slotNames ?? [];
    const takenSlots = slots.map((slot, i) => this.takeOver!(`${name}/${names[i]}`, slot, true));
    return { table: this.takeOver!(name, table, false), slots: takenSlots };
  }

  /** Brings all variables where the backend in use wants them: whatever was assigned to them lies elsewhere. */
  place(): void {
    const store = storeInUse();
    const { devices } = store;
    this.#made?.forEach(({ table, slots }, i) => {
      if (devices === null) return store.place(table);
      const { name, optimizer } = this.tables[i]!;
      devices.place(table, { layout: moduloLayout(sizeOfTable(this.tables[i]!), devices), name });
      slots.forEach((slot, k) => devices.place(slot, { like: table, name: `${name}/${optimizer!.slotNames[k]}` }));
    });
  }

  of(table: number): TableVariables {
    return this.#made![table]!;
  }

  /** The variable of each table, by the config that the user gave. */
  byConfig(): Map<GivenTableConfig, tf.Variable> {
    return new Map(this.tables.map(({ config }, i) => [config.given, this.of(i).table]));
  }

  /** All variables: the tables in their order, then the slots. */
  named(): NamedVariable[] {
    const tables = this.tables.map(({ name }, i) => ({ name, variable: this.of(i).table }));
    const slots = this.tables.flatMap(({ name, optimizer }, i) => {
      return this.of(i).slots.map((variable, k) => ({ name: `${name}/${optimizer!.slotNames[k]}`, variable }));
    });
    return [...tables, ...slots];
  }

  /** Sets the tables, or tables and slots in the order of `named`; nothing is written where anything is wrong. */
  write(weights: unknown): void {
    const all = this.named();
    const { length } = this.tables;
    const expected = `a list of ${length} tables, or of ${all.length} tables and slots`;
    if (!Array.isArray(weights)) throw new ArgumentTypeError('weights', expected, weights);
    if (weights.length !== length && weights.length !== all.length) {
      throw new ValueError('weights', expected, described(`a list of ${weights.length}`));
    }
    writeVariables(all.slice(0, weights.length), weights, (i) => `weights[${i}]`);
    this.place();
  }

  /** Frees everything, unless others have taken it over. */
  dispose(): void {
    if (this.takeOver === null) {
      for (const { table, slots } of this.#made ?? []) tf.dispose([table, ...slots]);
    }
    this.#made = null;
  }
}
