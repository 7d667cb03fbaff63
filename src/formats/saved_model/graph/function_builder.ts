/** A TensorFlow function on its way: arguments, the variables that it captures, nodes, results. */
import { DataType, ELEMENT_BYTES, type DataTypeName, type VariableType } from '../wire/data_types.js';
import type { Attribute, Attributes, FunctionMessage, NodeMessage } from '../../../base/protobuf/graph_messages.js';
import { shapeMessage, type Shape, type Value } from './value.js';

/** A variable of the model, as it is saved. */
export interface GraphVariable {
  readonly name: string;
  readonly dtype: VariableType | 'int64';
  readonly shape: readonly number[];
}

/** What a node is made of beside its inputs. */
export interface NodeParts {
  readonly attr?: Attributes;
  /** Of the result. */
  readonly dtype: DataTypeName;
  readonly shape: Shape;
  /** Name of the result in the op's definition. */
  readonly output?: string;
}

/** An attribute that holds a type. */
export function type(dtype: DataTypeName): Attribute {
  return { type: DataType[dtype] };
}

export function types(dtypes: readonly DataTypeName[]): Attribute {
  return { list: { type: dtypes.map((dtype) => DataType[dtype]) } };
}

export function ints(values: readonly number[]): Attribute {
  return { list: { i: values } };
}

const encoder = new TextEncoder();

export function text(value: string): Attribute {
  return { s: encoder.encode(value) };
}

const OUTSIDE_NAMES = /[^A-Za-z0-9_./-]/g;

/** A name for a node: TensorFlow takes none that begins with a sign. */
export function nodeName(name: string): string {
  return /^[A-Za-z0-9.]/.test(name) ? name : `arg${name}`;
}

export class FunctionBuilder {
  readonly arguments: Value[] = [];
  readonly captures: GraphVariable[] = [];
  readonly #nodes: NodeMessage[] = [];
  readonly #names = new Map<string, number>();
  readonly #resources = new Map<GraphVariable, Value>();
  readonly #constants = new Map<string, Value>();
  #scope = '';

  constructor(readonly name: string) {}

  /** Nodes that `make` adds are named after a layer. */
  within<T>(scope: string, make: () => T): T {
    const before = this.#scope;
    this.#scope = `${before}${scope.replace(OUTSIDE_NAMES, '_')}/`;
    try {
      return make();
    } finally {
      this.#scope = before;
    }
  }

  /** `name`: what those call it who know the function without its signature, such as the converter of TensorFlow.js. */
  argument(dtype: DataTypeName, shape: Shape, name = `input_${this.arguments.length}`): Value {
    const value = { ref: this.#free(nodeName(name)), dtype, shape };
    this.arguments.push(value);
    return value;
  }

  /** The handle of a variable. */
  resource(variable: GraphVariable): Value {
    const known = this.#resources.get(variable);
    if (known !== undefined) return known;
    const value: Value = { ref: this.#free('resource'), dtype: 'resource', shape: [] };
    this.captures.push(variable);
    this.#resources.set(variable, value);
    return value;
  }

  /** A name that neither an argument nor a node has. */
  #free(name: string): string {
    let free = name;
    for (let count = this.#names.get(name) ?? 0; this.#names.has(free); count++) free = `${name}_${count + 1}`;
    this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
    if (free !== name) this.#names.set(free, 1);
    return free;
  }

  #nodeName(op: string): string {
    // TensorFlow takes no name that begins with a sign.
    const plain = `${this.#scope}${op}`.replace(/^[^A-Za-z0-9.]+/, '');
    return this.#free(plain);
  }

  #add(op: string, inputs: readonly Value[], attr: Attributes): string {
    const name = this.#nodeName(op);
    this.#nodes.push({ name, op, input: inputs.map(({ ref }) => ref), attr });
    return name;
  }

  /** A node with one result. */
  node(op: string, inputs: readonly Value[], { attr = {}, dtype, shape, output = 'output' }: NodeParts): Value {
    return { ref: `${this.#add(op, inputs, attr)}:${output}:0`, dtype, shape };
  }

