import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { artifactsOf, expectClose, leakFree, reload, take, useCpu } from './setup.js';

interface KerasCase {
  readonly inputs: Record<string, { shape: number[]; values: number[] }>;
  readonly outputs: Record<string, { values: number[] }>;
}

/** A model that the converter of tfjs wrote from Keras, with an input and what Keras computes from it. */
function readKeras(name: string): { artifacts: tf.io.ModelArtifacts; input: tf.Tensor; wanted: number[] } {
  const file = (each: string): URL => new URL(`../goldens/keras_models/${name}/${each}`, import.meta.url);
  const model = JSON.parse(readFileSync(file('model.json'), 'utf8')) as tf.io.ModelJSON;
  const [group] = model.weightsManifest;
  const bytes = readFileSync(file(group!.paths[0]!));
  const golden = JSON.parse(readFileSync(file('case.json'), 'utf8')) as KerasCase;
  const [{ shape, values }] = Object.values(golden.inputs) as [KerasCase['inputs'][string]];
  return {
    artifacts: {
      modelTopology: model.modelTopology,
      weightSpecs: group!.weights,
      weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
    },
    input: tf.tensor(values, shape, 'int32'),
    wanted: Object.values(golden.outputs)[0]!.values,
  };
}

describe('useForKerasEmbedding', () => {
  beforeAll(useCpu);

  for (const name of ['nvidia_embedding_sum', 'nvidia_embedding_none']) {
    it(
      `loads ${name} with its combiner`,
      leakFree(async () => {
        const { artifacts, input, wanted } = readKeras(name);
        const undo = emb.useForKerasEmbedding();
        const model = await reload(artifacts).finally(undo);
        const layer = model.getLayer('user_id_embedding') as emb.Embedding;
        expect(layer).toBeInstanceOf(emb.Embedding);
        expect(layer.combiner).toBe(name.endsWith('sum') ? 'sum' : null);
        expectClose(take(model.predict(input)), wanted);
        // Saved again, it names our class, and needs no opt-in any more.
        const again = await reload(await artifactsOf(model));
        expect(again.getLayer('user_id_embedding')).toBeInstanceOf(emb.Embedding);
        expectClose(take(again.predict(input)), wanted);
        input.dispose();
        again.dispose();
        model.dispose();
      }),
    );
  }

  it('changes nothing unless called, and can be undone', () => {
    const map = tf.serialization.SerializationMap.getMap().classNameMap;
    const stock = tf.layers.embedding({ inputDim: 1, outputDim: 1 });
    expect(map['Embedding']![0] as unknown).toBe(stock.constructor);
    const undo = emb.useForKerasEmbedding();
    expect(map['Embedding']![0] as unknown).toBe(emb.Embedding);
    expect(map['kerasRs>EmbedReduce']![0] as unknown).toBe(emb.Embedding);
    expect(tf.layers.embedding({ inputDim: 1, outputDim: 1 })).not.toBeInstanceOf(emb.Embedding);
    undo();
    expect(map['Embedding']![0] as unknown).toBe(stock.constructor);
    expect(map['EmbedReduce']).toBeUndefined();
  });

  it(
    'leaves stock models as they are',
    leakFree(async () => {
      const make = (): tf.Sequential =>
        tf.sequential({
          layers: [tf.layers.embedding({ inputDim: 5, outputDim: 2, inputLength: 3 }), tf.layers.flatten()],
        });
      const model = make();
      const loaded = await reload(await artifactsOf(model));
      expect(loaded.layers[0]!.getClassName()).toBe('Embedding');
      const input = tf.tensor2d([[1, 2, 3]], [1, 3], 'int32');
      expect(take(loaded.predict(input))).toEqual(take(model.predict(input)));
      input.dispose();
      loaded.dispose();
      model.dispose();
    }),
  );
});
