/** A recorded step as a GraphDef, TensorFlow's format of graphs. */
import type { OpAttribute } from '../backends/tensorflow/node_backend.js';
import {
  Graph,
  type Attribute,
  type FunctionMessage,
  type NodeMessage,
  type ShapeMessage,
} from '../base/protobuf/graph_messages.js';
import { nodeOf } from './places.js';
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
  /** Nodes that run though their results are unused. */
  readonly targets: readonly string[];
}

/** The lowest version of which TensorFlow checks attributes as it does today. */
const PRODUCER = 27;

function shapeMessage(shape: readonly number[]): ShapeMessage {
  return { dim: shape.map((size) => ({ size })) };
}

/** Reductions, whose type tfjs-node takes from elsewhere at times: eager runs go by the input, graphs by the attribute. */
const OF_FIRST_INPUT = /^(Mean|Sum|Max|Min|Prod)$/;

function attributeOf(kinds: AttributeKinds, op: RecordedOp, { name, type, value }: OpAttribute): Attribute {
  if (name === 'T' && type === kinds.TF_ATTR_TYPE && OF_FIRST_INPUT.test(op.name)) return { type: op.inputTypes[0]! };
  switch (type) {
    case kinds.TF_ATTR_STRING:
      return { s: new TextEncoder().encode(value as string) };
    case kinds.TF_ATTR_INT:
      return Array.isArray(value) ? { list: { i: value as number[] } } : { i: value as number };
    case kinds.TF_ATTR_FLOAT:
      return { f: value as number };
    case kinds.TF_ATTR_BOOL:
      return { b: Boolean(value) };
    case kinds.TF_ATTR_TYPE:
      return { type: value as number };
    case kinds.TF_ATTR_SHAPE:
      return { shape: shapeMessage(value as unknown as number[]) };
    default:
      throw new Error(`attribute ${name} of ${op.name} is of a kind that graphs are not built with`);
  }
}

/** Ops that tfjs-node runs without the type that graphs must state, and that eager runs take from the first input. */
const UNTYPED = new Set(['ExpandDims']);

function attributesOf(kinds: AttributeKinds, op: RecordedOp): Record<string, Attribute> {
  const given = op.attributes.map((each) => [each.name, attributeOf(kinds, op, each)]);
  const type = UNTYPED.has(op.name) ? { T: { type: op.inputTypes[0]! } } : {};
  return { ...type, ...(Object.fromEntries(given) as Record<string, Attribute>) };
}

function placeholder({ name, type, shape }: Feed): NodeMessage {
  const known = shape === null ? {} : { shape: { shape: shapeMessage(shape) } };
  return { name, op: 'Placeholder', attr: { dtype: { type }, ...known } };
}

function constantNode({ name, type, shape, values }: Constant): NodeMessage {
  const tensor = { dtype: type, shape: shapeMessage(shape), content: bytesOf(values) };
  return { name, op: 'Const', attr: { dtype: { type }, value: { tensor } } };
}

/** Ops that look at ids or write, which must run even where their results are unused. */
const CHECKING_OPS =
  /^GatherV2$|^Embedding(?!Product|Sum|RowDots|ScaledRows|PairDots|ReluGrad|CrossEntropy|CategoricalLoss|SoftmaxGrad)/;

/** The ops that results, steps in place and checks of ids need, in their order. */
export function neededOps({ ops, results, rebound }: Recording): RecordedOp[] {
  const wanted = new Set([...results, ...rebound.map(({ place }) => place)].map(nodeOf));
  const kept = [...ops].reverse().filter((op) => {
    if (!wanted.has(op.node) && !CHECKING_OPS.test(op.name)) return false;
    op.inputs.forEach((place) => wanted.add(nodeOf(place)));
    return true;
  });
  return kept.reverse();
}

/**
 * Ops that TensorFlow replaces in graphs by others of oneDNN, which round otherwise, though it does not replace them op
 * by op. Within functions of a graph it does not look for them.
 */
const KEPT = new Map<string, FunctionMessage>();
const FLOAT = 1;

/** A function of one float tensor, which runs one op. */
function keep(op: string): void {
  const [argument, result] = [{ name: 'x', type: FLOAT }, { name: 'y', type: FLOAT }]; // prettier-ignore
  KEPT.set(op, {
    signature: { name: `Kept${op}`, inputArg: [argument], outputArg: [result], isStateful: false },
    node: [{ name: 'kept', op, input: [argument.name], attr: { T: { type: FLOAT } } }],
    ret: { [result.name]: `kept:${op.toLowerCase()}:0` },
  });
}
keep('Softmax');

function keptOf({ name, inputTypes }: RecordedOp): FunctionMessage | undefined {
  return inputTypes[0] === FLOAT ? KEPT.get(name) : undefined;
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
  const ops = neededOps(recording);
  const given = [...recording.results, ...recording.rebound.map(({ place }) => place)];
  const read = new Set([...ops.flatMap(({ inputs }) => inputs), ...given]);
  const constants = recording.constants.filter(({ name }) => read.has(name));
  const [plain, inPlace] = [ops.filter((op) => !isInPlace(op)), ops.filter(isInPlace)];
  const nodeOfOp = (op: RecordedOp, name: string, input: readonly string[]): NodeMessage => {
    const kept = keptOf(op);
    if (kept !== undefined) return { name, op: kept.signature.name, input };
    return { name, op: op.name, input, attr: attributesOf(kinds, op) };
  };
  const targets = [BEFORE_WRITES, ...inPlace.map(writtenNode)];
  const node: NodeMessage[] = [
    ...recording.feeds.map(placeholder),
    ...constants.map(constantNode),
    ...plain.map((op) => nodeOfOp(op, op.node, op.inputs)),
    { name: BEFORE_WRITES, op: 'NoOp', input: plain.map((op) => `^${op.node}`) },
    ...inPlace.map((op, i) => nodeOfOp(op, targets[i + 1]!, [...op.inputs, `^${targets[i]!}`])),
  ];
  const library = { function: [...KEPT.values()] };
  return { definition: Graph.encode({ node, versions: { producer: PRODUCER }, library }), targets };
}
