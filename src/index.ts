/** Public names for any runtime. Importing this file registers layers, optimizers and kernels. */
import './base/tfjs_present.js';
import { registerBackends } from './backends/register_all.js';
import { registerTpuEmulator } from './backends/emulator/register.js';
import { registerModelKernels } from './backends/wasm/register.js';
import {
  additiveAttention,
  attention,
  concatOneHotEmbedding,
  distributedEmbedding,
  dotInteraction,
  embedding,
  featureCross,
  globalAveragePooling1d,
  integerLookup,
  multiHeadAttention,
  operation,
  preprocessing as preprocessingLayer,
  raggedEmbedding,
  unitNormalization,
  candidateScores,
} from './layers/factories.js';
import { registerLayers } from './layers/register.js';
import { embeddingBag } from './lookup/embedding_bag.js';
import { embeddingBags } from './lookup/embedding_bags.js';
import { embeddingBagGrad } from './lookup/embedding_bag_grad.js';
import { sparseApply } from './lookup/sparse_apply.js';
import { reorder } from './ids/sparse.js';
import { indexOfWeights } from './ranking/ann/ann_index.js';
import { offerIndexes } from './ranking/ann/index_maker.js';
import { bruteForceRetrieval } from './ranking/index.js';
import { tpuEmbedding } from './tpu/index.js';

registerBackends();
registerModelKernels();
registerTpuEmulator();
registerLayers();
offerIndexes(indexOfWeights);

/** The kernels as functions. */
export const ops = { embeddingBag, embeddingBags, embeddingBagGrad, sparseApply };
/** Factories of layers. */
export const layers = {
  embedding,
  raggedEmbedding,
  distributedEmbedding,
  integerLookup,
  preprocessing: preprocessingLayer,
  concatOneHotEmbedding,
  dotInteraction,
  featureCross,
  multiHeadAttention,
  attention,
  additiveAttention,
  globalAveragePooling1d,
  unitNormalization,
  candidateScores,
  operation,
  tpuEmbedding,
  bruteForceRetrieval,
};
/** Sparse ids. */
export const sparse = { reorder };

