/**
 * Everything that a step reaches from its model and its optimizer: each object must be of a known class or plain data,
 * each function one of tfjs or of this package, and the value of each field is noted, so that a change is noticed.
 */
import { types } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { DistributedEmbedding } from '../../layers/distributed_embedding/layer.js';
import { EmbeddingTable } from '../../tables/embedding_table.js';
import { DiskTable } from '../../tables/disk/disk_table.js';
import { OpenTable } from '../../tables/keys/open_table.js';
import { SparseOptimizer } from '../../optimizers/sparse_optimizer.js';
import { isOwn } from '../../tfjs/engine/own_functions.js';
import { regularizersOf } from '../../tfjs/layers/penalties.js';
import { layerText } from '../called_layers.js';
import { isPlainList, WatchedFields, type IsAside } from '../watched_fields.js';
import { KnownClasses, isKnownClass, isKnownMethod } from './known_classes.js';
import { replacedText, findTfjsPatch, snapshotTfjs } from './known_tfjs.js';
import { isPlainClass, isLayer, isModel } from './plain_classes.js';
import { IntegerLookupLayer } from '../../layers/integer_lookup_layer.js';
import { CategoryEncoding } from '../../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../layers/preprocessing/hashing_layer.js';
import { VocabularyLayer } from '../../layers/preprocessing/vocabulary_layer.js';

/** Layers of ours that compute in JavaScript and cannot be captured. */
const READING: ReadonlySet<unknown> = new Set([
  IntegerLookupLayer,
  CategoryEncoding,
  DiscretizationLayer,
  HashingLayer,
  VocabularyLayer,
]);
/** By its name: it comes with an entry of its own. */
const OF_TPU = 'TfjsEmbeddings>TPUEmbedding';

/** Why layers of a class that is neither of tfjs nor among those that are captured are not. */
function whyNotClass({ constructor }: tf.layers.Layer): string {
  if (READING.has(constructor)) return 'reads its input in JavaScript';
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  if (classNameMap[OF_TPU]?.[0] === (constructor as unknown))
    return 'looks up and steps tables of its own, which are no variables of the step';
  return `is of the class ${constructor.name}, which is not one of tfjs or of this package`;
}

/** Why a layer may do something else in another step, whatever its fields are; null: it does not. */
function whyNotLayer(layer: tf.layers.Layer): string | null {
  if (!isLayer(layer))
    return `${READING.has(layer.constructor) ? layerText(layer) : `layer ${layer.name}`} ${whyNotClass(layer)}`;
  const { stateful } = layer as unknown as { stateful?: boolean };
  return stateful === true && !isModel(layer) ? `${layerText(layer)} keeps a state from batch to batch` : null;
}

/** Fields of layers that count calls and the like, hold what `compile` left, or whatever was made while they were built. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set([
  ...['_refCount', 'outboundNodes', '_addedWeightNames', 'internalContainerRefs', 'layersByDepth', 'id', '_updates'],
  ...['batchInputShape', 'initialWeights', 'fastWeightInitDuringBuild'],
  ...['history', 'isTraining', 'stopTraining_', 'optimizer_', 'isOptimizerOwned', 'collectedTrainableWeights'],
  ...['trainFunction', 'testFunction', 'predictFunction', 'loss', 'lossFunctions', 'lossWeights'],
  ...['metrics', 'metricsTensors', 'metricsNames', 'feedInputNames', 'feedOutputNames', 'feedLossFns'],
  // Of recurrent cells, which are freed and made anew in each call of their layer.
  ...['dropoutMask', 'recurrentDropoutMask'],
]);
/** What only steps that train look at. */
const OF_TRAINING: ReadonlySet<string> = new Set(['trainable_', '_trainable']);
/** The flag of a weight is that of its variable, which makes another kind of step; the rest is for saving. */
const OF_WEIGHTS: ReadonlySet<string> = new Set([
  ...['trainable_', 'trainable', 'id', 'name', 'originalName', 'dtype', 'shape'],
]);
const OF_OPTIMIZERS: ReadonlySet<string> = new Set(['iterations_']);
/** A listener of the user's, which is called between steps. */
const OF_OPEN_TABLES: ReadonlySet<string> = new Set(['onEvict']);
const OF_TABLES: ReadonlySet<string> = new Set(['config']);
const OF_SYMBOLS = ['sourceLayer', 'inputs', 'name', 'dtype', 'id'] as const;
/** Factors of the regularizer of a table that is stepped: they are taken anew each time. */
const OF_PENALTIES = ['l1', 'l2', 'hasL1', 'hasL2'];
/** Numbers of a list of JavaScript that are compared before each step. */
const MOST_NUMBERS = 4096;

