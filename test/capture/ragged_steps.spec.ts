/** Captured steps of ragged inputs: one graph for any number of ids, and of rows of what `fit` is given. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { openOutputs } from '../../src/capture/row_counts.js';
import { Random } from '../helpers/random.js';
import { describeSteps } from './training.js';

const ROWS = 30;

function drawn(random: Random, samples: number, isEmpty = false): emb.RaggedTensor {
  const rows = Array.from({ length: samples }, () =>
    Array.from({ length: isEmpty ? 0 : random.whole(0, 7) }, () => random.whole(0, ROWS)),
  );
  return emb.RaggedTensor.fromRows(rows, { dtype: 'int32' });
}

function built(): tf.LayersModel {
  const inputs = ['a', 'b'].map((name) => emb.input({ shape: [null], ragged: true, name }));
  const parts = inputs.map((each, seed) => {
    const embeddingsInitializer = tf.initializers.randomUniform({ minval: -1, maxval: 1, seed: seed + 1 });
    const own = {
      inputDim: ROWS,
      outputDim: 4,
      combiner: 'mean',
      maskZero: seed === 1,
      embeddingsInitializer,
    } as const;
    return emb.layers.raggedEmbedding(own as never).apply(each) as tf.SymbolicTensor;
  });
  const kernelInitializer = tf.initializers.randomUniform({ seed: 3 });
  const joined = tf.layers.concatenate().apply(parts);
  const model = tf.model({
    inputs,
    outputs: tf.layers.dense({ units: 1, kernelInitializer }).apply(joined) as tf.SymbolicTensor,
  });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

/** Trains on sets of different sizes, of which some batches have no ids; losses, predictions and what was captured. */
async function trained(isCaptured: boolean): Promise<{ numbers: number[]; info: emb.StepInfo }> {
  const model = built();
  emb.setCapture(isCaptured, model);
  const random = new Random(7);
  const numbers: number[] = [];
  for (const samples of [8, 12, 20, 16]) {
    const x = [drawn(random, samples), drawn(random, samples)];
    const y = tf.ones([samples, 1]);
    const { history } = await model.fit(x, y, { batchSize: 4, epochs: 2, shuffle: false, verbose: 0 });
    numbers.push(...(history['loss'] as number[]));
    y.dispose();
  }
  const info = emb.stepInfo(model);
  const y = tf.ones([4, 1]);
  for (let step = 0; step < 12; step++) {
    const isEmpty = step % 4 === 1;
    const x = [drawn(random, 4, isEmpty), drawn(random, 4, isEmpty)];
    numbers.push((await model.trainOnBatch(x, y)) as number);
    tf.tidy(() => numbers.push(...(model.predictOnBatch(x) as tf.Tensor).dataSync()));
  }
  y.dispose();
  for (const weight of model.getWeights()) numbers.push(...weight.dataSync());
  emb.setCapture(true, model);
  model.optimizer.dispose();
  model.dispose();
  return { numbers, info };
}

describeSteps('Captured steps of ragged inputs', () => {
  it('equal the steps op by op, in one graph for data sets of all sizes', async () => {
    const [captured, eager] = [await trained(true), await trained(false)];
    captured.numbers.forEach((value, i) => {
      expect(value).withContext(`number ${i}`).toBeCloseTo(eager.numbers[i]!, 5);
    });
    expect(captured.info).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    expect(eager.info.captured).toBeFalse();
  });

  it('know which sizes the rows of a batch decide', () => {
    const gather = { name: 'RaggedGather', attributes: [], isOpen: [true, true, false], ranks: [1, 1, 1] };
    expect(openOutputs(gather)).toEqual([false, true]);
  });
});
