/** A table of embeddings that one layer owns or several layers share. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { grow, growAtEnd, withRowsOf } from '../backends/stores/table_rows.js';
import { isTooLarge } from '../backends/kernel_set.js';
import { isRecording } from '../backends/recordings.js';
import { devicesInUse, storeInUse } from '../backends/registry.js';
import { type Grown, type RemakeSlot, type Table, type TableForm, tableOf } from '../backends/table.js';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import type { Codec, Storage } from '../codecs/codec.js';
import { codecOf } from '../codecs/codecs.js';
import { refusePositional } from '../base/positional.js';
import { readOptions } from '../base/options.js';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { keptValues } from '../tfjs/kept_values.js';
import { afterWrites, decideTrainable } from '../tfjs/layer_weights.js';
import { watchStockSteps } from '../optimizers/dense_part.js';
import { readConstraint, rowConstraintOf, type Constraint, type ConstraintInput } from './constraints.js';
import { readExtension, type ExtendArgs } from './extension.js';
import { checkedInitializer } from './initial_values.js';
import {
  readInitializer,
  type Initializer,
  type InitializerInput,
  type RowsInitializer,
  type TableToFill,
} from './initializers.js';
import { checkBoolean, checkDimension, checkName } from '../base/layer_arguments.js';
import { nextName } from '../base/layer_names.js';
import { readTableValues, tableTensor, type TableValues } from './pretrained.js';
import { readRegularizer, type Regularizer, type RegularizerInput } from './regularizers.js';
import { serializeRegistered } from './registered_objects.js';
import {
  acceptFloats,
  formInitializer,
  noteTable,
  readStorage,
  storageFields,
  weightForm,
  withMoreRows,
  type WeightForm,
} from './storage.js';
import type { TableHolder } from './table_holder.js';
import { readTableOptimizer } from './table_optimizer.js';
import { checkSeed, roundingSeed } from './table_seed.js';

/** What makes a table; the same fields in `embeddingTable` and in the layers. */
export interface TableArgs {
  /** Number of rows: ids are in [0, inputDim). */
  inputDim: number;
  /** Number of columns. */
  outputDim: number;
  /** What rows begin with. Default: 'randomUniform', from -0.05 to 0.05. */
  embeddingsInitializer?: InitializerInput | null | undefined;
  /** Penalty on the rows that a step touches; null (default): none. */
  embeddingsRegularizer?: RegularizerInput | null | undefined;
  /** What rows are held to after a step: 'nonNeg', or one along axis 1; null (default): nothing. */
  embeddingsConstraint?: ConstraintInput | null | undefined;
  /** An `emb.train` optimizer for this table alone; `compile` must be given one too. Default: null. */
  optimizer?: SparseOptimizer | null | undefined;
  /** A list of one: the values that the table begins with, [inputDim, outputDim]; null (default): the initializer's. */
  weights?: readonly TableValues[] | null | undefined;
  /**
   * How rows are kept: 'float32' (default); 'float16', which takes half the memory and is trained by `emb.train`
   * optimizers, with stochastic rounding; or, for inference alone, 'int8' with a scale and an offset per row. The weight
   * of such a table holds int32 words.
   */
  storage?: Storage | null | undefined;
  /**
   * Seed of an initializer given by name; null (default): another one each time. Also the seed of the rounding of float16
   * rows, which is 0 by default.
   */
  seed?: number | null | undefined;
}

/** Arguments beside the sizes; `embeddingTable` is given them where the table is shared. */
export const TABLE_SETTINGS = [
  'embeddingsInitializer',
  'embeddingsRegularizer',
  'embeddingsConstraint',
  'optimizer',
  'storage',
  'weights',
  'seed',
] as const;

export const TABLE_ARGUMENTS = ['inputDim', 'outputDim', ...TABLE_SETTINGS] as const;

/** Arguments of what looks up a table of its own. */
export interface OwnTableArgs extends TableArgs {
  table?: null | undefined;
}

