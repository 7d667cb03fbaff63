/** Models as files of Keras. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { pathOf } from '../../io/byte_source.js';
import { writeWhole } from '../../io/whole_file.js';
import { checkBoolean } from '../../base/layer_arguments.js';
import { readOptions } from '../../base/options.js';
import { writeKerasFile } from './export/keras_file.js';
import { exportModel } from './export/model_json.js';

export interface ExportKerasOptions {
  /** Whether a file that exists is replaced; false by default. */
  overwrite?: boolean | undefined;
}

/**
 * Writes a model as a `.keras` file, which `keras.saving.load_model` of Python reads (Keras 3); returns when it is there.
 *
 * Embedding layers without a combiner become `keras.layers.Embedding`; those with one `EmbedReduce` of Keras RS, where
 * negative ids of `RaggedEmbedding` and id 0 with `maskZero` weigh 0; `DistributedEmbedding`, `DotInteraction` and
 * `FeatureCross` their namesakes of Keras RS. A model without them needs Keras alone. Optimizer and loss are not written.
 * `file`: a path, or a WritableStream where there are no files. A file is there whole or not at all. All weights must fit
 * into memory twice.
 * Tables of `emb.quantize` are written as the float32 numbers that they are read as. Layers over open tables become a
 * `StringLookup` or `IntegerLookup` of the keys that have a row, before an embedding of those rows: Python feeds the keys.
 * Strings need `keepTexts`, ragged rows a `paddingKey`; rows that unknown keys share are refused.
 * Source: keras.Model.save (Keras 3.15).
 *
 * @param model - A model of layers of tfjs and of this package.
 * @param file - A path, or a stream.
 * @param options - Whether a file that exists is replaced.
 * @returns Resolves when the file is whole.
 * @throws TypeError for anything but a layers model; RuntimeError for one that is not built; ValueError, which names
 * the layer and the field, for what Keras computes in another way or not at all; ValueError for a file that exists.
 *
 * @example
 * await emb.exportKeras(model, 'model.keras', {overwrite: true});
 * // Python: import keras, keras_rs; keras.saving.load_model('model.keras')
 */
export async function exportKeras(
  model: tf.LayersModel,
  file: string | WritableStream<Uint8Array>,
  options: ExportKerasOptions = {},
): Promise<void> {
  const overwrite = checkBoolean(readOptions<ExportKerasOptions>(options, ['overwrite']).overwrite, 'overwrite', false);
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a tf.LayersModel', model);
  if ((model.outputs ?? []).length === 0)
    throw new RuntimeError('model', 'a model that was built', described(`${model.name}, which was not`));
  // A Sequential makes the graph of its layers when it is first used.
  if (!model.built) model.build(null as never);
  const exported = exportModel(model);
  if (typeof file === 'string') {
    if (!pathOf(file).endsWith('.keras')) throw new ValueError('file', 'a path that ends in .keras', file);
    return writeWhole(pathOf(file), overwrite, (write) => writeKerasFile(exported, write));
  }
  if (!(file instanceof WritableStream)) throw new ArgumentTypeError('file', 'a path or a WritableStream', file);
  const writer = (file as WritableStream<Uint8Array>).getWriter();
  try {
    await writeKerasFile(exported, (chunk) => writer.write(chunk));
    await writer.close();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}
