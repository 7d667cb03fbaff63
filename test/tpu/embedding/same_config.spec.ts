/** Objects that are made of one config, one after the other. */
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { fixture, onCores, ragged, ROWS, stepOfOnes, valuesOf } from './fixture.js';

const { tpu } = emb;

describe('TPUEmbedding, made twice from one config', () => {
  it('has the same tables, shapes and steps', async () => {
    await onCores(2, () => {
      const { features, video, user } = fixture();
      video.name = null;
      const made = [1, 2].map(() => {
        const optimizer = new tpu.Adagrad({ learningRate: 0.1 });
        const embedding = new tpu.TPUEmbedding({
          featureConfig: features,
          optimizer,
        }) as unknown as emb.tpu.TPUEmbedding;
        const activations = stepOfOnes(embedding, ROWS.map(ragged));
        const tables = [...embedding.embeddingTables.keys()];
        expect(tables).toEqual([video, user]);
        const told = {
          activations,
          names: tables.map(({ name }) => name),
          shapes: embedding.outputShapes as unknown,
          weights: valuesOf(embedding.getWeights() as tf.Tensor[]),
        };
        embedding.dispose();
        return told;
      });
      expect(made[0]!.names).toEqual(['table_0', 'user']);
      expect(made[1]).toEqual(made[0]!);
    });
  });

  it('asks learning rates in the order of the tables, whatever the order of the features', async () => {
    await onCores(2, () => {
      for (const isReversed of [false, true]) {
        const { features, video, user } = fixture();
        const asked: string[] = [];
        const rateOf = (name: string) => (): number => (asked.push(name), 0.1);
        video.optimizer = new tpu.SGD({ learningRate: rateOf('video') });
        user.optimizer = new tpu.SGD({ learningRate: rateOf('user') });
        const order = isReversed ? [2, 1, 0] : [0, 1, 2];
        const featureConfig = order.map((i) => features[i]!);
        const embedding = new tpu.TPUEmbedding({ featureConfig }) as unknown as emb.tpu.TPUEmbedding;
        for (let step = 0; step < 2; step++)
          stepOfOnes(
            embedding,
            order.map((i) => ragged(ROWS[i]!)),
          );
        const once = isReversed ? ['user', 'video'] : ['video', 'user'];
        expect(asked).toEqual([...once, ...once]);
        embedding.dispose();
      }
    });
  });
});