/** Arguments of what looks up a table of several: what belongs to the table was given to `embeddingTable`. */
export interface SharedTableArgs extends Partial<Record<Exclude<keyof TableArgs, 'inputDim' | 'outputDim'>, null>> {
  /** A table made by `embeddingTable`. */
  table: EmbeddingTable;
  /** As the table says, or nothing. */
  inputDim?: number | undefined;
  outputDim?: number | undefined;
}

export interface EmbeddingTableArgs extends TableArgs {
  /** Saved with the model: layers that name the same table share it again when the model is loaded. Default: embedding_table, with a number. */
  name?: string | undefined;
  /** false: the table is never updated. Default: true. */
  trainable?: boolean | undefined;
}

/** What a table gets other rows for. */
interface Resize {
  /** The argument that says how many, and who asked, in errors. */
  readonly argument: string;
  readonly layer: string;
  readonly rows: number;
  /** Gives variables their new values. */
  readonly put?: typeof grow;
}

/** As V8, SpiderMonkey and JavaScriptCore put it. */
const OUT_OF_MEMORY = /array length|alloc|too large|out of memory/i;

export class EmbeddingTable {
  static {
    brand(this, 'EmbeddingTable');
  }
  readonly name: string;
  /** The number of rows, which `extend` of a layer changes. */
  readonly inputDim: number;
  readonly outputDim: number;
  readonly initializer: Initializer;
  readonly regularizer: Regularizer | null;
  readonly constraint: Constraint | null;
  readonly optimizer: SparseOptimizer | null;
  readonly storage: Storage;
  /** Of the initializer where it was given by name, and of the rounding of float16 rows. */
  readonly seed: number | null;
  /** Whether several layers may hold it; a layer's own table is saved under the layer's name. */
  readonly isShared: boolean;
  #weight: tf.LayerVariable | null = null;
  #initialValues: TableValues | null;
  #trainable: boolean;
  /** What layers and models set last. */
  #asked = true;
  readonly #holders = new Set<TableHolder>();

  /**
   * @param args - The settings; see `EmbeddingTableArgs`.
   * @param isShared - Whether several layers may hold it.
   * @param name - The name of its weight.
   */
  constructor(args: EmbeddingTableArgs, isShared: boolean, name: string) {
    this.name = name;
    this.isShared = isShared;
    this.inputDim = checkDimension(args.inputDim, 'inputDim');
    this.outputDim = checkDimension(args.outputDim, 'outputDim');
    this.seed = checkSeed(args.seed);
    this.initializer = readInitializer(args.embeddingsInitializer, this.seed);
    this.regularizer = readRegularizer(args.embeddingsRegularizer);
    this.constraint = readConstraint(args.embeddingsConstraint);
    this.storage = readStorage(args.storage);
    this.optimizer = readTableOptimizer(args.optimizer, this.rowCodec);
    this.#trainable = checkBoolean(args.trainable, 'trainable', true);
    const { weights } = args;
    const isGiven = weights !== undefined && weights !== null;
    this.#initialValues = isGiven ? readTableValues(weights, this.inputDim, this.outputDim) : null;
    noteTable(this);
  }

  /** The table, or null before a layer that holds it was built. */
  get variable(): tf.Variable | null {
    return this.#weight === null ? null : (this.#weight.read() as tf.Variable);
  }

  /** The number of rows now: what `inputDim` is after each `extend`. */
  get rows(): number {
    return this.inputDim;
  }

  /** How its rows are kept: its `storage`. */
  get codec(): Storage {
    return this.storage;
  }

  /** Where its rows lie: 'placed' on the devices of the backend in use, or in 'memory'; so before a layer was built. */
  get store(): 'memory' | 'placed' {
    const { variable } = this;
    const devices = devicesInUse();
    return variable === null || devices === null || devices.layoutOf(variable) === null ? 'memory' : 'placed';
  }

  /**
   * The same, as lookups and steps take it.
   *
   * @internal
   */
  get table(): Table | null {
    return this.#weight === null ? null : tableOf(this.#weight.read());
  }

