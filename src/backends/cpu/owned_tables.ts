/**
 * Tables whose values lie in memory of our own, where kernels read and write them.
 *
 * On the cpu backend any stock kernel may hand out the very array that a tensor holds (`dataSync`, slices, the user's
 * own array). So the live values of an owned table never stand in tfjs's record: the record gives a snapshot, made on
 * demand and kept, weakly, until the next step.
 */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../../base/errors.js';
import type { Words } from '../../codecs/codec.js';
import type { KernelSet } from '../kernel_set.js';
import { askForValues, serveValues } from '../../tfjs/cpu_values.js';
import { checkNotLost } from '../../ids/lost_arrays.js';
import { type Place, heapOf, placeFor } from './place.js';

/** What the backend keeps per data id. */
interface CpuRecord {
  values: unknown;
  readonly dtype: tf.DataType;
  refCount: number;
}

export interface CpuBackend extends tf.KernelBackend {
  readonly data: { has(dataId: tf.DataId): boolean; get(dataId: tf.DataId): CpuRecord };
  bufferSync(t: tf.TensorInfo): tf.TensorBuffer<tf.Rank>;
  makeTensorInfo(shape: number[], dtype: tf.DataType, values: tf.TypedArray): tf.TensorInfo;
}

/** The values of a float32 tensor, an argument of this name; some stock kernels leave plain arrays in the record. */
export function floatsOf(backend: CpuBackend, dataId: tf.DataId, argument: string): Float32Array {
  const { values } = backend.data.get(dataId);
  if (ArrayBuffer.isView(values)) checkNotLost(values, argument);
  return values instanceof Float32Array ? values : Float32Array.from(values as ArrayLike<number>);
}

/** The values of an int32 tensor, an argument of this name. */
export function intsOf(backend: CpuBackend, dataId: tf.DataId, argument: string): Int32Array {
  const { values } = backend.data.get(dataId);
  if (ArrayBuffer.isView(values)) checkNotLost(values, argument);
  return values instanceof Int32Array ? values : Int32Array.from(values as ArrayLike<number>);
}

/** The same memory as words. */
function asWords({ buffer, byteOffset, length }: Float32Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length);
}

/** The same memory as floats; it is copied as bytes, so that no word becomes another NaN. */
function asFloats({ buffer, byteOffset, length }: Int32Array): Float32Array {
  return new Float32Array(buffer, byteOffset, length);
}

/** One owned table. Holds no data id: it must not keep alive what it watches. */
class OwnedTable {
  private snapshot: WeakRef<Words> | null = null;

  constructor(
    private place: Place,
    private readonly isPacked: boolean,
  ) {}

  view(): Words {
    const values = this.place.view();
    return this.isPacked ? asWords(values) : values;
  }

  /** The values as they are now, in an array that never changes again. */
  values(): Words {
    const kept = this.snapshot?.deref();
    if (kept !== undefined) return kept;
    const made = this.copy();
    this.snapshot = new WeakRef(made);
    return made;
  }

  copy(): Words {
    return this.view().slice();
  }

  /** The live values are about to change: snapshots that were given out stay as they are. */
  step(): void {
    this.snapshot = null;
  }

  /** Moves the values to where an implementation runs without copies. */
  moveTo(set: KernelSet): void {
    if (this.place.suits(set)) return;
    const { length } = this.place.view();
    const target = placeFor(set, length);
    target.view().set(this.place.view());
    this.place.free();
    this.place = target;
  }

  free(): void {
    this.place.free();
  }
}

const KEY = Symbol.for('tfjs-embeddings.ownedTables');

/** The owned tables of one backend instance. */
export class OwnedTables {
  private readonly byDataId = new WeakMap<tf.DataId, OwnedTable>();
  /** How often a whole table was copied: into memory of our own, or to a new place. */
  readonly counts = { copies: 0 };
  /** A tensor that was not disposed frees its memory when it is collected. */
  private readonly collected = new FinalizationRegistry<OwnedTable>((table) => table.free());

  private constructor(private readonly backend: CpuBackend) {
    serveValues(backend, {
      copyOf: (dataId) => this.byDataId.get(dataId)?.copy(),
      snapshotOf: (dataId) => this.byDataId.get(dataId)?.values(),
      forget: (dataId) => this.forget(dataId),
    });
  }

  /** Those of a backend that has had some, else null: nothing is wrapped for the question. */
  static ifAny(backend: tf.KernelBackend | undefined): OwnedTables | null {
    return (backend as unknown as Record<symbol, OwnedTables | undefined> | undefined)?.[KEY] ?? null;
  }

