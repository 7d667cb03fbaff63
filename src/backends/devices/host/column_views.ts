/**
 * Tensors of TensorFlow that are columns of another one. They are split off when an op takes one of them: until then
 * devices read and write them where they lie, and joining all of them again gives the whole.
 */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, withTensor, type NodeBackend, type TensorRecord } from '../../tensorflow/node_backend.js';

/** Columns of a tensor. */
export interface ColumnsOf {
  readonly whole: tf.TensorInfo;
  /** Where the first one lies in a row of the whole. */
  readonly at: number;
  /** Columns of the whole. */
  readonly stride: number;
}

interface Record extends TensorRecord {
  id: number;
}

interface ViewingBackend extends NodeBackend {
  readonly tensorMap: { get(dataId: tf.DataId): Record; set(dataId: tf.DataId, record: object): void };
  incRef(dataId: tf.DataId): void;
}

/** A tensor and its live views, by their places. */
interface Whole {
  readonly info: tf.TensorInfo;
  readonly widths: readonly number[];
  readonly views: (tf.DataId | null)[];
}

interface View extends ColumnsOf {
  readonly of: Whole;
  readonly place: number;
}

export class ColumnViews {
  private readonly views = new WeakMap<tf.DataId, View>();
  private readonly backend: ViewingBackend;

  constructor(backend: tf.KernelBackend) {
    this.backend = asNodeBackend(backend) as ViewingBackend;
  }

  /** Views of all columns of a float32 matrix, `widths` of them each. The whole lives as long as one of them does. */
  of(info: tf.TensorInfo, widths: readonly number[]): tf.TensorInfo[] {
    const { tensorMap, binding } = this.backend;
    const [rows, stride] = info.shape as [number, number];
    const whole: Whole = { info, widths, views: [] };
    let at = 0;
    this.backend.incRef(info.dataId);
    return widths.map((width, place) => {
      const [dataId, shape] = [{}, [rows, width]];
      tensorMap.set(dataId, { shape, dtype: binding.TF_FLOAT, id: -1, values: null, refCount: 1 });
      this.views.set(dataId, { of: whole, whole: info, place, at, stride });
      whole.views.push(dataId);
      at += width;
      return { dataId, shape, dtype: 'float32' as const };
    });
  }

  /** Whether a tensor is not an array of JavaScript, which TensorFlow has yet to get. */
  isInTensorFlow({ dataId }: tf.TensorInfo): boolean {
    return this.backend.tensorMap.get(dataId).values === null;
  }

  /** Where a view lies; null for any other tensor. */
  placeOf({ dataId }: { readonly dataId: tf.DataId }): ColumnsOf | null {
    return this.views.get(dataId) ?? null;
  }

  /** The same tensors with each whole in place of all its views, where these follow one another. */
  joined(tensors: readonly tf.TensorInfo[]): tf.TensorInfo[] {
    const result: tf.TensorInfo[] = [];
    for (let i = 0; i < tensors.length;) {
      const { views, info } = this.views.get(tensors[i]!.dataId)?.of ?? { views: [], info: tensors[i]! };
      const isWhole = views.length > 0 && views.every((view, place) => view === tensors[i + place]?.dataId);
      result.push(isWhole ? info : tensors[i]!);
      i += isWhole ? views.length : 1;
    }
    return result;
  }

  /** Before an op takes the tensor or the caller reads it: it gets memory of its own, and so do the other views. */
  materialize(dataId: tf.DataId): void {
    const view = this.views.get(dataId);
    if (view !== undefined) this.split(view.of);
  }

  /** The tensor is gone. */
  forget(dataId: tf.DataId): void {
    const view = this.views.get(dataId);
    if (view === undefined) return;
    const { of, place } = view;
    this.views.delete(dataId);
    of.views[place] = null;
    if (of.views.every((each) => each === null)) this.release(of);
  }

  private split(whole: Whole): void {
    const { tensorMap } = this.backend;
    const parts = this.parts(whole);
    parts.forEach((part, place) => {
      const dataId = whole.views[place]!;
      if (dataId !== null) {
        const record = tensorMap.get(part.dataId);
        tensorMap.get(dataId).id = record.id;
        record.id = -1;
        this.views.delete(dataId);
      }
      part.dispose();
    });
    this.release(whole);
  }

  private parts({ info, widths }: Whole): tf.Tensor[] {
    const { backend } = this;
    const { TF_ATTR_INT, TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = backend.binding;
    const attributes = [
      { name: 'num_split', type: TF_ATTR_INT, value: widths.length },
      { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT },
      { name: 'Tlen', type: TF_ATTR_TYPE, value: TF_INT32 },
    ];
    return withTensor(backend, Int32Array.from(widths), [widths.length], (sizes) =>
      withTensor(backend, Int32Array.of(1), [], (axis) =>
        backend.executeMultipleOutputs(tf.SplitV, attributes, [info, sizes, axis], widths.length),
      ),
    );
  }

  private release({ info: { dataId } }: Whole): void {
    const backend = this.backend as unknown as tf.KernelBackend;
    // The engine was told that the data stay when it disposed of the tensor.
    if (backend.disposeData(dataId)) tf.engine().removeDataId(dataId, backend);
  }
}
