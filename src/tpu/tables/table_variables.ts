/** How the variables of a table and its slots are made: on the devices where there are some, row by row modulo. */
import * as tf from '@tensorflow/tfjs';
import type { Devices } from '../../backends/contract.js';
import type { Fill } from '../../backends/fill.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { appliedTable, filledTable } from '../../tables/initial_values.js';
import type { Initializer, TableToFill } from '../../tables/initializers.js';
import { applyInBlocks, fillOf } from '../../tables/table_fill.js';
import { checkLive } from '../../base/live_tensor.js';
import { tableOf } from '../../backends/table.js';
import { rowShard } from '../../partition/row_shards.js';
import type { LayoutShard, TableLayout, TableSize } from '../../partition/table_layout.js';
import { asInitializer, constantOr } from '../config/table_initializer.js';
import type { SlotSpec } from '../optimizers/tpu_optimizer.js';
import type { NamedTable } from './read_tables.js';
import { slotsByFunction } from './slots_by_function.js';

const ZEROS: Fill = { kind: 'constant', value: 0 };

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

function filled(table: TableToFill, initializer: Initializer, devices: Devices | null): tf.Variable {
  const fill = fillOf(initializer, table, null);
  const asVariable = (values: tf.Tensor): tf.Variable => {
    const variable = tf.variable(values, devices === null);
    values.dispose();
    return variable;
  };
  if (devices === null) {
    return asVariable(fill === null ? appliedTable(table, initializer) : filledTable(table, fill));
  }
  const variable = asVariable(
    devices.create({ name: table.name, layout: moduloLayout(table, devices), fill: fill ?? ZEROS }),
  );
  try {
    if (fill === null) applyInBlocks(initializer, table, (row, values) => devices.writeRows(variable, row, values));
    return variable;
  } catch (error) {
    variable.dispose();
    throw error;
  }
}

/** The table itself, with its initial values. */
export function makeTable(table: NamedTable, devices: Devices | null): tf.Variable {
  const toFill = { ...sizeOfTable(table), name: table.name, argument: 'initializer' };
  const made = filled(toFill, asInitializer(table.config.initializer), devices);
  tableOf(made).givenName = table.name;
  return made;
}

function makeSlot(
  table: tf.Variable,
  { name, initialValue, isPerRow }: SlotSpec,
  tableName: string,
  devices: Devices | null,
): tf.Variable {
  const [rows, dim] = table.shape as [number, number];
  const shape = isPerRow === true ? [rows] : [rows, dim];
  const slotName = `${tableName}/${name}`;
  if (typeof initialValue === 'number' && devices !== null) {
    return devices.createSlot(table, slotName, shape, initialValue);
  }
  const values = tf.tidy(() => {
    const made = constantOr(initialValue).apply(shape, 'float32');
    return checkShape(made, shape, slotName);
  });
  const variable = tf.variable(values, false);
  values.dispose();
  try {
    devices?.place(variable, { like: table, name: slotName });
    return variable;
  } catch (error) {
    variable.dispose();
    throw error;
  }
}

function checkShape<T extends tf.Tensor>(value: unknown, shape: readonly number[], what: string): T {
  const expected = `float32 values of shape [${shape.join(', ')}] for ${what}`;
  if (!(value instanceof tf.Tensor) || value.dtype !== 'float32') throw new ArgumentTypeError(what, expected, value);
  if (!tf.util.arraysEqual(value.shape, shape as number[])) throw new ValueError(what, expected, value);
  checkLive(value as tf.Tensor, what, expected);
  return value as T;
}

/** The slots of a table, in the order of its optimizer. */
export function makeSlots(table: tf.Variable, { name, optimizer }: NamedTable, devices: Devices | null): tf.Variable[] {
  if (optimizer === null) return [];
  if (optimizer.slotVariableCreationFn !== null) {
    const made = slotsByFunction(table, optimizer, name);
    for (const [i, slot] of made.entries()) {
      slot.trainable = false;
      devices?.place(slot, { like: table, name: `${name}/${optimizer.slotNames[i]}` });
    }
    return made;
  }
  const made: tf.Variable[] = [];
  try {
    for (const spec of optimizer.slots) made.push(makeSlot(table, spec, name, devices));
    return made;
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}
