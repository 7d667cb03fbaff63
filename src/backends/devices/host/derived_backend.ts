/** The backend that runs dense ops, and a subclass of it whose tensors may lie on devices. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../../base/errors.js';
import { keepNumber, numberApart } from '../../../tfjs/wasm_tensor_numbers.js';
import { registeredBackend } from '../../registry.js';
import type { TensorFlowTables } from '../../tensorflow/tensorflow_tables.js';
import { BACKEND_NAME as TENSORFLOW, asNodeBackend, withTensor } from '../../tensorflow/node_backend.js';
import { ColumnViews } from './column_views.js';
import { type DeviceTensors, SharedTensors, type SharingAddon, TensorReader } from './shared_tensors.js';
import type { PooledRows } from '../exchange/pooled_lookup.js';
import { translated } from '../../tensorflow/op_errors.js';
import type { SharedRowsAt } from '../device.js';

/** The shape of the pooled rows of a lookup. */
interface PooledShape {
  readonly batch: number;
  readonly columns: number;
}

/** Pooled rows of lookups with one size of batch, side by side. */
interface Shelf {
  readonly whole: tf.Tensor;
  readonly key: number;
  readonly places: readonly number[];
}

export class PooledRoom {
  /** Where the rows of each lookup go; null: not here. */
  readonly targets: readonly (SharedRowsAt | null)[];

  private constructor(
    private readonly shapes: readonly (PooledShape | null)[],
    private readonly shelves: readonly Shelf[],
    private readonly views: ColumnViews,
  ) {
    const targets = shapes.map((): SharedRowsAt | null => null);
    for (const { key, places, whole } of shelves) {
      let at = 0;
      for (const place of places) {
        targets[place] = { at, stride: whole.shape[1]!, sharedKey: key };
        at += shapes[place]!.columns;
      }
    }
    this.targets = targets;
  }

  /**
   * Room for lookups of these shapes, null for those that need none here; shared with the devices by the next `share`.
   * null where TensorFlow cannot share memory with them.
   */
  static take(
    backend: tf.KernelBackend,
    sharedTensors: SharedTensors,
    views: ColumnViews,
    shapes: readonly (PooledShape | null)[],
  ): PooledRoom | null {
    if (!sharedTensors.canShare || tf.backend() !== backend) return null;
    const places = new Map<number, number[]>();
    shapes.forEach((shape, place) => {
      if (shape === null || shape.batch * shape.columns === 0) return;
      places.set(shape.batch, [...(places.get(shape.batch) ?? []), place]);
    });
    const shelves: Shelf[] = [];
    for (const [batch, ofBatch] of places) {
      const columns = ofBatch.reduce((sum, place) => sum + shapes[place]!.columns, 0);
      const whole = empty(backend, batch, columns);
      shelves.push({ whole, key: sharedTensors.add(whole, 'float32')!, places: ofBatch });
    }
    return new PooledRoom(shapes, shelves, views);
  }

  /** The tensors of the lookups that have room here, by their places; devices have written them. */
  tensors(): Map<number, tf.Tensor2D> {
    const found = new Map<number, tf.Tensor2D>();
    for (const { whole, places } of this.shelves) {
      if (places.length === 1) {
        found.set(places[0]!, whole as tf.Tensor2D);
        continue;
      }
      const widths = places.map((place) => this.shapes[place]!.columns);
      this.views.of(whole, widths).forEach((info, i) => {
        found.set(places[i]!, tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D);
      });
      whole.dispose();
    }
    return found;
  }

  /** The call failed. */
  dispose(): void {
    for (const { whole } of this.shelves) whole.dispose();
  }
}

function empty(backend: tf.KernelBackend, batch: number, columns: number): tf.Tensor {
  const node = asNodeBackend(backend);
  const { TF_ATTR_TYPE, TF_FLOAT } = node.binding;
  const attributes = [{ name: 'dtype', type: TF_ATTR_TYPE, value: TF_FLOAT }];
  return translated('Empty', () =>
    withTensor(node, Int32Array.of(batch, columns), [2], (shape) =>
      node.executeSingleOutput('Empty', attributes, [shape]),
    ),
  );
}

/** What the host does with the typed array of a new tensor. */
type ArrayUse = 'keeps' | 'copies' | 'copies when read';

/** How tensorflow knows a tensor: `values` until TensorFlow has them. */
interface TensorFlowHost {
  readonly tensorMap: { get(dataId: tf.DataId): { values: unknown } };
  getInputTensorIds(tensors: readonly { readonly dataId: tf.DataId }[]): number[];
}

class PooledTensors {
  private wasTried = false;
  /** Tensors of which TensorFlow may not have the values yet, and where these lie. */
  private readonly waiting = new Map<tf.DataId, Float32Array>();

  constructor(
    private readonly backend: tf.KernelBackend,
    private use: ArrayUse,
  ) {}

