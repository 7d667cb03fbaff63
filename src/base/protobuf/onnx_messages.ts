/** Messages of ONNX (onnx.proto of ONNX 1.17, the part that is used here). */
import { Message, many, one } from './message.js';

/** Element types by their numbers. */
export const OnnxType = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
} as const;

export type OnnxTypeName = keyof typeof OnnxType;

/** `data_location` of a tensor whose values lie in another file. */
export const EXTERNAL = 1;

export interface EntryMessage {
  key: string;
  value: string;
}

export interface OnnxTensor {
  dims?: readonly number[];
  dataType?: number;
  floatData?: readonly number[];
  int32Data?: readonly number[];
  stringData?: readonly Uint8Array[];
  int64Data?: readonly number[];
  name?: string;
  rawData?: Uint8Array;
  externalData?: readonly EntryMessage[];
  dataLocation?: number;
}

/** `type`: which of the fields counts. */
export interface OnnxAttribute {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  t?: OnnxTensor;
  g?: OnnxGraphMessage;
  floats?: readonly number[];
  ints?: readonly number[];
  strings?: readonly Uint8Array[];
}

export interface OnnxNode {
  input: readonly string[];
  output: readonly string[];
  name: string;
  opType: string;
  domain?: string;
  attribute?: readonly OnnxAttribute[];
}

export interface ValueInfo {
  name: string;
  type?: { tensorType: { elemType: number; shape?: { dim: readonly { dimValue?: number; dimParam?: string }[] } } };
}

export interface OnnxGraphMessage {
  node?: readonly OnnxNode[];
  name?: string;
  initializer?: readonly OnnxTensor[];
  input?: readonly ValueInfo[];
  output?: readonly ValueInfo[];
}

export interface OnnxModelMessage {
  irVersion: number;
  opsetImport: readonly { domain: string; version: number }[];
  producerName?: string;
  producerVersion?: string;
  graph?: OnnxGraphMessage;
  metadataProps?: readonly EntryMessage[];
}

export const Entry = new Message<EntryMessage>({ key: one(1, 'string'), value: one(2, 'string') });

const TENSOR_FIELDS = {
  dims: many(1, 'int64'),
  dataType: one(2, 'int32'),
  floatData: many(4, 'float'),
  int32Data: many(5, 'int32'),
  stringData: many(6, 'bytes'),
  int64Data: many(7, 'int64'),
  name: one(8, 'string'),
  rawData: one(9, 'bytes'),
  externalData: many(13, () => Entry),
  dataLocation: one(14, 'int32'),
} as const;

export const Tensor = new Message<OnnxTensor>(TENSOR_FIELDS);

/** Where fields of the messages lie whose values are read and written where they are. */
export const Places = {
  model: { irVersion: 1, producerName: 2, graph: 7, metadataProps: 14 },
  graph: { initializer: 5 },
  tensor: { rawData: 9, floatData: 4, int32Data: 5, stringData: 6, int64Data: 7, doubleData: 10, uint64Data: 11 },
} as const;

/** Numbers of `AttributeProto.type`. */
export const AttributeType = { f: 1, i: 2, s: 3, t: 4, g: 5, floats: 6, ints: 7, strings: 8 } as const;

const Attribute: Message<OnnxAttribute> = new Message<OnnxAttribute>({
  name: one(1, 'string'),
  f: one(2, 'float'),
  i: one(3, 'int64'),
  s: one(4, 'bytes'),
  t: one(5, () => Tensor),
  g: one(6, () => Graph),
  floats: many(7, 'float'),
  ints: many(8, 'int64'),
  strings: many(9, 'bytes'),
  type: one(20, 'int32'),
});

const Node = new Message<OnnxNode>({
  input: many(1, 'string'),
  output: many(2, 'string'),
  name: one(3, 'string'),
  opType: one(4, 'string'),
  attribute: many(5, () => Attribute),
  domain: one(7, 'string'),
});

const Dimension = new Message<{ dimValue?: number; dimParam?: string }>({
  dimValue: one(1, 'int64'),
  dimParam: one(2, 'string'),
});
const Shape = new Message<{ dim: readonly object[] }>({ dim: many(1, () => Dimension) });
const TensorType = new Message<{ elemType: number; shape?: object }>({
  elemType: one(1, 'int32'),
  shape: one(2, () => Shape),
});
const Type = new Message<{ tensorType: object }>({ tensorType: one(1, () => TensorType) });
const ValueInfoMessage = new Message<ValueInfo>({ name: one(1, 'string'), type: one(2, () => Type) });

export const Graph: Message<OnnxGraphMessage> = new Message<OnnxGraphMessage>({
  node: many(1, () => Node),
  name: one(2, 'string'),
  initializer: many(5, () => Tensor),
  input: many(11, () => ValueInfoMessage),
  output: many(12, () => ValueInfoMessage),
});

const Opset = new Message<{ domain: string; version: number }>({ domain: one(1, 'string'), version: one(2, 'int64') });

export const Model = new Message<OnnxModelMessage>({
  irVersion: one(1, 'int64'),
  opsetImport: many(8, () => Opset),
  producerName: one(2, 'string'),
  producerVersion: one(3, 'string'),
  graph: one(7, () => Graph),
  metadataProps: many(14, () => Entry),
});
