/** Tensors of TensorFlow that devices read where they lie: nothing is copied on this thread. */
import type * as tf from '@tensorflow/tfjs';
import type { Addon } from '../../native/addon.js';
import { asNodeBackend, withTensor, type NodeBackend } from '../../tensorflow/node_backend.js';

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
