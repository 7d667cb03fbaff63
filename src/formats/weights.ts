/** Weights in files of NumPy, PyTorch and ONNX; `tfjs-embeddings/layers` has them without ONNX, which weighs a few kB. */
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
export type { ByteInput, FileTarget, LoadWeightsOptions, Tables } from '../io/weights/index.js';
export { readOnnx, type ReadOnnxOptions } from '../io/weights/read_onnx.js';
