/**
 * Layers of tables, their optimizers, lookups and files, for pages that must be small: without the TPU API, the emulator,
 * distributed layers, preprocessing, attention, ragged rows as values of `fit`, the converter, SavedModels and files of
 * Keras. Importing this file registers the layers, and the kernels of all backends but `webgpu` and `tensorflow`.
 */
import { registerLookupBackends } from '../backends/register.js';
import { registerModelKernels } from '../backends/wasm/register.js';
import { registerTableLayers } from './register_tables.js';
import * as factories from './table_factories.js';

registerLookupBackends();
registerModelKernels();
registerTableLayers();

/** Factories of layers. */
export const layers = { ...factories };
export { Embedding, type EmbeddingArgs } from './embedding/embedding.js';
export { RaggedEmbedding, type RaggedEmbeddingArgs } from './embedding/ragged_embedding.js';
export { ConcatOneHotEmbedding, type ConcatOneHotEmbeddingArgs } from './embedding/concat_one_hot_embedding.js';
export { DotInteraction, type DotInteractionArgs } from './feature_interaction/dot_interaction.js';
export { FeatureCross, type FeatureCrossArgs } from './feature_interaction/feature_cross.js';
export { EmbeddingTable, embeddingTable, type EmbeddingTableArgs } from '../tables/embedding_table.js';
export { OpenTable, openTable, type OpenTableStats } from '../tables/keys/open_table.js';
export { openTables } from '../tables/keys/open_tables.js';
export type { OpenTableArgs } from '../tables/keys/open_table_args.js';
export type { DeltaCounts, DeltaSource, DeltaTarget, OpenTableMark, WrittenDelta } from '../tables/keys/delta_types.js';
export type { Admit, Evict, EvictionPolicy, Unknown } from '../tables/keys/key_rules.js';
export type { KeyKind } from '../tables/keys/read_keys.js';
export type { KeyArray, KeysInput, KeyTexts, NestedKeys } from '../tfjs/models/key_inputs.js';
export { quantize, type QuantizeOptions } from './quantize.js';
export { input, type InputArgs } from './ragged_input.js';
/** Files of NumPy and PyTorch. */
export * as weights from '../io/weights/index.js';
/** Row-sparse optimizers. */
export { train } from '../optimizers/train.js';
export { SparseOptimizer, type TrainConfig } from '../optimizers/sparse_optimizer.js';
export { embeddingLookup, type EmbeddingLookupOptions, type KeyedTable } from '../lookup/embedding_lookup.js';
export { backendInfo, setKernels, setThreads, type BackendInfo } from '../backends/registry.js';
export { ready, setWasmPath } from '../backends/wasm/module.js';
export { ArgumentTypeError as TypeError, RuntimeError, ValueError } from '../base/errors.js';
export { RaggedTensor } from '../ids/ragged_tensor.js';
export type { DenseIds, IdsInput, RaggedIds } from '../ids/parse_ids.js';
export type { SparseInput, SparseValues } from '../ids/sparse_values.js';
export type { WeightsInput } from '../ids/weights.js';
export type { Combiner, OutOfRange } from '../base/types.js';
export type { Storage } from '../codecs/codec.js';
