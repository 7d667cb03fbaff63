/** A graph as its checks see it: nodes, what they call, and where their inputs come from. */
import { Message, many, map, one } from '../../../base/protobuf/message.js';

interface TensorOutline {
  readonly strings?: readonly Uint8Array[];
}

interface CalledFunction {
  readonly name?: string;
  readonly attributes?: Attributes;
}

interface AttributeOutline {
  readonly s?: Uint8Array;
  readonly type?: number;
  readonly tensor?: TensorOutline;
  readonly func?: CalledFunction;
  readonly list?: { readonly funcs?: readonly CalledFunction[] };
}

type Attributes = Readonly<Record<string, AttributeOutline>>;

export interface NodeOutline {
  readonly name?: string;
  readonly op?: string;
  readonly inputs?: readonly string[];
  readonly attributes?: Attributes;
}

interface ArgumentOutline {
  readonly name?: string;
  /** Set where it stands for several tensors. */
  readonly numberAttribute?: string;
  readonly listAttribute?: string;
}

interface FunctionOutline {
  readonly signature?: { readonly name?: string; readonly inputs?: readonly ArgumentOutline[] };
  readonly nodes?: readonly NodeOutline[];
  readonly attributes?: Attributes;
}

interface GraphMessage {
  readonly nodes?: readonly NodeOutline[];
  readonly library?: { readonly functions?: readonly FunctionOutline[] };
}

const Tensor = new Message<TensorOutline>({ strings: many(8, 'bytes') });
const Called = new Message<CalledFunction>({ name: one(1, 'string'), attributes: map(2, () => Attribute) });
const List = new Message<{ funcs?: readonly CalledFunction[] }>({ funcs: many(9, () => Called) });
const Attribute: Message<AttributeOutline> = new Message<AttributeOutline>({
  list: one(1, () => List),
  s: one(2, 'bytes'),
  type: one(6, 'int32'),
  tensor: one(8, () => Tensor),
  func: one(10, () => Called),
});
const Node = new Message<NodeOutline>({
  name: one(1, 'string'),
  op: one(2, 'string'),
  inputs: many(3, 'string'),
  attributes: map(5, () => Attribute),
});
const Argument = new Message<ArgumentOutline>({
  name: one(1, 'string'),
  numberAttribute: one(5, 'string'),
  listAttribute: one(6, 'string'),
});
const Signature = new Message<NonNullable<FunctionOutline['signature']>>({
  name: one(1, 'string'),
  inputs: many(2, () => Argument),
});
const Definition = new Message<FunctionOutline>({
  signature: one(1, () => Signature),
  nodes: many(3, () => Node),
  attributes: map(5, () => Attribute),
});
const Library = new Message<{ functions?: readonly FunctionOutline[] }>({ functions: many(1, () => Definition) });
const Graph = new Message<GraphMessage>({ nodes: many(1, () => Node), library: one(2, () => Library) });

/** The node or the argument that an input or a tensor names, whatever its output. */
export function nodeName(tensor: string): string {
  return tensor.replace(/^\^/, '').replace(/:.*$/, '');
}

function functionsIn(attributes: Attributes): string[] {
  return Object.values(attributes).flatMap(({ func, list }) => {
    const called = [...(func === undefined ? [] : [func]), ...(list?.funcs ?? [])];
    return called.flatMap(({ name = '', attributes: inner = {} }) => [name, ...functionsIn(inner)]);
  });
}

/** A text of a node; empty where there is none. */
export function textOf({ attributes = {} }: NodeOutline, name: string): string {
  return new TextDecoder().decode(attributes[name]?.s);
}

/** Nodes that see each other: those of the graph, or of one function. */
export interface Scope {
  /** null: the graph. */
  readonly function: string | null;
  /** Names of the arguments; null where one stands for several tensors. */
  readonly arguments: readonly string[] | null;
  readonly nodes: ReadonlyMap<string, NodeOutline>;
}

/** A node and where it stands. */
export interface Placed {
  readonly scope: Scope;
  readonly node: NodeOutline;
}

