/** Weights in files of NumPy, PyTorch and ONNX; `tfjs-embeddings/layers` has them without ONNX, which weighs a few kB. */
import type * as files from '../io/weights/index.js';

export {
  applyDelta,
  load,
  readNpy,
  readNpz,
  readRows,
  readSafetensors,
  writeNpy,
  writeNpz,
  writeSafetensors,
} from '../io/weights/index.js';
export { readOnnx, type ReadOnnxOptions } from '../io/weights/read_onnx.js';

// Named here, as the bundler of declarations takes types of another chunk for values.
export type ByteInput = files.ByteInput;
export type FileTarget = files.FileTarget;
export type LoadWeightsOptions = files.LoadWeightsOptions;
export type Tables = files.Tables;
