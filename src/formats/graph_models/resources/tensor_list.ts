/**
 * Tensor lists of graphs. A list is a value, as in TensorFlow: what changes one gives another, and the first is as it was.
 * tfjs-converter's own lists change in place, forget unwritten elements, and lose an output of what takes an
 * element away; ops on these take their place.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readInt32, readTensor } from '../../../ids/values.js';
import { toInt32 } from '../../../ids/whole_ids.js';
import {
  isFullyDefined,
  mergeShapes,
  readPartialShape,
  showShape,
  type PartialShape,
} from '../../../lookup/tensor_array/partial_shape.js';
import { atEndOfRun } from '../../../tfjs/graph_models/graph_run.js';
import { emptyValues, sizeOf } from '../host_array.js';
import { forget, handleFor, objectOfKind } from './handles.js';

/** More elements than any graph has; without a limit a number alone could take all memory. */
const MOST_ELEMENTS = 2 ** 24;

/** Unwritten places are undefined. */
export type Elements = readonly (tf.Tensor | undefined)[];

export class TensorList {
  constructor(
    readonly elements: Elements,
    readonly elementShape: PartialShape,
    readonly dtype: tf.DataType,
    /** -1: any number of elements. */
    readonly mostElements = -1,
  ) {}

  /** A list like this one with other elements. */
  with(elements: Elements): TensorList {
    return new TensorList(elements, this.elementShape, this.dtype, this.mostElements);
  }

  /** The shape of an element as the list and an op say it. */
  mergedShape(given: PartialShape): PartialShape {
    return mergeShapes(this.elementShape, given, 'element_shape');
  }

  /** The shape of all elements: of each one that was written, of the list, and what an op says. */
  commonShape(given: PartialShape): PartialShape {
    return this.elements.reduce<PartialShape>(
      (merged, element) => (element === undefined ? merged : mergeShapes(merged, element.shape, 'element_shape')),
      this.mergedShape(given),
    );
  }

  /** The elements at these places as rows of one tensor, which is new; unwritten ones are zeros. */
  stacked(places: readonly number[], given: PartialShape): tf.Tensor {
    const shape = places.length === 0 ? this.mergedShape(given) : this.commonShape(given);
    if (!isFullyDefined(shape)) {
      throw new ValueError('element_shape', 'a shape of which all sizes are known', described(showShape(shape)));
    }
    if (places.length === 0) return tf.tensor([], [0, ...shape], this.dtype);
    return tf.tidy(() => tf.stack(places.map((place) => this.elements[place] ?? zerosOf(shape, this.dtype))));
  }
}

/** Zeros, or empty strings. */
export function zerosOf(shape: readonly number[], dtype: tf.DataType): tf.Tensor {
  if (dtype !== 'string') return tf.zeros([...shape], dtype);
  // Which `wasm` cannot fill.
  const none = emptyValues(dtype, sizeOf(shape)) as tf.DataValues;
  return tf.engine().makeTensor(none, [...shape], dtype) as tf.Tensor;
}

/** A handle of a list, which ends with the run. */
export function handleOf(list: TensorList, node: tf.GraphNode): tf.Tensor {
  atEndOfRun(node, () => forget(list));
  return handleFor(list);
}

/** The list that a handle stands for; TypeError where it stands for none. */
export function listOf(handle: tf.Tensor | undefined, argument = 'input_handle'): TensorList {
  return objectOfKind(handle!, TensorList, argument);
}

/** The dtype of elements as a node names it; elements that are lists or ragged tensors themselves are numbers here. */
export function elementDtype(node: tf.GraphNode): tf.DataType {
  return (node.attrs['element_dtype'] as tf.DataType | null | undefined) ?? 'int32';
}

/** The list of a handle; ValueError unless its elements have the dtype that the node names. */
export function typedListOf(handle: tf.Tensor | undefined, node: tf.GraphNode): TensorList {
  const list = listOf(handle);
  const wanted = elementDtype(node);
  if (wanted === list.dtype) return list;
  throw new ValueError('element_dtype', `${list.dtype}, that of the list`, wanted);
}

/** A shape that a graph holds as a tensor: a scalar is one of unknown rank. */
export function givenShape(shape: tf.Tensor | undefined): PartialShape {
  if (shape!.rank > 0) return readPartialShape(Array.from(readInt32(shape, 'element_shape')), 'element_shape');
  wholeIn(shape, 'element_shape', -1, -1);
  return null;
}

/** These tensors as elements of a list: its own, until the run ends. */
export function ownElements(tensors: readonly tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const own = tensors.map((tensor) => tf.keep(tensor));
  atEndOfRun(node, () => tf.dispose(own));
  return own;
}

/** A copy of a tensor as an element of a list. */
export function ownElement(item: tf.Tensor, list: TensorList, node: tf.GraphNode): tf.Tensor {
  if (item.dtype !== list.dtype) throw new ValueError('item', `dtype ${list.dtype}, that of the list`, item);
  list.mergedShape(item.shape);
  return ownElements([item.clone()], node)[0]!;
}

/** A whole number; ValueError outside of [least, most]. */
export function checkWhole(number: number, argument: string, least: number, most = MOST_ELEMENTS): number {
  if (number >= least && number <= most) return number;
  throw new ValueError(argument, `a number in [${least}, ${most}]`, number);
}

/** The same of a number that an op is given as a tensor. */
export function wholeIn(tensor: tf.Tensor | undefined, argument: string, least: number, most?: number): number {
  if (tensor!.rank !== 0) throw new ValueError(argument, 'a scalar', tensor);
  return checkWhole(toInt32(readTensor(tensor!, argument), argument)[0]!, argument, least, most);
}
