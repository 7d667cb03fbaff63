/** Types that public names refer to, for those who write them down. */
export type { ImplementationName, KernelChoice, KernelInfo } from './backends/kernel_set.js';
export type { DeviceKind } from './backends/emulator/devices/device.js';
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
export type { RowGradientTensors } from './lookup/row_gradients.js';
export type { SparseApplyArgs } from './lookup/sparse_apply.js';
export type { ConfigOf, Settings as OptimizerSettings } from './lookup/training/optimizer_settings.js';
export type { Schedule } from './lookup/training/schedules.js';
export type { ShardRows } from './partition/table_layout.js';
export type { SavedParts } from './optimizers/sparse_optimizer.js';
export type { Nested as NestedCells } from './preprocessing/cells.js';
export type { Token as VocabularyToken } from './preprocessing/index_lookup.js';
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
export type { SavedModelWriter } from './formats/saved_model/destination.js';
export type { RaggedForm, SavedModelOptions } from './formats/saved_model/export_options.js';
export type { LoadSavedModelOptions, NamedShapes, RunnableSavedModel } from './formats/saved_model/loading.js';
export type { SignatureArgs } from './formats/saved_model/signatures.js';
export type { NamedTensor } from './base/types.js';
export type { IndexInput, IndicesInput } from './lookup/tensor_array/arguments.js';
export type { TensorArrayHandle } from './lookup/tensor_array/handle.js';
export type { PartialShape, PartialShapeInput } from './lookup/tensor_array/partial_shape.js';
