/** Loops over the steps of sequences, as a function that TensorFlow repeats over lists of tensors. */
import type { FunctionMessage } from '../../../base/protobuf/graph_messages.js';
import { type, types, type FunctionBuilder } from './function_builder.js';
import type { Scan, Scanned } from './graph_form.js';
import { Operations } from './operations.js';
import type { Shape, Value } from './value.js';

/** Keeps a function that ops of a graph call, such as the body of a loop. */
export type AddFunction = (name: string, make: (graph: FunctionBuilder) => readonly Value[]) => FunctionMessage;

/** Lists of tensors in a loop: their handle. */
function listAttr(): Record<string, { type: number }> {
  return { element_dtype: type('float32') as { type: number }, shape_type: type('int32') as { type: number } };
}

const HANDLE: Shape = [];

function elementShape(o: Operations, element: Shape): Value {
  return o.ints(element.map((size) => size ?? -1));
}

function reserve(o: Operations, element: Shape, length: Value): Value {
  return o.graph.node('TensorListReserve', [elementShape(o, element), length], {
    attr: listAttr(),
    dtype: 'variant',
    shape: HANDLE,
    output: 'handle',
  });
}

/** A tensor as the list of its items along the first axis. */
function listOf(o: Operations, x: Value): Value {
  return o.graph.node('TensorListFromTensor', [x, elementShape(o, x.shape.slice(1))], {
    attr: listAttr(),
    dtype: 'variant',
    shape: HANDLE,
    output: 'output_handle',
  });
}

function itemOf(o: Operations, list: Value, at: Value, element: Shape): Value {
  return o.graph.node('TensorListGetItem', [list, at, elementShape(o, element)], {
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
  return o.graph.node('TensorListStack', [list, elementShape(o, element)], {
    attr: { element_dtype: type('float32') },
    dtype: 'float32',
    shape: [length, ...element],
    output: 'tensor',
  });
}

/** `body` is repeated while the first value, a counter, is below the second. */
function loop(
  o: Operations,
  addFunction: AddFunction,
  values: readonly Value[],
  body: (o: Operations, values: readonly Value[]) => readonly Value[],
): Value[] {
  const attr = { T: types(values.map(({ dtype }) => dtype)) };
  const add = (name: string, make: typeof body): FunctionMessage => {
    return addFunction(name, (graph) => {
      const args = values.map(({ dtype, shape }) => graph.argument(dtype, shape));
      return make(new Operations(graph), args);
    });
  };
  const condition = add('while_cond', (inner, [step, steps]) => [inner.compare('Less', step!, steps!)]);
  const repeated = add('while_body', body);
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

export function scanByLoop(o: Operations, addFunction: AddFunction, scan: Scan): Scanned {
  const { sequences, states, steps, keepsAll } = scan;
  const [n, m] = [states.length, keepsAll ? 1 : 0];
  const kept = keepsAll ? [reserve(o, states[0]!.shape, steps)] : [];
  const outside = [...sequences.map((each) => listOf(o, each)), ...scan.outside];
  const result = loop(
    o,
    addFunction,
    [o.graph.scalar(0, 'int32'), steps, ...states, ...kept, ...outside],
    (inner, all) => {
      const [at, end, ...rest] = all as [Value, Value, ...Value[]];
      const around = rest.slice(n + m);
      const items = sequences.map(({ shape }, i) => itemOf(inner, around[i]!, at, shape.slice(1)));
      const next = scan.step(inner, rest.slice(0, n), items, around.slice(sequences.length));
      const written = keepsAll ? [withItem(inner, rest[n]!, at, next[0]!)] : [];
      return [inner.add(at, 1), end, ...next, ...written, ...around];
    },
  );
  const rest = result.slice(2);
  const all = keepsAll ? stackOf(o, rest[n]!, scan.length, states[0]!.shape) : null;
  return { states: rest.slice(0, n), all };
}
