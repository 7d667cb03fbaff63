/** A graph of ONNX on its way. It takes ops of TensorFlow, and writes those of ONNX that do the same. */
import {
  AttributeType,
  OnnxType,
  type OnnxAttribute,
  type OnnxNode,
  type OnnxTensor,
  type OnnxTypeName,
  type ValueInfo,
} from '../../../base/protobuf/onnx_messages.js';
import type { Attributes } from '../../../base/protobuf/graph_messages.js';
import type { GraphVariable, NodeParts } from '../../saved_model/graph/function_builder.js';
import type { GraphBuilder } from '../../saved_model/graph/graph_builder.js';
import type { Shape, Value } from '../../saved_model/graph/value.js';
import { sizeIn, type Initializer } from './initializer.js';
import { RefusedOp } from '../../saved_model/graph/refused_op.js';

/** An attribute of a node: a number, numbers, a text, a tensor or a graph. */
export type Setting = { readonly [K in keyof typeof AttributeType]?: OnnxAttribute[K] };
export type Settings = Readonly<Record<string, Setting>>;

/** What a node gives. */
export interface Result {
  readonly dtype: Value['dtype'];
  readonly shape: Shape;
}

/** What an op of TensorFlow is made of beside its inputs. */
export interface Parts extends Result {
  readonly attr: Attributes;
}

/** Ops of TensorFlow as those of ONNX. */
export interface Lowerings {
  one(graph: OnnxGraph, op: string, inputs: readonly Value[], parts: Parts): Value;
  many(graph: OnnxGraph, op: string, inputs: readonly Value[], attr: Attributes, parts: readonly NodeParts[]): Value[];
}

type Constants = 'float32' | 'int32' | 'bool' | 'int64' | 'float64';
type Numbers = readonly (number | bigint)[] | Float32Array | Int32Array;

/** What a graph and those of its loops share. */
export interface SharedParts {
  readonly names: Map<string, number>;
  readonly initializers: Map<string, Initializer>;
  /** Numbers of constants, by what they are called. */
  readonly known: Map<string, readonly (number | bigint)[]>;
  readonly domains: Set<string>;
  /** The value of a variable, and rows of it; ids lie within it. */
  readonly variables: {
    value(graph: OnnxGraph, variable: GraphVariable): Value;
    rows(graph: OnnxGraph, variable: GraphVariable, ids: Value): Value;
  };
  readonly lowerings: Lowerings;
}

const encoder = new TextEncoder();
export const bytesOfText = (text: string): Uint8Array => encoder.encode(text);

/** As ONNX calls the type of a value. */
export function onnxType(dtype: string): number {
  if (Object.hasOwn(OnnxType, dtype)) return OnnxType[dtype as OnnxTypeName];
  throw new RefusedOp(`whose values are of type ${dtype}`);
}

