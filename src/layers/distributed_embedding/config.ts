/** The config of `DistributedEmbedding`: how it is saved and made again. */
import { camelKeys } from '../../base/camel_case.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { STRATEGY_NAMES, type EmbeddingPlan } from '../../partition/plan.js';
import { PLACEMENT_FIELDS } from '../../partition/plan_request.js';
import type { DistributedEmbeddingArgs } from './arguments.js';
import type { NestedFeatures } from './feature_types.js';
import type { DistributedFeature, DistributedFeatures, DistributedItemArgs } from './features.js';
import { EmbeddingTable, type EmbeddingTableArgs } from '../../tables/embedding_table.js';
import type { Combiner } from '../../base/types.js';
import { FeatureConfig, type FeatureConfigArgs } from '../../tables/feature_config.js';
import { keyPath, readStructureConfig, structureConfig } from './structure.js';
import { checkObject } from '../../base/layer_arguments.js';
import { tableOfLoad } from '../../tfjs/shared_tables_on_load.js';
import { TableConfig, checkText } from '../../tables/table_config.js';

const KNOWN = [
  ...PLACEMENT_FIELDS,
  'embeddings',
  'features',
  'featureConfigs',
  'tables',
  'inputTableMap',
  'output',
  'plan',
  'seed',
  'tableStacking',
  'updateStats',
  'weightedFeatures',
  'name',
  'trainable',
] as const;

/** What is not in the arguments. */
interface LayerState {
  readonly plan: EmbeddingPlan | null;
  readonly weightedFeatures: readonly number[] | null;
}

function itemConfig({ kind, table, ...rule }: DistributedFeature): object {
  return { ...rule, ragged: kind === 'ragged', table };
}

/**
 * The config of a layer. tfjs rewrites the texts and keys of a config, except texts under `name`: so that is where names
 * that users chose lie, and words with underscores.
 */
export function distributedConfig(
  { tables, items, inputTableMap, structure, configs }: DistributedFeatures,
  args: Partial<DistributedEmbeddingArgs>,
  { plan, weightedFeatures }: LayerState,
): Record<string, unknown> {
  const planned = Object.fromEntries(PLACEMENT_FIELDS.map((field) => [field, args[field] ?? null]));
  const wishes = {
    ...planned,
    strategy: (args.strategy ?? null) === null ? null : { name: args.strategy },
    plan: plan === null ? null : { name: JSON.stringify(plan) },
    seed: args.seed ?? null,
    output: args.output ?? 'structure',
    // Lists may hold names of tables.
    tableStacking: (args.tableStacking ?? null) === null ? null : { name: JSON.stringify(args.tableStacking) },
    updateStats: args.updateStats ?? null,
    weightedFeatures,
  };
  if (configs !== null) {
    const list = tables.map(({ config }) => config!);
    const feature = (index: number): object => {
      const config = configs[index]!;
      return { ...config.ownConfig(), table: list.indexOf(config.table) };
    };
    return {
      features: structureConfig(structure, feature),
      tables: list.map((table) => table.getConfig()),
      ...wishes,
    };
  }
  return {
    embeddings: items!.map(itemConfig),
    inputTableMap,
    tables: tables.map(({ name, table }) => {
      return { ...table.getConfig(), name, shared: table.isShared ? { name: table.name } : null };
    }),
    ...wishes,
  };
}

/** The text under `name`, where tfjs leaves it as it is, or a plain string. */
function plainText(value: unknown): unknown {
  return isRecord(value) && typeof value['name'] === 'string' ? value['name'] : value;
}

/** `memoryBalanced`, as tfjs makes it of a config in snake case, is `memory_balanced`. */
function readStrategy(value: unknown): unknown {
  const text = plainText(value);
  if (typeof text !== 'string') return text;
  const plain = text.replaceAll('_', '').toLowerCase();
  return STRATEGY_NAMES.find((name) => name.replaceAll('_', '') === plain) ?? text;
}

