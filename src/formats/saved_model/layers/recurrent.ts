/** Recurrent layers: a loop over the steps of a sequence, as a function that TensorFlow repeats. */
import type * as tf from '@tensorflow/tfjs';
import { type, types } from '../graph/function_builder.js';
import { Operations } from '../graph/operations.js';
import type { Shape, Value } from '../graph/value.js';
import { GRU } from '../../../layers/recurrent/gru.js';
import type { FunctionMessage } from '../../../base/protobuf/graph_messages.js';
import { cellOf, type Cell } from './cells.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** What recurrent layers have beside what tfjs tells of all layers. */
interface RecurrentLayer extends tf.layers.Layer {
  readonly cell: tf.layers.Layer;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
  readonly goBackwards: boolean;
}

/** Lists of tensors in a loop: their handle. */
function listAttr(): Record<string, { type: number }> {
  return { element_dtype: type('float32') as { type: number }, shape_type: type('int32') as { type: number } };
}

const HANDLE: Shape = [];

function reserve(o: Operations, element: Shape, length: Value): Value {
  return o.graph.node('TensorListReserve', [o.ints(element.map((size) => size ?? -1)), length], {
    attr: listAttr(),
    dtype: 'variant',
    shape: HANDLE,
    output: 'handle',
  });
}

/** A tensor as the list of its items along the first axis. */
function listOf(o: Operations, x: Value): Value {
  return o.graph.node('TensorListFromTensor', [x, o.ints(x.shape.slice(1).map((size) => size ?? -1))], {
    attr: listAttr(),
    dtype: 'variant',
    shape: HANDLE,
    output: 'output_handle',
  });
}

function itemOf(o: Operations, list: Value, at: Value, element: Shape): Value {
  return o.graph.node('TensorListGetItem', [list, at, o.ints(element.map((size) => size ?? -1))], {
    attr: { element_dtype: type('float32') },
    dtype: 'float32',
    shape: element,
    output: 'item',
  });
}

function withItem(o: Operations, list: Value, at: Value, item: Value): Value {
  return o.graph.node('TensorListSetItem', [list, at, item], {
    attr: { element_dtype: type('float32') },
    dtype: 'variant',
    shape: HANDLE,
    output: 'output_handle',
  });
}

function stackOf(o: Operations, list: Value, length: number | null, element: Shape): Value {
  return o.graph.node('TensorListStack', [list, o.ints(element.map((size) => size ?? -1))], {
    attr: { element_dtype: type('float32') },
    dtype: 'float32',
    shape: [length, ...element],
    output: 'tensor',
  });
}

/** `body` is repeated while the first value, a counter, is below the second. */
function loop(
  call: LayerCall,
  values: readonly Value[],
  body: (o: Operations, values: readonly Value[]) => readonly Value[],
): Value[] {
  const { o, context } = call;
  const attr = { T: types(values.map(({ dtype }) => dtype)) };
  const addFunction = (name: string, make: typeof body): FunctionMessage => {
    return context.addFunction(name, (graph) => {
      const args = values.map(({ dtype, shape }) => graph.argument(dtype, shape));
      return make(new Operations(graph), args);
    });
  };
  const condition = addFunction('while_cond', (inner, [step, steps]) => [inner.compare('Less', step!, steps!)]);
  const repeated = addFunction('while_body', body);
  const named = {
    ...attr,
    cond: { func: { name: condition.signature.name } },
    body: { func: { name: repeated.signature.name } },
    output_shapes: {
      list: { shape: values.map(({ shape }) => ({ dim: shape.map((size) => ({ size: size ?? -1 })) })) },
    },
    parallel_iterations: { i: 1 },
  };
  return o.graph.nodeOfMany('StatelessWhile', values, named, 'output', values);
}

/** Time first: [steps, batch, ...]. */
function timeFirst(o: Operations, x: Value): Value {
  return o.transpose(x, [1, 0, ...x.shape.map((_, axis) => axis).slice(2)]);
}

/** The mask as numbers that broadcast with what a step gives: [steps, batch, 1]. */
function stepMask({ o }: LayerCall, mask: Value, rank: number): Value {
  let x = o.cast(mask, 'float32');
  while (x.shape.length < rank) x = o.expandDims(x, -1);
  return timeFirst(o, x);
}

function mixed(o: Operations, mask: Value, fresh: Value, before: Value): Value {
  return o.add(o.mul(fresh, mask), o.mul(before, o.sub(1, mask)));
}

