/** Models and trainings for specs of captured steps, and what is expected of twins. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../src/backends/native/addon.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { drawIds, expectEqual, numbersOf, twins, type Twins } from './twins.js';

export const ROWS = 50;
export const BATCH = 32;

export type Between = (model: tf.LayersModel, step: number) => void | Promise<void>;
export interface Options {
  readonly optimizer?: () => tf.Optimizer;
  readonly loss?: tf.ModelCompileArgs['loss'];
  readonly metrics?: tf.ModelCompileArgs['metrics'];
  readonly steps?: number;
  readonly between?: Between;
  /** The ids of a step; drawn from all rows where it is missing. */
  readonly ids?: (random: Random, batch: number, step: number) => tf.Tensor2D;
  /** The batch of a step. */
  readonly batch?: (step: number) => number;
}

export type Head = (features: tf.SymbolicTensor) => tf.SymbolicTensor;
export const sigmoid: Head = (x) => tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(x) as tf.SymbolicTensor;

/** Two tables, one of them regularized, and a head. */
export function modelOf(head: Head = sigmoid, args: Partial<emb.EmbeddingArgs> = {}): tf.LayersModel {
  const ids = tf.input({ shape: [2], dtype: 'int32' });
  const { embedding } = emb.layers;
  const rows = embedding({ inputDim: ROWS, outputDim: 6, combiner: 'mean', ...args }).apply(ids) as tf.SymbolicTensor;
  const others = tf.layers
    .flatten()
    .apply(embedding({ inputDim: ROWS, outputDim: 3 }).apply(ids) as tf.SymbolicTensor) as tf.SymbolicTensor;
  const features = tf.layers.concatenate().apply([rows, others]) as tf.SymbolicTensor;
  return tf.model({ inputs: ids, outputs: head(features) });
}

/** Trains twins on the same batches. */
export function trainTwins(build: () => tf.LayersModel, options: Options = {}): Promise<Twins> {
  const { optimizer = () => emb.train.adam({ learningRate: 0.01 }), loss = 'binaryCrossentropy' } = options;
  const { metrics, steps = 12, between, batch = () => BATCH } = options;
  const { ids = (random, size) => drawIds(random, size, 2, ROWS) } = options;
  return twins(build, async (model) => {
    model.compile({ optimizer: optimizer(), loss, ...(metrics === undefined ? {} : { metrics }) });
    const random = new Random(5);
    const losses: number[] = [];
    for (let step = 0; step < steps; step++) {
      await between?.(model, step);
      const x = ids(random, batch(step), step);
      const y = tf.tidy(() => x.sum(1, true).greater(ROWS).toFloat());
      losses.push(...numbersOf(await model.trainOnBatch(x, y)));
      tf.dispose([x, y]);
    }
    return losses;
  });
}

export async function expectCaptured(result: Promise<Twins>, signatures = 1): Promise<void> {
  const found = await result;
  expect(found.captured.info).toEqual({ captured: true, reason: null, signatures, evictions: 0 });
  expect(found.eager.info.captured).toBeFalse();
  expectEqual(found);
}

/** Not to the bit: before a step is refused, its products are those of ours, which may round differently. */
export async function expectRefused(result: Promise<Twins>, reason: RegExp): Promise<void> {
  const found = await result;
  expect(found.captured.info.captured).toBeFalse();
  expect(found.captured.info.reason).toMatch(/^Steps run op by op, because .+\.$/);
  expect(found.captured.info.reason).toMatch(reason);
  expectEqual(found);
}

/** A suite on `tensorflow`; every spec must leave the numbers of tensors and of graphs as they were. */
export function describeSteps(title: string, define: (allowTensors: (more: number) => void) => void): void {
  const inBackend = (): void => {
    let tensors: number;
    let graphs: number;
    beforeEach(() => {
      tensors = tf.memory().numTensors;
      graphs = loadAddon().graphCount();
    });
    afterEach(() => {
      expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors);
      // Those of models that nobody holds any more go at any time.
      expect(loadAddon().graphCount()).withContext('graphs left').toBeLessThanOrEqual(graphs);
    });
    define((more) => (tensors += more));
  };
  describeForBackends(title, inBackend, ['tensorflow']);
}
