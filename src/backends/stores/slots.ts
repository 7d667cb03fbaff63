/** Slots: what an optimizer keeps of a table, in rows beside those of the table. */
import * as tf from '@tensorflow/tfjs';
import { rowBlocks, rowsAtOnce } from '../../base/row_blocks.js';
import type { Devices, WriteRows } from '../contract.js';
import { devicesInUse } from '../registry.js';
import { tableOf } from '../table.js';
import { writtenTable } from './table_rows.js';

/** A tensor full of a number; zeros that are not written cost no memory. */
function filled(shape: readonly number[], value: number): tf.Tensor {
  const fill = (write: WriteRows): void => {
    if (Object.is(value, 0)) return;
    const [rows, width = 1] = shape as [number, number?];
    const block = new Float32Array(Math.min(rows, rowsAtOnce(width)) * width).fill(value);
    for (const part of rowBlocks({ rows, columns: width })) write(part.firstRow, block.subarray(0, part.rows * width));
  };
  return writtenTable([...shape], fill);
}

/** A variable with the values of a tensor, which is disposed. */
export function asVariable(values: tf.Tensor, isTrainable = false): tf.Variable {
  const variable = tf.variable(values, isTrainable);
  values.dispose();
  return variable;
}

/**
 * A new slot of a table, [rows, dim] or one value per row: full of a number, or with the values that `start` makes. It lies
 * as its table does, on devices where that is there. `name`: `<table>/<slot>`.
 */
export function makeSlot(
  table: tf.Variable,
  name: string,
  shape: readonly number[],
  start: number | (() => tf.Tensor),
  devices: Pick<Devices, 'createSlot' | 'place'> | null = devicesInUse(),
): tf.Variable {
  const isNumber = typeof start === 'number';
  const slot =
    isNumber && devices !== null
      ? devices.createSlot(table, name, shape, start)
      : asVariable(isNumber ? filled(shape, start) : start());
  try {
    if (!isNumber) devices?.place(slot, { like: table, name });
  } catch (error) {
    slot.dispose();
    throw error;
  }
  tableOf(slot).givenName = name;
  return slot;
}
