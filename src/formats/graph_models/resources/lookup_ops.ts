/**
 * Lookup tables of graphs. Those of tfjs-converter are static, lose the shape of the keys, and fail where there are no
 * keys; these take their place. A table lives as long as the model.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import {
  atEndOfModel,
  modelOf,
  nodeName,
  shapeAttribute,
  textAttribute,
} from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { readValues, type HostArray } from '../host_array.js';
import { forget, handleFor, objectOfKind } from './handles.js';
import { LookupTable, type TableKind, type TableSettings } from './lookup_table.js';

const MIN_BUCKETS = 4;

const tableOf = (handle: tf.Tensor): LookupTable => objectOfKind(handle, LookupTable, 'table_handle');

function hostOf(tensor: tf.Tensor, argument: string): HostArray {
  return { dtype: tensor.dtype, shape: tensor.shape, values: readValues(tf.backend(), tensor, argument) };
}

function tensorOf({ dtype, shape, values }: HostArray): tf.Tensor {
  return tf.engine().makeTensor(values as tf.DataValues, [...shape], dtype) as tf.Tensor;
}

function dtypeOf(node: tf.GraphNode, attribute: string): tf.DataType {
  const dtype = node.attrs[attribute] as tf.DataType | null | undefined;
  if (dtype !== null && dtype !== undefined) return dtype;
  throw new ValueError(attribute, 'a dtype of tfjs', described('another dtype of TensorFlow'));
}

function checkBuckets(node: tf.GraphNode): void {
  // Nothing depends on it here, but TensorFlow refuses others.
  const buckets = Number(node.attrs['initial_num_buckets'] ?? MIN_BUCKETS);
  if (buckets >= MIN_BUCKETS && Number.isInteger(Math.log2(buckets))) return;
  throw new ValueError('initial_num_buckets', `a power of 2, at least ${MIN_BUCKETS}`, buckets);
}

function settingsOf(kind: TableKind, inputs: tf.Tensor[], node: tf.GraphNode): TableSettings {
  const shared = textAttribute(node, 'shared_name');
  const settings = {
    name: shared === '' ? nodeName(node) : shared,
    kind,
    valueDtype: dtypeOf(node, 'value_dtype'),
    valueShape: shapeAttribute(node, 'value_shape') ?? [],
  };
  if (kind !== 'dense') return { ...settings, keyDtype: dtypeOf(node, 'key_dtype'), keyShape: [] };
  checkBuckets(node);
  const [empty, deleted] = inputs as [tf.Tensor, tf.Tensor?];
  const reserved = [{ called: 'empty', key: hostOf(empty, 'empty_key') }];
  if (deleted !== undefined) {
    if (empty.dtype !== deleted.dtype || empty.size !== deleted.size || empty.rank !== deleted.rank) {
      throw new ValueError('deleted_key', `a key like the empty one, of shape [${empty.shape.join(', ')}]`, deleted);
    }
    reserved.push({ called: 'deleted', key: hostOf(deleted, 'deleted_key') });
  }
  return { ...settings, keyDtype: empty.dtype, keyShape: empty.shape, reserved };
}

/** A table and what stands for it: what the initializer of a model returns has to live on. */
class KeptTable {
  private kept: tf.Tensor;

  constructor(readonly table: LookupTable) {
    this.kept = tf.keep(handleFor(table));
  }

  /** Asynchronous runs dispose what is kept too. */
  get handle(): tf.Tensor {
    if (this.kept.isDisposed) this.kept = tf.keep(handleFor(this.table));
    return this.kept;
  }

  dispose(): void {
    forget(this.table);
    this.kept.dispose();
  }
}

/** The tables of each model, by name. */
const tables = new WeakMap<object, Map<string, KeptTable>>();

/** A new table that ends with the model. */
function made(settings: TableSettings, node: tf.GraphNode): KeptTable {
  const kept = new KeptTable(new LookupTable(settings));
  atEndOfModel(node, () => kept.dispose());
  return kept;
}

