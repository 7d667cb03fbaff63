/** The tables of a config under their final names, and their optimizers; the user's own objects stay as they are. */
import { ValueError, described } from '../../errors.js';
import type { TableConfig } from '../config/table_config.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';
import type { PlannedTable } from './stack_plan.js';

/** Tables in the order in which features name them first. ValueError for two of one name. */
export function configTables(
  features: readonly FeatureConfig[],
  optimizer: TPUEmbeddingOptimizer | null,
): Map<TableConfig, PlannedTable> {
  const tables = new Map<TableConfig, PlannedTable>();
  for (const { table: config } of features) {
    if (tables.has(config)) continue;
    const name = config.name ?? `table_${tables.size}`;
    tables.set(config, { name, config, optimizer: config.optimizer ?? optimizer });
  }
  const names = [...tables.values()].map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new ValueError('name', 'tables with names of their own', described(`several tables named ${twice}`));
  }
  return tables;
}
