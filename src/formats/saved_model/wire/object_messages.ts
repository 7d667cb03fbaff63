/** Messages of object graphs: what Python restores, and where the values of its variables lie. */
import { Shape, Versions, type ShapeMessage } from '../../../base/protobuf/graph_messages.js';
import { Message, many, map, one } from '../../../base/protobuf/message.js';

export interface SpecMessage {
  name?: string;
  shape?: ShapeMessage;
  dtype?: number;
}

export interface TypeSpecMessage {
  typeSpecClass: number;
  typeState: StructuredValue;
  typeSpecClassName: string;
  numFlatComponents: number;
}

/** One of its fields is set. */
export interface StructuredValue {
  none?: object;
  int64?: number;
  string?: string;
  bool?: boolean;
  tensorShape?: ShapeMessage;
  tensorType?: number;
  tensorSpec?: SpecMessage;
  typeSpec?: TypeSpecMessage;
  list?: { values: readonly StructuredValue[] };
  tuple?: { values: readonly StructuredValue[] };
  dict?: { fields: Readonly<Record<string, StructuredValue>> };
  namedTuple?: { name: string; values: readonly { key: string; value: StructuredValue }[] };
}

export interface FunctionSpecMessage {
  fullArgSpec: StructuredValue;
  isMethod?: boolean;
  inputSignature: StructuredValue;
}

export interface ObjectReference {
  nodeId?: number;
  localName?: string;
}

export interface SavedVariableMessage {
  dtype?: number;
  shape?: ShapeMessage;
  trainable?: boolean;
  name?: string;
}

/** One of its fields beside the children is set. */
export interface SavedObjectMessage {
  children?: readonly ObjectReference[];
  userObject?: { identifier?: string; version?: { producer: number; minConsumer: number }; metadata?: string };
  asset?: { index?: number };
  function?: { concreteFunctions: readonly string[]; functionSpec: FunctionSpecMessage };
  variable?: SavedVariableMessage;
  bareConcreteFunction?: {
    name: string;
    argumentKeywords: readonly string[];
    allowedPositionalArguments: number;
    functionSpec: FunctionSpecMessage;
  };
  /** A node of the graph that holds its value. */
  constant?: { operation?: string };
}

export interface SavedObjectGraphMessage {
  nodes?: readonly SavedObjectMessage[];
  concreteFunctions?: Readonly<Record<string, ConcreteFunctionMessage>>;
}

export interface ConcreteFunctionMessage {
  boundInputs: readonly number[];
  inputSignature: StructuredValue;
  outputSignature: StructuredValue;
}

/** Of a checkpoint: which object holds which value, and under which key. */
export interface TrackableGraphMessage {
  nodes?: readonly {
    children?: readonly ObjectReference[];
    attributes?: readonly { name?: string; fullName?: string; checkpointKey?: string }[];
  }[];
}

const Spec = new Message<SpecMessage>({ name: one(1, 'string'), shape: one(2, () => Shape), dtype: one(3, 'int32') });

const TypeSpec = new Message<TypeSpecMessage>({
  typeSpecClass: one(1, 'int32'),
  typeState: one(2, () => Structured),
  typeSpecClassName: one(3, 'string'),
  numFlatComponents: one(4, 'int32'),
});

const Values = new Message<{ values: readonly StructuredValue[] }>({ values: many(1, () => Structured) });
const Dictionary = new Message<{ fields: Readonly<Record<string, StructuredValue>> }>({
  fields: map(1, () => Structured),
});
const Pair = new Message<{ key: string; value: StructuredValue }>({
  key: one(1, 'string'),
  value: one(2, () => Structured),
});
const NamedTuple = new Message<NonNullable<StructuredValue['namedTuple']>>({
  name: one(1, 'string'),
  values: many(2, () => Pair),
});
const None = new Message<object>({});

export const Structured: Message<StructuredValue> = new Message<StructuredValue>({
  none: one(1, () => None),
  int64: one(12, 'sint64'),
  string: one(13, 'string'),
  bool: one(14, 'bool'),
  tensorShape: one(31, () => Shape),
  tensorType: one(32, 'int32'),
  tensorSpec: one(33, () => Spec),
  typeSpec: one(34, () => TypeSpec),
  list: one(51, () => Values),
  tuple: one(52, () => Values),
  dict: one(53, () => Dictionary),
  namedTuple: one(54, () => NamedTuple),
});

const FunctionSpec = new Message<FunctionSpecMessage>({
  fullArgSpec: one(1, () => Structured),
  isMethod: one(2, 'bool'),
  inputSignature: one(5, () => Structured),
});

const Reference = new Message<ObjectReference>({ nodeId: one(1, 'int32'), localName: one(2, 'string') });

const UserObject = new Message<NonNullable<SavedObjectMessage['userObject']>>({
  identifier: one(1, 'string'),
  version: one(2, () => Versions),
  metadata: one(3, 'string'),
});

const Asset = new Message<{ index?: number }>({ index: one(1, 'int32') });

const SavedFunction = new Message<NonNullable<SavedObjectMessage['function']>>({
  concreteFunctions: many(1, 'string'),
  functionSpec: one(2, () => FunctionSpec),
});

const SavedVariable = new Message<SavedVariableMessage>({
  dtype: one(1, 'int32'),
  shape: one(2, () => Shape),
  trainable: one(3, 'bool'),
  name: one(6, 'string'),
});

const BareConcreteFunction = new Message<NonNullable<SavedObjectMessage['bareConcreteFunction']>>({
  name: one(1, 'string'),
  argumentKeywords: many(2, 'string'),
  allowedPositionalArguments: one(3, 'int64'),
  functionSpec: one(4, () => FunctionSpec),
});

const Constant = new Message<{ operation?: string }>({ operation: one(1, 'string') });

const SavedObject = new Message<SavedObjectMessage>({
  children: many(1, () => Reference),
  userObject: one(4, () => UserObject),
  asset: one(5, () => Asset),
  function: one(6, () => SavedFunction),
  variable: one(7, () => SavedVariable),
  bareConcreteFunction: one(8, () => BareConcreteFunction),
  constant: one(9, () => Constant),
});

const ConcreteFunction = new Message<ConcreteFunctionMessage>({
  boundInputs: many(2, 'int32'),
  inputSignature: one(3, () => Structured),
  outputSignature: one(4, () => Structured),
});

export const SavedObjectGraph = new Message<SavedObjectGraphMessage>({
  nodes: many(1, () => SavedObject),
  concreteFunctions: map(2, () => ConcreteFunction),
});

type TrackableNode = NonNullable<TrackableGraphMessage['nodes']>[number];

const Serialized = new Message<NonNullable<TrackableNode['attributes']>[number]>({
  name: one(1, 'string'),
  fullName: one(2, 'string'),
  checkpointKey: one(3, 'string'),
});

const Trackable = new Message<TrackableNode>({
  children: many(1, () => Reference),
  attributes: many(2, () => Serialized),
});

export const TrackableGraph = new Message<TrackableGraphMessage>({ nodes: many(1, () => Trackable) });
