/** Tensors of TensorFlow that devices read where they lie: nothing is copied on this thread. */
import type * as tf from '@tensorflow/tfjs';
import type { Addon } from '../../native/addon.js';
import { asNodeBackend, withTensor, type NodeBackend } from '../../tensorflow/node_backend.js';
import type { DeviceTable } from '../machine/device_table.js';
import type { ColumnViews } from './column_views.js';

type Values = Float32Array | Int32Array;

/** The numbers of a tensor. */
export interface TensorValues<Array extends Values> {
  /** How many. */
  readonly size: number;
  /** Where devices read them in TensorFlow; null where they do not. */
  readonly shared: SharedPlace | null;
  /** Whether they were read, so that they are here whatever becomes of the tensor. */
  readonly isRead: boolean;
  /** An array for reading. */
  get(): Array;
  /** Writes them to an array of this size. */
  copyTo(target: Array): void;
}

export function arrayValues<Array extends Values>(values: Array): TensorValues<Array> {
  return {
    size: values.length,
    shared: null,
    isRead: true,
    get: () => values,
    copyTo: (target) => target.set(values),
  };
}

/** Elements of a row, of a vector of the vector. */
function rowOf({ shape }: tf.Tensor): number {
  return shape.at(-1) ?? 1;
}

interface WasmBackend {
  typedArrayFromHeap(tensor: tf.TensorInfo): Values;
}

function hasHeap(backend: unknown): backend is WasmBackend {
  return 'typedArrayFromHeap' in (backend as object);
}

export class TensorReader {
  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly onDevices: DeviceTensors,
    readonly sharedTensors: SharedTensors,
    private readonly columns: ColumnViews | null,
  ) {}

  /** The values of a float32 tensor, for this call; devices may read them themselves. */
  floats(tensor: tf.Tensor): TensorValues<Float32Array> {
    // What lies on devices comes through the exchange memory too, so it must be here before that is written.
    if (this.onDevices.get(tensor.dataId) !== undefined) return arrayValues(tensor.dataSync<'float32'>());
    const { whole, at, stride } = this.columns?.placeOf(tensor) ?? { whole: tensor, at: 0, stride: rowOf(tensor) };
    const key = this.sharedTensors.add(whole, 'float32');
    return this.read<Float32Array>(tensor, key === null ? null : { key, at, stride });
  }

  /** The values of an int32 tensor. */
  ids(tensor: tf.Tensor): TensorValues<Int32Array> {
    return this.read<Int32Array>(tensor, null);
  }

  /** The same, which devices may copy themselves, and which are copied without being read, in this call. */
  lentIds(tensor: tf.Tensor): TensorValues<Int32Array> {
    const key = this.sharedTensors.add(tensor, 'int32');
    return this.read<Int32Array>(tensor, key === null ? null : { key, at: 0, stride: rowOf(tensor) });
  }

  private read<Array extends Values>(tensor: tf.Tensor, shared: SharedPlace | null): TensorValues<Array> {
    const { backend } = this;
    const size = tensor.shape.reduce((product, length) => product * length, 1);
    let array: Array | null = null;
    const get = (): Array => (array ??= tensor.dataSync() as Array);
    const inHeap = (): Array => (size > 0 && hasHeap(backend) ? (backend.typedArrayFromHeap(tensor) as Array) : get());
    return {
      size,
      shared,
      get isRead() {
        return array !== null;
      },
      get,
      copyTo: (target) => {
        if (array === null && shared !== null) this.sharedTensors.read(shared, rowOf(tensor), target);
        else target.set(array ?? inHeap());
      },
    };
  }
}

export class DeviceTensors {
  private readonly byDataId = new WeakMap<tf.DataId, DeviceTable>();
  /** A tensor that was not disposed frees its memory when it is collected. */
  private readonly collected = new FinalizationRegistry<DeviceTable>((table) => {
    this.count--;
    table.free();
  });
  private count = 0;
  /** Called when data on the host are gone. */
  afterDisposal: () => void = () => undefined;

  /** Number of tables, and of other tensors on the devices. */
  get size(): number {
    return this.count;
  }

  get(dataId: tf.DataId): DeviceTable | undefined {
    return this.byDataId.get(dataId);
  }

  /** A new data id for a table. */
  add(table: DeviceTable): tf.DataId {
    const dataId = {};
    this.byDataId.set(dataId, table);
    this.collected.register(dataId, table, table);
    this.count++;
    return dataId;
  }

  /** Takes the table from a data id, which may be disposed or collected then. Returns what puts it back. */
  detach(dataId: tf.DataId): () => void {
    const table = this.byDataId.get(dataId);
    if (table === undefined) return () => undefined;
    this.byDataId.delete(dataId);
    this.collected.unregister(table);
    this.count--;
    return () => {
      this.byDataId.set(dataId, table);
      this.collected.register(dataId, table, table);
      this.count++;
    };
  }