  /** The owned tables of a backend; the instance is wrapped once, even where two builds of this package are loaded. */
  static of(backend: CpuBackend): OwnedTables {
    const holder = backend as unknown as Record<symbol, OwnedTables | undefined>;
    return (holder[KEY] ??= new OwnedTables(backend));
  }

  /**
   * The values of a table, for reading. An implementation that runs in a memory of its own finds the table there from
   * the second call on.
   */
  read({ dataId, dtype }: tf.TensorInfo, set: KernelSet): Words {
    const table = this.byDataId.get(dataId);
    // Words come into memory of our own by a step alone.
    if (table === undefined && dtype === 'int32') return intsOf(this.backend, dataId, 'table');
    if (table === undefined) {
      const values = floatsOf(this.backend, dataId, 'table');
      if (heapOf(set) === null) return values;
      return this.keepIn(dataId, placeFor(set, values.length), values).view();
    }
    table.moveTo(set);
    return table.view();
  }

  /**
   * Gives a variable, an argument of this name, values with no other holders, where an implementation can step them
   * in place.
   */
  own(variable: tf.Variable, set: KernelSet, argument = 'table'): void {
    const { backend } = this;
    const { dataId, shape } = variable;
    backend.data.get(dataId); // Brings the data here when another backend has it.
    const table = this.byDataId.get(dataId);
    const shared = backend.refCount(dataId) > 1;
    if (table !== undefined && !shared) return table.moveTo(set);
    const isPacked = variable.dtype === 'int32';
    const given = (): Words => (isPacked ? intsOf(backend, dataId, argument) : floatsOf(backend, dataId, argument));
    const values = table === undefined ? given() : null;
    const place = placeFor(set, variable.size);
    if (!shared) {
      this.keepIn(dataId, place, values!, isPacked);
      return;
    }
    const none = isPacked ? new Int32Array(0) : new Float32Array(0);
    const info = backend.makeTensorInfo(shape, isPacked ? 'int32' : 'float32', none);
    this.keepIn(info.dataId, place, values ?? table!.view(), isPacked);
    const copy = tf.engine().makeTensorFromTensorInfo(info, backend);
    variable.assign(copy);
    copy.dispose();
  }

  /** A new tensor of zeros. */
  make(shape: number[], set: KernelSet): tf.Tensor {
    const place = placeFor(
      set,
      shape.reduce((product, size) => product * size, 1),
    );
    place.clear();
    const info = this.backend.makeTensorInfo(shape, 'float32', new Float32Array(0));
    this.keep(info.dataId, place);
    return tf.engine().makeTensorFromTensorInfo(info, this.backend);
  }

  /** Whether the values of a tensor lie in memory of our own. */
  has(dataId: tf.DataId): boolean {
    return this.byDataId.has(dataId);
  }

  /** Copies numbers of a table in memory of our own into an array; false where the table lies elsewhere. */
  copyInto(dataId: tf.DataId, from: number, into: Words): boolean {
    const table = this.byDataId.get(dataId);
    if (table === undefined) return false;
    into.set(table.view().subarray(from, from + into.length));
    return true;
  }

  /** Whether `write` can be called. */
  isWritable(dataId: tf.DataId): boolean {
    return this.byDataId.has(dataId) && this.backend.refCount(dataId) === 1;
  }

  /** The live values of a table that `own` has prepared, for writing. */
  write({ dataId }: Pick<tf.TensorInfo, 'dataId'>): Words {
    const table = this.byDataId.get(dataId);
    if (table === undefined || this.backend.refCount(dataId) > 1) {
      throw new RuntimeError('table', 'a variable prepared by `sparseApply`', 'a tensor that others can see');
    }
    table.step();
    return table.view();
  }

  private keepIn(dataId: tf.DataId, place: Place, values: Words, isPacked = false): OwnedTable {
    // Words are copied as bytes, so that none becomes another NaN.
    place.view().set(isPacked ? asFloats(values as Int32Array) : values);
    this.counts.copies++;
    return this.keep(dataId, place, isPacked);
  }

  private keep(dataId: tf.DataId, place: Place, isPacked = false): OwnedTable {
    const table = new OwnedTable(place, isPacked);
    this.byDataId.set(dataId, table);
    this.collected.register(dataId, table, table);
    askForValues(this.backend, dataId, () => table.values());
    return table;
  }

  private forget(dataId: tf.DataId): void {
    const table = this.byDataId.get(dataId);
    if (table === undefined) return;
    this.byDataId.delete(dataId);
    this.collected.unregister(table);
    table.free();
  }
}
