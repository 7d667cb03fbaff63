/** Models whose tables keep their rows in fewer bits. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import type { Storage } from '../codecs/codec.js';
import { STORAGES } from '../codecs/codecs.js';
import { convertedModel, isBuilt, isTableWeight } from './converted_model.js';

export interface QuantizeOptions {
  /** What rows are stored as; 'float32' turns a quantized table back. */
  dtype: Storage;
}

function readDtype(options: unknown): Storage {
  const { dtype } = readOptions<QuantizeOptions>(options, ['dtype']);
  const expected = `one of ${STORAGES.join(', ')}`;
  if (typeof dtype !== 'string') throw new ArgumentTypeError('dtype', expected, dtype);
  if (!STORAGES.includes(dtype)) throw new ValueError('dtype', expected, dtype);
  return dtype;
}

function checkModel(model: unknown): tf.LayersModel {
  const expected = 'a model of tfjs layers that was built';
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', expected, model);
  if (isBuilt(model)) return model;
  throw new RuntimeError('model', expected, described('one that was not'), 'Call build() or predict first.');
}

/** Layers that keep tables of their own kind, in models within models and wrappers too. */
function refuseOthers(model: tf.LayersModel): void {
  const text = JSON.stringify(model.getConfig());
  if (!text.includes('"TfjsEmbeddings>TPUEmbedding"')) return;
  const note = 'Its tables are sharded for SparseCores; TPUEmbeddingForServing looks them up without devices.';
  throw new ValueError('model', 'a model without tpuEmbedding layers', described('one with such a layer'), note);
}

/**
 * Returns a model for inference whose tables keep their rows in fewer bits; the given one stays as it is.
 *
 * `'int8'`: codes of 8 bits with a float32 scale and offset per row, which takes [rows, dim / 4 + 2] words of 4 bytes in
 * place of [rows, dim]. A value x is read as scale * code + offset, within scale / 2 of x, where the scale is the range
 * of the row / 255; a row of equal values is read as it was. `'float16'`: halves, rounded to the nearest, ties to even;
 * NaN and infinity stay. `'float32'`: the numbers that packed rows are read as, for training in float32 or for programs
 * that know no other. All tables of this package's layers are converted, in nested models and wrappers too; dense
 * weights, stock embedding layers and results stay float32. The model has no loss or optimizer, layers with packed tables
 * are frozen, and it is saved and loaded with equal bits; the weight of a table is an int32 tensor of words. A layer with
 * a float16 table may be thawed, `layer.trainable = true`, and trained on by an optimizer of `emb.train`. Lookups take
 * all that they took before: combiners, weights, with gradients for them, ragged ids, maxNorm.
 * It runs on `cpu`, `wasm` and `tensorflow`; on `tpu-emulator` tables of layers of one table stay in the host's memory.
 * Source: the row-wise quantization of FBGEMM 1.9 (FloatToFused8BitRowwiseQuantized) and of torch's quantized embedding bags.
 *
 * @param model - A model of layers of tfjs and of this package, built.
 * @param options - `dtype`: what rows are kept in.
 * @returns A model of the same class, layers and names.
 * @throws TypeError for no model and a missing dtype; ValueError for other dtypes, a model without such tables or with
 * `tpuEmbedding` layers, NaN or infinity in an int8 row, a row whose range is beyond float32, and numbers beyond 65504 in
 * halves; RuntimeError for a model that was not built.
 *
 * @example
 * const small = emb.quantize(model, {dtype: 'int8'});
 * small.predict(ids).print();
 */
export function quantize(model: tf.LayersModel, options: QuantizeOptions): tf.LayersModel {
  const given = checkModel(model);
  const dtype = readDtype(options);
  refuseOthers(given);
  const hasTables = given.weights.some((weight) => isTableWeight(weight));
  if (hasTables) return convertedModel(given, dtype);
  const note = 'Stock embedding layers stay float32: emb.useForKerasEmbedding() loads them as ours.';
  throw new ValueError('model', 'a model with embedding tables of this package', described('none'), note);
}
