/** Layers that draw random numbers in training: steps with them are captured, and draw anew. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { DROPOUT, DROPS } from '../../../src/capture/overrides/dropout.js';
import { NOISE } from '../../../src/capture/overrides/noise.js';
import { RECURRENT_DROPOUT } from '../../../src/capture/overrides/recurrent_dropout.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import { Random } from '../../helpers/random.js';
import { describeSteps } from '../training.js';
import { largest, withRandom } from '../twins.js';
import { RANDOM, STEPS, WIDTH, freeMasks, modelOf, type Layered } from './random_layers.js';

const OPS = [DROPOUT, DROPS, RECURRENT_DROPOUT, NOISE];

type Step = (data: tf.Tensor[]) => tf.Tensor[];
const stepOf = (model: tf.LayersModel): Step => (model as unknown as { makeTrainFunction(): Step }).makeTrainFunction();

interface Run {
  readonly losses: number[];
  readonly weights: Float32Array[];
  readonly info: emb.StepInfo;
}

interface How {
  readonly isCaptured: boolean;
  readonly learningRate: number;
  readonly steps: number;
  readonly batch?: number;
  /** Whether ops draw though the steps are not captured. */
  readonly byOps?: boolean;
  readonly between?: (model: tf.LayersModel, step: number) => void;
}

function data(batch: number): [tf.Tensor3D, tf.Tensor2D] {
  const random = new Random(3);
  const x = tf.tensor3d(random.floats(batch * STEPS * WIDTH, -2, 2), [batch, STEPS, WIDTH]);
  return [x, tf.tensor2d(random.floats(batch), [batch, 1])];
}

/** Trains one model from given weights on one batch again and again. */
async function run(layered: Layered, weights: tf.Tensor[], how: How): Promise<Run> {
  const { isCaptured, learningRate, steps, batch = 8, byOps = true, between } = how;
  const model = modelOf(layered);
  model.setWeights(weights);
  emb.setCapture(isCaptured, model);
  model.compile({ optimizer: emb.train.sgd({ learningRate }), loss: 'meanSquaredError' });
  const [x, y] = data(batch);
  const step = stepOf(model);
  const losses = await withRandom(8, () => {
    const found = Array.from({ length: steps }, (_, i) => {
      between?.(model, i);
      return tf.tidy(() => withOverrides(byOps ? OPS : [], () => step([x, y]))[0]!.dataSync()[0]!);
    });
    return Promise.resolve(found);
  });
  const info = emb.stepInfo(model);
  const values = model.getWeights().map((weight) => Float32Array.from(weight.dataSync()));
  freeMasks(model);
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
  return { losses, weights: values, info };
}

async function withWeights(layered: Layered, f: (weights: tf.Tensor[]) => Promise<void>): Promise<void> {
  const model = modelOf(layered);
  const weights = model.getWeights().map((weight) => weight.clone());
  model.dispose();
  await f(weights);
  tf.dispose(weights);
}

const CAPTURED = { captured: true, reason: null, signatures: 1, evictions: 0 };
const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviationOf = (values: readonly number[]): number => {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
};

