/** The ids of a lookup on the host. */
import type * as tf from '@tensorflow/tfjs';
import { sharedUniformSplits, uniformLength } from '../../ragged/shared_splits.js';
import type { TableLayout } from '../../partition/table_layout.js';
import type { BagTensors } from '../bag_tensors.js';
import { IdOutOfRange, type BagOptions } from '../kernel_set.js';
import type { BagsAt } from './devices/device.js';
import type { HostExchange } from './machine.js';
import { arrayValues, type TensorReader, type TensorValues } from './tensor_values.js';

/** Bags of ids, which are read when somebody looks at them. */
export class BatchBags {
  readonly nnz: number;
  readonly batch: number;

  /**
   * `length`: of every bag, or null where lengths differ. `kept`: where the ids and all else still lie in the exchange
   * memory, or null.
   */
  constructor(
    readonly ids: TensorValues<Int32Array>,
    readonly rowSplits: Int32Array,
    readonly length: number | null,
    readonly weights: Float32Array | null,
    readonly kept: KeptBags | null,
  ) {
    this.nnz = ids.size;
    this.batch = rowSplits.length - 1;
  }

  get values(): Int32Array {
    return this.ids.get();
  }

  withWeights(weights: Float32Array): BatchBags {
    return new BatchBags(this.ids, this.rowSplits, this.length, weights, null);
  }
}

/** Bags in the exchange memory, and where all that was kept with them ends. */
export interface KeptBags {
  readonly at: BagsAt;
  readonly end: number;
}

/** Every row of a table by itself. */
export function allRows(rows: number): BatchBags {
  const rowSplits = sharedUniformSplits(rows, 1);
  const values = rowSplits.subarray(0, rows); // The numbers of the rows are the same.
  return new BatchBags(arrayValues(values), rowSplits, 1, null, null);
}

/** The first id outside a table of so many rows, where that is an error; else null. */
export function strayOf(values: Int32Array, rows: number, { outOfRange }: BagOptions): IdOutOfRange | null {
  if (outOfRange !== 'error') return null;
  // The sign bit of an id below 0, and of what an id from `rows` on leaves of the last row; no branch per id.
  const last = (rows - 1) | 0;
  const { length } = values;
  let signs = rows > 0 || length === 0 ? 0 : -1;
  for (let position = 0; position < length; position++) {
    const id = values[position]!;
    signs |= id | (last - id);
  }
  if (signs >= 0) return null;
  const position = values.findIndex((id) => id < 0 || id >= rows);
  return new IdOutOfRange(values[position]!, position, rows);
}

/** Ids that came with a lookup. */
interface KnownIds {
  readonly values: TensorValues<Int32Array>;
  /** Devices found all of those that are kept in a table of so many rows; -1: not looked at. */
  rows: number;
  kept: (KeptBags & { readonly epoch: number; readonly splits: tf.DataId; readonly weights: tf.DataId | null }) | null;
}

/** Reads batches. A step comes with the tensors of its lookups, of which what the devices have need not be read. */
export class BagReader {
  private ids = new WeakMap<tf.DataId, KnownIds>();
  private splits = new WeakMap<tf.DataId, { rowSplits: Int32Array; length: number | null }>();

  constructor(
    private readonly reader: TensorReader,
    private readonly exchange: HostExchange,
  ) {}

  /** A batch as it is now; ids are not looked at. */
  read(bags: BagTensors): BatchBags {
    const known: KnownIds = { values: this.reader.lentIds(bags.values), rows: -1, kept: null };
    this.ids.set(bags.values.dataId, known);
    this.splits.delete(bags.rowSplits.dataId);
    return this.batchOf(bags, known.values, null);
  }

  /** These lie in the exchange memory, where devices found no id outside a table of so many rows; null: did not look. */
  keep({ values, rowSplits, weights }: BagTensors, kept: KeptBags, rows: number | null): void {
    const known = this.ids.get(values.dataId);
    if (known === undefined) return;
    const { epoch } = this.exchange;
    known.rows = rows ?? -1;
    known.kept = { ...kept, epoch, splits: rowSplits.dataId, weights: weights?.dataId ?? null };
  }

  /** A batch that may have been read before; an id outside the table is refused before anything is sent. */
  readChecked(bags: BagTensors, { kind, rows }: TableLayout, options: BagOptions): BatchBags {
    const known = this.ids.get(bags.values.dataId);
    // Ids of a table are ids of a larger one too. Where rows are dealt out, the host needs the numbers themselves.
    const isChecked = options.outOfRange !== 'error' || (known !== undefined && known.rows >= 0 && known.rows <= rows);
    const kept = known !== undefined && isChecked && kind !== 'rows' ? this.keptOf(bags, known) : null;
    // The tensor of the lookup may be gone, and its loan has ended: this one has the same numbers.
    const values = known?.values.isRead === true ? known.values : this.reader.ids(bags.values);
    const stray = kept === null ? strayOf(values.get(), rows, options) : null;
    if (stray !== null) throw stray;
    return this.batchOf(bags, values, kept);
  }

  /** Lets go of what was read. */
  forget(): void {
    this.ids = new WeakMap();
    this.splits = new WeakMap();
  }

  private keptOf({ rowSplits, weights }: BagTensors, { kept }: KnownIds): KeptBags | null {
    const isThere =
      kept !== null &&
      kept.epoch === this.exchange.epoch &&
      kept.splits === rowSplits.dataId &&
      kept.weights === (weights?.dataId ?? null);
    return isThere ? kept : null;
  }

  private batchOf(
    { rowSplits, weights }: BagTensors,
    values: TensorValues<Int32Array>,
    kept: KeptBags | null,
  ): BatchBags {
    let splits = this.splits.get(rowSplits.dataId);
    if (splits === undefined) {
      const array = (rowSplits as tf.Tensor).dataSync<'int32'>();
      splits = { rowSplits: array, length: uniformLength(array) };
      this.splits.set(rowSplits.dataId, splits);
    }
    const factors = weights === null ? null : weights.dataSync<'float32'>();
    return new BatchBags(values, splits.rowSplits, splits.length, factors, kept);
  }
}