  /** One reference less; frees the table with the last one, or at once when `force`. */
  drop(dataId: tf.DataId, force: boolean): boolean {
    const table = this.byDataId.get(dataId);
    if (table === undefined) return true;
    table.refCount--;
    if (!force && table.refCount > 0) return false;
    this.byDataId.delete(dataId);
    this.collected.unregister(table);
    this.count--;
    table.free();
    return true;
  }
}

/** The functions of the addon that sharing needs. */
export type SharingAddon = Pick<Addon, 'newSharedTensorKey' | 'readSharedTensor' | 'releaseSharedTensor'>;

/** Numbers within a tensor of TensorFlow that is shared under `key`: the first, and what lies from one row to the next. */
export interface SharedPlace {
  readonly key: number;
  readonly at: number;
  readonly stride: number;
}

type SharedType = 'float32' | 'int32';
/** Tensors by key. */
type ByKey = Map<number, tf.TensorInfo>;

/** Who shares, and who reads. */
interface Parties {
  readonly backend: NodeBackend;
  readonly addon: SharingAddon;
}

/** The shared tensors of one call after the other: each is added, shared, and released. */
export class SharedTensors {
  private readonly added: Readonly<Record<SharedType, ByKey>> = { float32: new Map(), int32: new Map() };
  private readonly keys = new Map<tf.DataId, number>();
  private readonly parties: Parties | null;
  private works: boolean | null = null;

  /** `addon`: the one that the devices have too, or null; `hasOps`: whether TensorFlow knows the ops of this package. */
  constructor(
    backend: tf.KernelBackend,
    addon: SharingAddon | null,
    private readonly hasOps: () => boolean,
  ) {
    const canShare = addon !== null && 'tensorMap' in backend;
    this.parties = canShare ? { backend: asNodeBackend(backend), addon } : null;
  }

  /** Whether tensors of TensorFlow can be shared. */
  get canShare(): boolean {
    return this.parties !== null && (this.works ??= this.hasOps() && tryOne(this.parties));
  }

  /** The key under which a tensor can be read from `share` to `release`, by devices too; null where it cannot. */
  add(tensor: tf.TensorInfo, dtype: SharedType): number | null {
    if (!this.canShare) return null;
    const { backend, addon } = this.parties!;
    if (backend.tensorMap.get(tensor.dataId).values !== null) return null;
    const known = this.keys.get(tensor.dataId);
    if (known !== undefined) return known;
    const key = addon.newSharedTensorKey();
    this.added[dtype].set(key, tensor);
    this.keys.set(tensor.dataId, key);
    return key;
  }

  /** Shares what was added. */
  share(): void {
    for (const dtype of ['float32', 'int32'] as const) {
      if (this.added[dtype].size > 0) shareTensors(this.parties!.backend, dtype, this.added[dtype]);
    }
  }

  /** Copies rows of so many elements of a shared tensor. */
  read(rows: SharedPlace, columns: number, target: Float32Array | Int32Array): void {
    readSharedTensor(this.parties!.addon, rows, columns, target);
  }

  /** The call is over, whether it came to sharing or not. */
  release(): void {
    this.handOver()();
  }

  /** The call is over, but devices still read: what is returned releases what it shared. */
  handOver(): () => void {
    const keys = [...this.keys.values()];
    for (const tensors of Object.values(this.added)) tensors.clear();
    this.keys.clear();
    return () => {
      for (const key of keys) this.parties!.addon.releaseSharedTensor(key);
    };
  }
}

function readSharedTensor(
  addon: SharingAddon,
  { key, at, stride }: SharedPlace,
  columns: number,
  { buffer, byteOffset, length }: Float32Array | Int32Array,
): void {
  const rows = columns === 0 ? 0 : length / columns;
  addon.readSharedTensor(key, at, stride, rows, columns, new Float32Array(buffer, byteOffset, length));
}

function shareTensors(backend: NodeBackend, dtype: SharedType, tensors: ByKey): void {
  const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = backend.binding;
  const attributes = [
    { name: 'N', type: TF_ATTR_INT, value: tensors.size },
    { name: 'T', type: TF_ATTR_TYPE, value: dtype === 'float32' ? TF_FLOAT : TF_INT32 },
  ];
  withTensor(backend, Int32Array.from(tensors.keys()), [tensors.size], (keys) => {
    backend.executeMultipleOutputs('EmbeddingShareTensors', attributes, [keys, ...tensors.values()], 0);
  });
}

/** Another copy of this package in the process may have been first with its ops, which share in a registry of theirs. */
function tryOne({ backend, addon }: Parties): boolean {
  const key = addon.newSharedTensorKey();
  const read = new Float32Array(1);
  try {
    withTensor(backend, Float32Array.of(1), [1], (one) => {
      shareTensors(backend, 'float32', new Map([[key, one]]));
      readSharedTensor(addon, { key, at: 0, stride: 1 }, 1, read);
    });
    return read[0] === 1;
  } catch {
    return false;
  } finally {
    addon.releaseSharedTensor(key);
  }
}