type Fields = Readonly<Record<string, unknown>>;

/** Words for a field of something. */
const fieldOf = (field: string, what: string): string => `the ${field} of ${what}`;

export class Reach {
  readonly watched = new WatchedFields();
  /** What is not known, in a sentence; null: everything is. */
  unknown: string | null = null;
  readonly #seen = new Set<object>();

  constructor(
    private readonly isTrained: boolean,
    /** Whether the penalty of a table takes the factors of its regularizer anew in each step. */
    private readonly isStepped: (table: EmbeddingTable) => boolean,
  ) {}

  /** What every step computes by. */
  visitTfjs(): void {
    snapshotTfjs();
    const strange = findTfjsPatch();
    if (strange !== null) this.#refuse(strange);
    this.watched.addAnswer('tfjs', findTfjsPatch);
  }

  /** Goes to all that `value` reaches. `skipped`: fields that are not looked at. */
  visit(value: unknown, what: string, skipped: ReadonlySet<string> = new Set()): void {
    if (value === null || typeof value !== 'object' || this.#seen.has(value)) return;
    this.#seen.add(value);
    if (types.isProxy(value)) this.#refuse(`${what} is a Proxy`);
    else if (Array.isArray(value)) this.#visitList(value, what);
    else if (value instanceof Set) this.#visitSet(value as Set<unknown>, what);
    else if (ArrayBuffer.isView(value)) this.#visitNumbers(value, what);
    else this.#visitObject(value as Fields, what, skipped);
  }

  #refuse(reason: string): void {
    this.unknown ??= reason;
  }

