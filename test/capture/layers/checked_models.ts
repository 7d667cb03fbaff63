/** What is asked of every kind of model whose steps are captured. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { Random } from '../../helpers/random.js';
import { expectCaptured } from '../training.js';
import { numbersOf, twins } from '../twins.js';

export interface Batch {
  readonly x: tf.Tensor | tf.Tensor[];
  readonly y: tf.Tensor;
}

/** Inputs that are refused, with what is said; the batch is as long as that of a step. */
export interface BadInputs {
  readonly title: string;
  readonly x: () => tf.Tensor | tf.Tensor[];
  readonly error: new (...args: never[]) => Error;
  readonly message: RegExp;
}

export interface CheckedModel {
  readonly build: () => tf.LayersModel;
  readonly draw: (random: Random) => Batch;
  readonly bad: readonly BadInputs[];
  readonly optimizer?: () => tf.Optimizer;
  readonly loss?: string;
}

const STEPS = 60;

function compiled(
  model: tf.LayersModel,
  { optimizer = () => emb.train.adam({ learningRate: 0.01 }), loss = 'binaryCrossentropy' }: CheckedModel,
): tf.LayersModel {
  model.compile({ optimizer: optimizer(), loss });
  return model;
}

/** Takes steps on batches that are the same for the same steps. */
async function takeSteps(model: tf.LayersModel, { draw }: CheckedModel, from: number, to: number): Promise<number[]> {
  const losses: number[] = [];
  for (let step = from; step < to; step++) {
    const { x, y } = draw(new Random(500 + step));
    losses.push(...numbersOf(await model.trainOnBatch(x, y)));
    tf.dispose([x, y]);
  }
  return losses;
}

function end(model: tf.LayersModel): void {
  model.optimizer.dispose();
  model.dispose();
}

const valuesOf = (model: tf.LayersModel): ArrayLike<number>[] =>
  model.getWeights().map((each) => each.dataSync().slice());

/** Specs of one kind of model, within `describeSteps`. */
export function itIsCapturedRight(checked: CheckedModel): void {
  it(`equals the steps op by op over ${STEPS} steps, with rates that change between them`, async () => {
    const training = twins(checked.build, async (model) => {
      compiled(model, checked);
      const losses: number[] = [];
      for (let step = 0; step < STEPS; step += 5) {
        (model.optimizer as emb.SparseOptimizer).setLearningRate(0.002 * (1 + (step % 4)));
        losses.push(...(await takeSteps(model, checked, step, step + 5)));
      }
      return losses;
    });
    await expectCaptured(training);
  });

  it('is saved in the middle and goes on in a loaded model with the same bits', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'checked-steps-'));
    const model = compiled(checked.build(), checked);
    await takeSteps(model, checked, 0, 7);
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    await model.save(`file://${folder}`, { includeOptimizer: true });
    const losses = await takeSteps(model, checked, 7, 15);
    const again = await emb.loadLayersModel(`file://${folder}/model.json`);
    expect(await takeSteps(again, checked, 7, 15)).toEqual(losses);
    expect(emb.stepInfo(again)).toEqual({ captured: true, reason: null, signatures: 1, evictions: 0 });
    expect(valuesOf(again)).toEqual(valuesOf(model));
    [model, again].forEach(end);
    rmSync(folder, { recursive: true });
  });

  it('is captured in evaluate and predict too, with the same numbers', async () => {
    const model = compiled(checked.build(), checked);
    const { x, y } = checked.draw(new Random(9));
    const batchSize = y.shape[0]!;
    const found: number[][] = [];
    for (let round = 0; round < 5; round++) {
      const loss = model.evaluate(x as tf.Tensor, y, { batchSize }) as tf.Scalar;
      const predicted = model.predict(x as tf.Tensor, { batchSize }) as tf.Tensor;
      found.push([...loss.dataSync(), ...predicted.dataSync()]);
      tf.dispose([loss, predicted]);
    }
    expect(emb.stepInfo(model)).toEqual({ captured: true, reason: null, signatures: 2, evictions: 0 });
    for (const each of found.slice(1)) expect(each).toEqual(found[0]!);
    tf.dispose([x, y]);
    end(model);
  });

  it('holds as many tensors and graphs after many steps as after few', async () => {
    const model = compiled(checked.build(), checked);
    await takeSteps(model, checked, 0, 5);
    const [tensors, graphs] = [tf.memory().numTensors, loadAddon().graphCount()];
    await takeSteps(model, checked, 5, 100);
    expect(tf.memory().numTensors).toBe(tensors);
    expect(loadAddon().graphCount()).toBe(graphs);
    end(model);
  });

  for (const { title, x: inputs, error, message } of checked.bad) {
    it(`refuses ${title} before anything is written, in the words of a step op by op`, async () => {
      const told: string[] = [];
      for (const isCaptured of [false, true]) {
        const model = compiled(checked.build(), checked);
        emb.setCapture(isCaptured, model);
        await takeSteps(model, checked, 0, 5);
        expect(emb.stepInfo(model).captured).toBe(isCaptured);
        const before = [...valuesOf(model), ...(await stateOf(model))];
        const [x, { x: good, y }] = [inputs(), checked.draw(new Random(3))];
        const runs: (() => Promise<unknown>)[] = [
          () => model.trainOnBatch(x, y),
          () => model.fit(x, y, { batchSize: y.shape[0]!, verbose: 0, shuffle: false }),
        ];
        for (const run of runs) {
          const thrown = await errorOf(run);
          expect(thrown).toBeInstanceOf(error);
          expect(thrown?.message).toMatch(message);
          told.push(thrown?.message.replace(/(_|Embedding)\d+/g, '') ?? '');
        }
        expect([...valuesOf(model), ...(await stateOf(model))]).toEqual(before);
        tf.dispose([x, good, y]);
        await takeSteps(model, checked, 5, 8);
        expect(emb.stepInfo(model).captured).toBe(isCaptured);
        end(model);
      }
      const [eagerBatch, eagerFit, batch, fit] = told;
      expect([batch, fit]).toEqual([eagerBatch, eagerFit]);
    });
  }
}

async function errorOf(run: () => Promise<unknown>): Promise<Error | null> {
  try {
    await run();
    return null;
  } catch (error) {
    return error as Error;
  }
}

/** Slots and counts of the optimizer. */
async function stateOf(model: tf.LayersModel): Promise<ArrayLike<number>[]> {
  const state = await model.optimizer.getWeights();
  const values = state.map(({ tensor }) => tensor.dataSync().slice());
  state[0]!.tensor.dispose();
  return values;
}
