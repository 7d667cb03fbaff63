/** The tables and features of a `DistributedEmbedding`, whichever way they were given: one internal record. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkCombiner, checkMaxNorm, checkOutOfRange } from '../../lookup/arguments.js';
import { isRecord, readOptions } from '../../base/options.js';
import type { Combiner, OutOfRange } from '../../base/types.js';
import { Embedding } from '../embedding/embedding.js';
import {
  EmbeddingTable,
  TABLE_ARGUMENTS,
  isTable,
  type OwnTableArgs,
  type SharedTableArgs,
  type TableArgs,
} from '../../tables/embedding_table.js';
import { isOpenTable } from '../../tables/keys/is_open_table.js';
import type { Feature } from '../embedding/layer_inputs.js';
import { FeatureConfig } from '../../tables/feature_config.js';
import { featurePaths, listStructure, readStructure, type FeatureStructure } from './structure.js';
import { checkBoolean, checkInputLength, type SymbolicShape } from '../../base/layer_arguments.js';
import { RaggedEmbedding } from '../embedding/ragged_embedding.js';
import { type TableConfig, checkText } from '../../tables/table_config.js';
import { refuseBesideTable, type TableLayer } from '../embedding/table_layer.js';

/** How one feature is looked up, and where. */
export interface DistributedFeature extends Feature {
  /** Number of its table. */
  readonly table: number;
}

export interface DistributedTable {
  /** Unique within the layer. */
  readonly name: string;
  readonly table: EmbeddingTable;
  /** What a `FeatureConfig` gave. */
  readonly config: AnyTableConfig | null;
}

/** Everything about what is looked up where. */
export interface DistributedFeatures {
  readonly tables: readonly DistributedTable[];
  readonly features: readonly DistributedFeature[];
  readonly structure: FeatureStructure;
  /** What was given: items of the list form, of which inputs use `inputTableMap`; or feature configs. */
  readonly items: readonly DistributedFeature[] | null;
  readonly inputTableMap: readonly number[] | null;
  readonly configs: readonly AnyFeatureConfig[] | null;
  /** Ids per sample of each feature, as far as it is known. */
  readonly hotness: readonly number[];
}

/** What each feature looks up, in words. */
export function featureNames({ features, tables, configs }: DistributedFeatures): string[] {
  return features.map(({ table }, i) => {
    const tableName = `table ${tables[table]!.name}`;
    return configs === null ? tableName : `feature ${configs[i]!.name}, ${tableName}`;
  });
}

type AnyTableConfig = TableConfig<Combiner | null>;
type AnyFeatureConfig = FeatureConfig<Combiner | null>;

interface ItemLookupArgs<C extends Combiner | null> {
  /** Name of the table; `table_<n>` by default. */
  name?: string | undefined;
  combiner?: C | undefined;
  maskZero?: boolean | undefined;
  maxNorm?: number | null | undefined;
  outOfRange?: OutOfRange | undefined;
  inputLength?: number | SymbolicShape | null | undefined;
  /** Whether ids are read as `RaggedEmbedding` reads them: negative ones of a padded batch are absent. */
  ragged?: boolean | undefined;
}

/** A table, of its own or one that several items share, and how it is looked up, without a layer. */
export type DistributedItemArgs<C extends Combiner | null = Combiner | null> = ItemLookupArgs<C> &
  (OwnTableArgs | SharedTableArgs);

const ITEM_FIELDS: readonly (keyof DistributedItemArgs)[] = [
  ...TABLE_ARGUMENTS,
  'name',
  'table',
  'combiner',
  'maskZero',
  'maxNorm',
  'outOfRange',
  'inputLength',
  'ragged',
];
const EXPECTED = 'an unbuilt embedding layer, or {inputDim, outputDim, combiner, …}';

