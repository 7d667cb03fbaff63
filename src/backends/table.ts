/**
 * A table: rows of a codec behind a variable of tfjs, and what is known of it beside its values. Models, stock optimizers
 * and files see the variable alone, which is the handle of the table: `tableOf` gives the table of a variable.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../base/errors.js';
import { brand, perProcess } from '../base/per_process.js';
import type { Codec } from '../codecs/codec.js';
import { FLOAT32 } from '../codecs/float32.js';
import type { TableLayout } from '../partition/table_layout.js';
import type { RowConstraint, Settings } from '../rules/optimizer_settings.js';
import type { OptimizerName } from '../rules/rules.js';
import { RowHistory, type RowSource } from './row_history.js';

/** What the tensor of a table holds: rows of a codec, of so many columns. */
export interface TableForm {
  readonly codec: Codec;
  readonly dim: number;
}

/** The form of a table of float32. */
export function plainForm(dim: number): TableForm {
  return { codec: FLOAT32, dim };
}

/** What steps a table: an `emb.train` optimizer. */
export interface TableOptimizer {
  /** Which update kernel it runs. */
  readonly optimizerName: OptimizerName;
  readonly settings: Readonly<Settings>;
}

/** What its layer says of a table. */
export interface TableSettings {
  /** Stable name `<layer or table>/embeddings`: saved slots are found again by it. */
  readonly name: string;
  /** The table's own optimizer, which overrides the one of `compile`. */
  readonly optimizer: TableOptimizer | null;
  readonly constraint: RowConstraint | null;
  /** Whether lookups must be recorded for a penalty on the touched rows. */
  readonly regularized: boolean;
  /** Seed of stochastic rounding, where rows are float16. */
  readonly roundingSeed?: number;
  /** Whether rows begin at different steps, so that what depends on the number of a step goes by that of the row. */
  readonly stepsByRow?: boolean;
}

/** What holds slots of tables. */
export interface SlotHolder {
  /** The slots of a table as `make` makes them anew from what they are; `start`: what new rows begin with. */
  remade(table: Table, make: RemakeSlot): Grown[];
  /** Slots of these rows begin anew. */
  restart(table: Table, rows: Int32Array): void;
  /** Frees the slots of a table, if there are any. */
  free(table: Table): void;
}

/** A variable, and what it holds from `grow` on. */
export interface Grown {
  readonly variable: tf.Variable;
  readonly values: tf.Tensor;
}

/** A slot with other rows, from what it is. `start`: what new rows begin with. */
export type RemakeSlot = (slot: tf.Variable, start: number) => tf.Tensor;

/** Where the values of a variable lay last on devices: those that are assigned to it go there again. */
export interface LastPlace {
  /** Of these devices. */
  readonly on: object;
  readonly layout: TableLayout;
  readonly name: string;
  /** The table that the variable is, or is a slot of. */
  readonly owner: object;
}

/** What finds the rows of a table by keys, where ids are no row numbers. */
export interface TableKeys {
  /** Begins a training step; what lookups count until it is committed is taken back by `undo`. */
  begin(): void;
  commit(): void;
  undo(): void;
}

/** What a table that lies elsewhere needs to know of a lookup. */
export interface RowLookup {
  readonly table: Table;
  readonly bags: { readonly values: tf.Tensor1D; readonly weights: tf.Tensor1D | null };
  readonly options: { readonly outOfRange: 'error' | 'zero' };
}

/** Finds the rows of a table that lie elsewhere, of which its variable holds some at a time. */
export interface TableRows extends TableKeys {
  /** Of the table. */
  readonly rows: number;
  readonly name: string;
  /**
   * Lookups with rows of variables in place of ids, of all tables that lie elsewhere: they stay there until the step ends,
   * or the next call. Those that must stay longer, and more than the variable holds, are rows of a tensor of their
   * own. Call inside a tidy.
   */
  atRows<L extends RowLookup>(lookups: readonly L[]): readonly L[];
  /** Rows of the variable for ids that a step is about to change. */
  toChange(ids: Int32Array): Int32Array;
  /** Begins to fetch the rows of ids that will be asked for. */
  prefetch(ids: Int32Array): void;
  /** The ids of rows of the variable. */
  idsOf(places: Int32Array): Int32Array;
  /** Told that an optimizer holds slots of the variable from now on, and that it frees them. */
  slotsMade(slots: readonly tf.Variable[], starts: readonly number[], optimizer: string): void;
  slotsGo(): void;
}