  make({ values, inExchange }: PooledRows, shape: [batch: number, columns: number]): tf.Tensor2D {
    if (!inExchange) return tf.tensor2d(values, shape, 'float32');
    // Another backend in use keeps the array, and does not report when the tensor is gone.
    if (tf.backend() !== this.backend) return tf.tensor2d(values.slice(), shape, 'float32');
    if (this.use === 'copies') return tf.tensor2d(values, shape, 'float32');
    this.tryOnce();
    // TensorFlow reads aligned memory where it lies, for as long as it likes: such values are copied here.
    if (this.use === 'keeps' || values.byteOffset % 8 === 0) return tf.tensor2d(values.slice(), shape, 'float32');
    const tensor = tf.tensor2d(values, shape, 'float32');
    this.waiting.set(tensor.dataId, values);
    return tensor;
  }

  /** The values of this tensor are about to be read: they become its own. */
  materialize(dataId: tf.DataId): void {
    const values = this.waiting.get(dataId);
    if (values === undefined) return;
    this.waiting.delete(dataId);
    const record = (this.backend as unknown as TensorFlowHost).tensorMap.get(dataId);
    if (record.values === values) record.values = values.slice();
  }

  /** Before the exchange memory is used again. */
  materializeAll(): void {
    for (const dataId of this.waiting.keys()) this.materialize(dataId);
  }

  /** The tensor is gone. */
  forget(dataId: tf.DataId): void {
    this.waiting.delete(dataId);
  }

  private tryOnce(): void {
    if (this.wasTried || this.use !== 'copies when read') return;
    this.wasTried = true;
    if (!this.copiesUnaligned()) this.use = 'keeps';
  }

  /** Whether TensorFlow copies an array that does not lie at a cache line, as it has always done. */
  private copiesUnaligned(): boolean {
    const values = new Float32Array(new SharedArrayBuffer(64), 4, 8).fill(1);
    const { backend } = this;
    const dataId = backend.write(values, [8], 'float32');
    try {
      (backend as unknown as TensorFlowHost).getInputTensorIds([{ dataId }]);
      values.fill(2);
      return (backend.readSync(dataId) as Float32Array)[0] === 1;
    } finally {
      backend.disposeData(dataId, true);
    }
  }
}

const PREFERENCE = ['tensorflow', 'wasm', 'cpu'];

type Registry = Record<string, tf.KernelBackend | undefined>;

export interface HostBackend {
  readonly name: string;
  readonly backend: tf.KernelBackend;
}

/** Backends whose tables lie on devices, and which can thus be no host of another one. */
export const DEVICE_BACKENDS: readonly string[] = ['tpu-emulator', 'tf-cluster'];

/** The name of a backend for dense ops, or null for the best one. */
export function hostName(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const expected = 'the name of another tfjs backend, or null for the best one';
  if (typeof value !== 'string') throw new ArgumentTypeError('host', expected, value);
  if (value === '' || DEVICE_BACKENDS.includes(value)) throw new ValueError('host', expected, value);
  return value;
}

/**
 * Finds or starts the backend for dense ops; it stays usable under its own name. ValueError for an unknown name,
 * RuntimeError for one of another kind and where there is none.
 */
export async function startHost(wanted: string | null): Promise<HostBackend> {
  const { registryFactory } = tf.engine() as unknown as { registryFactory: Record<string, unknown> };
  const present = PREFERENCE.filter((name) => name in registryFactory);
  const name = wanted ?? present[0];
  if (name === undefined) throw new RuntimeError('host', `one of ${PREFERENCE.join(', ')}`, described('none'));
  if (!(name in registryFactory)) {
    const names = Object.keys(registryFactory).filter((each) => !DEVICE_BACKENDS.includes(each));
    throw new ValueError('host', `one of ${names.join(', ')}`, name);
  }
  const { registry } = tf.engine() as unknown as { registry: Registry };
  // Not through the engine, which takes one start at a time, and ours is under way.
  const backend =
    registry[name] ?? (await (tf.findBackendFactory(name)() as tf.KernelBackend | Promise<tf.KernelBackend>));
  // Another start may have been quicker.
  registry[name] ??= backend;
  // Refuses other kinds before there are devices.
  constructorArguments('', name, registry[name]);
  return { name, backend: registry[name] };
}

/** What devices add to the backend that runs dense ops. */
interface Additions {
  /** The name of the backend that is made. */
  readonly backendName: string;
  readonly tensors: DeviceTensors;
  /** The addon that the devices have too, or null. */
  readonly addon: SharingAddon | null;
  /** Whether the host is still there, and what throws where it is not. */
  readonly hosted: { readonly hasHost: boolean; checkHost(): void };
  /** What `tf.memory()` tells beyond the host's own. */
  memory(): object;
  /** Called once, when the backend is removed. */
  close(): void;
}