export class OnnxGraph implements GraphBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly inputs: ValueInfo[] = [];
  readonly #resources = new Map<string, GraphVariable>();
  /** The same numbers as int64, by the name of an int32 value. */
  readonly #wide = new Map<string, Value>();
  #scope = '';

  constructor(
    readonly shared: SharedParts,
    readonly parent: OnnxGraph | null = null,
  ) {
    if (parent !== null) this.#scope = parent.#scope;
  }

  within<T>(scope: string, make: () => T): T {
    const before = this.#scope;
    this.#scope = `${before}${scope}/`;
    try {
      return make();
    } finally {
      this.#scope = before;
    }
  }

  /** What names of new values begin with. */
  get scope(): string {
    return this.#scope;
  }

  /** The graph of what a node repeats. It sees the values of this one. */
  child(): OnnxGraph {
    return new OnnxGraph(this.shared, this);
  }

  /** A name that nothing else has. */
  free(name: string): string {
    const { names } = this.shared;
    let free = name;
    for (let count = names.get(name) ?? 0; names.has(free); count++) free = `${name}_${count + 1}`;
    names.set(name, (names.get(name) ?? 0) + 1);
    if (free !== name) names.set(free, 1);
    return free;
  }

  /** An input; `axes`: what sizes are called that are not known. */
  argument(dtype: Value['dtype'], shape: Shape, name: string, axes: readonly string[] = []): Value {
    const ref = this.free(name);
    this.inputs.push(valueInfo(ref, dtype, shape, axes));
    return { ref, dtype, shape };
  }

  resource(variable: GraphVariable): Value {
    const ref = `variable:${variable.name}`;
    this.#resources.set(ref, variable);
    return { ref, dtype: 'resource', shape: [] };
  }

  variableOf({ ref }: Value): GraphVariable {
    return this.#resources.get(ref)!;
  }

  /** An op of ONNX with one result. An input that is null is left out. */
  op(type: string, inputs: readonly (Value | null)[], result: Result, settings: Settings = {}, domain = ''): Value {
    return this.ops(type, inputs, [result], settings, domain)[0]!;
  }

  /** An op of ONNX with several results. */
  ops(
    type: string,
    inputs: readonly (Value | null)[],
    results: readonly Result[],
    settings: Settings = {},
    domain = '',
  ): Value[] {
    const name = this.free(`${this.#scope}${type}`);
    const output = results.map((_, i) => (i === 0 ? name : this.free(`${name}:${i}`)));
    this.nodes.push({
      name,
      opType: type,
      ...(domain === '' ? {} : { domain }),
      input: inputs.map((input) => input?.ref ?? ''),
      output,
      attribute: Object.entries(settings).map(([key, setting]) => attribute(key, setting)),
    });
    if (domain !== '') this.shared.domains.add(domain);
    return results.map(({ dtype, shape }, i) => ({ ref: output[i]!, dtype, shape }));
  }

  /** An op of TensorFlow. */
  node(op: string, inputs: readonly Value[], { attr = {}, dtype, shape }: NodeParts): Value {
    return this.shared.lowerings.one(this, op, inputs, { attr, dtype, shape });
  }

  nodeOfMany(
    op: string,
    inputs: readonly Value[],
    attr: Attributes,
    _output: string | readonly string[],
    parts: readonly NodeParts[],
  ): Value[] {
    return this.shared.lowerings.many(this, op, inputs, attr, parts);
  }

  /** Where ONNX counts negative ids from the end, they are no rows here. */
  checkedIds(ids: Value, rows: number): Value {
    const isNegative = this.op('Less', [ids, this.scalar(0, ids.dtype as 'int32')], {
      dtype: 'bool',
      shape: ids.shape,
    });
    return this.op('Where', [isNegative, this.scalar(rows, ids.dtype as 'int32'), ids], ids);
  }

  /** Numbers of an input that must be part of the graph, such as axes. */
  numbersOf({ ref }: Value): number[] {
    const found = this.shared.known.get(ref);
    if (found === undefined) throw new RefusedOp('whose sizes or axes are known only when the graph runs');
    return found.map(Number);
  }

  constant(values: Numbers, dtype: Constants, shape: Shape): Value {
    const dims = shape as readonly number[];
    const key =
      values.length > 16 ? null : `${dtype}|${dims.join()}|${Array.from<number | bigint, string>(values, told).join()}`;
    const ref = key === null ? this.free('constant') : key;
    if (!this.shared.initializers.has(ref)) {
      const bytes = bytesOf(values, dtype);
      this.shared.names.set(ref, 1);
      this.shared.initializers.set(ref, { name: ref, dtype, dims, size: bytes.length, pieces: () => [bytes] });
      if (values.length <= 4096) this.shared.known.set(ref, Array.from<number | bigint>(values));
    }
    return { ref, dtype: dtype as Value['dtype'], shape };
  }

  scalar(value: number, dtype: Constants = 'float32'): Value {
    return this.constant([value], dtype, []);
  }

  int64s(values: readonly (number | bigint)[]): Value {
    return this.constant(values, 'int64', [values.length]);
  }

  /** A value of the file, under its name. */
  initializer(made: Omit<Initializer, 'size'> & { readonly size?: number }): Value {
    const { name, dtype, dims } = made;
    const { initializers } = this.shared;
    const size = made.size ?? sizeIn(dtype as 'float32', dims);
    if (!initializers.has(name)) initializers.set(name, { ...made, size });
    return { ref: name, dtype: dtype as Value['dtype'], shape: dims };
  }

  cast(x: Value, dtype: OnnxTypeName): Value {
    if (x.dtype === dtype) return x;
    return this.op('Cast', [x], { dtype: dtype as Value['dtype'], shape: x.shape }, { to: { i: OnnxType[dtype] } });
  }

  /** An int32 value that is made of int64 numbers, which ops that take sizes are given as they are. */
  narrow(wide: Value): Value {
    const narrow = this.cast(wide, 'int32');
    this.#wide.set(narrow.ref, wide);
    return narrow;
  }

  /** Whole numbers as int64, as ops of ONNX take sizes, axes and places. */
  wide(x: Value): Value {
    if (x.dtype === 'int64') return x;
    const known = this.shared.known.get(x.ref);
    if (known !== undefined) return this.constant(known, 'int64', x.shape);
    return this.#wideTwin(x) ?? this.cast(x, 'int64');
  }

  #wideTwin({ ref }: Value): Value | null {
    return this.#wide.get(ref) ?? (this.parent === null ? null : this.parent.#wideTwin({ ref } as Value));
  }
}

/** -0 and 0 are two constants. */
function told(value: number | bigint): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

export function valueInfo(name: string, dtype: string, shape: Shape | null, axes: readonly string[] = []): ValueInfo {
  const dim = shape?.map((size, axis) =>
    size === null ? (axes[axis] ? { dimParam: axes[axis] } : {}) : { dimValue: size },
  );
  return {
    name,
    type: { tensorType: { elemType: onnxType(dtype), ...(dim === undefined ? {} : { shape: { dim } }) } },
  };
}

function attribute(name: string, setting: Setting): OnnxAttribute {
  const kind = Object.keys(setting)[0] as keyof typeof AttributeType;
  return { name, ...setting, type: AttributeType[kind] };
}

/** Numbers as a tensor that is part of a node. */
export function tensorOf(values: Numbers, dtype: Constants): OnnxTensor {
  return { dims: [values.length], dataType: OnnxType[dtype], rawData: bytesOf(values, dtype) };
}

function bytesOf(values: Numbers, dtype: Constants): Uint8Array {
  const list = values as readonly (number | bigint)[];
  const bytes = new Uint8Array(sizeIn(dtype, [list.length]));
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < list.length; i++) {
    const value = list[i]!;
    if (dtype === 'int64') view.setBigInt64(8 * i, BigInt(value), true);
    else if (dtype === 'float32') view.setFloat32(4 * i, Number(value), true);
    else if (dtype === 'float64') view.setFloat64(8 * i, Number(value), true);
    else if (dtype === 'int32') view.setInt32(4 * i, Number(value), true);
    else bytes[i] = Number(value);
  }
  return bytes;
}
