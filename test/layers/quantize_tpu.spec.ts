/** Models with tpuEmbedding layers are not quantized: their tables are sharded for cores. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';

/** A model whose layer is `tpuEmbedding`, with a table of another layer beside it. */
function tpuModel(version: 1 | 2): tf.LayersModel {
  const table = new emb.tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', name: 't' });
  const featureConfig = new emb.tpu.FeatureConfig({ table });
  const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer: new emb.tpu.SGD(), version });
  const ids = tf.input({ shape: [3], dtype: 'int32' });
  const own = emb.layers.embedding({ inputDim: 8, outputDim: 4, combiner: 'sum' }).apply(ids) as tf.SymbolicTensor;
  const rows = layer.apply(ids) as tf.SymbolicTensor;
  return tf.model({ inputs: ids, outputs: tf.layers.add().apply([own, rows]) as tf.SymbolicTensor });
}

describe('quantize of tpuEmbedding', () => {
  for (const version of [1, 2] as const) {
    for (const dtype of ['int8', 'float16', 'float32'] as const) {
      it(`is refused in ${dtype} for version ${version}, also within another model`, () => {
        const model = tpuModel(version);
        const ids = tf.input({ shape: [3], dtype: 'int32' });
        const outer = tf.model({ inputs: ids, outputs: model.apply(ids) as tf.SymbolicTensor });
        const sequential = tf.sequential({ layers: [tpuModel(version)] });
        for (const each of [model, outer, sequential]) {
          expectError(() => emb.quantize(each, { dtype }), 'ValueError', 'model', 'one with such a layer');
        }
        tf.dispose([model, sequential].flatMap(({ weights }) => weights.map((weight) => weight.read())));
      });
    }
  }
});
