/**
 * Values that were on the host before tfjs sent them to the GPU. WebGPU reads nothing back without waiting, and ids are
 * needed on the host to be checked and grouped: so what goes up is remembered here, for as long as its tensor lives.
 *
 * What some ops make of such values is remembered as how it is made, and made when it is asked for: `fit` cuts batches out
 * of tensors on the GPU.
 */
import type * as tf from '@tensorflow/tfjs';
import { faultsOf } from './faults.js';
import type { GpuRecord, WebgpuBackend } from './webgpu_backend.js';

type Make = () => tf.TypedArray | null;

/** Floats are ids at times; larger tensors of them are weights. */
const MOST_FLOATS = 4_194_304;

const KEY = Symbol.for('tfjs-embeddings.hostCopies');

function isRemembered({ dtype, values }: GpuRecord): boolean {
  if (values === null || values === undefined) return false;
  return dtype === 'int32' || (dtype === 'float32' && values.length <= MOST_FLOATS);
}

export class HostCopies {
  readonly #made = new WeakMap<object, Make>();

  private constructor(private readonly backend: WebgpuBackend) {
    const { uploadToGPU, readSync, read } = backend;
    const faults = faultsOf(backend.device);
    backend.uploadToGPU = (dataId) => {
      const record = backend.tensorMap.get(dataId);
      const { values } = record;
      const isKept = isRemembered(record);
      uploadToGPU.call(backend, dataId);
      if (isKept) this.#made.set(dataId, () => values);
    };
    backend.readSync = (dataId) => {
      faults.check();
      return this.#made.get(dataId)?.()?.slice() ?? readSync.call(backend, dataId);
    };
    backend.read = async (dataId) => {
      faults.check();
      const values = await faults.during(read.call(backend, dataId));
      // A shader that failed leaves zeros, and may say so after they are read.
      await faults.settled();
      faults.check();
      return values;
    };
  }

  /** Those of a backend, which is wrapped once, even where two builds of this package are loaded. */
  static of(backend: WebgpuBackend): HostCopies {
    const holder = backend as unknown as { [KEY]?: HostCopies };
    return (holder[KEY] ??= new HostCopies(backend));
  }

  /** The values of a tensor where the host knows them without a read, else null. They are not the caller's to write. */
  valuesOf({ dataId }: { readonly dataId: object }): tf.TypedArray | null {
    const { values } = this.backend.tensorMap.get(dataId);
    return values ?? this.#made.get(dataId)?.() ?? null;
  }

  /** How the values of a tensor come to be known without a read, now and later; null: they do not. */
  sourceOf({ dataId }: { readonly dataId: object }): Make | null {
    const { values } = this.backend.tensorMap.get(dataId);
    return values === null || values === undefined ? (this.#made.get(dataId) ?? null) : () => values;
  }

  /** Remembers how the values of a tensor are made, where the host has them no more. */
  derive({ dataId }: tf.TensorInfo, make: Make): void {
    if (this.#made.has(dataId) || (this.backend.tensorMap.get(dataId).values ?? null) !== null) return;
    let made: tf.TypedArray | null | undefined;
    this.#made.set(dataId, () => (made === undefined ? (made = make()) : made));
  }

  /** To be called where a tensor is about to be written on the GPU. */
  forget(dataId: object): void {
    this.#made.delete(dataId);
  }
}