/** A table, or a slot of one, whose rows lie beside those of its table. */
export class Table implements TableForm {
  static {
    brand(this, 'Table');
  }
  codec = FLOAT32;
  dim: number;
  /** What its layer says of it; null: it has none that says anything. */
  settings: TableSettings | null = null;
  /** The name that what made it gave to it, where tfjs does not know it. */
  givenName: string | null = null;
  lastPlace: LastPlace | null = null;
  /** What finds its rows where ids are no rows of the variable; without it they are. */
  elsewhere?: TableRows;
  /** Whether a step changed rows that no lookup within it tells of: all, or those of gradients that were given to it. */
  changesOthers = false;
  /** Which optimizers hold slots of it; weakly, because a table may outlive an optimizer. */
  readonly #holders = new Set<WeakRef<SlotHolder>>();
  /** How many rows it had before it got more: state that was saved then is still its own. */
  readonly #formerRows = new Set<number>();
  /** What happened to its rows since slots were loaded that wait for it. */
  readonly history = new RowHistory();

  constructor(readonly tensor: tf.Tensor2D) {
    this.dim = tensor.shape[1] ?? 1;
  }

  get rows(): number {
    return this.tensor.shape[0];
  }

  /** Rows and columns, whatever the rows are kept in. */
  get shape(): [rows: number, dim: number] {
    return [this.tensor.shape[0], this.dim];
  }

  /** The handle of a table that is stepped. */
  get variable(): tf.Variable {
    return this.tensor as unknown as tf.Variable;
  }

  /** Whether its numbers are those of its tensor. */
  get isPlain(): boolean {
    return this.codec.isPlain;
  }

  /** Stable across processes, where anything gave it a name. */
  get name(): string {
    return this.settings?.name ?? this.givenName ?? this.variable.name;
  }

  setForm({ codec, dim }: TableForm): void {
    this.codec = codec;
    this.dim = dim;
  }

  get isStepped(): boolean {
    return this.#holders.size > 0;
  }

  heldBy(holder: WeakRef<SlotHolder>): void {
    this.#holders.add(holder);
  }

  /** The slots with other rows, in all optimizers. */
  remadeSlots(make: RemakeSlot): Grown[] {
    return [...this.#holders].flatMap((holder) => holder.deref()?.remade(this, make) ?? []);
  }

  /** Its rows lie elsewhere, and so do those of its slots. `before`: how many rows it had. */
  hasMoved(source: RowSource, before: number): void {
    this.history.moved(source, before, this.name);
  }

  /** Slots of these rows begin anew, in all optimizers. */
  restartSlots(rows: Int32Array): void {
    if (rows.length === 0) return;
    this.history.restarted(rows, this);
    for (const holder of this.#holders) holder.deref()?.restart(this, rows);
  }

  /** Frees what optimizers hold for it, once it is gone: disposing a model is enough without its optimizer. */
  freeSlots(): void {
    for (const holder of this.#holders) holder.deref()?.free(this);
    this.#holders.clear();
  }

  /** Whether it had so many rows before it got more. */
  hadRows(rows: number): boolean {
    return this.#formerRows.has(rows);
  }

  hasHadRows(rows: number): void {
    this.#formerRows.add(rows);
  }

  /** Refuses constraints that cannot be kept by looking at touched rows alone. */
  checkConstraint(): void {
    if (this.settings?.constraint?.kind !== 'axis') return;
    throw new ValueError(
      'embeddingsConstraint',
      'a constraint along axis 1 (the rows), such as maxNorm({axis: 1}), or nonNeg, under an emb.train optimizer',
      'another axis',
    );
  }
}

const tables = (): WeakMap<tf.TensorInfo, Table> => perProcess('tables', () => new WeakMap());

/** The table of a variable; one of float32 for any other tensor that is looked up. */
export function tableOf(tensor: tf.Tensor): Table {
  const known = tables().get(tensor);
  if (known !== undefined) return known;
  const table = new Table(tensor as tf.Tensor2D);
  if (tensor instanceof tf.Variable) tables().set(tensor, table);
  return table;
}

/** The table of a variable that is known to be one, or a slot of one. */
export function knownTable(tensor: tf.Tensor): Table | undefined {
  return tables().get(tensor);
}

/** The shape of the numbers of a variable, whatever they are kept in. */
export function numbersShape(tensor: tf.Tensor): number[] {
  const table = tables().get(tensor);
  return table === undefined || table.isPlain ? tensor.shape : table.shape;
}

/** What layers say of a variable; null for one that is no table of a layer. */
export function settingsOf(tensor: tf.Tensor): TableSettings | null {
  return tables().get(tensor)?.settings ?? null;
}

/** The tables of a stable name: models of one process may have one each. */
export function tablesNamed(name: string): Table[] {
  return Object.values(tf.engine().registeredVariables).flatMap((variable) => {
    const table = knownTable(variable);
    return table?.settings?.name === name ? [table] : [];
  });
}

/** Names that tfjs makes up, anew in each process, in the order in which variables are made. */
export function isAnonymous(name: string): boolean {
  return /^(\d+|variable(_\d+)?)$/.test(name);
}

/** The name that its layer, its optimizer or its maker gave to a variable; its shape where there is none. */
export function variableText(variable: tf.Variable): string {
  const name = knownTable(variable)?.name ?? variable.name;
  return isAnonymous(name) ? `without a name, of shape [${variable.shape.join(', ')}]` : name;
}