  #visitList(list: readonly unknown[], what: string): void {
    if (list.length > MOST_NUMBERS) return this.#refuse(`${what} is a list of ${list.length} elements`);
    this.#watchList(list, what);
    for (let i = 0; i < list.length; i++) {
      const { value, get } = Object.getOwnPropertyDescriptor(list, i) ?? {};
      if (get !== undefined) this.#refuse(`${what} has a getter ${i} of its own`);
      else this.#visitField(value, `${what}[${i}]`, what, String(i));
    }
  }

  #watchList(list: readonly unknown[], what: string, isOpen = false): void {
    if (types.isProxy(list)) this.#refuse(`${what} is a Proxy`);
    else if (!isPlainList(list)) this.#refuse(`${what} is a list of another class, or has methods of its own`);
    this.watched.addList(list, what, isOpen);
  }

  #visitSet(set: ReadonlySet<unknown>, what: string): void {
    if (Object.getPrototypeOf(set) !== Set.prototype || Reflect.ownKeys(set).length > 0) {
      return this.#refuse(`${what} is a set of another class`);
    }
    const values = [...set];
    if (values.some((value) => typeof value !== 'string')) return this.#refuse(`${what} is a set of objects`);
    this.watched.addSet(set, what);
  }

  #visitNumbers(numbers: ArrayBufferView, what: string): void {
    if (numbers.byteLength > MOST_NUMBERS) return this.#refuse(`${what} is an array of ${numbers.byteLength} bytes`);
    const bytes = (): string => Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('latin1');
    this.watched.addAnswer(what, bytes);
  }

  #visitObject(value: Fields, what: string, skipped: ReadonlySet<string>): void {
    const prototype = Object.getPrototypeOf(value) as object | null;
    const ofLayer = (value as unknown) instanceof tf.layers.Layer ? whyNotLayer(value as never) : null;
    if (ofLayer !== null) return this.#refuse(ofLayer);
    if (prototype === DiskTable.prototype) {
      return this.#refuse(`rows of table ${(value as unknown as DiskTable).name} are read from its file within steps`);
    }
    if (prototype !== Object.prototype) {
      if (prototype === null || !isKnownClass(prototype) || !isPlainClass(prototype)) {
        const name = (prototype as { constructor?: { name?: string } } | null)?.constructor?.name ?? 'without a name';
        return this.#refuse(`${what} is of the class ${name}, which is not one of tfjs or of this package`);
      }
      this.watched.addClass(prototype);
      const replaced = new KnownClasses().add(prototype).changed();
      if (replaced !== null) this.#refuse(replacedText(replaced, what));
    }
    // No step calls a method of a symbolic tensor.
    if (value instanceof tf.SymbolicTensor) this.#visitFields(value as never, what, OF_SYMBOLS, null);
    else if (value instanceof tf.Tensor)
      this.#visitFields(value as never, what, value instanceof tf.Variable ? [] : ['dataId'], () => false);
    else {
      const isAside = this.#asideOf(value, skipped);
      const fields = Object.getOwnPropertyNames(value).filter((field) => !isAside(field));
      this.#visitFields(value, what, fields, isAside);
    }
    if (value.constructor === DistributedEmbedding) {
      const { tables, features } = (value as unknown as DistributedEmbedding).lookups;
      this.#watchList(tables, 'tables');
      // Their configs are what the caller gave, which was read once.
      for (const table of tables) this.visit(table, `table ${table.name} of ${what}`, OF_TABLES);
      this.visit(features, `the list of features of ${what}`);
    }
  }

  /** Which fields of an object do not count. */
  #asideOf(value: object, skipped: ReadonlySet<string>): IsAside {
    const aside = [skipped, ...this.#asideOfKind(value)];
    // What weights begin with was made when they were.
    return (field) => aside.some((each) => each.has(field)) || /initializer$/i.test(field);
  }

  #asideOfKind(value: object): ReadonlySet<string>[] {
    if (value instanceof tf.LayerVariable) return [OF_WEIGHTS];
    if (value instanceof SparseOptimizer) return [OF_OPTIMIZERS];
    if (value instanceof OpenTable) return [OF_OPEN_TABLES];
    if (!(value instanceof tf.layers.Layer)) return [];
    return this.isTrained ? [IGNORED_FIELDS] : [IGNORED_FIELDS, OF_TRAINING];
  }

  #visitFields(holder: Fields, what: string, fields: readonly string[], isAside: IsAside | null): void {
    this.watched.addObject(holder, fields, isAside, what);
    for (const field of fields) {
      const { value, get } = Object.getOwnPropertyDescriptor(holder, field) ?? {};
      if (get !== undefined && !isOwn(get)) this.#refuse(`${what} has a getter ${field} of its own`);
      else if (field === '_losses' && Array.isArray(value)) this.#visitLosses(value, what);
      else if (field === 'inboundNodes') this.#visitInbound(value as readonly Fields[], what);
      else if (field === 'nodesByDepth') this.#visitNodes(value as object);
      else if (field === 'regularizer' && holder instanceof EmbeddingTable) this.#visitPenalty(holder);
      else this.#visitField(value, fieldOf(field, what), what, field);
    }
  }

  #visitField(value: unknown, what: string, owner: string, field: string): void {
    if (typeof value !== 'function') return this.visit(value, layerName(value) ?? what);
    // A method of its own, even one of tfjs, stands before that of its class.
    const isKnown = isOwn(value) || (isKnownMethod(value) && !isMethodName(field));
    if (!isKnown) this.#refuse(`${owner} has a function ${field} of its own`);
  }

  /** Calls of a layer, of which a model asks what they give; others may come. */
  #visitInbound(nodes: readonly Fields[], what: string): void {
    this.#watchList(nodes, fieldOf('inboundNodes', what), true);
    for (const node of nodes) {
      if (types.isProxy(node)) return this.#refuse(`a node of ${what} is a Proxy`);
      this.#visitFields(node, `a node of ${what}`, ['outputTensors'], null);
    }
  }

  /** Nodes say which layer made what, and are looked at while a model is made. */
  #visitNodes(byDepth: object): void {
    for (const nodes of Object.values(byDepth)) this.#watchList(nodes as unknown[], 'nodesByDepth');
  }

  #visitLosses(losses: readonly unknown[], what: string): void {
    this.#watchList(losses, fieldOf('_losses', what));
    for (const loss of losses) {
      const applied = typeof loss === 'function' ? regularizersOf(loss) : null;
      if (applied === null) return this.#refuse(`${what} adds a loss of the user's own`);
      for (const regularizer of applied) this.visit(regularizer, fieldOf('regularizer', what));
    }
  }

  #visitPenalty(table: EmbeddingTable): void {
    const what = fieldOf('regularizer', `table ${table.name}`);
    const regularizer = table.regularizer as Fields | null;
    if (regularizer === null || types.isProxy(regularizer) || !this.isStepped(table)) {
      return this.visit(regularizer, what);
    }
    // Another layer may have it too, to which its factors are constants: it is not taken for seen.
    const isNumber = (field: string): boolean =>
      ['number', 'boolean'].includes(typeof Object.getOwnPropertyDescriptor(regularizer, field)?.value);
    this.#visitObject(regularizer, what, new Set(OF_PENALTIES.filter(isNumber)));
  }
}

/** What layers are called in reasons, wherever they are found. */
function layerName(value: unknown): string | null {
  return value instanceof tf.layers.Layer && !types.isProxy(value) ? layerText(value) : null;
}

function isMethodName(field: string): boolean {
  return ['call', 'apply', 'computeMask', 'calculateLosses'].includes(field);
}