/** Models as SavedModels of TensorFlow. */
export * as savedModel from './formats/saved_model/index.js';
/** Models as files of ONNX. */
export * as onnx from './formats/onnx/index.js';
/** Ops for `tf.loadGraphModel`. */
export * as converter from './formats/graph_models/index.js';
/** Data sets of arrays and files, in batches. */
export * as data from './data/index.js';
/** Losses, metrics, negatives and evaluation of ranking and retrieval, the best rows for queries, exact or by an index, rows for new users. */
export {
  ann,
  BruteForceRetrieval,
  evaluate,
  foldIn,
  losses,
  metrics,
  sampling,
  topK,
  type BruteForceRetrievalArgs,
  type FoldInArgs,
  type RankedTable,
  type RerankArgs,
  type KeyedTopK,
  type KeyedTopKOptions,
  type TopK,
  type TopKOptions,
} from './ranking/index.js';
/** Callbacks of `fit`. */
export * as callbacks from './callbacks/index.js';
/** Preprocessing of raw features into ids. */
export * as preprocessing from './preprocessing/index.js';
/** The TPU embedding API of TensorFlow. */
export * as tpu from './tpu/index.js';
/** Files of NumPy and PyTorch. */
export * as weights from './formats/weights.js';
export { attach } from './preprocessing/pipeline/attached_pipeline.js';
export { quantize, type QuantizeOptions } from './layers/quantize.js';
export {
  inspect,
  type Inspected,
  type InspectedLayer,
  type InspectedTensor,
  type InspectOptions,
  type NearRow,
  type TensorStatistics,
} from './formats/inspect/index.js';
export { exportKeras, type ExportKerasOptions } from './formats/keras/export_keras.js';
export {
  loadKerasModel,
  type CustomObject,
  type LoadKerasOptions,
  type NamedInputsModel,
} from './formats/keras/load_keras_model.js';
export { train } from './optimizers/train.js';
export { embeddingLookup, type EmbeddingLookupOptions, type KeyedTable } from './lookup/embedding_lookup.js';
export { safeEmbeddingLookup, type SafeEmbeddingLookupOptions } from './lookup/safe_embedding_lookup.js';
export { backendInfo, setKernels, setThreads, type BackendInfo } from './backends/registry.js';
export type { TableMemory } from './backends/contract.js';
export { configureTpuEmulator, tpuEmulator, type TpuEmulator } from './report/tpu_emulator.js';
export type { Counters, DeviceCounts, DeviceMemoryCounts, LinkCounts } from './backends/devices/machine/counters.js';
export type { FaultName } from './backends/devices/device.js';
export type { Report, ReportArgs } from './report/report.js';
export type { ReportCluster, ReportNetworkArgs } from './report/cluster.js';
export type { TpuEmulatorArgs } from './backends/emulator/settings.js';
export { ready, setWasmPath } from './backends/wasm/module.js';
export {
  tensorArrayGrad,
  tensorArrayGradWithShape,
  type TensorArrayGradient,
} from './lookup/tensor_array/gradient_array.js';
export {
  TensorArray,
  tensorArray,
  type ReadOptions,
  type TensorArrayArgs,
} from './lookup/tensor_array/tensor_array.js';
export { RaggedTensor } from './ids/ragged_tensor.js';
export { ArgumentTypeError as TypeError, RuntimeError, ValueError } from './base/errors.js';
export { Embedding, type EmbeddingArgs } from './layers/embedding/embedding.js';
export { RaggedEmbedding, type RaggedEmbeddingArgs } from './layers/embedding/ragged_embedding.js';
export { DistributedEmbedding, type DistributedEmbeddingArgs } from './layers/distributed_embedding/layer.js';
export { loadLayersModel, type LoadLayersModelOptions } from './layers/distributed_embedding/load_model.js';
export type { DistributedItem, DistributedPlacementArgs } from './layers/distributed_embedding/arguments.js';
export type { NestedFeatures } from './layers/distributed_embedding/feature_types.js';
export type { DistributedItemArgs } from './layers/distributed_embedding/features.js';
export { FeatureConfig, type FeatureConfigArgs } from './tables/feature_config.js';
export { TableConfig, type TableConfigArgs, type TablePlacement } from './tables/table_config.js';
export { ConcatOneHotEmbedding, type ConcatOneHotEmbeddingArgs } from './layers/embedding/concat_one_hot_embedding.js';
export { DotInteraction, type DotInteractionArgs } from './layers/feature_interaction/dot_interaction.js';
export {
  AdditiveAttention,
  Attention,
  type AdditiveAttentionArgs,
  type AttentionArgs,
} from './layers/attention/attention.js';
export { MultiHeadAttention, type MultiHeadAttentionArgs } from './layers/attention/multi_head_attention.js';
export { Operation, type OperandTemplate, type OperationArgs } from './layers/operations/operation.js';
export { GlobalAveragePooling1D, type GlobalAveragePooling1DArgs } from './layers/pooling/global_average_pooling1d.js';
export { CandidateScores, type CandidateScoresArgs, type SharedCandidates } from './layers/candidate_scores.js';
export { UnitNormalization, type UnitNormalizationArgs } from './layers/unit_normalization.js';
export { FeatureCross, type FeatureCrossArgs } from './layers/feature_interaction/feature_cross.js';
/** `IntegerLookupLayer` learns as it is used; `preprocessing.IntegerLookup` is adapted beforehand, as in Keras. */
export { IntegerLookupLayer, type IntegerLookupLayerArgs } from './layers/integer_lookup_layer.js';
export { EmbeddingTable, embeddingTable, type EmbeddingTableArgs } from './tables/embedding_table.js';
export { OpenTable, openTable, type OpenTableStats } from './tables/keys/open_table.js';
export { openTables } from './tables/keys/open_tables.js';
export type { OpenTableArgs } from './tables/keys/open_table_args.js';
export type { DeltaCounts, DeltaSource, DeltaTarget, OpenTableMark, WrittenDelta } from './tables/keys/delta_types.js';
export type { Admit, Evict, EvictionPolicy, Unknown } from './tables/keys/key_rules.js';
export type { KeyKind } from './tables/keys/read_keys.js';
export type { KeyArray, KeysInput, KeyTexts, NestedKeys } from './tfjs/models/key_inputs.js';
export type { ExtendArgs } from './tables/extension.js';
export type { OpenTableLayerArgs, SharedTableLayerArgs } from './layers/embedding/table_layer.js';
export { input, type InputArgs } from './layers/ragged_input.js';
export { mendTfjs } from './tfjs/mend_tfjs.js';
export { useForKerasEmbedding } from './layers/register.js';
export type {
  BatchedData,
  BatchedFitArgs,
  ModelInput,
  ModelInputs,
  RaggedFitArgs,
  RaggedValue,
} from './tfjs/training/ragged_values.js';
export { SparseOptimizer, type TrainConfig } from './optimizers/sparse_optimizer.js';
export { IndexedSlices, type IndexedSlicesArgs } from './optimizers/indexed_slices.js';
export type { Gradient, GradientMap, Gradients, NamedGradient } from './optimizers/step_gradients.js';
export type { LearningRate, SparseOptimizerConfig } from './rules/optimizer_settings.js';
export type { ScheduleConfig, ScheduleName } from './rules/schedules.js';
export { capture, type CaptureOptions, type CapturedFunction } from './capture/functions/captured_functions.js';
export { live, pure } from './capture/functions/pure.js';
export { setCapture, stepInfo, type StepInfo } from './capture/steps.js';
export { checkPlan, planEmbedding, readPlan } from './partition/index.js';
export type {
  ClusterCalls,
  ClusterPrediction,
  ClusterResource,
  DataParallelTable,
  EmbeddingPlan,
  Groups,
  PhysicalTable,
  PlanData,
  PlanEmbeddingArgs,
  PlanMachine,
  PlanNetwork,
  PlanNetworkArgs,
  PlanTableArgs,
  PredictedLoad,
  RankPlan,
  RowModulo,
  RowRange,
  RowShard,
  RowSharding,
  ServerPrediction,
  Span,
  StrategyName,
  TableParallelPlan,
  TableParallelRank,
  TableShard,
} from './partition/index.js';
export type { DenseIds, IdsInput, RaggedIds } from './ids/parse_ids.js';
export type { SparseInput, SparseValues } from './ids/sparse_values.js';
export type { WeightsInput } from './ids/weights.js';
export type { Combiner, OutOfRange } from './base/types.js';
export type { PackedStorage, Storage } from './codecs/codec.js';
export type { OptimizerName } from './rules/rules.js';

