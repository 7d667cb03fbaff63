/** Captured steps and functions over tables that get rows. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, expectCaptured, modelOf, ROWS, trainTwins } from './training.js';
import { drawIds } from './twins.js';

const EVERY = 6;
const TIMES = 10;

function extendAll(model: tf.LayersModel): void {
  for (const layer of model.layers) if (layer instanceof emb.Embedding) layer.extend({ rows: 3, initializer: 'ones' });
}

describeSteps('Captured steps over tables that get rows', () => {
  it('are captured anew, however often, and give the numbers of eager ones', async () => {
    let rows = ROWS;
    const result = trainTwins(modelOf, {
      steps: EVERY * TIMES,
      between(model, step) {
        if (step === 0) rows = ROWS;
        if (step === 0 || step % EVERY > 0) return;
        if (step > EVERY && emb.stepInfo(model).reason === null) expect(emb.stepInfo(model).captured).toBeTrue();
        extendAll(model);
        rows += 3;
      },
      ids: (random, batch) => drawIds(random, batch, 2, rows),
    });
    await expectCaptured(result);
  });

  it('are so where a table grows between the two steps that are compared', async () => {
    const result = trainTwins(modelOf, {
      between: (model, step) => {
        if (step === 2) extendAll(model);
      },
      ids: (random, batch, step) => drawIds(random, batch, 2, step < 2 ? ROWS : ROWS + 3),
    });
    await expectCaptured(result);
  });

  for (const grows of [[2], [7], [2, 7, 12, 17, 22, 27, 32, 37, 42, 47]]) {
    it(`functions of users too: after calls ${grows.join(', ')}`, () => {
      function train(isCaptured: boolean): number[] {
        const layer = emb.layers.embedding({ inputDim: 6, outputDim: 3, combiner: 'sum', seed: 1 });
        const optimizer = emb.train.adagrad({ learningRate: 0.2 });
        const step = (ids: tf.Tensor2D): tf.Tensor =>
          optimizer.minimize(() => (layer.apply(ids) as tf.Tensor).square().sum(), true)!;
        const captured = isCaptured ? emb.capture(step) : null;
        const losses: number[] = [];
        for (let at = 0; at < 52; at++) {
          if (grows.includes(at)) layer.extend({ rows: 2 });
          const { inputDim = 6 } = layer;
          tf.tidy(() => {
            const ids = tf.tensor2d([[at % inputDim, inputDim - 1]], [1, 2], 'int32');
            losses.push((captured ?? step)(ids).dataSync()[0]!);
          });
        }
        if (captured !== null) {
          expect(captured.info).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
          expect(captured.verify()).toBeTrue();
          captured.dispose();
        }
        losses.push(...layer.table.variable!.dataSync());
        optimizer.dispose();
        layer.dispose();
        return losses;
      }
      expect(train(true)).toEqual(train(false));
    });
  }
});