/** The table of a name; the nodes of the graph and of its initializer share it. */
function shared(settings: TableSettings, node: tf.GraphNode): KeptTable {
  const model = modelOf(node);
  const known = tables.get(model) ?? new Map<string, KeptTable>();
  tables.set(model, known);
  const { name, kind, keyDtype, valueDtype } = settings;
  const kept = known.get(name) ?? made(settings, node);
  const { settings: own } = kept.table;
  if (own.kind !== kind || own.keyDtype !== keyDtype || own.valueDtype !== valueDtype) {
    const expected = `a ${own.kind} table of ${own.keyDtype} to ${own.valueDtype}, as ${name} is`;
    throw new ValueError('shared_name', expected, described(`a ${kind} table of ${keyDtype} to ${valueDtype}`));
  }
  known.set(name, kept);
  return kept;
}

/** Ops without outputs give something that other nodes can come after. */
const done = (): tf.Tensor => tf.scalar(0);

type Maker = (settings: TableSettings, node: tf.GraphNode) => KeptTable;

function makerOf(name: string, kind: TableKind, handle: string, make: Maker): GraphOp {
  const deleted = name === 'MutableDenseHashTable' ? '' : ', deleted_key: key_dtype';
  const inputs = kind === 'dense' ? `empty_key: key_dtype${deleted}` : '';
  return graphOp(`${name}(${inputs}) -> table_handle: ${handle}`, (given, node) => {
    return make(settingsOf(kind, given, node), node).handle;
  });
}

const MUTABLE: readonly (readonly [string, TableKind])[] = [
  ['MutableHashTable', 'mutable'],
  ['MutableHashTableOfTensors', 'mutable'],
  ['MutableDenseHashTable', 'dense'],
];
const KINDS: readonly (readonly [string, TableKind])[] = [['HashTable', 'static'], ...MUTABLE];

/** The forms differ in their names and in the type of the handle. */
function formsOf(suffix: '' | 'V2', handle: string): GraphOp[] {
  const table = `table_handle: ${handle}`;
  const fill = (name: string, run: (table: LookupTable, keys: HostArray, values: HostArray) => void): GraphOp => {
    const types = name === 'InitializeTable' ? ['Tkey', 'Tval'] : ['Tin', 'Tout'];
    const signature = `${name}${suffix}(${table}, keys: ${types[0]}, values: ${types[1]}) -> `;
    return graphOp(signature, ([given, keys, values]) => {
      run(tableOf(given!), hostOf(keys!, 'keys'), hostOf(values!, 'values'));
      return done();
    });
  };
  return [
    ...KINDS.map(([name, kind]) => makerOf(`${name}${suffix}`, kind, handle, shared)),
    fill('InitializeTable', (given, keys, values) => given.initialize(keys, values)),
    fill('LookupTableImport', (given, keys, values) => given.import(keys, values)),
    fill('LookupTableInsert', (given, keys, values) => given.insert(keys, values)),
    graphOp(
      `LookupTableFind${suffix}(${table}, keys: Tin, default_value: Tout) -> values: Tout`,
      ([given, keys, defaults]) =>
        tensorOf(tableOf(given!).find(hostOf(keys!, 'keys'), hostOf(defaults!, 'default_value'))),
    ),
    graphOp(`LookupTableSize${suffix}(${table}) -> size: int64`, ([given]) => tf.scalar(tableOf(given!).size, 'int32')),
    graphOp(`LookupTableExport${suffix}(${table}) -> keys: Tkeys, values: Tvalues`, ([given]) =>
      tableOf(given!).export().map(tensorOf),
    ),
  ];
}

export const LOOKUP_OPS: readonly GraphOp[] = [
  ...formsOf('', 'string'),
  ...formsOf('V2', 'resource'),
  makerOf('AnonymousHashTable', 'static', 'resource', made),
  ...MUTABLE.map(([name, kind]) => makerOf(`Anonymous${name}`, kind, 'resource', made)),
  graphOp('LookupTableRemoveV2(table_handle: resource, keys: Tin) -> ', ([given, keys]) => {
    tableOf(given!).remove(hostOf(keys!, 'keys'));
    return done();
  }),
];
