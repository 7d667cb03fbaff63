/** Optimizer state of tables, by table; found again after loading by the table's stable name. */
import * as tf from '@tensorflow/tfjs';
import { beginWaiting, endWaiting, momentNow } from '../backends/row_history.js';
import { rowsFrom, widthOf, withRowsOf, writeRowsAt } from '../backends/stores/table_rows.js';
import { makeSlot } from '../backends/stores/slots.js';
import {
  type Grown,
  isAnonymous,
  type RemakeSlot,
  type SlotHolder,
  type Table,
  tablesNamed,
  type TableOptimizer,
} from '../backends/table.js';
import { ValueError } from '../base/errors.js';
import { SLOT_NAMES, slotShapes, type UpdateName } from '../rules/rules.js';
import { checkNothingMissing } from './saved_state.js';
import { keptValues } from '../tfjs/kept_values.js';

interface SavedSlot {
  readonly name: string;
  tensor: tf.Tensor;
}

/** One that waits for its table. */
interface Pending extends SavedSlot {
  /** The moment since which it waits. */
  at: number;
}

/** `<table>/<slot>`: what a saved slot is called. */
function slotName(tableName: string, slot: string): string {
  return `${tableName}/${slot}`;
}

function tableOfSlot(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

/** What a slot begins with. */
function startOf(slot: string, initialAccumulatorValue: number): number {
  return slot === 'accumulators' ? initialAccumulatorValue : 0;
}

/** Whether a loaded slot is one of a table of this shape, now or before the table got more rows. */
function fits({ tensor, at }: Pending, table: Table, [rows, ...row]: readonly number[]): boolean {
  const [saved, ...ofSaved] = tensor.shape;
  const then = table.history.rowsAt(at) ?? rows;
  return tf.util.arraysEqual(ofSaved, row) && (saved === then || table.hadRows(saved!));
}

/** Brings a loaded slot up to what became of the rows of its table since: more, elsewhere, or of other keys. */
function followTable(saved: Pending, { rows, history }: Table, start: number): void {
  const replace = (make: (old: tf.Tensor) => tf.Tensor): void => {
    const { tensor } = saved;
    saved.tensor = tf.keep(tf.tidy(() => make(tensor)));
    tensor.dispose();
  };
  for (const source of history.movesSince(saved.at)) replace((old) => rowsFrom(old, source, start));
  const more = rows - saved.tensor.shape[0]!;
  if (more !== 0) replace((old) => withRowsOf(old, more, start));
  const anew = history.restartedSince(saved.at);
  if (anew.length > 0) {
    replace((old) => {
      const places = tf.tensor2d(anew, [anew.length, 1], 'int32');
      return tf.tensorScatterUpdate(old, places, tf.fill([anew.length, ...old.shape.slice(1)], start));
    });
  }
  saved.at = momentNow();
}

/**
 * The table that a slot waits for, where something became of its rows: the only one of its name that was not stepped yet
 * and may be meant, as models of one process have tables of the same names. Null where it is as it was, or not sure.
 */
function tableWaitedFor({ tensor, at }: Pending, tableName: string): Table | null {
  const rows = tensor.shape[0]!;
  const waiting = tablesNamed(tableName).filter((table) => !table.isStepped);
  if (waiting.length === 1 && (waiting[0]!.history.rowsAt(at) ?? waiting[0]!.rows) === rows) return waiting[0]!;
  const grown = waiting.filter((table) => table.hadRows(rows));
  const isSure = waiting.every((table) => table.rows !== rows) && new Set(grown.map((table) => table.rows)).size === 1;
  return isSure ? grown[0]! : null;
}

/** The slots of one table. */
interface Held {
  /** Under which each is saved. */
  readonly names: readonly string[];
  readonly slots: readonly tf.Variable[];
  /** What each begins with. */
  readonly starts: readonly number[];
}

export class SlotStore implements SlotHolder {
  readonly #self = new WeakRef<SlotHolder>(this);
  readonly #slots = new Map<Table, Held>();
  /** Loaded slots whose table has not been stepped yet. */
  readonly #pending: Pending[] = [];

  /** Whether this table has been stepped by rows before. */
  has(table: Table): boolean {
    return this.#slots.has(table);
  }

  /** The slots of a table: known ones, else loaded ones, else new ones. */
  of(table: Table, name: UpdateName, initialValue: number): readonly tf.Variable[] {
    const known = this.#slots.get(table);
    if (known !== undefined) return known.slots;
    // Slots in a file go with one optimizer at a time.
    if (table.elsewhere !== undefined) table.freeSlots();
    const tableName = table.settings?.name ?? table.variable.name;
    const shapes = slotShapes(name, table.shape);
    const slots: tf.Variable[] = [];
    const kinds = SLOT_NAMES[name].map((slot, i) => {
      const shape = shapes[i]!;
      return { slot, shape, fullName: slotName(tableName, slot), start: startOf(slot, initialValue) };
    });
    const loaded = kinds.map(({ slot, fullName, shape }) => this.#findPending(table, tableName, fullName, slot, shape));
    const taken = loaded.filter((saved) => saved !== null);
    if (taken.length > 0) {
      const due = kinds.map(({ fullName }) => fullName);
      checkNothingMissing(
        due,
        due.filter((_, i) => loaded[i] !== null),
      );
    }
    try {
      kinds.forEach(({ fullName, start, shape }, i) => {
        if (loaded[i] !== null) followTable(loaded[i]!, table, start);
        const given = loaded[i]?.tensor;
        slots.push(makeSlot(table.variable, fullName, shape, given === undefined ? start : () => given.clone()));
      });
    } catch (error) {
      // A later step starts from the same state: loaded slots go on waiting.
      tf.dispose(slots);
      throw error;
    }
    for (const saved of taken) {
      this.#pending.splice(this.#pending.indexOf(saved), 1);
      this.#forget(saved);
    }
    const names = kinds.map(({ fullName }) => fullName);
    const starts = kinds.map(({ start }) => start);
    try {
      table.elsewhere?.slotsMade(slots, starts, name);
    } catch (error) {
      tf.dispose(slots);
      throw error;
    }
    this.#slots.set(table, { names, slots, starts });
    table.heldBy(this.#self);
    return slots;
  }

  /**
   * A loaded slot by its full name; for a variable without a name the first such one of that kind and shape, because
   * tfjs numbers them anew in each process.
   */
  #findPending(
    table: Table,
    tableName: string,
    fullName: string,
    slot: string,
    shape: readonly number[],
  ): Pending | null {
    const named = this.#pending.find(({ name }) => name === fullName);
    if (named !== undefined && !fits(named, table, shape)) {
      throw new ValueError(`optimizer state ${fullName}`, `shape [${shape.join(', ')}]`, named.tensor);
    }
    if (named !== undefined || !isAnonymous(tableName)) return named ?? null;
    const isNumbered = (saved: Pending): boolean => {
      const end = saved.name.length - slot.length - 1;
      return saved.name.slice(end) === `/${slot}` && isAnonymous(saved.name.slice(0, end)) && fits(saved, table, shape);
    };
    return this.#pending.find(isNumbered) ?? null;
  }

  remade(table: Table, make: RemakeSlot): Grown[] {
    const { slots = [], starts = [] } = this.#slots.get(table) ?? {};
    return slots.map((variable, i) => ({ variable, values: make(variable, starts[i]!) }));
  }

  restart(table: Table, rows: Int32Array): void {
    const { slots = [], starts = [] } = this.#slots.get(table) ?? {};
    slots.forEach((slot, i) => {
      const width = widthOf(slot.shape);
      writeRowsAt(slot, rows, new Float32Array(rows.length * width).fill(starts[i]!));
    });
  }

  /** Frees the slots of tables that are gone without a layer that said so. */
  prune(): void {
    for (const table of [...this.#slots.keys()]) if (table.tensor.isDisposed) this.free(table);
  }

  free(table: Table): void {
    if (this.#slots.has(table) && !table.tensor.isDisposed) table.elsewhere?.slotsGo();
    tf.dispose([...(this.#slots.get(table)?.slots ?? [])]);
    this.#slots.delete(table);
  }

  /** All slots under stable names, those that still wait for their table included. */
  save(optimizerOf: (table: Table) => TableOptimizer): SavedSlot[] {
    const saved: SavedSlot[] = [];
    for (const [{ elsewhere }, { names, slots }] of this.#slots) {
      // They lie in the file of the table.
      if (elsewhere !== undefined) continue;
      slots.forEach((tensor, i) => saved.push({ name: names[i]!, tensor }));
    }
    for (const each of this.#pending) {
      const table = tableWaitedFor(each, tableOfSlot(each.name));
      if (table === null) continue;
      const { initialAccumulatorValue } = optimizerOf(table).settings;
      followTable(each, table, startOf(each.name.slice(each.name.lastIndexOf('/') + 1), initialAccumulatorValue));
    }
    return [...saved, ...this.#pending];
  }

  /** Takes loaded slots. The caller disposes its tensors; their values are kept. */
  load(saved: readonly SavedSlot[]): void {
    this.dispose();
    for (const { name, tensor } of saved) {
      this.#pending.push({ name, tensor: keptValues(tensor), at: beginWaiting(tableOfSlot(name)) });
    }
  }

  #forget({ name, tensor }: Pending): void {
    tensor.dispose();
    endWaiting(tableOfSlot(name));
  }

  dispose(): void {
    for (const table of [...this.#slots.keys()]) this.free(table);
    for (const each of this.#pending) this.#forget(each);
    this.#pending.length = 0;
  }
}