function scopeOf(definition: FunctionOutline): Scope {
  const { name = '', inputs = [] } = definition.signature ?? {};
  const isPlain = inputs.every(
    ({ numberAttribute = '', listAttribute = '' }) => numberAttribute + listAttribute === '',
  );
  return {
    function: name,
    arguments: isPlain ? inputs.map((each) => each.name ?? '') : null,
    nodes: new Map((definition.nodes ?? []).map((node) => [node.name ?? '', node])),
  };
}

export class GraphOutline {
  readonly outer: Scope;
  /**
   * All nodes that may run: those of the graph, and of functions that one of them leads to. Others are for programs that
   * load objects, as steps of `adapt` are; a session never runs them.
   */
  readonly all: readonly Placed[];
  readonly #functions: ReadonlyMap<string, Scope>;
  /** Functions that TensorFlow takes for each other, by the name of each. */
  readonly #alike = new Map<string, readonly string[]>();
  readonly #callers = new Map<string, Placed[]>();

  constructor(bytes: Uint8Array) {
    const { nodes = [], library } = Graph.decode(bytes);
    const definitions = library?.functions ?? [];
    this.outer = { function: null, arguments: [], nodes: new Map(nodes.map((node) => [node.name ?? '', node])) };
    this.#functions = new Map(definitions.map((each) => [each.signature?.name ?? '', scopeOf(each)]));
    const byInterface = new Map<string, string[]>();
    for (const { signature, attributes = {} } of definitions) {
      const known = new TextDecoder().decode(attributes['api_implements']?.s);
      if (known === '') continue;
      const alike = byInterface.get(known) ?? [];
      alike.push(signature?.name ?? '');
      byInterface.set(known, alike);
      this.#alike.set(signature?.name ?? '', alike);
    }
    this.all = [...this.#scopesThatMayRun()].flatMap((scope) => {
      return [...scope.nodes.values()].map((node) => ({ scope, node }));
    });
    for (const placed of this.all) {
      for (const { function: name } of this.calledBy(placed.node)) {
        const callers = this.#callers.get(name!) ?? [];
        callers.push(placed);
        this.#callers.set(name!, callers);
      }
    }
  }

  #scopesThatMayRun(): Set<Scope> {
    // A set grows while it is walked through.
    const scopes = new Set([this.outer]);
    for (const scope of scopes) {
      for (const node of scope.nodes.values()) for (const called of this.calledBy(node)) scopes.add(called);
    }
    return scopes;
  }

  /** Whether an op is a call of a function by its name. */
  isFunction(op: string): boolean {
    return this.#functions.has(op);
  }

  /** The functions that a node may run: what it names, and what TensorFlow may take in place of those. */
  calledBy({ op = '', attributes = {} }: NodeOutline): Scope[] {
    const names = [op, ...functionsIn(attributes)].flatMap((name) => [name, ...(this.#alike.get(name) ?? [])]);
    return [...new Set(names)].flatMap((name) => this.#functions.get(name) ?? []);
  }

  /** The nodes that may run a function. */
  callersOf(name: string): readonly Placed[] {
    return this.#callers.get(name) ?? [];
  }

  /** What runs when any of these nodes of the graph is asked for, the nodes of called functions among it. */
  nodesThatRun(asked: readonly string[]): Set<NodeOutline> {
    const [seen, entered] = [new Set<NodeOutline>(), new Set<Scope>()];
    const placedAt = (scope: Scope, name: string): Placed[] => {
      const node = scope.nodes.get(nodeName(name));
      return node === undefined ? [] : [{ scope, node }];
    };
    const open = asked.flatMap((name) => placedAt(this.outer, name));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { scope, node } = next;
      if (seen.has(node)) continue;
      seen.add(node);
      for (const input of node.inputs ?? []) open.push(...placedAt(scope, input));
      for (const called of this.calledBy(node)) {
        if (entered.has(called)) continue;
        entered.add(called);
        // All of a function counts: what its results do not need may run for its effects.
        for (const inner of called.nodes.values()) open.push({ scope: called, node: inner });
      }
    }
    return seen;
  }
}
