/** The ids of a lookup on the host. */
import type * as tf from '@tensorflow/tfjs';
import { sharedUniformSplits, uniformLength } from '../../../ids/shared_splits.js';
import type { TableLayout } from '../../../partition/table_layout.js';
import type { BagTensors } from '../../bag_tensors.js';
import { IdOutOfRange, type BagOptions } from '../../kernel_set.js';
import type { LookupHandle } from '../../contract.js';
import type { BagsAt, HostExchange } from '../devices/device.js';
import { arrayValues, type TensorReader, type TensorValues } from '../host/tensor_reader.js';

/** Bags of ids, which are read when somebody looks at them. */
export class LazyBags {
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
    readonly kept: KeptIds | null,
  ) {
    this.nnz = ids.size;
    this.batch = rowSplits.length - 1;
  }

  get values(): Int32Array {
    return this.ids.get();
  }

  withWeights(weights: Float32Array): LazyBags {
    return new LazyBags(this.ids, this.rowSplits, this.length, weights, null);
  }
}

/** Bags in the exchange memory, and where all that was kept with them ends. */
export interface KeptIds {
  readonly at: BagsAt;
  readonly end: number;
}

/** Every row of a table by itself. */
export function allRows(rows: number): LazyBags {
  const rowSplits = sharedUniformSplits(rows, 1);
  const values = rowSplits.subarray(0, rows); // The numbers of the rows are the same.
  return new LazyBags(arrayValues(values), rowSplits, 1, null, null);
}

/** The first id outside a table of so many rows, where that is an error; else null. */
export function firstOutOfRange(values: Int32Array, rows: number, { outOfRange }: BagOptions): IdOutOfRange | null {
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

/** What is kept of a lookup: its ids as they were read, and where devices have them. */
export class LookupIds {
  /** Devices found all ids in a table of so many rows; -1: nobody looked. */
  private rows = -1;
  private kept: (KeptIds & { readonly epoch: number }) | null = null;

  constructor(readonly batch: LazyBags) {}

  /** They lie in the exchange memory, where devices found no id outside a table of so many rows; null: did not look. */
  keep(kept: KeptIds, rows: number | null, exchange: HostExchange): void {
    this.rows = rows ?? -1;
    this.kept = { ...kept, epoch: exchange.epoch };
  }

  /** Where they still lie in the exchange memory, for a table of so many rows; null where they do not. */
  keptFor(rows: number, { outOfRange }: BagOptions, { epoch }: HostExchange): KeptIds | null {
    // Ids of a table are ids of a larger one too.
    const areChecked = outOfRange !== 'error' || (this.rows >= 0 && this.rows <= rows);
    return areChecked && this.kept?.epoch === epoch ? this.kept : null;
  }
}

/** Reads batches, each as it is at the time. */
export class IdReader {
  constructor(
    private readonly reader: TensorReader,
    private readonly exchange: HostExchange,
  ) {}

  /** The ids of a lookup, which are not looked at. */
  read(bags: BagTensors): LookupIds {
    return new LookupIds(readBatch(bags, this.reader.lentIds(bags.values)));
  }

  /**
   * The ids of a step; one outside the table is refused before anything is sent. `handle`: of the lookup, whose tensors
   * may be gone; `bags` hold the same numbers.
   */
  readChecked(
    bags: BagTensors,
    handle: LookupHandle | null | undefined,
    { kind, rows }: TableLayout,
    options: BagOptions,
  ): LazyBags {
    const known = handle instanceof LookupIds ? handle : null;
    // Where rows are dealt out, the host needs the numbers themselves.
    const kept = kind === 'rows' ? null : (known?.keptFor(rows, options, this.exchange) ?? null);
    const values = known?.batch.ids.isRead === true ? known.batch.ids : this.reader.ids(bags.values);
    const outOfRange = kept === null ? firstOutOfRange(values.get(), rows, options) : null;
    if (outOfRange !== null) throw outOfRange;
    if (known === null) return readBatch(bags, values);
    const { rowSplits, length, weights } = known.batch;
    return new LazyBags(values, rowSplits, length, weights, kept);
  }
}

function readBatch({ rowSplits, weights }: BagTensors, values: TensorValues<Int32Array>): LazyBags {
  const splits = (rowSplits as tf.Tensor).dataSync<'int32'>();
  const factors = weights === null ? null : weights.dataSync<'float32'>();
  return new LazyBags(values, splits, uniformLength(splits), factors, null);
}
