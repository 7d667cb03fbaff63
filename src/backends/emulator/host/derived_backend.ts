/** The backend that runs dense ops, and a subclass of it whose tensors may lie on devices. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { keepNumber, numberApart } from '../../../tfjs/wasm_tensor_numbers.js';
import { registeredBackend } from '../../registry.js';
import type { TensorFlowTables } from '../../tensorflow/tensorflow_tables.js';
import { BACKEND_NAME as TENSORFLOW } from '../../tensorflow/node_backend.js';
import { ColumnViews } from './column_views.js';
import type { DeviceTensors } from './device_tensors.js';
import { SharedTensors, type SharingAddon } from './shared_tensors.js';
import { TensorReader } from './tensor_reader.js';
import { PooledTensors, type ArrayUse } from './pooled_tensors.js';
import { BACKEND_NAME } from '../machine/settings.js';

const PREFERENCE = ['tensorflow', 'wasm', 'cpu'];

type Registry = Record<string, tf.KernelBackend | undefined>;

export interface HostBackend {
  readonly name: string;
  readonly backend: tf.KernelBackend;
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
    const names = Object.keys(registryFactory).filter((each) => each !== BACKEND_NAME);
    throw new ValueError('host', `one of ${names.join(', ')}`, name);
  }
  const { registry } = tf.engine() as unknown as { registry: Registry };
  // Not through the engine, which takes one start at a time, and ours is under way.
  const backend =
    registry[name] ?? (await (tf.findBackendFactory(name)() as tf.KernelBackend | Promise<tf.KernelBackend>));
  // Another start may have been quicker.
  registry[name] ??= backend;
  // Refuses other kinds before there are devices.
  constructorArguments(name, registry[name]);
  return { name, backend: registry[name] };
}

/** What the emulator adds to the backend that runs dense ops. */
interface Additions {
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

function constructorArguments(name: string, host: tf.KernelBackend): unknown[] {
  const { binding, wasm } = host as unknown as { binding?: unknown; wasm?: unknown };
  if (binding !== undefined) return [binding, BACKEND_NAME];
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
  { tensors, addon, hosted, memory, close }: Additions,
): DerivedBackend {
  const Base = host.constructor as Host;
  class TpuEmulatorBackend extends Base {
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
  const backend = new TpuEmulatorBackend(...constructorArguments(name, host));
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
