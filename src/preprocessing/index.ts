/** Raw features to ids, before the model. */
export { StringLookup, type StringLookupArgs } from './string_lookup.js';
export { IntegerLookup, type IntegerLookupArgs } from './integer_lookup.js';
export { Hashing, type HashingArgs, type HashingConfig } from './hashing.js';
export { Discretization, type DiscretizationArgs, type DiscretizationConfig } from './discretization.js';
export type { IndexLookupArgs, IndexLookupConfig } from './index_lookup.js';
export type { CellData, IdsOf, NumberArray } from './cells.js';
