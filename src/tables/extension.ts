/** Rows that are added to a table which is in use. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../base/errors.js';
import { checkDimension } from '../base/layer_arguments.js';
import { readOptions } from '../base/options.js';
import { INT32_MAX } from '../base/types.js';
import { checkedInitializer } from './initial_values.js';
import { readInitializerOf, type FillRows, type Initializer, type InitializerInput } from './initializers.js';
import { checkTensor } from './pretrained.js';

/** What `extend` of a layer takes. */
export interface ExtendArgs {
  /** How many rows are added. */
  rows: number;
  /**
   * What they begin with: an initializer, which is asked for a table of the new size whose last rows are taken; or the
   * rows themselves, a float32 tensor [rows, outputDim]. Default: the table's `embeddingsInitializer`.
   */
  initializer?: InitializerInput | tf.Tensor | null | undefined;
}

/** What is asked of the table. */
interface Extended {
  readonly name: string;
  readonly inputDim: number;
  readonly outputDim: number;
  readonly initializer: Initializer;
  readonly seed: number | null;
}

/** How many rows are added to a table, and what writes them, the first as row 0. */
export function readExtension(
  given: unknown,
  { inputDim, outputDim, initializer, seed, name }: Extended,
): { rows: number; fillRows: FillRows } {
  const args = readOptions<ExtendArgs>(given, ['rows', 'initializer'], 'args');
  const rows = checkDimension(args.rows, 'rows');
  const most = INT32_MAX - inputDim;
  if (rows > most) throw new ValueError('rows', `at most ${most} more rows, because ids are int32`, rows);
  if (args.initializer instanceof tf.Tensor) {
    const values = checkTensor(args.initializer, rows, outputDim, 'float32', 'initializer');
    return { rows, fillRows: (write) => write(0, values.dataSync<'float32'>()) };
  }
  const asked = args.initializer ?? null;
  const used = asked === null ? initializer : readInitializerOf('initializer', asked, undefined, seed);
  const argument = asked === null ? 'embeddingsInitializer' : 'initializer';
  const whole = checkedInitializer(used, { rows: inputDim + rows, columns: outputDim, name, argument });
  // Seeded, they are the rows that a table of that size would have begun with, however often it gets some.
  const fillRows: FillRows = (write) => {
    whole.fillRows!((firstRow, values) => {
      const old = Math.max(0, inputDim - firstRow);
      if (old * outputDim < values.length) write(firstRow + old - inputDim, values.subarray(old * outputDim));
    });
  };
  return { rows, fillRows };
}