  /**
   * Whether layers list its weight among theirs: models then count, save and hand it out.
   *
   * @internal
   */
  get listsWeight(): boolean {
    return true;
  }

  /**
   * What its rows are.
   *
   * @internal
   */
  get rowCodec(): Codec {
    return codecOf(this.storage);
  }

  /**
   * What its variable holds.
   *
   * @internal
   */
  get form(): TableForm {
    return { codec: this.rowCodec, dim: this.outputDim };
  }

  /** @internal */
  get toFill(): TableToFill {
    return { rows: this.inputDim, columns: this.outputDim, name: this.name };
  }

  /**
   * The variable that the table lies in.
   *
   * @internal
   */
  get weightForm(): WeightForm {
    return weightForm(this.form, this.inputDim);
  }

  /** Whether the table or a layer that holds it was frozen. */
  get isFrozen(): boolean {
    return !this.#trainable || [...this.#holders].some((holder) => !holder.trainable);
  }

  /**
   * Freezes the layers that hold the table.
   *
   * @internal
   */
  freeze(): void {
    for (const holder of this.#holders) holder.freeze?.();
  }

  /** false while the table or any layer that holds it is frozen, and for rows of int8. */
  get trainable(): boolean {
    return this.rowCodec.training !== null && !this.isFrozen;
  }

  set trainable(trainable: boolean) {
    this.#trainable = checkBoolean(trainable, 'trainable', true);
    this.refresh();
  }

  /**
   * Gives the table to a layer that is being built, making it for the first.
   *
   * @param holder - The layer.
   * @returns The weight.
   */
  attach(holder: TableHolder): tf.LayerVariable {
    this.#holders.add(holder);
    const weight = (this.#weight ??= this.#createWithin(holder));
    this.refresh();
    return weight;
  }

  #createWithin(holder: TableHolder): tf.LayerVariable {
    return this.#withinMemory('inputDim', this.inputDim, holder.name, () => this.#create(holder));
  }

  /** The runtime says only that some array was too long. */
  #withinMemory<T>(argument: string, rows: number, layer: string, make: () => T): T {
    try {
      return make();
    } catch (error) {
      const isBare = error instanceof RangeError && OUT_OF_MEMORY.test(error.message);
      if (!isBare && !isTooLarge(error)) throw error;
      const { shape } = weightForm(this.form, rows);
      const bytes = `${shape[0] * shape[1] * Float32Array.BYTES_PER_ELEMENT} bytes`;
      const received = `shape [${rows}, ${this.outputDim}] of table ${this.name} in layer ${layer}, ${bytes}`;
      throw new ValueError(
        argument,
        'a table that fits into memory',
        described(received),
        isBare ? `${error.message}.` : (error as Error).message,
      );
    }
  }

  /**
   * Adds rows at the end, and to the slots of optimizers: all, or none where that fails.
   *
   * @param args - What a layer was given.
   * @param layer - The name of the layer, in errors.
   * @internal
   */
  extend(args: ExtendArgs, layer: string): void {
    const { rows: more, fillRows } = readExtension(args, this);
    const { variable, table, form, name } = this;
    if (variable === null || table === null)
      throw new RuntimeError('extend', 'a layer that was built, and is not disposed', described(layer));
    this.resize('extend', { argument: 'rows', rows: this.inputDim + more, layer, put: growAtEnd }, (each, start) => {
      return each === variable ? withMoreRows(each, form, more, fillRows, name) : withRowsOf(each, more, start);
    });
  }