describeSteps('Captured steps of layers that draw random numbers', () => {
  for (const [name, layered] of Object.entries(RANDOM)) {
    it(`draw anew in each step, as the same ops do op by op: ${name}`, async () => {
      await withWeights(layered, async (weights) => {
        const how = { learningRate: 0.1, steps: 12 };
        const eager = await run(layered, weights, { ...how, isCaptured: false });
        const captured = await run(layered, weights, { ...how, isCaptured: true });
        expect(captured.info).toEqual(CAPTURED);
        expect(largest(captured.losses, eager.losses)).toBeLessThanOrEqual(1e-6);
        captured.weights.forEach((weight, i) => expect(largest(weight, eager.weights[i]!)).toBeLessThanOrEqual(1e-5));
        const still = await run(layered, weights, { ...how, learningRate: 0, isCaptured: true });
        expect(still.info).toEqual(CAPTURED);
        expect(new Set(still.losses).size).withContext('losses of the same batch').toBe(how.steps);
      });
    });

    it(`have losses that are distributed as those of tfjs: ${name}`, async () => {
      await withWeights(layered, async (weights) => {
        const how = { learningRate: 0, steps: 150 };
        const stock = await run(layered, weights, { ...how, isCaptured: false, byOps: false });
        const captured = await run(layered, weights, { ...how, isCaptured: true });
        const [a, b] = [stock.losses, captured.losses];
        const error = Math.hypot(deviationOf(a), deviationOf(b)) / Math.sqrt(how.steps);
        expect(Math.abs(meanOf(a) - meanOf(b))).toBeLessThan(4.5 * error);
        expect(deviationOf(b) / deviationOf(a)).toBeGreaterThan(0.6);
        expect(deviationOf(b) / deviationOf(a)).toBeLessThan(1 / 0.6);
      });
    });

    it(`predict and evaluate without them: ${name}`, async () => {
      const model = modelOf(layered);
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = data(8);
      const numbers = (): number[] => {
        const found = [model.predict(x) as tf.Tensor, model.evaluate(x, y) as tf.Scalar];
        const values = found.flatMap((each) => [...each.dataSync()]);
        tf.dispose(found);
        return values;
      };
      for (let step = 0; step < 5; step++) await model.trainOnBatch(x, y);
      emb.setCapture(false, model);
      const plain = numbers();
      emb.setCapture(true, model);
      for (let round = 0; round < 4; round++) expect(numbers()).toEqual(plain);
      expect(emb.stepInfo(model).captured).toBeTrue();
      expect(emb.stepInfo(model).reason).toBeNull();
      freeMasks(model);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    });
  }

  it('take batches of several sizes in turns', async () => {
    for (const layered of Object.values(RANDOM)) {
      const model = modelOf(layered);
      model.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'meanSquaredError' });
      const [x, y] = data(11);
      await model.fit(x, y, { batchSize: 4, epochs: 4, verbose: 0 });
      expect(emb.stepInfo(model)).toEqual({ ...CAPTURED, signatures: 2 });
      freeMasks(model);
      model.optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    }
  });

  it('take rates and deviations that change', async () => {
    const layered = RANDOM['gaussianNoise']!;
    await withWeights(layered, async (weights) => {
      const between = (model: tf.LayersModel, step: number): void => {
        const layer = model.layers.find((each) => each.getClassName() === 'GaussianNoise') as unknown as {
          stddev: number;
        };
        layer.stddev = step < 20 ? 0.001 : 5;
      };
      const { losses, info } = await run(layered, weights, { isCaptured: true, learningRate: 0, steps: 40, between });
      expect(info.captured).toBeTrue();
      expect(deviationOf(losses.slice(20))).toBeGreaterThan(50 * deviationOf(losses.slice(0, 20)));
    });
  });

  it('draw as the stock layers do, number by number', () => {
    const COUNT = 200_000;
    const layers: Record<string, tf.layers.Layer> = {
      gaussianNoise: tf.layers.gaussianNoise({ stddev: 0.7 }),
      gaussianDropout: tf.layers.gaussianDropout({ rate: 0.3 }),
      alphaDropout: tf.layers.alphaDropout({ rate: 0.3 }),
      dropout: tf.layers.dropout({ rate: 0.3 }),
    };
    for (const [name, layer] of Object.entries(layers)) {
      const x = tf.fill([COUNT], 2);
      const call = (): number[] => {
        const result = tf.tidy(() => layer.apply(x, { training: true } as never) as tf.Tensor);
        const values = Array.from(result.dataSync());
        result.dispose();
        return values;
      };
      const [stock, own] = [call(), withOverrides(OPS, call)];
      for (const power of [1, 2, 3, 4]) {
        const moments = [stock, own].map((values) => meanOf(values.map((value) => value ** power)));
        const spread = deviationOf(stock.map((value) => value ** power)) / Math.sqrt(COUNT);
        expect(Math.abs(moments[0]! - moments[1]!))
          .withContext(`${name}, moment ${power}`)
          .toBeLessThan(7 * spread + 1e-6);
      }
      // Neighbours do not know of one another.
      const [mean, deviation] = [meanOf(own), deviationOf(own)];
      const together = own.slice(1).map((value, i) => ((value - mean) * (own[i]! - mean)) / deviation ** 2);
      expect(Math.abs(meanOf(together)))
        .withContext(name)
        .toBeLessThan(6 / Math.sqrt(COUNT));
      x.dispose();
    }
  });
});
