/** Raw features to ids and vectors, before the model. */
export { StringLookup, type StringLookupArgs } from './string_lookup.js';
export { IntegerLookup, type IntegerLookupArgs } from './integer_lookup.js';
export { TextVectorization, type TextVectorizationArgs, type TextVectorizationConfig } from './text_vectorization.js';
export { Hashing, type HashingArgs, type HashingConfig } from './hashing.js';
export { HashedCrossing, type HashedCrossingArgs, type HashedCrossingConfig } from './hashed_crossing.js';
export { CategoryEncoding, type CategoryEncodingArgs, type CategoryEncodingConfig } from './category_encoding.js';
export { Discretization, type DiscretizationArgs, type DiscretizationConfig } from './discretization.js';
export { Normalization, type NormalizationArgs, type NormalizationConfig } from './normalization.js';
export { Pipeline, type PipelineArgs, type PipelineConfig, type PipelineOutput } from './pipeline/pipeline.js';
export type { Missing } from './pipeline/missing_values.js';
export type { IndexLookupArgs, IndexLookupConfig } from './lookup_arguments.js';
export type { CellData, CellRows, IdsOf, NumberArray } from './cells/cells.js';
export type { Utf8Column } from './columns/utf8_column.js';
