/** Types that public names refer to, for those who write them down. */
export type { ImplementationName, KernelChoice, KernelInfo } from './backends/kernel_set.js';
export type { DeviceKind } from './backends/tpu-emulator/devices/device.js';
export type { ErrorFacts } from './errors.js';
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
export type { SymbolicShape } from './layers/layer_arguments.js';
export type { AnyTensors, Kwargs } from './layers/layer_calls.js';
export type { Constraint, ConstraintInput } from './layers/table/constraints.js';
export type { OwnTableArgs, SharedTableArgs } from './layers/table/embedding_table.js';
export type { TableHolder } from './layers/table/table_holder.js';
export type { Initializer, InitializerInput } from './layers/table/initializers.js';
export type { OptimizerInput } from './layers/table/named_optimizer.js';
export type { TableValues } from './layers/table/pretrained.js';
export type { Regularizer, RegularizerInput } from './layers/table/regularizers.js';
export type { EmbeddingBagOptions, VectorInput } from './ops/bag_arguments.js';
export type { BagsInput, EmbeddingBagsOptions } from './ops/embedding_bags.js';
export type { EmbeddingBagGradOptions } from './ops/embedding_bag_grad.js';
export type { RowsOfIds, Table } from './ops/embedding_lookup.js';
export type { PartitionStrategy } from './ops/partitioned_table.js';
export type { RowGradientTensors } from './ops/row_gradients.js';
export type { SparseApplyArgs } from './ops/sparse_apply.js';
export type { ConfigOf, Settings as OptimizerSettings } from './ops/training/optimizer_settings.js';
export type { Schedule } from './ops/training/schedules.js';
export type { ShardRows } from './partition/table_layout.js';
export type { SavedParts } from './optimizers/sparse_optimizer.js';
export type { Nested as NestedCells } from './preprocessing/cells.js';
export type { Token as VocabularyToken } from './preprocessing/index_lookup.js';
export type { NestedRows } from './ragged/nested_rows.js';
export type { FromPaddedOptions, ToPaddedOptions } from './ragged/padding.js';
export type { FromRowsOptions } from './ragged/ragged_tensor.js';
export type { RowPairInput } from './ragged/row_pair.js';
export type { SparseIndices } from './ragged/sparse_values.js';
export type { FlatInput, NumericArray, ValuesDtype } from './ragged/values.js';
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
export type { SavedModelWriter } from './saved_model/destination.js';
export type { RaggedForm, SavedModelOptions } from './saved_model/export_options.js';
export type { LoadSavedModelOptions, NamedShapes, RunnableSavedModel } from './saved_model/loading.js';
export type { SignatureArgs } from './saved_model/signatures.js';
export type { NamedTensor } from './types.js';
export type { IndexInput, IndicesInput } from './tensor_array/arguments.js';
export type { TensorArrayHandle } from './tensor_array/handle.js';
export type { PartialShape, PartialShapeInput } from './tensor_array/partial_shape.js';