/** Names an argument within a list: what an item's own check calls `inputDim` is `embeddings[2].inputDim`. */
export function within<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const facts = error as { argument?: unknown; expected?: unknown; received?: unknown };
    const isOurs = error instanceof ArgumentTypeError || error instanceof ValueError || error instanceof RuntimeError;
    if (!isOurs || typeof facts.argument !== 'string' || facts.argument.startsWith(path)) throw error;
    const argument = facts.argument === 'args' ? path : `${path}.${facts.argument}`;
    const message = (error as Error).message.replace(`\`${facts.argument}\``, () => `\`${argument}\``);
    const Same = error.constructor as typeof ValueError;
    throw new Same(argument, String(facts.expected), described(String(facts.received), message));
  }
}

/** Tables in the order in which they come up, each once. */
class TableList {
  readonly tables: DistributedTable[] = [];

  add(table: EmbeddingTable, name: string | null, config: AnyTableConfig | null, path: string): number {
    if (isOpenTable(table)) {
      const note = 'emb.layers.embedding takes it, on virtual devices too.';
      throw new ValueError(
        `${path}.table`,
        'a table whose ids are row numbers',
        described(`open table ${table.name}`),
        note,
      );
    }
    if (!table.listsWeight) {
      const received = described(`disk table ${table.name}`);
      throw new ValueError(`${path}.table`, 'a table in memory', received, 'emb.layers.embedding takes it.');
    }
    const known = this.tables.findIndex((each) => each.table === table);
    if (known >= 0) return known;
    const given = name ?? `table_${this.tables.length}`;
    if (this.tables.some((each) => each.name === given)) {
      throw new ValueError(`${path}.name`, 'a name of its own for each table of the layer', given);
    }
    return this.tables.push({ name: given, table, config }) - 1;
  }
}

/** The class of a layer that TensorFlow.js itself makes. */
function isStockEmbedding(value: unknown): value is tf.layers.Layer {
  return value instanceof tf.layers.Layer && value.getClassName() === 'Embedding';
}

function refuseBuilt(path: string, layer: tf.layers.Layer): never {
  throw new ValueError(path, 'a layer that was not built', described(`${layer.name}, which was`));
}

/** The arguments of a stock layer. */
function stockArgs(layer: tf.layers.Layer, path: string): DistributedItemArgs {
  if (layer.built) refuseBuilt(path, layer);
  const config = layer.getConfig();
  const item: Record<string, unknown> = { name: layer.name };
  const { inputDim, outputDim, embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint } = config;
  Object.assign(item, { inputDim, outputDim, embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint });
  Object.assign(item, { maskZero: config['maskZero'] ?? false, inputLength: config['inputLength'] ?? null });
  return item as unknown as DistributedItemArgs;
}

function readLayer(layer: TableLayer, path: string, tables: TableList): DistributedFeature {
  const isOwnInUse = !layer.table.isShared && layer.table.variable !== null;
  if (layer.built || isOwnInUse) refuseBuilt(path, layer);
  const name = layer.table.isShared ? layer.table.name : layer.name;
  return {
    kind: layer instanceof RaggedEmbedding ? 'ragged' : 'embedding',
    table: tables.add(layer.table, name, null, path),
    combiner: layer.combiner,
    maskZero: layer.maskZero,
    maxNorm: layer.maxNorm,
    outOfRange: layer.outOfRange,
    inputLength: layer.inputLength,
  };
}

function readTable(args: Partial<DistributedItemArgs>, path: string, tables: TableList): number {
  const { name, table } = args;
  const given = name === undefined || name === null ? null : checkText(name, 'name');
  if (table === undefined || table === null) {
    const made = new EmbeddingTable(args as TableArgs, false, given ?? 'table');
    return tables.add(made, given, null, path);
  }
  if (!isTable(table)) throw new ArgumentTypeError('table', 'a table made by emb.embeddingTable', table);
  refuseBesideTable(args, TABLE_ARGUMENTS);
  return tables.add(table, given ?? table.name, null, path);
}

