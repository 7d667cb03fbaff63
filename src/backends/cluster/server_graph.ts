/** The graph of a session on a server: nodes are made once for each kind of call, so that it does not grow by steps. */
import { Graph, type Attribute, type NodeMessage } from '../../base/protobuf/graph_messages.js';

export const [FLOAT, DOUBLE, INT32, STRING, HALF] = [1, 2, 3, 7, 19] as const;

const text = new TextEncoder();

/** Attributes of nodes. */
export const attribute = {
  type: (type: number): Attribute => ({ type }),
  text: (value: string): Attribute => ({ s: text.encode(value) }),
  int: (i: number): Attribute => ({ i }),
  float: (f: number): Attribute => ({ f }),
  flag: (b: boolean): Attribute => ({ b }),
  shape: (sizes: readonly number[]): Attribute => ({ shape: { dim: sizes.map((size) => ({ size })) } }),
  types: (type: readonly number[]): Attribute => ({ list: { type } }),
};

export const OF_FLOATS = { dtype: attribute.type(FLOAT) };

export function node(
  name: string,
  op: string,
  input: readonly string[] = [],
  attr: Readonly<Record<string, Attribute>> = {},
): NodeMessage {
  return { name, op, input, attr };
}

export function placeholder(name: string, dtype: number): NodeMessage {
  return node(name, 'Placeholder', [], { dtype: attribute.type(dtype) });
}

/** A constant, whose numbers are part of the graph. */
export function constant(name: string, dtype: number, shape: readonly number[], values: ArrayBufferView): NodeMessage {
  const content = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const tensor = { dtype, shape: { dim: shape.map((size) => ({ size })) }, content };
  return node(name, 'Const', [], { dtype: attribute.type(dtype), value: { tensor } });
}

/** The lowest version of which TensorFlow checks attributes as it does today. */
const PRODUCER = 27;

export function graphOf(nodes: readonly NodeMessage[]): Uint8Array {
  return Graph.encode({ node: nodes, versions: { producer: PRODUCER } });
}

/** What is to be added to a session: a GraphDef, and which places of it are outputs of nodes that are there. */
export interface MoreNodes {
  readonly definition: Uint8Array;
  /** Each ended by a line feed. */
  readonly mapped: string;
}

export class ServerGraph {
  /** `first`: nodes that are there from the start. */
  constructor(first: readonly NodeMessage[]) {
    this.nodes = [...first];
  }

  private readonly known = new Map<string, string>();
  private readonly nodes: NodeMessage[];
  private added: NodeMessage[] = [];

  /** The first node of what `make` makes, which gets a name of its own; made once for each key. */
  once(key: string, make: (name: string) => readonly NodeMessage[]): string {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const name = `n${this.known.size}`;
    this.known.set(key, name);
    this.added.push(...make(name));
    return name;
  }

  /** Kinds of calls so far. */
  get size(): number {
    return this.known.size;
  }

  /** All nodes, for a new session. */
  whole(): Uint8Array {
    this.nodes.push(...this.added);
    this.added = [];
    return graphOf(this.nodes);
  }

  /** What was added since it was last asked; null: nothing. */
  takeAdded(): MoreNodes | null {
    if (this.added.length === 0) return null;
    const nodes = this.added;
    this.added = [];
    this.nodes.push(...nodes);
    const own = new Set(nodes.map(({ name }) => name));
    const inputs = new Set(nodes.flatMap(({ input }) => input ?? []));
    const outside = [...inputs].filter((place) => !place.startsWith('^') && !own.has(place.replace(/:\d+$/, '')));
    return { definition: graphOf(nodes), mapped: outside.map((place) => `${place}\n`).join('') };
  }
}
