/** What a graph holds of tables: the functions that fill them, and constants, each decoded where it is asked for. */
import { Shape, type ShapeMessage } from '../../../base/protobuf/graph_messages.js';
import { Message, many, map, one } from '../../../base/protobuf/message.js';
import { DataType } from '../wire/data_types.js';

interface TensorMessage {
  readonly dtype?: number;
  readonly shape?: ShapeMessage;
  readonly content?: Uint8Array;
  readonly ints?: readonly number[];
  readonly strings?: readonly Uint8Array[];
  readonly wide?: readonly number[];
}

interface AttributeMessage {
  readonly list?: Uint8Array;
  readonly i?: number;
  readonly tensor?: Uint8Array;
}

export interface NodeMessage {
  readonly name?: string;
  readonly op?: string;
  readonly inputs?: readonly string[];
  readonly attributes?: Readonly<Record<string, AttributeMessage>>;
}

export interface FunctionMessage {
  readonly signature?: { readonly name?: string; readonly inputs?: readonly { readonly name?: string }[] };
  readonly nodes?: readonly NodeMessage[];
}

const Tensor = new Message<TensorMessage>({
  dtype: one(1, 'int32'),
  shape: one(2, () => Shape),
  content: one(4, 'bytes'),
  ints: many(7, 'int32'),
  strings: many(8, 'bytes'),
  wide: many(10, 'int64'),
});
const Floats = new Message<{ floats?: readonly number[] }>({ floats: many(4, 'float') });
const Attribute = new Message<AttributeMessage>({
  list: one(1, 'bytes'),
  i: one(3, 'int64'),
  tensor: one(8, 'bytes'),
});
const Node = new Message<NodeMessage>({
  name: one(1, 'string'),
  op: one(2, 'string'),
  inputs: many(3, 'string'),
  attributes: map(5, () => Attribute),
});
const Argument = new Message<{ name?: string }>({ name: one(1, 'string') });
const Signature = new Message<NonNullable<FunctionMessage['signature']>>({
  name: one(1, 'string'),
  inputs: many(2, () => Argument),
});
const Definition = new Message<FunctionMessage>({ signature: one(1, () => Signature), nodes: many(3, () => Node) });
const Library = new Message<{ functions?: readonly FunctionMessage[] }>({ functions: many(1, () => Definition) });
const Graph = new Message<{ nodes?: readonly NodeMessage[]; library?: { functions?: readonly FunctionMessage[] } }>({
  nodes: many(1, () => Node),
  library: one(2, () => Library),
});

/** More than a vocabulary has. */
const MOST_VALUES = 2 ** 24;

/** The vector that a constant is; null for any other. Throws ValueError for whole numbers beyond 2^53. */
function vectorOf({ op = '', attributes = {} }: NodeMessage): (number | string)[] | null {
  const bytes = attributes['value']?.tensor;
  if (op !== 'Const' || bytes === undefined) return null;
  const { dtype = 0, shape, content, ints = [], strings = [], wide = [] } = Tensor.decode(bytes);
  const sizes = (shape?.dim ?? []).map(({ size = 0 }) => size);
  const [count = 0] = sizes;
  if (sizes.length !== 1 || count < 0 || count > MOST_VALUES) return null;
  const listed = readList(dtype, content, { ints, strings, wide });
  if (listed === null || listed.length > count || (listed.length === 0 && count > 0)) return null;
  // TensorFlow leaves out what repeats the last one.
  const last = listed.at(-1)!;
  return [...listed, ...Array.from({ length: count - listed.length }, () => last)];
}

function readList(
  dtype: number,
  content: Uint8Array | undefined,
  { ints, strings, wide }: Required<Pick<TensorMessage, 'ints' | 'strings' | 'wide'>>,
): (number | string)[] | null {
  if (dtype === DataType.string) {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return strings.map((each) => decoder.decode(each));
  }
  const bytes = dtype === DataType.int64 ? 8 : dtype === DataType.int32 ? 4 : null;
  if (bytes === null) return null;
  if (content === undefined || content.length === 0) return [...(bytes === 8 ? wide : ints)];
  if (content.length % bytes !== 0) return null;
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const numbers = Array.from({ length: content.length / bytes }, (_, i) => {
    return bytes === 8 ? Number(view.getBigInt64(8 * i, true)) : view.getInt32(4 * i, true);
  });
  return numbers.every(Number.isSafeInteger) ? numbers : null;
}

export class GraphConstants {
  readonly #nodes: ReadonlyMap<string, NodeMessage>;
  readonly #functions: ReadonlyMap<string, FunctionMessage>;

  constructor(bytes: Uint8Array) {
    const { nodes = [], library } = Graph.decode(bytes);
    this.#nodes = new Map(nodes.map((node) => [node.name ?? '', node]));
    this.#functions = new Map((library?.functions ?? []).map((each) => [each.signature?.name ?? '', each]));
  }

  function(name: string): FunctionMessage | undefined {
    return this.#functions.get(name);
  }

  /** The vector that a node of the graph holds; null where there is none. */
  vector(name: string): (number | string)[] | null {
    const node = this.#nodes.get(name);
    return node === undefined ? null : vectorOf(node);
  }

  /** Boundaries of all bins that nodes of a layer of this name have. */
  boundaries(layer: string): number[][] {
    const nodes = [...this.#functions.values()].flatMap((each) => each.nodes ?? []);
    return nodes.flatMap(({ name = '', op, attributes = {} }) => {
      const bytes = attributes['boundaries']?.list;
      const isOfLayer = op === 'Bucketize' && name.split('/').includes(layer);
      return isOfLayer && bytes !== undefined ? [[...(Floats.decode(bytes).floats ?? [])]] : [];
    });
  }
}