/* Types that public names refer to, for those who write them down. */
export type { ImplementationName, KernelChoice, KernelInfo } from './backends/kernel_set.js';
export type { DeviceKind } from './backends/devices/device.js';
export type { ErrorFacts } from './base/errors.js';
export type { EmbeddingsForm, FeaturesForm } from './layers/distributed_embedding/arguments.js';
export type {
  AllLookedUp,
  AnyStructure,
  CombinersOf,
  CombinersOfItems,
  FeatureKwargs,
  Given,
  GivenWeights,
  InputsOf,
  KnownFields,
  Nested as NestedValues,
  Symbolic,
} from './layers/distributed_embedding/feature_types.js';
export type { OutputForm } from './layers/distributed_embedding/joined_output.js';
export type { LookedUp, WithWeights } from './layers/embedding/looked_up.js';
export type { AnyTableLayerArgs, TableLayerArgs } from './layers/embedding/table_layer.js';
export type { Activation, ActivationInput } from './layers/feature_interaction/activations.js';
export type { SymbolicShape } from './base/layer_arguments.js';
export type { AnyTensors, Kwargs } from './layers/layer_calls.js';
export type { Constraint, ConstraintInput } from './tables/constraints.js';
export type { OwnTableArgs, SharedTableArgs } from './tables/embedding_table.js';
export type { TableHolder } from './tables/table_holder.js';
export type { Initializer, InitializerInput } from './tables/initializers.js';
export type { OptimizerInput } from './tables/named_optimizer.js';
export type { TableValues } from './tables/pretrained.js';
export type { Regularizer, RegularizerInput } from './tables/regularizers.js';
export type { EmbeddingBagOptions, VectorInput } from './lookup/bag_arguments.js';
export type { BagsInput, EmbeddingBagsOptions } from './lookup/embedding_bags.js';
export type { EmbeddingBagGradOptions } from './lookup/embedding_bag_grad.js';
export type { RowsOfIds, Table } from './lookup/embedding_lookup.js';
export type { PartitionStrategy } from './lookup/partitioned_table.js';
export type { RowGradientTensors } from './backends/contract.js';
export type { SparseApplyArgs } from './lookup/sparse_apply.js';
export type { ConfigOf, Settings as OptimizerSettings } from './rules/optimizer_settings.js';
export type { Schedule } from './rules/schedules.js';
export type { ShardRows } from './partition/table_layout.js';
export type { SavedParts } from './optimizers/sparse_optimizer.js';
export type { Nested as NestedCells } from './preprocessing/cells/cells.js';
export type { AdaptOptions, AsyncBatches, SyncBatches } from './preprocessing/cells/batches.js';
export type { Salt } from './preprocessing/hashes/hash_bucket.js';
export type { LookupOutput, TokensOf } from './preprocessing/index_lookup.js';
export type { Moments } from './preprocessing/moments.js';
export type { NumbersOf } from './preprocessing/normalization.js';
export type {
  NestedNumbers,
  OutputMode,
  OutputModeInput,
  OutputOf,
  PlainMode,
} from './preprocessing/cells/output_mode.js';
export type { ColumnBatch } from './preprocessing/pipeline/column_batch.js';
export type { ColumnInput, ColumnKind, Columns, PreprocessingObject } from './preprocessing/pipeline/column_steps.js';
export type { Split, Standardize } from './preprocessing/text_rules.js';
export type { TextData, TextOutput } from './preprocessing/text_vectorization.js';
export type { VocabularyFile } from './preprocessing/vocabulary_file.js';
export type { Token as VocabularyToken } from './preprocessing/lookup_arguments.js';
export type { NestedRows } from './ids/nested_rows.js';
export type { FromPaddedOptions, ToPaddedOptions } from './ids/padding.js';
export type { FromRowsOptions } from './ids/ragged_tensor.js';
export type { RowPairInput } from './ids/row_pair.js';
export type { SparseIndices } from './ids/sparse_values.js';
export type { FlatInput, NumericArray, ValuesDtype } from './ids/values.js';
export type { MemoryLack, PhasePrediction } from './report/cost_model.js';
export type { Prediction } from './report/prediction.js';
export type {
  ReportData,
  ReportDevice,
  ReportMachine,
  ReportMeasured,
  ReportPlan,
  ReportShard,
  ReportTable,
} from './report/report_data.js';
export type { ReportSparseCores, ReportStack, SparseCorePrediction } from './report/sparse_cores.js';
export type { RaggedForm, SavedModelOptions } from './formats/saved_model/export_options.js';
export type { LoadSavedModelOptions } from './formats/saved_model/index.js';
export type { OnnxIds, OnnxInput, OnnxInputs, OnnxKeys, OnnxOptions } from './formats/onnx/index.js';
export type { NamedShapes, RunnableSavedModel, SavedModelWriter } from './base/platform.js';
export type { SignatureArgs } from './formats/saved_model/signatures.js';
export type { NamedTensor } from './base/types.js';
export type { IndexInput, IndicesInput } from './lookup/tensor_array/arguments.js';
export type { TensorArrayHandle } from './lookup/tensor_array/handle.js';
export type { PartialShape, PartialShapeInput } from './lookup/tensor_array/partial_shape.js';