/** Of tfjs-node alone: hands tensors to an op. */
interface TakesInputs {
  getInputTensorIds(tensors: readonly { readonly dataId?: tf.DataId }[]): number[];
}

type Host = new (...args: unknown[]) => tf.KernelBackend & Record<string, unknown>;

function constructorArguments(backendName: string, name: string, host: tf.KernelBackend): unknown[] {
  const { binding, wasm } = host as unknown as { binding?: unknown; wasm?: unknown };
  if (binding !== undefined) return [binding, backendName];
  if (wasm !== undefined) return [wasm];
  if (name === 'cpu') return [];
  throw new RuntimeError('host', 'tensorflow, wasm or cpu', name);
}

/** Whether TensorFlow knows the ops of this package. */
function hasOps(): boolean {
  const part = registeredBackend(TENSORFLOW) as TensorFlowTables | undefined;
  return part?.hasOps() ?? false;
}

function arrayUse(host: tf.KernelBackend): ArrayUse {
  if ('tensorMap' in host) return 'copies when read';
  return 'wasm' in host ? 'copies' : 'keeps';
}

/** A backend, how it makes tensors of pooled rows, and how values of tensors are read. */
export interface DerivedBackend {
  readonly backend: tf.KernelBackend;
  readonly pooled: PooledTensors;
  readonly reader: TensorReader;
  /** null where the host is not TensorFlow. */
  readonly columns: ColumnViews | null;
}

/** A backend of the host's kind, with records of its own, whose tensors may lie on devices. */
export function deriveBackend(
  name: string,
  host: tf.KernelBackend,
  { backendName, tensors, addon, hosted, memory, close }: Additions,
): DerivedBackend {
  const Base = host.constructor as Host;
  class DevicesHost extends Base {
    override refCount(dataId: tf.DataId): number {
      return tensors.get(dataId)?.refCount ?? super.refCount(dataId);
    }

    override incRef(dataId: tf.DataId): void {
      const table = tensors.get(dataId);
      if (table === undefined) super.incRef(dataId);
      else table.refCount++;
    }

    override disposeData(dataId: tf.DataId, force?: boolean): boolean {
      if (tensors.get(dataId) !== undefined) return tensors.drop(dataId, force ?? false);
      const isGone = super.disposeData(dataId, force);
      if (!isGone) return false;
      tensors.afterDisposal();
      pooled.forget(dataId);
      columns?.forget(dataId);
      return true;
    }

    override readSync(dataId: tf.DataId): tf.backend_util.BackendValues {
      const table = tensors.get(dataId);
      if (table !== undefined) return table.read(0, table.layout.rows);
      hosted.checkHost();
      pooled.materialize(dataId);
      columns?.materialize(dataId);
      return super.readSync(dataId);
    }

    override read(dataId: tf.DataId): Promise<tf.backend_util.BackendValues> {
      if (tensors.get(dataId) === undefined && hosted.hasHost) return super.read(dataId);
      return new Promise((resolve) => resolve(this.readSync(dataId)));
    }

    override write(values: tf.backend_util.BackendValues, shape: number[], dtype: tf.DataType): tf.DataId {
      hosted.checkHost();
      return super.write(values, shape, dtype);
    }

    override move(
      dataId: tf.DataId,
      values: tf.backend_util.BackendValues,
      shape: number[],
      dtype: tf.DataType,
      refCount: number,
    ): void {
      hosted.checkHost();
      super.move(dataId, values, shape, dtype, refCount);
    }

    override numDataIds(): number {
      return super.numDataIds() + tensors.size;
    }

    override memory(): ReturnType<tf.KernelBackend['memory']> {
      return { ...super.memory(), ...memory() };
    }

    /** The host goes on under its own name, so what it shares with us stays. */
    override dispose(): void {
      keepNumber(this);
      close();
    }
  }
  const backend = new DevicesHost(...constructorArguments(backendName, name, host));
  const columns = 'tensorMap' in host ? viewing(backend) : null;
  const pooled = new PooledTensors(backend, arrayUse(host));
  const reader = new TensorReader(backend, tensors, new SharedTensors(backend, addon, hasOps), columns);
  numberApart(backend);
  // The cpu backend says at its first tensor that tfjs-node is faster.
  if ('firstUse' in backend) backend['firstUse'] = false;
  return { backend, pooled, reader, columns };
}

/** Lets tensors of tfjs-node's backend be columns of others until an op takes them. */
function viewing(backend: tf.KernelBackend): ColumnViews {
  const views = new ColumnViews(backend);
  const taking = backend as unknown as TakesInputs;
  const { getInputTensorIds } = taking;
  taking.getInputTensorIds = (tensors) => {
    for (const { dataId } of tensors) if (dataId !== undefined) views.materialize(dataId);
    return getInputTensorIds.call(backend, tensors);
  };
  return views;
}
