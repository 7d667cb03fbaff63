/** The weights of a `DistributedEmbedding`: made where the plan says, and kept there. */
import type * as tf from '@tensorflow/tfjs';
import type { Devices } from '../../backends/contract.js';
import type { Fill } from '../../backends/fill.js';
import { plainForm } from '../../backends/table.js';
import { tablesInUse } from '../../backends/registry.js';
import { ValueError } from '../../base/errors.js';
import type { TableLayout } from '../../partition/table_layout.js';
import type { DistributedTable } from './features.js';
import type { PlanInForce } from './plan.js';
import type { EmbeddingTable } from '../../tables/embedding_table.js';
import {
  ZEROS,
  appliedInitializer,
  filledInitializer,
  initializerOf,
  tableSeed,
  zerosOf,
} from '../../tables/initial_values.js';
import type { TableHolder } from '../../tables/table_holder.js';
import type { Initializer, TableToFill } from '../../tables/initializers.js';
import { convertedRows, type WeightForm } from '../../tables/storage.js';
import { applyInBlocks, fillOf, withSeed } from '../../tables/table_fill.js';

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
    const { devices } = this.plan;
    const { isPlain } = this.table.rowCodec;
    if (!isPlain && devices !== null) this.#refusePacked();
    const isOwn = initializer === this.table.initializer;
    const seeded = withSeed(initializer, this.seed);
    const fill = isOwn ? fillOf(initializer, this.toFill, this.seed) : null;
    // Others than known ones run on the host; devices then get their rows, unless tables are there that others made.
    const isWritten = isOwn && fill === null && devices?.joins === false;
    const first =
      fill !== null
        ? this.#filled(fill)
        : isOwn && devices !== null
          ? this.#filled(ZEROS)
          : isOwn
            ? appliedInitializer(this.toFill, seeded)
            : initializer;
    const { table, owner } = this;
    const form = table.weightForm;
    const fast = isPlain ? this.#filled(ZEROS) : zerosOf(form);
    const weight = owner.makeWeight(this.savedName, form, table.packing(first), fast);
    if (isWritten) {
      const variable = weight.read() as tf.Variable;
      try {
        applyInBlocks(seeded, this.toFill, (row, values) => devices.writeRows(variable, row, values));
      } catch (error) {
        weight.dispose();
        throw error;
      }
    }
    return weight;
  }

  /** Devices have no kernels for packed rows, and a plan counts what lies on devices. */
  #refusePacked(): never {
    const expected = `'float32' for table ${this.source.name}, which a plan places on devices`;
    const note = 'Packed rows are looked up on the backends cpu, wasm and tensorflow.';
    throw new ValueError('storage', expected, this.table.storage, note);
  }

  #filled(fill: Fill): Initializer {
    const { devices } = this.plan;
    if (devices === null) return filledInitializer(this.toFill, fill);
    return initializerOf(() => devices.create({ name: this.weightName, layout: this.#layout, fill }));
  }

  get #layout(): TableLayout {
    return this.plan.layouts[this.number]!;
  }

  placeTable(table: tf.Variable): void {
    const { devices } = this.plan;
    if (!this.table.rowCodec.isPlain) return;
    const tables = tablesInUse();
    if (devices === null || devices !== tables.devices) tables.place(table);
    else devices.place(table, { layout: this.#layout, name: this.weightName });
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
