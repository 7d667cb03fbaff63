/** The SparseCore half of `emb.tpu`. */
export { convertToCoo, type Coo, type ConvertToCooArgs } from './convert_to_coo.js';
export { preprocessFeatures, type PreprocessFeaturesArgs } from './preprocess_features.js';
export { PartitionedCsrFormatTensor } from './partitioned_csr.js';
export { mapIndicesInShard, removePadding, shardTable, unshuffle } from './shard_table.js';
export { stackGradients, type StackGradientsArgs } from './stack_gradients.js';
export { stackTables, type StackTablesArgs } from './stack_tables.js';
export type { SparseCoreLayout } from './layouts.js';
export { TPUEmbeddingV2, type SparseCoreLookup, type TPUEmbeddingV2Args } from './tpu_embedding_v2.js';
export type { Partitioned } from './csr_batches.js';
export type { SparseCoreStats, SparseCoreStatsArgs } from './sparse_core_stats.js';