  /**
   * Gives the table, which was built, and the slots of optimizers other rows: all, or none where that fails. `remake`
   * makes them, the table first, from what they are.
   *
   * @internal
   */
  protected resize(method: string, { argument, rows, layer, put = grow }: Resize, remake: RemakeSlot): void {
    const { variable, table, name } = this as { variable: tf.Variable; table: Table; name: string };
    if (isRecording() || tf.engine().state.gradientDepth > 0) {
      throw new RuntimeError(method, 'a call between steps', described('one within a step'));
    }
    const planned = [...this.#holders].find((holder) => holder.placeTable !== undefined);
    if (planned !== undefined) {
      const received = described(`table ${name}, which layer ${planned.name} holds too`);
      throw new RuntimeError(method, 'a table that no plan places', received);
    }
    const made: Grown[] = [];
    const before: Grown[] = [];
    try {
      this.#withinMemory(argument, rows, layer, () => {
        made.push({ variable, values: remake(variable, 0) }, ...table.remadeSlots(remake));
      });
      before.push(...made.map((each) => ({ variable: each.variable, values: keptValues(each.variable) })));
      put(made);
      // With other holders they would be copied where they are placed.
      tf.dispose(made.map(({ values }) => values));
      this.#placeGrown(made.map((each) => each.variable));
    } catch (error) {
      grow(before);
      throw error;
    } finally {
      tf.dispose([...made, ...before].map(({ values }) => values));
    }
    Object.assign(this.#weight!, { shape: [...variable.shape] });
    Object.assign(this, { inputDim: rows });
  }

  /** The table, which comes first, and its slots where they are stepped. */
  #placeGrown([table, ...slots]: tf.Variable[]): void {
    const store = storeInUse();
    if (this.rowCodec.training !== null) store.place(table!);
    for (const slot of slots) store.devices?.place(slot, { like: table! });
  }

  /**
   * Takes the table from a layer that is disposed; returns how many variables that freed.
   *
   * @param holder - The layer.
   * @returns The number of variables freed.
   */
  release(holder: TableHolder): number {
    this.#holders.delete(holder);
    if (this.#holders.size > 0 || this.#weight === null) return 0;
    const { table } = this;
    this.#weight.dispose();
    this.#weight = null;
    table!.freeSlots();
    return 1;
  }

  /** Brings the variable in line after a layer was frozen or thawed. */
  refresh(): void {
    if (this.variable !== null) this.variable.trainable = this.#asked && this.trainable;
  }

  #create(holder: TableHolder): tf.LayerVariable {
    const { inputDim, outputDim } = this;
    const given = this.#initialValues;
    const initializer =
      given === null
        ? this.initializer
        : ({ apply: () => tableTensor(given, inputDim, outputDim) } as unknown as Initializer);
    const weight = holder.createWeight(initializer);
    try {
      this.#settleIn(weight, holder);
    } catch (error) {
      weight.dispose();
      throw error;
    }
    this.#initialValues = null;
    return weight;
  }

  /**
   * What a holder makes the weight with: what `initializer` gives, checked, in the form of the table.
   *
   * @internal
   */
  packing(initializer: Initializer): Initializer {
    const { inputDim, outputDim, form, name } = this;
    const given: RowsInitializer =
      initializer === this.initializer ? checkedInitializer(initializer, this.toFill) : initializer;
    return formInitializer(given, [inputDim, outputDim], form, name);
  }

  #settleIn(weight: tf.LayerVariable, holder: TableHolder): void {
    (weight as { originalName: string }).originalName = this.#savedName(weight, holder);
    this.#governTrainable(weight);
    watchStockSteps();
    const table = tableOf(weight.read());
    table.setForm(this.form);
    acceptFloats(weight, this.form, this.name);
    this.#settleWrites(weight);
    this.created(table);
    table.settings = {
      name: weight.originalName,
      optimizer: this.optimizer,
      constraint: rowConstraintOf(this.constraint),
      regularized: this.regularizer !== null && this.rowCodec.training !== null,
      roundingSeed: roundingSeed(this.seed ?? holder.seed ?? 0),
      stepsByRow: this.stepsByRow,
    };
  }

  /** Whether rows begin at different steps. */
  protected get stepsByRow(): boolean {
    return false;
  }

  /** Called when the weight was made, for tables of other kinds. */
  protected created(_table: Table): void {}

  /** Under which the weight is saved: a table's own name where layers share it, which come and go. */
  #savedName({ originalName }: tf.LayerVariable, { name, weightName }: TableHolder): string {
    if (this.isShared) return `tables/${this.name}/embeddings`;
    // tfjs names weights after their layer where it builds the layer, but not where `build` is called by hand.
    return weightName ?? (originalName.includes('/') ? originalName : `${name}/${originalName}`);
  }

  /** After each write, moves the values to where the holder or the backend keeps tables. */
  #settleWrites(weight: tf.LayerVariable): void {
    // What is never stepped stays where it is.
    if (this.rowCodec.training === null) return;
    const placeTable = (): void => {
      const table = weight.read() as tf.Variable;
      const holder = [...this.#holders].find((each) => each.placeTable !== undefined);
      if (this.rowCodec.isPlain && holder !== undefined) holder.placeTable!(table);
      else storeInUse().place(table);
    };
    placeTable();
    afterWrites(weight, placeTable);
  }

  /** Models set this flag on all their weights when they are compiled; a frozen table must stay frozen. */
  #governTrainable(weight: tf.LayerVariable): void {
    this.#asked = true;
    decideTrainable(weight, {
      isTrainable: () => this.#asked && this.trainable,
      ask: (trainable) => {
        this.#asked = trainable;
        this.refresh();
      },
    });
  }

  /** @returns The settings as plain data. */
  getConfig(): tf.serialization.ConfigDict {
    return {
      name: this.name,
      ...this.tableConfig(),
      trainable: this.#trainable,
    } as unknown as tf.serialization.ConfigDict;
  }

  /**
   * The fields that a table and a layer share.
   *
   * @returns The settings as plain data.
   */
  tableConfig(): Record<string, unknown> {
    return {
      inputDim: this.inputDim,
      outputDim: this.outputDim,
      embeddingsInitializer: serializeRegistered(this.initializer),
      embeddingsRegularizer: serializeRegistered(this.regularizer),
      embeddingsConstraint: serializeRegistered(this.constraint),
      optimizer: serializeRegistered(this.optimizer),
      // Configs of float32 tables stay readable for those who know no other.
      ...storageFields(this.storage, this.seed),
    };
  }
}