export interface Recurrence {
  readonly cell: Cell;
  readonly input: Value;
  readonly initial: readonly Value[] | null;
  readonly mask: Value | null;
  readonly isBackwards: boolean;
  readonly wantsAll: boolean;
}

function initialStates({ o }: LayerCall, { cell, input }: Recurrence): Value[] {
  const step = [input.shape[0]!, ...input.shape.slice(2)];
  const [batch] = o.sizesOf(input, 0, 1) as [Value | number];
  return cell.stateShapes(step).map((shape) => o.fill([batch, ...shape], 0, [input.shape[0]!, ...shape]));
}

/** The last output, all of them [batch, steps, ...] where they are wanted, and the last states. */
export function recur(call: LayerCall, given: Recurrence): { last: Value; all: Value | null; states: Value[] } {
  const { o } = call;
  const { cell, mask, wantsAll } = given;
  const input = o.cast(given.input, 'float32');
  const turned = (x: Value): Value => (given.isBackwards ? o.reverse(x, [0]) : x);
  const steps = o.sizeAt(input, 1);
  const states = given.initial?.map((state) => o.cast(state, 'float32')) ?? initialStates(call, given);
  const batch = input.shape[0]!;
  // Shapes must stay as they are from step to step.
  const step = [batch, ...input.shape.slice(2)];
  const stateShapes = cell.stateShapes(step).map((shape): Shape => [batch, ...shape]);
  const output = stateShapes[0]!;
  const sequence = turned(timeFirst(o, input));
  const masks = mask === null ? null : turned(stepMask(call, mask, input.shape.length));
  const fixed = [listOf(o, sequence), ...(masks === null ? [] : [listOf(o, masks)]), ...cell.weights];
  const zeros = o.fill(o.sizesOf(states[0]!), 0, output);
  const started = states.map((state, i): Value => ({ ...state, shape: stateShapes[i]! }));
  const outputs = wantsAll ? [reserve(o, output, steps)] : [];
  const first = [o.graph.scalar(0, 'int32'), steps, { ...zeros, shape: output }, ...started, ...outputs, ...fixed];
  const result = loop(call, first, (inner, values) => {
    const [at, end, last, ...rest] = values as [Value, Value, Value, ...Value[]];
    const before = rest.slice(0, states.length);
    const list = wantsAll ? rest[states.length]! : null;
    const outside = rest.slice(states.length + outputs.length);
    const weights = outside.slice(masks === null ? 1 : 2);
    const x = itemOf(inner, outside[0]!, at, step);
    const fresh = cell.step(inner, weights, x, before);
    const present = masks === null ? null : itemOf(inner, outside[1]!, at, masks.shape.slice(1));
    const kept = (value: Value, old: Value): Value => (present === null ? value : mixed(inner, present, value, old));
    // Before the first step that counts there is none to repeat, whatever states the layer begins with.
    const now = kept(fresh.output, last);
    const next = fresh.states.map((state, i) => kept(state, before[i]!));
    const written = list === null ? [] : [withItem(inner, list, at, now)];
    return [inner.add(at, 1), end, now, ...next, ...written, ...outside];
  });
  const [, , last, ...rest] = result as [Value, Value, Value, ...Value[]];
  const lastStates = rest.slice(0, states.length);
  const all = wantsAll ? timeFirst(o, stackOf(o, rest[states.length]!, input.shape[1]!, output)) : null;
  return { last, all, states: lastStates };
}

/** A layer's own recurrence, on these inputs: a sequence, then initial states. */
export function recurrentLayer(call: LayerCall, layer: tf.layers.Layer, inputs: readonly Value[]): Value[] {
  const { cell, returnSequences, returnState, goBackwards } = layer as RecurrentLayer;
  if (layer.stateful) throw call.refuse('which is stateful');
  const { last, all, states } = recur(call, {
    cell: cellOf({ call, layer: cell }),
    input: inputs[0]!,
    initial: inputs.length > 1 ? inputs.slice(1) : null,
    mask: call.mask,
    isBackwards: goBackwards,
    wantsAll: returnSequences,
  });
  const output = all ?? last;
  return returnState ? [output, ...states] : [output];
}

const recurrent: Emitter = (call) => recurrentLayer(call, call.layer, call.inputs);

export const RECURRENT_LAYERS: Readonly<Record<string, Emitter>> = {
  RNN: recurrent,
  SimpleRNN: recurrent,
  GRU: recurrent,
  [GRU.className]: recurrent,
  LSTM: recurrent,
  ConvLSTM2D: recurrent,
};
