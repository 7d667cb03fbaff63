/** The tables of a config under their final names, and their optimizers; the user's own objects stay as they are. */
import type { TableConfig } from '../config/table_config.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import { tableNames } from '../tables/read_tables.js';
import type { PlannedTable } from './stack_plan.js';

/** Tables in the order in which features name them first. ValueError for two of one name, and for int32 tables. */
export function configTables(
  features: readonly FeatureConfig[],
  optimizer: TPUEmbeddingOptimizer | null,
): Map<TableConfig, PlannedTable> {
  const configs = [...new Set(features.map(({ table }) => table))];
  const names = tableNames(configs);
  return new Map(
    configs.map((config, i) => [config, { name: names[i]!, config, optimizer: config.optimizer ?? optimizer }]),
  );
}
