/** How the variables of a table and its slots are made: on the devices where there are some, row by row modulo. */
import * as tf from '@tensorflow/tfjs';
import type { Devices } from '../../backends/contract.js';
import { asVariable, makeSlot } from '../../backends/stores/slots.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { beginningOf } from '../../tables/initial_values.js';
import { checkLive } from '../../base/live_tensor.js';
import { tableOf } from '../../backends/table.js';
import { rowShard } from '../../partition/row_shards.js';
import type { LayoutShard, TableLayout, TableSize } from '../../partition/table_layout.js';
import { asInitializer, constantOr } from '../config/table_initializer.js';
import type { SlotSpec } from '../optimizers/tpu_optimizer.js';
import type { NamedTable } from './read_tables.js';
import { slotsByFunction } from './slots_by_function.js';

/** Row r lies on device r mod count. */
export function moduloLayout({ rows, columns }: TableSize, devices: Devices): TableLayout {
  const { count } = devices;
  const shards = Array.from({ length: count }, (_, device): LayoutShard => {
    const { inputDim } = rowShard(0, { rows, columns }, device, count, 'modulo');
    return { device, rows: { first: device, step: count, count: inputDim }, columns: [0, columns], inHost: false };
  });
  return { kind: 'rows', rows, columns, shards: shards.filter((shard) => shard.rows.count > 0) };
}

export function sizeOfTable({ config }: NamedTable): TableSize {
  return { rows: config.vocabularySize, columns: config.dim };
}

/** The table itself, with its initial values. */
export function makeTable(named: NamedTable, devices: Devices | null): tf.Variable {
  const { name, config } = named;
  const size = sizeOfTable(named);
  const toFill = { ...size, name, argument: 'initializer' };
  const on = devices === null ? null : { devices, layout: moduloLayout(size, devices), name };
  const { values, write } = beginningOf(toFill, asInitializer(config.initializer), null, on);
  const table = asVariable(values.apply([size.rows, size.columns]), devices === null);
  try {
    write?.(table);
  } catch (error) {
    table.dispose();
    throw error;
  }
  tableOf(table).givenName = name;
  return table;
}

function checkShape<T extends tf.Tensor>(value: unknown, shape: readonly number[], what: string): T {
  const expected = `float32 values of shape [${shape.join(', ')}] for ${what}`;
  if (!(value instanceof tf.Tensor) || value.dtype !== 'float32') throw new ArgumentTypeError(what, expected, value);
  if (!tf.util.arraysEqual(value.shape, shape as number[])) throw new ValueError(what, expected, value);
  checkLive(value as tf.Tensor, what, expected);
  return value as T;
}

/** What a slot begins with: a number, or what its initializer gives for the whole of it. */
function startOf({ initialValue }: SlotSpec, shape: number[], name: string): number | (() => tf.Tensor) {
  if (typeof initialValue === 'number') return initialValue;
  return () => tf.tidy(() => checkShape(constantOr(initialValue).apply(shape, 'float32'), shape, name));
}

/** The slots of a table, in the order of its optimizer; `start`: what each begins with, else what the optimizer says. */
export function makeSlots(
  table: tf.Variable,
  { name, optimizer }: Pick<NamedTable, 'name' | 'optimizer'>,
  devices: Pick<Devices, 'createSlot' | 'place'> | null,
  start: ((slot: SlotSpec) => number) | null = null,
): tf.Variable[] {
  const { slots = [], slotVariableCreationFn = null } = optimizer ?? {};
  const nameOf = (slot: SlotSpec): string => `${name}/${slot.name}`;
  if (start === null && slotVariableCreationFn !== null && slots.length > 0) {
    const made = slotsByFunction(table, optimizer!, name);
    for (const [i, slot] of made.entries()) {
      slot.trainable = false;
      devices?.place(slot, { like: table, name: nameOf(slots[i]!) });
    }
    return made;
  }
  const made: tf.Variable[] = [];
  try {
    for (const slot of slots) {
      const shape = table.shape.slice(0, slot.isPerRow === true ? 1 : 2);
      made.push(makeSlot(table, nameOf(slot), shape, start?.(slot) ?? startOf(slot, shape, nameOf(slot)), devices));
    }
    return made;
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}
