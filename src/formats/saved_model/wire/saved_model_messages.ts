/** Messages of saved_model.pb and of its bundle of variables. */
import { Graph, Shape, type GraphMessage, type ShapeMessage } from '../../../base/protobuf/graph_messages.js';
import { Message, many, map, one } from '../../../base/protobuf/message.js';
import { SavedObjectGraph, type SavedObjectGraphMessage } from './object_messages.js';

export interface TensorInfoMessage {
  name?: string;
  dtype?: number;
  shape?: ShapeMessage;
}

export interface SignatureMessage {
  inputs?: Readonly<Record<string, TensorInfoMessage>>;
  outputs?: Readonly<Record<string, TensorInfoMessage>>;
  methodName?: string;
}

export interface MetaGraphMessage<G = GraphMessage> {
  info?: {
    tags?: readonly string[];
    tensorflowVersion?: string;
    strippedDefaultAttributes?: boolean;
  };
  graph?: G;
  saver?: {
    filenameTensorName: string;
    saveTensorName: string;
    restoreOpName: string;
    version: number;
  };
  collections?: Readonly<Record<string, CollectionMessage>>;
  signatures?: Readonly<Record<string, SignatureMessage>>;
  assets?: readonly AssetMessage[];
  objects?: SavedObjectGraphMessage;
}

interface CollectionMessage {
  nodeList?: { value: readonly string[] };
  /** Messages of other kinds. */
  anyList?: { value?: readonly { value?: Uint8Array }[] };
}

/** A file that the loader hands to the graph: its path below the folder of assets. */
export interface AssetMessage {
  tensor?: TensorInfoMessage;
  filename?: string;
}

export interface SavedModelMessage<G = GraphMessage> {
  schemaVersion?: number;
  metaGraphs?: readonly MetaGraphMessage<G>[];
}

const TensorInfo = new Message<TensorInfoMessage>({
  name: one(1, 'string'),
  dtype: one(2, 'int32'),
  shape: one(3, () => Shape),
});

const Signature = new Message<SignatureMessage>({
  inputs: map(1, () => TensorInfo),
  outputs: map(2, () => TensorInfo),
  methodName: one(3, 'string'),
});

const Info = new Message<NonNullable<MetaGraphMessage['info']>>({
  tags: many(4, 'string'),
  tensorflowVersion: one(5, 'string'),
  strippedDefaultAttributes: one(7, 'bool'),
});

const Saver = new Message<NonNullable<MetaGraphMessage['saver']>>({
  filenameTensorName: one(1, 'string'),
  saveTensorName: one(2, 'string'),
  restoreOpName: one(3, 'string'),
  version: one(7, 'int32'),
});

const NodeList = new Message<{ value: readonly string[] }>({ value: many(1, 'string') });
const Any = new Message<{ value?: Uint8Array }>({ value: one(2, 'bytes') });
const AnyList = new Message<{ value?: readonly { value?: Uint8Array }[] }>({ value: many(1, () => Any) });
const Collection = new Message<CollectionMessage>({ nodeList: one(1, () => NodeList), anyList: one(5, () => AnyList) });

export const Asset = new Message<AssetMessage>({ tensor: one(1, () => TensorInfo), filename: one(2, 'string') });

const rest = {
  info: one(1, () => Info),
  saver: one(3, () => Saver),
  collections: map(4, () => Collection),
  signatures: map(5, () => Signature),
  assets: many(6, () => Asset),
  objects: one(7, () => SavedObjectGraph),
};

const MetaGraph = new Message<MetaGraphMessage>({ ...rest, graph: one(2, () => Graph) });

export const SavedModel = new Message<SavedModelMessage>({
  schemaVersion: one(1, 'int64'),
  metaGraphs: many(2, () => MetaGraph),
});

/** A graph may be large; who asks only for signatures and objects gets its bytes. */
const UnreadMetaGraph = new Message<MetaGraphMessage<Uint8Array>>({ ...rest, graph: one(2, 'bytes') });

export const SavedModelOutline = new Message<SavedModelMessage<Uint8Array>>({
  schemaVersion: one(1, 'int64'),
  metaGraphs: many(2, () => UnreadMetaGraph),
});

export interface BundleHeaderMessage {
  shards?: number;
  /** 0: little. */
  endianness?: number;
  version?: { producer?: number };
}

export interface BundleEntryMessage {
  dtype?: number;
  shape?: ShapeMessage;
  shard?: number;
  offset?: number;
  size?: number;
  crc32c?: number;
  slices?: readonly object[];
}

const BundleVersion = new Message<{ producer?: number }>({ producer: one(1, 'int32') });
const Slice = new Message<object>({});

export const BundleHeader = new Message<BundleHeaderMessage>({
  shards: one(1, 'int32'),
  endianness: one(2, 'int32'),
  version: one(3, () => BundleVersion),
});

export const BundleEntry = new Message<BundleEntryMessage>({
  dtype: one(1, 'int32'),
  shape: one(2, () => Shape),
  shard: one(3, 'int32'),
  offset: one(4, 'int64'),
  size: one(5, 'int64'),
  crc32c: one(6, 'fixed32'),
  slices: many(7, () => Slice),
});