  /** A node whose one output is a list, or one with several outputs, by their names. */
  nodeOfMany(
    op: string,
    inputs: readonly Value[],
    attr: Attributes,
    output: string | readonly string[],
    parts: readonly NodeParts[],
  ): Value[] {
    const name = this.#add(op, inputs, attr);
    const refOf = (i: number): string => (typeof output === 'string' ? `${output}:${i}` : `${output[i]!}:0`);
    return parts.map(({ dtype, shape }, i) => ({ ref: `${name}:${refOf(i)}`, dtype, shape }));
  }

  /** TensorFlow checks ids itself. */
  checkedIds(ids: Value): Value {
    return ids;
  }

  /** Numbers that are part of the graph; small ones are there once. */
  constant(
    values: readonly (number | bigint)[] | Float32Array | Int32Array,
    dtype: 'float32' | 'int32' | 'bool' | 'int64',
    shape: Shape,
  ): Value {
    const key =
      values.length > 16
        ? null
        : `${this.#scope}|${dtype}|${shape.join()}|${Array.from<number | bigint, string>(values, tellApart).join()}`;
    const known = key === null ? undefined : this.#constants.get(key);
    if (known !== undefined) return known;
    const tensor = { dtype: DataType[dtype], shape: shapeMessage(shape), content: bytesOf(values, dtype) };
    const value = this.node('Const', [], { attr: { dtype: type(dtype), value: { tensor } }, dtype, shape });
    if (key !== null) this.#constants.set(key, value);
    return value;
  }

  scalar(value: number, dtype: 'float32' | 'int32' | 'bool' | 'int64' = 'float32'): Value {
    return this.constant([value], dtype, []);
  }

  /** The function as a message; `outputs`: its results in order. */
  finish(outputs: readonly Value[]): FunctionMessage {
    // A result that is an argument, or is there twice, needs a node of its own.
    const results = outputs.map((value) => {
      return this.node('Identity', [value], { attr: { T: type(value.dtype) }, dtype: value.dtype, shape: value.shape });
    });
    const ret = Object.fromEntries(results.map(({ ref }, i) => [`output_${i}`, ref]));
    const handles = this.captures.map((variable) => ({
      name: this.#resources.get(variable)!.ref,
      type: DataType.resource,
      handleData: [{ dtype: DataType[variable.dtype], shape: shapeMessage(variable.shape) }],
    }));
    const inputs = this.arguments.map(({ ref, dtype }) => ({ name: ref, type: DataType[dtype] }));
    const shapes = [...this.arguments.map(({ shape }) => shapeMessage(shape)), ...handles.map(() => shapeMessage([]))];
    return {
      signature: {
        name: this.name,
        inputArg: [...inputs, ...handles],
        outputArg: results.map(({ dtype }, i) => ({ name: `output_${i}`, type: DataType[dtype] })),
        isStateful: true,
      },
      node: this.#nodes,
      ret,
      attr: { _construction_context: text('kEagerRuntime'), _input_shapes: { list: { shape: shapes } } },
    };
  }
}

/** -0 and 0 are two constants. */
function tellApart(value: number | bigint): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function bytesOf(
  values: readonly (number | bigint)[] | Float32Array | Int32Array,
  dtype: 'float32' | 'int32' | 'bool' | 'int64',
): Uint8Array {
  if (dtype === 'int64') {
    return new Uint8Array(BigInt64Array.from(Array.from<number | bigint, bigint>(values, BigInt)).buffer);
  }
  if (dtype === 'bool') return Uint8Array.from(values as readonly number[]);
  const bytes = new Uint8Array(values.length * ELEMENT_BYTES[dtype]);
  const view = new DataView(bytes.buffer);
  (values as readonly number[]).forEach((value, i) => {
    if (dtype === 'float32') view.setFloat32(4 * i, value, true);
    else view.setInt32(4 * i, value, true);
  });
  return bytes;
}
