import { EmbeddingTable } from '../../src/tables/embedding_table.js';
import { FeatureConfig } from '../../src/tables/feature_config.js';
import { TableConfig } from '../../src/tables/table_config.js';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('tables', () => {
  itKnowsOtherCopies({ EmbeddingTable, FeatureConfig, TableConfig });
});