function readStacking(value: unknown): unknown {
  if (!isRecord(value) || typeof value['name'] !== 'string') return value;
  try {
    return JSON.parse(value['name']) as unknown;
  } catch {
    throw new ValueError('tableStacking', 'JSON text', value['name']);
  }
}

/** The arguments of a layer from its config, or from one of Keras RS. */
export function readDistributedConfig(config: unknown): DistributedEmbeddingArgs {
  const read = readLayerConfig(config, KNOWN);
  const { tables, embeddings, features, featureConfigs, ...rest } = read;
  const args: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== null && value !== undefined),
  );
  if (args['strategy'] !== undefined) args['strategy'] = readStrategy(args['strategy']);
  if (args['tableStacking'] !== undefined) args['tableStacking'] = readStacking(args['tableStacking']);
  if (embeddings !== undefined && embeddings !== null) {
    args['embeddings'] = readItems(embeddings, readList(tables, 'tables').map(readTable));
    return args as unknown as DistributedEmbeddingArgs;
  }
  const made = readList(tables, 'tables').map((table, i) => TableConfig.fromConfig(checkObject(table, `tables[${i}]`)));
  const own = features !== undefined && features !== null;
  args['features'] = own
    ? readStructureConfig(features, 'features', (feature, path) => readFeature(feature, path, made))
    : readKerasFeatures(featureConfigs, 'featureConfigs', made);
  return args as unknown as DistributedEmbeddingArgs;
}

function readList(value: unknown, argument: string): unknown[] {
  const isList = Array.isArray(value);
  if (!isList) throw new ArgumentTypeError(argument, 'a list', value);
  return value as unknown[];
}

function numbered<T>(list: readonly T[], number: unknown, argument: string): T {
  const expected = `the number of a table, 0 to ${list.length - 1}`;
  if (typeof number !== 'number') throw new ArgumentTypeError(argument, expected, number);
  const found = list[number];
  if (found === undefined) throw new ValueError(argument, expected, number);
  return found;
}

/** A table of the list form: its name in the layer, and the table, shared with other layers or not. */
function readTable(value: unknown, number: number): { name: string; table: EmbeddingTable } {
  const { shared, name, ...args } = camelKeys(checkObject(value, `tables[${number}]`));
  const text = checkText(name, `tables[${number}].name`);
  const make = (isShared: boolean, tableName: string): EmbeddingTable =>
    new EmbeddingTable(args as unknown as EmbeddingTableArgs, isShared, tableName);
  const sharedName = plainText(shared);
  if (typeof sharedName !== 'string') return { name: text, table: make(false, text) };
  return { name: text, table: tableOfLoad(sharedName, () => make(true, sharedName)) };
}

function readItems(value: unknown, tables: readonly { name: string; table: EmbeddingTable }[]): DistributedItemArgs[] {
  return readList(value, 'embeddings').map((item, i) => {
    const path = `embeddings[${i}]`;
    const { table, ...rule } = camelKeys(checkObject(item, path));
    return { ...rule, ...numbered(tables, table, `${path}.table`) } as DistributedItemArgs;
  });
}

function readFeature(
  config: Record<string, unknown>,
  path: string,
  tables: readonly TableConfig<Combiner | null>[],
): FeatureConfig<Combiner | null> {
  const { table, ...own } = camelKeys(config);
  return new FeatureConfig({ ...own, table: numbered(tables, table, `${path}.table`) } as unknown as FeatureConfigArgs);
}

/** Features as Keras RS nests them: one is an object with a number in `table`. */
function readKerasFeatures(
  value: unknown,
  path: string,
  tables: readonly TableConfig<Combiner | null>[],
): NestedFeatures {
  if (Array.isArray(value)) return value.map((item, i) => readKerasFeatures(item, `${path}[${i}]`, tables));
  if (!isRecord(value)) throw new ArgumentTypeError(path, 'feature configs in objects and lists', value);
  if (typeof value['table'] === 'number' && typeof value['name'] === 'string') return readFeature(value, path, tables);
  if (Object.keys(value).length === 0) throw new ValueError(path, 'feature configs', described('an empty object'));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, readKerasFeatures(item, keyPath(path, key), tables)]),
  );
}
