/** The tables that features look up, under their final names and with their optimizers. */
import { ValueError, described } from '../../base/errors.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { TableConfig } from '../config/table_config.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';

export interface NamedTable {
  readonly config: TableConfig;
  readonly name: string;
  /** null: the table has no slots and cannot be trained. */
  readonly optimizer: TPUEmbeddingOptimizer | null;
}

export interface TablesOfFeatures {
  /** In the order in which features name them first. */
  readonly tables: readonly NamedTable[];
  /** The table of each feature. */
  readonly tableOf: readonly number[];
}

/** The final names of tables. Throws ValueError for two of one name, and for int32 tables. */
export function tableNames(configs: readonly TableConfig[]): string[] {
  const names = configs.map((config, i) => config.name ?? `table_${i}`);
  names.forEach((name, i) => {
    const { dtype } = configs[i]!;
    if (names.indexOf(name) !== i) {
      throw new ValueError('name', 'tables with names of their own', described(`several tables named ${name}`));
    }
    if (dtype !== 'float32') throw new ValueError('dtype', `float32 for table ${name}: others are not stored`, dtype);
  });
  return names;
}

/**
 * Reads the tables of features. A table without a name gets `table_<n>`, and one without an optimizer `optimizer`: both
 * are written into its config, as upstream.
 * Throws ValueError for two tables of one name, and for int32 tables.
 */
export function readTables(
  features: readonly FeatureConfig[],
  optimizer: TPUEmbeddingOptimizer | null,
): TablesOfFeatures {
  const configs = [...new Set(features.map(({ table }) => table))];
  const names = tableNames(configs);
  const tables = configs.map((config, i): NamedTable => {
    config.name = names[i]!;
    config.optimizer ??= optimizer;
    return { config, name: names[i]!, optimizer: config.optimizer };
  });
  return { tables, tableOf: features.map(({ table }) => configs.indexOf(table)) };
}
