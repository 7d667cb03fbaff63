/** The TPU embedding API of TensorFlow: `emb.tpu`, also `tfjs-embeddings/tpu`. Importing this file registers kernels. */
import * as tf from '@tensorflow/tfjs';
import { registerBackends } from '../backends/register_all.js';
import { registerAllActivations } from './activations/activations_kernel.js';
import { TPUEmbeddingLayer } from './layer/tpu_embedding_layer.js';
import { registerTpuEmulator } from '../backends/emulator/register.js';

registerBackends();
registerTpuEmulator();
registerAllActivations();
tf.serialization.registerClass(TPUEmbeddingLayer as never);

export { configureTpuEmulator, tpuEmulator } from '../report/tpu_emulator.js';
export { TableConfig, type TableConfigArgs } from './config/table_config.js';
export { FeatureConfig, type FeatureConfigArgs, type PartialShape } from './config/feature_config.js';
export { QuantizationConfig, type QuantizationConfigArgs } from './config/quantization_config.js';
export { RowIdInitializer, type RowIdInitializerArgs } from './config/row_id_initializer.js';
export {
  SparseCoreEmbeddingConfig,
  type LimitsByStack,
  type SparseCoreEmbeddingConfigArgs,
} from './config/sparse_core_embedding_config.js';
export type { InitializerFunction, TableInitializer, TableInitializerInput } from './config/table_initializer.js';
export { SGD, type SGDArgs } from './optimizers/sgd.js';
export { Adagrad, type AdagradArgs } from './optimizers/adagrad.js';
export { AdagradMomentum, type AdagradMomentumArgs } from './optimizers/adagrad_momentum.js';
export { Adam, type AdamArgs } from './optimizers/adam.js';
export { FTRL, type FTRLArgs } from './optimizers/ftrl.js';
export {
  CustomOptimizer,
  type CustomComputation,
  type CustomOptimizerArgs,
  type CustomStep,
  type CustomStepResult,
  type Hyperparameters,
} from './optimizers/custom_optimizer.js';
export type { SlotSpec, TPUEmbeddingOptimizer } from './optimizers/tpu_optimizer.js';
export type {
  CommonArgs,
  LearningRate,
  Limits,
  SlotArgs,
  SlotVariableCreationFn,
} from './optimizers/common_arguments.js';
export * from './sparse_core/index.js';
export type { NestedFeatureConfigs } from './features/feature_nest.js';
export { servingEmbeddingLookup, type TablesByConfig } from './serving/serving_lookup.js';
export { TPUEmbeddingForServing, type TPUEmbeddingForServingArgs } from './serving/tpu_embedding_for_serving.js';
export type { InStructure } from './features/feature_nest.js';
export {
  TPUEmbedding,
  type EnqueueOptions,
  type QueueOptions,
  type TPUEmbeddingArgs,
} from './embedding/tpu_embedding.js';
export type { CheckpointFormat, SaveOptions } from './checkpoint/checkpoint.js';
export { createGradientCollection, gradientCollection } from './activations/gradient_collection.js';
export {
  tpuEmbeddingActivations,
  type TPUEmbeddingActivationsOptions,
} from './activations/tpu_embedding_activations.js';
export { TPUEmbeddingLayer, tpuEmbedding, type TPUEmbeddingLayerArgs } from './layer/tpu_embedding_layer.js';
export type { FeatureInput, FeatureWeights, RaggedParts, SparseParts } from './sparse_core/csr/feature_input.js';
export type { PartitionedCsrFields } from './sparse_core/csr/partitioned_csr.js';
export type { StackedFeature, StackedTable, StackedTableOffset } from './sparse_core/csr/preprocess_features.js';
export type { MapIndicesArgs, ShardTableArgs, UnshuffleArgs } from './sparse_core/shard_table.js';
export type { ActivationGradient } from './sparse_core/stack_gradients.js';
export type { StackableTable } from './sparse_core/stack_tables.js';
