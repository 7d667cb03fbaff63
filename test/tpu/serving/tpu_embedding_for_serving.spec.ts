import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const { tpu } = emb;

describe('tpu.TPUEmbeddingForServing', () => {
  const initializer = new tpu.RowIdInitializer();
  const tables = (): { video: emb.tpu.TableConfig; user: emb.tpu.TableConfig } => ({
    video: new tpu.TableConfig({ vocabularySize: 8, dim: 4, initializer, combiner: 'sum', name: 'video' }),
    user: new tpu.TableConfig({ vocabularySize: 16, dim: 2, initializer }),
  });

  it('looks up in the structure of the features, with weights', () => {
    const { video, user } = tables();
    const featureConfig = {
      watched: new tpu.FeatureConfig({ table: video }),
      people: [new tpu.FeatureConfig({ table: user })],
    };
    expectNoLeak(() => {
      const serving = new tpu.TPUEmbeddingForServing({ featureConfig });
      const watched = emb.RaggedTensor.fromRows([[1, 2], [7]]);
      const weights = emb.RaggedTensor.fromRows([[0.5, 2], [1]]);
      const people = [tf.tensor1d([3, 4], 'int32')];
      const found = serving.call({ people, watched }, { watched: weights, people: [null] }) as {
        watched: tf.Tensor;
        people: tf.Tensor[];
      };
      expect(found.watched.arraySync()).toEqual([
        [4.5, 4.5, 4.5, 4.5],
        [7, 7, 7, 7],
      ]);
      expect(found.people[0]!.arraySync()).toEqual([
        [3, 3],
        [4, 4],
      ]);
      tf.dispose([found, people]);
      serving.dispose();
    });
  });

  it('names tables without a name and gives them its optimizer, as TensorFlow does', () => {
    const { video, user } = tables();
    const optimizer = new tpu.Adagrad();
    const featureConfig = { b: new tpu.FeatureConfig({ table: user }), a: new tpu.FeatureConfig({ table: video }) };
    expectNoLeak(() => {
      const serving = new tpu.TPUEmbeddingForServing({ featureConfig, optimizer });
      expect([...serving.embeddingTables.keys()]).toEqual([video, user]);
      expect([video.name, user.name]).toEqual(['video', 'table_1']);
      expect(user.optimizer).toBe(optimizer);
      const { parameters, accumulators } = serving.variables.get('table_1')!;
      expect(parameters).toBe(serving.embeddingTables.get(user)!);
      expect(parameters!.trainable).toBeTrue();
      expect(accumulators!.trainable).toBeFalse();
      expect(accumulators!.arraySync()).toEqual(Array.from({ length: 16 }, () => [Math.fround(0.1), Math.fround(0.1)]));
      serving.dispose();
    });
  });

  it('works without an optimizer, more than once', () => {
    const { video } = tables();
    const featureConfig = new tpu.FeatureConfig({ table: video });
    expectNoLeak(() => {
      const all = [1, 2].map(() => new tpu.TPUEmbeddingForServing({ featureConfig }));
      for (const serving of all) {
        const found = serving.call([3]) as tf.Tensor;
        expect(found.arraySync()).toEqual([[3, 3, 3, 3]]);
        expect(Object.keys(serving.variables.get('video')!)).toEqual(['parameters']);
        found.dispose();
        serving.dispose();
      }
    });
  });

  it('refuses tables of one name, other optimizers and what are no features', () => {
    const { video, user } = tables();
    user.name = 'video';
    const featureConfig = [new tpu.FeatureConfig({ table: video }), new tpu.FeatureConfig({ table: user })];
    const make = (args: object) => () => new tpu.TPUEmbeddingForServing(args as never);
    expectError(make({ featureConfig }), 'ValueError', 'name', 'video');
    expectError(make({ featureConfig: featureConfig.slice(1), optimizer: tf.train.sgd(1) }), 'ValueError', 'optimizer');
    expectError(make({ featureConfig: { a: 3 } }), 'TypeError', 'featureConfig.a');
    expectError(make({ featureConfig: [] }), 'ValueError', 'featureConfig');
    const ints = new tpu.TableConfig({ vocabularySize: 8, dim: 4, dtype: 'int32' });
    expectError(make({ featureConfig: new tpu.FeatureConfig({ table: ints }) }), 'ValueError', 'dtype', 'int32');
  });

  it('refuses what is no part of its features, and weights of another kind, with the path', () => {
    const { video } = tables();
    const serving = new tpu.TPUEmbeddingForServing({
      featureConfig: { seen: new tpu.FeatureConfig({ table: video }) },
    });
    serving.build();
    expectNoLeak(() => {
      const [seen, halves] = [emb.RaggedTensor.fromRows([[1], [2]]), emb.RaggedTensor.fromRows([[0.5], [0.5]])];
      const call =
        (ids: unknown, weights: unknown = null) =>
        (): unknown =>
          serving.call(ids as never, weights as never);
      expectError(call({ other: seen }), 'ValueError', 'inputs.other', 'no feature');
      expectError(call([seen]), 'ValueError', 'inputs');
      expectError(call({ seen: 'text' }), 'ValueError', 'inputs.seen', 'text');
      expectError(call({ seen: [1, 2] }, { seen: [1, 1] }), 'ValueError', 'weights.seen', 'dense');
      expectError(call({ seen: [1, 2] }, { seen: halves }), 'ValueError', 'weights.seen', 'ragged');
      expectError(call({ seen }, { seen: [1, 1] }), 'ValueError', 'weights.seen', 'dense');
      expectError(call({ seen }, { other: halves }), 'ValueError', 'weights.other', 'no feature');
    });
    serving.dispose();
  });

  it('refuses initial values of another shape', () => {
    const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, initializer: () => tf.zeros([2, 2]) });
    const serving = new tpu.TPUEmbeddingForServing({ featureConfig: new tpu.FeatureConfig({ table }) });
    expectNoLeak(() => expect(() => serving.build()).toThrowError(/shape \[8, 4\]/));
  });
});
