/** Weights in files of NumPy, PyTorch and ONNX; `tfjs-embeddings/layers` has them without ONNX, which weighs a few kB. */
export * from '../io/weights/index.js';
export { readOnnx, type ReadOnnxOptions } from '../io/weights/read_onnx.js';
