/**
 * TensorArray ops of graphs, in their V1, V2 and V3 forms. tfjs-converter's own know neither gradients nor lengths of
 * what they join, and run only asynchronously; these take their place.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { tensorArrayGrad, tensorArrayGradWithShape } from '../../../lookup/tensor_array/gradient_array.js';
import { TensorArray, tensorArray } from '../../../lookup/tensor_array/tensor_array.js';
import { atEndOfRun, shapeAttribute, textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { forget, handleFor, objectOfKind } from './handles.js';

/** Orders ops and has no value. */
const flow = (): tf.Tensor => tf.scalar(0);

const arrayOf = (handle: tf.Tensor): TensorArray => objectOfKind(handle, TensorArray);

function dtypeOf(node: tf.GraphNode): tf.DataType {
  const dtype = node.attrs['dtype'] as tf.DataType | null | undefined;
  if (dtype === null || dtype === undefined) {
    throw new ValueError('dtype', 'a dtype of tfjs', described('another dtype of TensorFlow'));
  }
  return dtype;
}

function makeArray([size]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const { attrs } = node;
  const array = new TensorArray({
    size: size as tf.Scalar,
    dtype: dtypeOf(node),
    elementShape: shapeAttribute(node, 'element_shape'),
    dynamicSize: attrs['dynamic_size'] === true,
    clearAfterRead: attrs['clear_after_read'] !== false,
    identicalElementShapes: attrs['identical_element_shapes'] === true,
    name: textAttribute(node, 'tensor_array_name') || 'TensorArray',
  });
  return runHandle(array, node);
}

/** A handle of an array that ends with the run. */
function runHandle(array: TensorArray, node: tf.GraphNode): tf.Tensor {
  atEndOfRun(node, () => {
    array.close();
    forget(array);
  });
  return handleFor(array);
}

function makeGradient([handle]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const { gradHandle } = tensorArrayGrad(arrayOf(handle!).handle, 0, textAttribute(node, 'source'));
  return runHandle(tensorArray(gradHandle), node);
}

function makeGradientWithShape([handle, , shape]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const source = textAttribute(node, 'source');
  const { gradHandle } = tensorArrayGradWithShape(arrayOf(handle!).handle, 0, shape as tf.Tensor1D, source);
  return runHandle(tensorArray(gradHandle), node);
}

function gather([handle, indices]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const options = { dtype: dtypeOf(node), elementShape: shapeAttribute(node, 'element_shape') };
  return arrayOf(handle!).gather(indices as tf.Tensor1D, options);
}

function concat([handle]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const options = { dtype: dtypeOf(node), elementShape: shapeAttribute(node, 'element_shape_except0') };
  const { value, lengths } = arrayOf(handle!).concat(options);
  return [value, tf.tensor1d(lengths, 'int32')];
}

/** The forms differ in their names and in the type of the handle; V1 and V2 make an array without a flow. */
function formsOf(suffix: string, handle: string): GraphOp[] {
  const hasFlow = suffix === 'V3';
  const made = (array: tf.Tensor): tf.Tensor[] => (hasFlow ? [array, flow()] : [array]);
  const name = (verb: string): string => `TensorArray${verb}${suffix}`;
  const make = hasFlow ? `handle: ${handle}, flow: float32` : `handle: ${handle}`;
  const grad = hasFlow ? `grad_handle: ${handle}, flow_out: float32` : `grad_handle: ${handle}`;
  const array = `handle: ${handle}`;
  return [
    graphOp(`${name('')}(size: int32) -> ${make}`, (inputs, node) => made(makeArray(inputs, node))),
    graphOp(`${name('Grad')}(${array}, flow_in: float32) -> ${grad}`, (inputs, node) =>
      made(makeGradient(inputs, node)),
    ),
    graphOp(`${name('Write')}(${array}, index: int32, value: T, flow_in: float32) -> flow_out: float32`, (inputs) => {
      arrayOf(inputs[0]!).write(inputs[1] as tf.Scalar, inputs[2]!);
      return flow();
    }),
    graphOp(`${name('Read')}(${array}, index: int32, flow_in: float32) -> value: dtype`, (inputs, node) =>
      arrayOf(inputs[0]!).read(inputs[1] as tf.Scalar, { dtype: dtypeOf(node) }),
    ),
    graphOp(`${name('Gather')}(${array}, indices: int32, flow_in: float32) -> value: dtype`, gather),
    graphOp(
      `${name('Scatter')}(${array}, indices: int32, value: T, flow_in: float32) -> flow_out: float32`,
      (inputs) => {
        arrayOf(inputs[0]!).scatter(inputs[1] as tf.Tensor1D, inputs[2]!);
        return flow();
      },
    ),
    graphOp(`${name('Concat')}(${array}, flow_in: float32) -> value: dtype, lengths: int64`, concat),
    graphOp(`${name('Split')}(${array}, value: T, lengths: int64, flow_in: float32) -> flow_out: float32`, (inputs) => {
      arrayOf(inputs[0]!).split(inputs[1]!, inputs[2] as tf.Tensor1D);
      return flow();
    }),
    graphOp(`${name('Size')}(${array}, flow_in: float32) -> size: int32`, ([given]) =>
      tf.scalar(arrayOf(given!).size(), 'int32'),
    ),
    graphOp(`${name('Close')}(${array}) -> `, ([given]) => {
      arrayOf(given!).close();
      return flow();
    }),
  ];
}

export const TENSOR_ARRAY_OPS: readonly GraphOp[] = [
  ...formsOf('', 'string'),
  ...formsOf('V2', 'string'),
  ...formsOf('V3', 'resource'),
  graphOp(
    'TensorArrayGradWithShape(handle: resource, flow_in: float32, shape_to_prepend: int32) -> ' +
      'grad_handle: resource, flow_out: float32',
    (inputs, node) => [makeGradientWithShape(inputs, node), flow()],
  ),
  graphOp('TensorArrayPack(handle: string, flow_in: float32) -> value: dtype', ([handle], node) =>
    arrayOf(handle!).stack({ dtype: dtypeOf(node), elementShape: shapeAttribute(node, 'element_shape') }),
  ),
  graphOp('TensorArrayUnpack(handle: string, value: T, flow_in: float32) -> flow_out: float32', ([handle, value]) => {
    arrayOf(handle!).unstack(value!);
    return flow();
  }),
];
