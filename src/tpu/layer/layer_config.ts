/** The config of the layer: as JSON text, because tfjs rewrites keys and texts in the configs of layers. */
import { ValueError } from '../../base/errors.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { readStructureConfig, structureConfig } from '../../layers/distributed_embedding/structure.js';
import { isRecord } from '../../base/options.js';
import { warnOnce } from '../../base/warn_once.js';
import { FeatureConfig } from '../config/feature_config.js';
import { TableConfig } from '../config/table_config.js';
import { SparseCoreEmbeddingConfig } from '../config/sparse_core_embedding_config.js';
import type { FeatureNest } from '../features/feature_nest.js';
import { optimizerConfig, optimizerFromConfig } from '../optimizers/optimizer_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';

/** What the layer takes. */
export const ARGUMENTS = [
  'featureConfig',
  'optimizer',
  'version',
  'sparseCoreEmbeddingConfig',
  'name',
  'trainable',
] as const;

/** What is saved in place of functions. */
function withoutFunctions(key: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  if (key === 'learningRate') {
    warnOnce('a dynamic learning rate of emb.tpu cannot be saved; its present value is saved in its place.');
    return (value as () => number)();
  }
  warnOnce(`${key} is a function, which cannot be saved with a model; null is saved in its place.`);
  return null;
}

/** A value under the one key that tfjs leaves as it is. */
function asText(value: unknown): { name: string } {
  return { name: JSON.stringify(value, withoutFunctions) };
}

function fromText(value: unknown, argument: string): unknown {
  if (!isRecord(value) || typeof value['name'] !== 'string') return value;
  try {
    return JSON.parse(value['name']) as unknown;
  } catch {
    throw new ValueError(argument, 'what the layer has saved', value['name']);
  }
}

/** Features name their table by its number, so that those that share one share it again. */
export function savedFeatures(nest: FeatureNest): { name: string } {
  const tables = [...new Set(nest.features.map(({ table }) => table))];
  const features = structureConfig(nest.structure, (i) => {
    const feature = nest.features[i]!;
    return { table: tables.indexOf(feature.table), ...feature.ownConfig() };
  });
  return asText({ tables: tables.map((table) => table.getConfig()), features });
}

export function savedOptimizer(optimizer: TPUEmbeddingOptimizer | null): { name: string } {
  return asText(optimizerConfig(optimizer));
}

export function savedSettings(settings: SparseCoreEmbeddingConfig | null): { name: string } {
  return asText(settings?.getConfig() ?? null);
}

function settingsOf(saved: unknown): unknown {
  const isMade = saved === null || saved === undefined || saved instanceof SparseCoreEmbeddingConfig;
  return isMade || !isRecord(saved) ? saved : SparseCoreEmbeddingConfig.fromConfig(saved);
}

/** The arguments of the layer from its config. */
export function readSavedLayer(config: unknown): Record<string, unknown> {
  const { featureConfig, optimizer, sparseCoreEmbeddingConfig, ...rest } = readLayerConfig(config, ARGUMENTS, [
    'inputDType',
  ]);
  return {
    ...rest,
    featureConfig: featuresOf(fromText(featureConfig, 'featureConfig')),
    optimizer: optimizerFromConfig(fromText(optimizer, 'optimizer')),
    sparseCoreEmbeddingConfig: settingsOf(fromText(sparseCoreEmbeddingConfig, 'sparseCoreEmbeddingConfig')),
  };
}

function featuresOf(saved: unknown): unknown {
  if (!isRecord(saved) || !Array.isArray(saved['tables'])) return saved;
  const tables = (saved['tables'] as Record<string, unknown>[]).map(({ optimizer, ...table }, i) => {
    const own = optimizerFromConfig(optimizer, `featureConfig.tables[${i}].optimizer`);
    return TableConfig.fromConfig({ ...table, optimizer: own });
  });
  return readStructureConfig(saved['features'], 'featureConfig', (feature) => {
    const table = tables[feature['table'] as number];
    return FeatureConfig.fromConfig({ ...feature, table });
  });
}
