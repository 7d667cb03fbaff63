/** Models as files of ONNX: `emb.onnx`. What writes and reads them is loaded on first use. */
import type * as tf from '@tensorflow/tfjs';
import type { ByteInput } from '../../io/byte_source.js';
import type { FileTarget } from '../../io/weights/write_arrays.js';
import type { OnnxInputs } from './check.js';
import type { OnnxOptions } from './export_options.js';

/**
 * Writes a layers model as a file of ONNX, which onnxruntime runs in Python, in Node, in pages and elsewhere.
 *
 * Resolves once the file is whole; a file of that name is replaced. The model may be any that `emb.savedModel.export`
 * takes, but for layers that ONNX has no ops for, such as hashing, which are refused by name. Inputs and outputs have the
 * names of their layers, in letters, digits and `_`; layers act as in `predict`. Ids are int32, or int64 with `ids`; below
 * 0 they are padding where the layer says so, and an error elsewhere. With `ragged: 'components'` a feature `seen` comes as
 * `seen_values` [n] and `seen_row_splits` [rows + 1]. Pooled rows of values and row splits are the differences of sums in
 * double, which threads cannot disturb, where no number of the table is beyond 1,024; elsewhere rows are padded. Rows of
 * float16 and int8 stay as they are in the file, and are widened as they are read. Open tables are frozen: with
 * `keys: 'embedded'` the graph takes keys, int64, or strings where the table keeps texts; with `'rows'` it takes the
 * numbers of their rows, -1 for padding and 2^31 - 1 for a key without one. Values of 1 kB and more go into
 * `file` + `.data` with `externalData`, which is the default above 2 GB. Tables of any size are read in pieces.
 * Source: torch.onnx.export (PyTorch 2.9); the ops of ONNX 1.13 (opset 18) and ai.onnx.ml 4.
 *
 * @param model - A model of layers of tfjs and of this package.
 * @param file - A path, or a WritableStream where there are no files.
 * @param options - The version of ops, types of ids, keys of open tables, ragged inputs and where values lie.
 * @returns Resolves when all of it is there.
 * @throws TypeError for wrong types; ValueError for a layer that ONNX cannot express, which it names, for unknown options,
 * and for `externalData` without a path; RuntimeError where the system refuses.
 *
 * @example
 * await emb.onnx.export(model, 'ctr.onnx', { ids: 'int64' });
 */
async function exportOnnx(model: tf.LayersModel, file: FileTarget, options: OnnxOptions = {}): Promise<void> {
  const onnx = await import('./export.js');
  return onnx.exportOnnx(model, file, options);
}

/**
 * Runs a file of ONNX in onnxruntime, and the model that it was written from, on the same inputs.
 *
 * Returns the largest |a - b| over all numbers of all outputs; NaN beside NaN is none, NaN beside a number is Infinity.
 * Needs the package `onnxruntime-node`, which this package does not bring along: `npm install --ignore-scripts
 * onnxruntime-node`, as its install script fetches parts for GPUs.
 *
 * @param file - The path of a file that `emb.onnx.export` wrote.
 * @param model - The model.
 * @param inputs - As `predict` takes them: one, a list, or an object by name; tensors, keys of open tables, and
 * RaggedTensors where the file takes values and row splits.
 * @returns The largest difference.
 * @throws RuntimeError where the package is not installed; TypeError and ValueError for other files, for inputs that do
 * not fit the model, and where an output has another shape.
 *
 * @example
 * const difference = await emb.onnx.check('ctr.onnx', model, tf.tensor2d([[3, 7]], [1, 2], 'int32')); // below 1e-5
 */
async function checkOnnx(file: string, model: tf.LayersModel, inputs: OnnxInputs): Promise<number> {
  const onnx = await import('./check.js');
  return onnx.checkOnnx(file, model, inputs);
}

/**
 * Loads a layers model from a file of ONNX that `emb.onnx.export` wrote; it trains as any other.
 *
 * Returns the model, not compiled; tables of float16 and int8 come back as the float32 numbers that they were read as. The
 * file holds what the layers are beside its graph, and the checksums of all weights, which are compared; the graph itself
 * is not run. Keys of open tables come back with their rows.
 *
 * @param source - A path (with the entry `tfjs-embeddings/node`), a URL, a File or Blob, or bytes.
 * @returns The model.
 * @throws TypeError for another kind of source; ValueError for files of others, whose tables `emb.weights.readOnnx` reads,
 * and for damaged ones; RuntimeError where the system refuses.
 *
 * @example
 * const model = await emb.onnx.load('ctr.onnx');
 */
async function loadOnnx(source: ByteInput): Promise<tf.LayersModel> {
  const onnx = await import('./load.js');
  return onnx.loadOnnx(source);
}

export { exportOnnx as export, checkOnnx as check, loadOnnx as load };
export type { OnnxInput, OnnxInputs } from './check.js';
export type { OnnxIds, OnnxKeys, OnnxOptions } from './export_options.js';
