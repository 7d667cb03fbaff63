/** The SparseCore half of `emb.tpu`. */
export { convertToCoo, type Coo, type ConvertToCooArgs } from './csr/convert_to_coo.js';
export { preprocessFeatures, type PreprocessFeaturesArgs } from './csr/preprocess_features.js';
export { PartitionedCsrFormatTensor } from './csr/partitioned_csr.js';
export { mapIndicesInShard, removePadding, shardTable, unshuffle } from './shard_table.js';
export { stackGradients, type StackGradientsArgs } from './stack_gradients.js';
export { stackTables, type StackTablesArgs } from './stack_tables.js';
export type { SparseCoreLayout } from './layouts.js';
export {
  TPUEmbeddingV2,
  type SparseCoreEnqueueOptions,
  type SparseCoreLookup,
  type TPUEmbeddingV2Args,
} from './tpu_embedding_v2.js';
export type { Partitioned } from './csr_batches.js';
export type { SparseCoreStats, SparseCoreStatsArgs } from './sparse_core_stats.js';
export { tuneLimits, type TunedLimits, type TuneLimitsArgs } from './tune_limits.js';