function readItem(value: unknown, path: string, tables: TableList): DistributedFeature {
  if (value instanceof Embedding || value instanceof RaggedEmbedding) return readLayer(value, path, tables);
  const plain = isStockEmbedding(value) ? stockArgs(value, path) : value;
  if (plain instanceof tf.layers.Layer || !isRecord(plain)) throw new ArgumentTypeError(path, EXPECTED, value);
  return within(path, () => {
    const args = readOptions<DistributedItemArgs>(plain, ITEM_FIELDS, 'args');
    const { combiner } = args;
    return {
      kind: checkBoolean(args.ragged, 'ragged', false) ? 'ragged' : 'embedding',
      combiner: combiner === undefined || combiner === null ? null : checkCombiner(combiner),
      maskZero: checkBoolean(args.maskZero, 'maskZero', false),
      maxNorm: checkMaxNorm(args.maxNorm) || null,
      outOfRange: checkOutOfRange(args.outOfRange),
      inputLength: checkInputLength(args.inputLength),
      table: readTable(args, path, tables),
    };
  });
}

function readMap(value: unknown, items: number): number[] {
  const expected = 'a list with the number of a table for each input, or null';
  if (!Array.isArray(value)) throw new ArgumentTypeError('inputTableMap', expected, value);
  if (value.length === 0) throw new ValueError('inputTableMap', 'at least one input', described('none'));
  (value as unknown[]).forEach((item, input) => {
    const path = `inputTableMap[${input}]`;
    if (typeof item !== 'number') throw new ArgumentTypeError(path, 'a number', item);
    if (!Number.isInteger(item) || item < 0 || item >= items) {
      throw new ValueError(path, `the number of a table, 0 to ${items - 1}`, item);
    }
  });
  return [...(value as number[])];
}

/** The list form: one input per item, or as `inputTableMap` says. */
export function readEmbeddings(embeddings: unknown, inputTableMap: unknown): DistributedFeatures {
  const expected = `a list, each ${EXPECTED}`;
  if (!Array.isArray(embeddings)) throw new ArgumentTypeError('embeddings', expected, embeddings);
  if (embeddings.length === 0) throw new ValueError('embeddings', expected, described('an empty list'));
  const tables = new TableList();
  const items = Array.from(embeddings as unknown[], (item, i) => readItem(item, `embeddings[${i}]`, tables));
  const isMapped = inputTableMap !== undefined && inputTableMap !== null;
  const map = isMapped ? readMap(inputTableMap, items.length) : null;
  const features = map === null ? items : map.map((item) => items[item]!);
  return {
    tables: tables.tables,
    features,
    structure: listStructure(features.length),
    items,
    inputTableMap: map,
    configs: null,
    hotness: features.map(({ inputLength }) => (typeof inputLength === 'number' ? inputLength : 1)),
  };
}

/** The form of Keras RS: `FeatureConfig`s in objects and arrays of any depth. */
export function readFeatures(value: unknown): FeaturesOfConfigs {
  const expected = 'emb.FeatureConfigs in objects and arrays';
  const { structure, features: given } = readStructure(value, 'features', expected, (part) => {
    return part instanceof FeatureConfig ? (part as AnyFeatureConfig) : null;
  });
  const paths = featurePaths(structure, 'features');
  const configs = given.map((config, i) => within(paths[i]!, () => config.forLayers()));
  const tables = new TableList();
  const made = new Map<AnyTableConfig, EmbeddingTable>();
  const features = configs.map(({ table: config }): DistributedFeature => {
    const { vocabularySize: inputDim, embeddingDim: outputDim, initializer, optimizer, combiner, storage } = config;
    const known = made.get(config);
    const args = { inputDim, outputDim, embeddingsInitializer: initializer, optimizer, storage };
    const table = known ?? new EmbeddingTable(args, false, config.name);
    made.set(config, table);
    const rule = { maskZero: false, maxNorm: null, outOfRange: 'error', inputLength: null } as const;
    return { kind: 'reduce', table: tables.add(table, config.name, config, `table ${config.name}`), combiner, ...rule };
  });
  const hotness = configs.map((config) => config.hotness);
  return { tables: tables.tables, features, structure, items: null, inputTableMap: null, configs, hotness };
}

export type FeaturesOfConfigs = DistributedFeatures & { readonly configs: readonly AnyFeatureConfig[] };
