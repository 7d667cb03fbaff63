/** Lookups alone, without layers, optimizers, the emulator and ops of TensorFlow. Importing this file registers the kernels. */
import { registerLookupBackends } from '../backends/register.js';

registerLookupBackends();

export { embeddingBag } from './embedding_bag.js';
export { embeddingBags } from './embedding_bags.js';
export { embeddingBagGrad } from './embedding_bag_grad.js';
export { sparseApply } from './sparse_apply.js';
export { embeddingLookup, type EmbeddingLookupOptions } from './embedding_lookup.js';
export { safeEmbeddingLookup, type SafeEmbeddingLookupOptions } from './safe_embedding_lookup.js';
export { backendInfo, setKernels, setThreads, type BackendInfo } from '../backends/registry.js';
export { ready, setWasmPath } from '../backends/wasm/module.js';
export { ArgumentTypeError as TypeError, RuntimeError, ValueError } from '../base/errors.js';
export type { DenseIds, IdsInput, RaggedIds } from '../ids/parse_ids.js';
export { RaggedTensor } from '../ids/ragged_tensor.js';
export { reorder } from '../ids/sparse.js';
export type { SparseInput, SparseValues } from '../ids/sparse_values.js';
export type { WeightsInput } from '../ids/weights.js';
export type { Combiner, OutOfRange } from '../base/types.js';
