/** Captured steps of ids that come as float32, as `tf.tensor2d` makes them of numbers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { currentBackend } from '../../../src/backends/registry.js';
import type { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type BadInputs, type Batch } from './checked_models.js';
import { ROWS, describeSteps, expectCaptured, modelOf, sigmoid, trainTwins } from '../training.js';
import { drawIds } from '../twins.js';

const [BATCH, WIDTH] = [8, 4];

/** Every kind of layer that takes ids, some of them masked, of an input of int32. */
function build(): tf.LayersModel {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const { embedding, raggedEmbedding, concatOneHotEmbedding, distributedEmbedding } = emb.layers;
  const pooled = [
    embedding({ inputDim: ROWS, outputDim: 4, combiner: 'mean', maskZero: true }),
    raggedEmbedding({ inputDim: ROWS, outputDim: 3, combiner: 'sum', embeddingsRegularizer: 'l1l2' }),
  ].map((layer) => layer.apply(ids) as tf.SymbolicTensor);
  const many = distributedEmbedding({ embeddings: [embedding({ inputDim: ROWS, outputDim: 3, combiner: 'sum' })] });
  const sizes = { featureSizes: Array.from({ length: WIDTH }, () => ROWS), embeddingWidth: 2 };
  const rows = concatOneHotEmbedding(sizes).apply(ids) as tf.SymbolicTensor;
  const all = [
    ...pooled,
    ...[many.apply([ids]) as tf.SymbolicTensor[]].flat(),
    tf.layers.flatten().apply(rows) as tf.SymbolicTensor,
  ];
  return tf.model({ inputs: ids, outputs: sigmoid(tf.layers.concatenate().apply(all) as tf.SymbolicTensor) });
}

function draw(random: Random): Batch {
  return tf.tidy(() => {
    const ids = drawIds(random, BATCH, WIDTH, ROWS);
    return { x: ids.toFloat(), y: ids.sum(1, true).mod(2).toFloat() };
  });
}

const bad = (title: string, id: number, message: RegExp): BadInputs => ({
  title,
  x: () =>
    tf.tensor2d(
      Array.from({ length: BATCH * WIDTH }, (_, i) => (i === 6 ? id : 1)),
      [BATCH, WIDTH],
    ),
  error: emb.ValueError,
  message,
});

describeSteps('Captured steps of float32 ids', () => {
  const refused = [
    bad('a fraction', 2.5, /must be integers: 2\.5 at position 6/),
    bad('NaN', NaN, /must be integers: NaN at position 6/),
    bad('infinity', -Infinity, /must be integers: -Infinity at position 6/),
    bad('an id that float32 may have rounded', 2 ** 25, /below 2\^24 .*received 33554432 at position 6/),
    bad('an id out of range', ROWS, /expected ids in \[0, 50\) .*received 50/),
  ];
  describe('of every kind of layer', () => itIsCapturedRight({ build, draw, bad: refused }));

  it('are captured, whatever the layers above are', async () => {
    const ids = (random: Random, batch: number): tf.Tensor2D => {
      return tf.tidy(() => drawIds(random, batch, 2, ROWS).toFloat());
    };
    await expectCaptured(trainTwins(() => modelOf(), { ids }));
  });

  it('have no number that the op rounds', () => {
    const ids = [0, -0, 1, -1, 1 - 2 ** 24, 2 ** 24 - 1];
    tf.tidy(() => {
      const whole = currentBackend().ops!.wholeIds(tf.tensor1d(ids, 'float32'));
      expect(whole.dtype).toBe('int32');
      expect([...whole.dataSync()]).toEqual(ids.map((id) => id | 0));
      for (const id of [2 ** 24, -(2 ** 24), 2 ** 24 + 2, 0.5, 1e-45, NaN, Infinity]) {
        expect(() => currentBackend().ops!.wholeIds(tf.tensor1d([1, id]))).toThrowError(/at position 1/);
      }
    });
  });
});
