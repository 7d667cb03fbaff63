/** Stacks of graphs, with which TensorFlow 1 kept the values of loops for their gradients. They end with the run. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { atEndOfRun, nodeName, textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { forget, handleFor, objectOfKind } from './handles.js';

/** Tensors, of which the last one in is the first one out. */
class TensorStack {
  private elements: tf.Tensor[] = [];
  private isClosed = false;

  constructor(
    private readonly name: string,
    private readonly dtype: tf.DataType,
    private readonly maxSize: number,
  ) {}

  push(value: tf.Tensor): void {
    this.checkOpen();
    const { name, dtype, maxSize } = this;
    if (value.dtype !== dtype) {
      throw new ValueError('elem', `dtype ${dtype}, that of stack ${name}`, described(`dtype ${value.dtype}`));
    }
    if (maxSize >= 0 && this.elements.length >= maxSize) {
      throw new ValueError('elem', `at most ${maxSize} elements in stack ${name}`, described('one more'));
    }
    this.elements.push(tf.keep(value.clone()));
  }

  /** The tensor is the caller's. */
  pop(dtype: tf.DataType): tf.Tensor {
    this.checkOpen();
    if (dtype !== this.dtype) {
      throw new ValueError('elem_type', `${this.dtype}, that of stack ${this.name}`, dtype);
    }
    const kept = this.elements.pop();
    if (kept === undefined) {
      throw new ValueError('handle', 'a stack with elements', described(`${this.name}, which is empty`));
    }
    const value = kept.clone();
    kept.dispose();
    return value;
  }

  close(): void {
    tf.dispose(this.elements);
    this.elements = [];
    this.isClosed = true;
  }

  private checkOpen(): void {
    if (!this.isClosed) return;
    throw new ValueError('handle', 'an open stack', described(`${this.name}, which is closed`));
  }
}

function dtypeOf(node: tf.GraphNode): tf.DataType {
  const dtype = node.attrs['elem_type'] as tf.DataType | null | undefined;
  if (dtype !== null && dtype !== undefined) return dtype;
  throw new RuntimeError('elem_type', 'a dtype of tfjs', described('another dtype of TensorFlow'));
}

function made(maxSize: number, node: tf.GraphNode): tf.Tensor {
  const stack = new TensorStack(textAttribute(node, 'stack_name') || nodeName(node), dtypeOf(node), maxSize);
  atEndOfRun(node, () => {
    stack.close();
    forget(stack);
  });
  return handleFor(stack);
}

const stackOf = (handle: tf.Tensor): TensorStack => objectOfKind(handle, TensorStack);

/** The forms differ in their names and in the type of the handle. */
function formsOf(suffix: '' | 'V2', type: string): GraphOp[] {
  const handle = `handle: ${type}`;
  return [
    suffix === ''
      ? graphOp(`Stack() -> ${handle}`, (_inputs, node) => made(-1, node))
      : graphOp(`StackV2(max_size: int32) -> ${handle}`, ([size], node) => made(size!.dataSync()[0]!, node)),
    graphOp(`StackPush${suffix}(${handle}, elem: T) -> output: T`, ([given, value]) => {
      stackOf(given!).push(value!);
      return value!.clone();
    }),
    graphOp(`StackPop${suffix}(${handle}) -> elem: elem_type`, ([given], node) => stackOf(given!).pop(dtypeOf(node))),
    graphOp(`StackClose${suffix}(${handle}) -> `, ([given]) => {
      stackOf(given!).close();
      return tf.scalar(0);
    }),
  ];
}

export const STACK_OPS: readonly GraphOp[] = [...formsOf('', 'string'), ...formsOf('V2', 'resource')];
