/** A recorded step as a GraphDef, TensorFlow's format of graphs. */
import type * as Wire from '@bufbuild/protobuf/wire';
import { nodePackage } from '../node_builtin.js';
import type { OpAttribute } from '../backends/tensorflow/node_backend.js';
import { bytesOf, isInPlace, type Constant, type Feed, type RecordedOp, type Recording } from './recording.js';

/** The numbers that tfjs-node has for kinds of attributes. */
export interface AttributeKinds {
  readonly TF_ATTR_STRING: number;
  readonly TF_ATTR_INT: number;
  readonly TF_ATTR_FLOAT: number;
  readonly TF_ATTR_BOOL: number;
  readonly TF_ATTR_TYPE: number;
  readonly TF_ATTR_SHAPE: number;
}

export interface StepGraphDef {
  readonly definition: Uint8Array;
  /** Nodes that run though nobody takes their results. */
  readonly targets: readonly string[];
}

type Writer = Wire.BinaryWriter;

/** Fields of the messages GraphDef, NodeDef, AttrValue, TensorProto and TensorShapeProto, as their .proto files number them. */
const GRAPH = { node: 1, versions: 4 };
const NODE = { name: 1, op: 2, input: 3, attr: 5 };
const ENTRY = { key: 1, value: 2 };
const ATTR = { list: 1, s: 2, i: 3, f: 4, b: 5, type: 6, shape: 7, tensor: 8 };
const TENSOR = { dtype: 1, shape: 2, content: 4 };

const VARINT = 0;
const LENGTH = 2;
const FIXED32 = 5;

function tag(writer: Writer, field: number, wire: number): Writer {
  return writer.tag(field, wire);
}

function message(writer: Writer, field: number, write: (inner: Writer) => void): void {
  tag(writer, field, LENGTH).fork();
  write(writer);
  writer.join();
}

function shapeInto(writer: Writer, shape: readonly number[]): void {
  for (const size of shape) message(writer, 2, (dim) => tag(dim, 1, VARINT).int64(size));
}

function attribute(writer: Writer, name: string, write: (value: Writer) => void): void {
  message(writer, NODE.attr, (entry) => {
    tag(entry, ENTRY.key, LENGTH).string(name);
    message(entry, ENTRY.value, write);
  });
}

function typeAttribute(writer: Writer, name: string, type: number): void {
  attribute(writer, name, (value) => tag(value, ATTR.type, VARINT).int32(type));
}

/** Reductions, whose type tfjs-node takes from elsewhere at times: eager runs go by the input, graphs by the attribute. */
const OF_FIRST_INPUT = /^(Mean|Sum|Max|Min|Prod)$/;

function recordedAttribute(
  writer: Writer,
  kinds: AttributeKinds,
  op: RecordedOp,
  { name, type, value }: OpAttribute,
): void {
  if (name === 'T' && type === kinds.TF_ATTR_TYPE && OF_FIRST_INPUT.test(op.name)) {
    typeAttribute(writer, name, op.inputTypes[0]!);
    return;
  }
  attribute(writer, name, (into) => {
    switch (type) {
      case kinds.TF_ATTR_STRING:
        tag(into, ATTR.s, LENGTH).string(value as string);
        return;
      case kinds.TF_ATTR_INT:
        if (!Array.isArray(value)) tag(into, ATTR.i, VARINT).int64(value as number);
        else
          message(into, ATTR.list, (list) => (value as number[]).forEach((each) => tag(list, 3, VARINT).int64(each)));
        return;
      case kinds.TF_ATTR_FLOAT:
        tag(into, ATTR.f, FIXED32).float(value as number);
        return;
      case kinds.TF_ATTR_BOOL:
        tag(into, ATTR.b, VARINT).bool(Boolean(value));
        return;
      case kinds.TF_ATTR_TYPE:
        tag(into, ATTR.type, VARINT).int32(value as number);
        return;
      case kinds.TF_ATTR_SHAPE:
        message(into, ATTR.shape, (shape) => shapeInto(shape, value as unknown as number[]));
        return;
      default:
        throw new Error(`attribute ${name} of ${op.name} is of a kind that graphs are not built with`);
    }
  });
}