/** Whether a value, which may be anything, is a table. */
export function isTable(value: unknown): value is EmbeddingTable {
  return value instanceof EmbeddingTable;
}

/**
 * Returns a table that several layers share: `emb.layers.embedding({table, …})`.
 *
 * The table is [inputDim, outputDim] float32 and is made when the first of its layers is built. A model counts, trains
 * and saves it once, under `tables/<name>/embeddings`, and one optimizer step takes the sum over all its uses.
 * When a model is loaded, layers that name the same table share it again. Freezing the table or any of its layers
 * freezes it for all. It is freed when the last of its layers is disposed.
 * Source: TableConfig (Keras RS 0.3; tf.tpu.experimental.embedding, TensorFlow 2.21), as one object per table.
 *
 * @param args - The settings; see `EmbeddingTableArgs`.
 * @returns A new table.
 * @throws TypeError for missing or wrongly typed arguments; ValueError for sizes below 1, weights of another shape and
 * unknown names.
 *
 * @example
 * const movies = emb.embeddingTable({name: 'movies', inputDim: 1000, outputDim: 16});
 * const seen = emb.layers.embedding({table: movies, combiner: 'mean'});
 * const next = emb.layers.embedding({table: movies});
 */
export function embeddingTable(args: EmbeddingTableArgs): EmbeddingTable;
export function embeddingTable(...all: [EmbeddingTableArgs]): EmbeddingTable {
  const names = [...(typeof all[0] === 'string' ? ['name'] : []), 'inputDim', 'outputDim'];
  refusePositional('emb.embeddingTable', names, all);
  const given = readOptions<EmbeddingTableArgs>(all[0], [...TABLE_ARGUMENTS, 'name', 'trainable'], 'args');
  const name = checkName(given.name) ?? nextName('embedding_table');
  const table = new EmbeddingTable(given as EmbeddingTableArgs, true, name);
  return table;
}
