/** The weights of a `DistributedEmbedding`: made where the plan says, and kept there. */
import type * as tf from '@tensorflow/tfjs';
import type { Devices } from '../../backends/contract.js';
import { plainForm } from '../../backends/table.js';
import { storeInUse } from '../../backends/registry.js';
import { ValueError } from '../../base/errors.js';
import type { TableLayout } from '../../partition/table_layout.js';
import type { DistributedTable } from './features.js';
import type { PlanInForce } from './plan.js';
import type { EmbeddingTable } from '../../tables/embedding_table.js';
import {
  ZEROS,
  beginningOf,
  placedInitializer,
  tableSeed,
  zerosOf,
  type BegunOn,
} from '../../tables/initial_values.js';
import type { TableHolder } from '../../tables/table_holder.js';
import type { Initializer, TableToFill } from '../../tables/initializers.js';
import { convertedRows, type WeightForm } from '../../tables/storage.js';

/** What the weights need of their layer. */
export interface WeightOwner {
  readonly name: string;
  readonly trainable: boolean;
  /** Sets its flag `trainable` to false. */
  freeze(): void;
  /** `addWeight` of the layer; `fast`: what it is made with when a model that is being loaded overwrites it at once. */
  makeWeight(name: string, { shape, dtype }: WeightForm, initializer: Initializer, fast: Initializer): tf.LayerVariable;
}

/** One table in the layer that holds it. */
class PlacedTable implements TableHolder {
  constructor(
    private readonly owner: WeightOwner,
    private readonly plan: PlanInForce,
    private readonly number: number,
    readonly source: DistributedTable,
    private readonly savedName: string,
    readonly seed: number | null,
  ) {}

  get table(): EmbeddingTable {
    return this.source.table;
  }

  get toFill(): TableToFill {
    return { ...this.table.toFill, name: this.source.name };
  }

  get name(): string {
    return this.owner.name;
  }

  get trainable(): boolean {
    return this.owner.trainable;
  }

  freeze(): void {
    this.owner.freeze();
  }

  get weightName(): string {
    return `${this.name}/${this.savedName}`;
  }

  get variable(): tf.Variable {
    return this.table.variable!;
  }

  createWeight(initializer: Initializer): tf.LayerVariable {
    const { table, owner } = this;
    if (!table.rowCodec.isPlain && this.plan.devices !== null) this.#refusePacked();
    const on = this.#begunOn;
    const { values, write } =
      initializer === table.initializer
        ? beginningOf(this.toFill, initializer, this.seed, on)
        : { values: initializer, write: null };
    const form = table.weightForm;
    const fast = on === null ? zerosOf(form) : placedInitializer(on, ZEROS);
    const weight = owner.makeWeight(this.savedName, form, table.packing(values), fast);
    try {
      write?.(weight.read() as tf.Variable);
      return weight;
    } catch (error) {
      weight.dispose();
      throw error;
    }
  }

  /** Devices have no kernels for packed rows, and a plan counts what lies on devices. */
  #refusePacked(): never {
    const expected = `'float32' for table ${this.source.name}, which a plan places on devices`;
    const note = 'Packed rows are looked up on the backends cpu, wasm and tensorflow.';
    throw new ValueError('storage', expected, this.table.storage, note);
  }

  get #begunOn(): BegunOn | null {
    const { devices } = this.plan;
    return devices === null ? null : { devices, layout: this.#layout, name: this.weightName };
  }

  get #layout(): TableLayout {
    return this.plan.layouts[this.number]!;
  }

  placeTable(table: tf.Variable): void {
    const { devices } = this.plan;
    if (!this.table.rowCodec.isPlain) return;
    const store = storeInUse();
    const isPlanned = devices !== null && devices === store.devices;
    store.place(table, isPlanned ? { layout: this.#layout, name: this.weightName } : {});
  }
}

const OUTSIDE_NAMES = /[^-A-Za-z0-9._/]/g;

/** Names of weights as tfjs takes them, each its own. */
function weightNames(tables: readonly DistributedTable[]): string[] {
  const taken = new Set<string>();
  return tables.map(({ name }) => {
    const plain = name.replace(OUTSIDE_NAMES, '_');
    const start = /^[A-Za-z0-9]/.test(plain) ? plain : `table${plain}`;
    let free = start;
    for (let n = 1; taken.has(free); n++) free = `${start}_${n}`;
    taken.add(free);
    return `${free}/embeddings`;
  });
}

export class DistributedWeights {
  readonly #placed: readonly PlacedTable[];

  constructor(
    owner: WeightOwner,
    private readonly plan: PlanInForce,
    tables: readonly DistributedTable[],
    seed: number | null,
  ) {
    const names = weightNames(tables);
    this.#placed = tables.map((table, number) => {
      return new PlacedTable(owner, plan, number, table, names[number]!, tableSeed(seed, number));
    });
  }

  /** Makes all tables, or takes those that another layer has made; the weights in the order of the tables. */
  attach(): tf.LayerVariable[] {
    return this.#placed.map((placed) => {
      const isMade = placed.table.variable !== null;
      const weight = placed.table.attach(placed);
      if (isMade) placed.placeTable(placed.variable);
      return weight;
    });
  }

  /** Puts all tables where the plan in force says. */
  placeTables(): void {
    for (const placed of this.#placed) placed.placeTable(placed.variable);
  }

  refresh(): void {
    for (const { table } of this.#placed) table.refresh();
  }

  /** Returns how many variables that freed. */
  release(): number {
    return this.#placed.reduce((freed, placed) => freed + placed.table.release(placed), 0);
  }

  get tables(): readonly DistributedTable[] {
    return this.#placed.map(({ source }) => source);
  }

  get variables(): tf.Variable[] {
    return this.#placed.map(({ variable }) => variable);
  }

  variable(table: number): tf.Variable {
    return this.#placed[table]!.variable;
  }

  /** Copies of all tables by name, as float32. */
  copies(): Record<string, tf.Tensor2D> {
    return Object.fromEntries(
      this.tables.map(({ name, table: { form } }, table) => {
        return [name, convertedRows(this.variable(table), form, plainForm(form.dim), name) as tf.Tensor2D];
      }),
    );
  }

  /** The devices that hold the tables, or null. */
  get devices(): Devices | null {
    return this.plan.devices;
  }
}