function node(
  graph: Writer,
  name: string,
  op: string,
  inputs: readonly string[],
  rest: (writer: Writer) => void,
): void {
  message(graph, GRAPH.node, (writer) => {
    tag(writer, NODE.name, LENGTH).string(name);
    tag(writer, NODE.op, LENGTH).string(op);
    for (const input of inputs) tag(writer, NODE.input, LENGTH).string(input);
    rest(writer);
  });
}

function placeholder(graph: Writer, { name, type, shape }: Feed): void {
  node(graph, name, 'Placeholder', [], (writer) => {
    typeAttribute(writer, 'dtype', type);
    attribute(writer, 'shape', (value) => message(value, ATTR.shape, (inner) => shapeInto(inner, shape)));
  });
}

function constantNode(graph: Writer, { name, type, shape, values }: Constant): void {
  node(graph, name, 'Const', [], (writer) => {
    typeAttribute(writer, 'dtype', type);
    attribute(writer, 'value', (value) =>
      message(value, ATTR.tensor, (tensor) => {
        tag(tensor, TENSOR.dtype, VARINT).int32(type);
        message(tensor, TENSOR.shape, (inner) => shapeInto(inner, shape));
        tag(tensor, TENSOR.content, LENGTH).bytes(bytesOf(values));
      }),
    );
  });
}

const nodeOf = (place: string): string => place.replace(/:\d+$/, '');

/** The ops that results, steps in place and checks of ids need, in their order. */
function needed({ ops, results, rebound }: Recording): RecordedOp[] {
  const wanted = new Set([...results, ...rebound.map(({ place }) => place)].map(nodeOf));
  const kept = [...ops].reverse().filter((op) => {
    if (!wanted.has(op.node) && !op.name.startsWith('Embedding')) return false;
    op.inputs.forEach((place) => wanted.add(nodeOf(place)));
    return true;
  });
  return kept.reverse();
}

/** Runs after everything that does not write: a lookup that fails then fails before anything is written. */
const BEFORE_WRITES = 'before_writes';

export function writtenNode(op: RecordedOp): string {
  return `write_${op.node}`;
}

/**
 * The recorded step. Steps in place wait for everything else, and for one another in the order in which they ran, so
 * that the graph reads and writes as the step did.
 */
export function graphDefOf(recording: Recording, kinds: AttributeKinds): StepGraphDef {
  const { BinaryWriter } = nodePackage<typeof Wire>('@bufbuild/protobuf/wire');
  const graph = new BinaryWriter();
  const ops = needed(recording);
  const read = new Set([...ops.flatMap(({ inputs }) => inputs), ...recording.results]);
  recording.feeds.forEach((feed) => placeholder(graph, feed));
  recording.constants.filter(({ name }) => read.has(name)).forEach((constant) => constantNode(graph, constant));
  const [plain, inPlace] = [ops.filter((op) => !isInPlace(op)), ops.filter(isInPlace)];
  for (const op of plain) {
    node(graph, op.node, op.name, op.inputs, (writer) => {
      for (const each of op.attributes) recordedAttribute(writer, kinds, op, each);
    });
  }
  const waits = plain.map((op) => `^${op.node}`);
  node(graph, BEFORE_WRITES, 'NoOp', waits, () => undefined);
  let last = BEFORE_WRITES;
  for (const op of inPlace) {
    node(graph, writtenNode(op), op.name, [...op.inputs, `^${last}`], (writer) => {
      for (const each of op.attributes) recordedAttribute(writer, kinds, op, each);
    });
    last = writtenNode(op);
  }
  // The lowest version of which TensorFlow checks attributes as it does today.
  message(graph, GRAPH.versions, (versions) => tag(versions, 1, VARINT).int32(27));
  return { definition: graph.finish(), targets: [BEFORE_WRITES, ...inPlace.map(writtenNode)] };
}
