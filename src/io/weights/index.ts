/** Weights in files of NumPy and PyTorch. */
export { applyDelta } from './apply_delta.js';
export { load, type LoadWeightsOptions } from './load.js';
export { readNpy, readNpz, readRows, readSafetensors } from './read_arrays.js';
export { writeNpy, writeNpz, writeSafetensors, type FileTarget, type Tables } from './write_arrays.js';
export type { ByteInput } from '../byte_source.js';
