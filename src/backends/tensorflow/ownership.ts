/**
 * Which buffers may be written in place: those that we made ourselves and that have no other holders.
 *
 * Many TensorFlow ops (reshape, slices of whole rows, split, tile by 1 ...) return another tensor on the same buffer,
 * and the backend's count of references does not show it. So every op that could do so and that takes one of our
 * buffers marks it as shared; a shared buffer is copied before the next step. Typed arrays of the user may be shared with
 * TensorFlow too, which is why the first step of a variable always copies.
 */
import * as tf from '@tensorflow/tfjs';
import { beforeOps } from '../../tfjs/op_inputs.js';
import { asNodeBackend, type NodeBackend, type TensorRecord } from './node_backend.js';

function stockCopyingOps(): ReadonlySet<string> {
  return new Set([
    ...['GatherV2', 'MatMul', 'BatchMatMulV2', 'UnsortedSegmentSum'],
    ...['Add', 'AddV2', 'Sub', 'Mul', 'Div', 'RealDiv', 'DivNoNan', 'Maximum', 'Minimum', 'Pow', 'SquaredDifference'],
    ...['Neg', 'Abs', 'Sign', 'Square', 'Sqrt', 'Rsqrt', 'Reciprocal', 'Exp', 'Expm1', 'Log', 'Log1p'],
    ...['Sigmoid', 'Tanh', 'Relu', 'Relu6', 'Elu', 'Selu', 'LeakyRelu', 'Softplus'],
    ...['Equal', 'NotEqual', 'Greater', 'GreaterEqual', 'Less', 'LessEqual', 'IsNan', 'IsInf', 'IsFinite'],
  ]);
}

const STOCK_COPYING_OPS = /* @__PURE__ */ stockCopyingOps(); // pages drop it

/** All ops of this package allocate what they give, but one that hands its input on and has the name that TensorFlow gave it. */
const OUR_COPYING_OPS = /^Embedding/;

/**
 * Whether the outputs of an op never share memory with its inputs while JavaScript holds the inputs. Of stock ops,
 * reductions, casts, concatenations and selections are missing on purpose: for some shapes they return their input.
 */
export function copies(op: string): boolean {
  return OUR_COPYING_OPS.test(op) || STOCK_COPYING_OPS.has(op);
}

const KEY = Symbol.for('tfjs-embeddings.ownership');

/** Kept on the backend itself, so that two builds of this package in one process share it. */
export class Ownership {
  /** Copies made since the backend was first used by this package. */
  copies = 0;
  private readonly owned = new WeakSet<TensorRecord>();

  private constructor(private readonly backend: NodeBackend) {
    this.watch();
  }

  static of(backend: NodeBackend): Ownership {
    const holder = backend as unknown as Record<symbol, Ownership | undefined>;
    return (holder[KEY] ??= new Ownership(backend));
  }

  /** Takes a buffer that an op has just made for us. */
  adopt({ dataId }: tf.Tensor): void {
    this.owned.add(this.backend.tensorMap.get(dataId));
  }

  /** Whether a buffer may be written in place. */
  isWritable({ dataId }: tf.Tensor): boolean {
    const record = this.backend.tensorMap.get(dataId);
    return this.owned.has(record) && record.values === null && this.backend.refCount(dataId) === 1;
  }

  /** Gives the variable a buffer with no other holders: the one it has, or a copy. */
  makeWritable(variable: tf.Variable): void {
    const { backend, owned } = this;
    if (this.isWritable(variable)) return;
    const copy = backend.executeSingleOutput('EmbeddingCopy', [], [variable]);
    try {
      variable.assign(copy as tf.Tensor<never>);
    } finally {
      copy.dispose();
    }
    owned.add(backend.tensorMap.get(variable.dataId));
    this.copies += 1;
  }

  /** Learns of every op that takes one of our buffers, those of other packages too. */
  private watch(): void {
    beforeOps(this.backend, (op, dataIds) => {
      const isCopying = op !== null && copies(op);
      for (const dataId of dataIds) {
        const record = this.backend.tensorMap.get(dataId);
        if (!isCopying) this.owned.delete(record);
        unshare(record);
      }
    });
  }
}

/**
 * Takes ids and splits that other threads can write out of their reach before TensorFlow sees it: kernels check ids and
 * then use them, and no thread may change an id in between.
 */
function unshare(record: TensorRecord): void {
  const { values } = record;
  if (!(values instanceof Int32Array) || values.buffer instanceof ArrayBuffer) return;
  record.values = values.slice();
}

/** The backend in use, watched from the first op of this package on: all that it hands to TensorFlow. */
export function watchedBackend(): NodeBackend {
  const backend = asNodeBackend(tf.backend());
  Ownership.of(backend);
  return backend;
}
