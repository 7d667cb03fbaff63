/** Messages of graphs: nodes, attributes, functions (of tensorflow/core/framework, the part that is used here). */
import { Message, many, map, one } from './message.js';

export interface ShapeMessage {
  dim?: readonly { size?: number; name?: string }[];
  unknownRank?: boolean;
}

export interface TensorMessage {
  dtype?: number;
  shape?: ShapeMessage;
  content?: Uint8Array;
  strings?: readonly Uint8Array[];
}

export interface FunctionName {
  name: string;
  attr?: Readonly<Record<string, Attribute>>;
}

/** One of its fields is set. */
export interface Attribute {
  list?: AttributeList;
  s?: Uint8Array;
  i?: number;
  f?: number;
  b?: boolean;
  type?: number;
  shape?: ShapeMessage;
  tensor?: TensorMessage;
  func?: FunctionName;
}

export interface AttributeList {
  s?: readonly Uint8Array[];
  i?: readonly number[];
  f?: readonly number[];
  b?: readonly boolean[];
  type?: readonly number[];
  shape?: readonly ShapeMessage[];
}

export type Attributes = Readonly<Record<string, Attribute>>;

export interface NodeMessage {
  name: string;
  op: string;
  input?: readonly string[];
  attr?: Attributes;
}

export interface ArgumentMessage {
  name: string;
  type: number;
  handleData?: readonly { dtype: number; shape: ShapeMessage }[];
}

export interface FunctionMessage {
  signature: {
    name: string;
    inputArg: readonly ArgumentMessage[];
    outputArg: readonly ArgumentMessage[];
    isStateful: boolean;
    controlOutput?: readonly string[];
  };
  attr?: Attributes;
  argAttr?: Readonly<Record<string, { attr: Attributes }>>;
  node: readonly NodeMessage[];
  ret: Readonly<Record<string, string>>;
  controlRet?: Readonly<Record<string, string>>;
}

export interface VersionsMessage {
  producer: number;
  minConsumer?: number;
}

export interface GraphMessage {
  node: readonly NodeMessage[];
  versions: VersionsMessage;
  library?: { function: readonly FunctionMessage[] };
}

const Dimension = new Message<{ size?: number; name?: string }>({ size: one(1, 'int64'), name: one(2, 'string') });

export const Shape = new Message<ShapeMessage>({ dim: many(2, () => Dimension), unknownRank: one(3, 'bool') });

export const Tensor = new Message<TensorMessage>({
  dtype: one(1, 'int32'),
  shape: one(2, () => Shape),
  content: one(4, 'bytes'),
  strings: many(8, 'bytes'),
});

const Function = new Message<FunctionName>({ name: one(1, 'string'), attr: map(2, () => AttributeValue) });

const List = new Message<AttributeList>({
  s: many(2, 'bytes'),
  i: many(3, 'int64'),
  f: many(4, 'float'),
  b: many(5, 'bool'),
  type: many(6, 'int32'),
  shape: many(7, () => Shape),
});

const AttributeValue: Message<Attribute> = new Message<Attribute>({
  list: one(1, () => List),
  s: one(2, 'bytes'),
  i: one(3, 'int64'),
  f: one(4, 'float'),
  b: one(5, 'bool'),
  type: one(6, 'int32'),
  shape: one(7, () => Shape),
  tensor: one(8, () => Tensor),
  func: one(10, () => Function),
});

const Node = new Message<NodeMessage>({
  name: one(1, 'string'),
  op: one(2, 'string'),
  input: many(3, 'string'),
  attr: map(5, () => AttributeValue),
});

const HandleData = new Message<{ dtype: number; shape: ShapeMessage }>({
  dtype: one(1, 'int32'),
  shape: one(2, () => Shape),
});

const Argument = new Message<ArgumentMessage>({
  name: one(1, 'string'),
  type: one(3, 'int32'),
  handleData: many(7, () => HandleData),
});

const Signature = new Message<FunctionMessage['signature']>({
  name: one(1, 'string'),
  inputArg: many(2, () => Argument),
  outputArg: many(3, () => Argument),
  isStateful: one(17, 'bool'),
  controlOutput: many(20, 'string'),
});

const ArgumentAttributes = new Message<{ attr: Attributes }>({ attr: map(1, () => AttributeValue) });

const FunctionDefinition = new Message<FunctionMessage>({
  signature: one(1, () => Signature),
  node: many(3, () => Node),
  ret: map(4, 'string'),
  attr: map(5, () => AttributeValue),
  controlRet: map(6, 'string'),
  argAttr: map(7, () => ArgumentAttributes, 'uint32'),
});

export const Versions = new Message<VersionsMessage>({
  producer: one(1, 'int32'),
  minConsumer: one(2, 'int32'),
});

const Library = new Message<NonNullable<GraphMessage['library']>>({ function: many(1, () => FunctionDefinition) });

export const Graph = new Message<GraphMessage>({
  node: many(1, () => Node),
  library: one(2, () => Library),
  versions: one(4, () => Versions),
});
