/** A training with a hostile step, op by op and captured, and how far they are apart. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../../../test/helpers/random.js';
import { withRandom } from '../../../../test/capture/twins.js';
import type { HostileStep, Training } from './hostile_step.js';
import { MODELS, ROWS, WIDTH, type ModelName } from './models.js';

/** Steps are captured from the 4th on, and three steps after a change. */
export const STEPS = 10;
const BATCH = 12;
/** Products of ours and of TensorFlow round otherwise in the last bits, which optimizers make more of. */
const TOLERANCE = 2e-4;

/** What came of one training: losses, predictions and weights, or the error that ended it. */
interface Outcome {
  readonly numbers: number[];
  readonly error: string | null;
  /** Whether steps were captured at any time. */
  readonly isCaptured: boolean;
  readonly reason: string | null;
}

export interface Verdict {
  /** `idle`: captured and equal, but op by op the step changes no number, so that nobody would see it go unnoticed. */
  readonly kind: 'captured' | 'idle' | 'refused' | 'different';
  /** What differs, or why steps ran op by op. */
  readonly what: string;
}

function draw(random: Random, takes: 'ids' | 'numbers'): [tf.Tensor, tf.Tensor] {
  const y = tf.tensor2d(
    Float32Array.from({ length: BATCH }, () => random.whole(0, 2)),
    [BATCH, 1],
  );
  if (takes === 'numbers') return [tf.tensor2d(random.floats(BATCH * WIDTH), [BATCH, WIDTH]), y];
  const ids = Int32Array.from({ length: BATCH * 4 }, () => random.whole(0, ROWS));
  return [tf.tensor2d(ids, [BATCH, 4], 'int32'), y];
}

const numbersOf = (tensors: tf.Tensor | tf.Tensor[]): number[] =>
  [tensors].flat().flatMap((each) => Array.from(each.dataSync()));

async function trainOnce(hostile: HostileStep, isCaptured: boolean, seed: number): Promise<Outcome> {
  const { takes, build } = MODELS[hostile.model];
  const random = new Random(seed);
  let step = 0;
  const factor = (): number => (step < STEPS / 2 ? 1 : 0.25);
  const model: tf.LayersModel = build();
  const start = new Random(seed + 1);
  // Rows of fewer bits are words; they begin with what is drawn.
  const begin = (each: tf.Tensor): tf.Tensor =>
    each.dtype === 'float32' ? tf.tensor(start.floats(each.size), each.shape).mul(0.5).add(0.3) : each;
  model.setWeights(model.getWeights().map(begin));
  emb.setCapture(isCaptured, model);
  const optimizer = emb.train.adam({ learningRate: 0.02 });
  model.compile({ optimizer, loss: 'meanSquaredError', ...hostile.compile?.(factor) });
  const ends: (() => void)[] = [];
  const numbers: number[] = [];
  let error: string | null = null;
  let wasCaptured = false;
  try {
    for (; step < STEPS; step++) {
      const training: Training = { model, optimizer, factor, ends, step, notes: numbers };
      const isDue = { first: step === 0, later: step === STEPS / 2, always: true }[hostile.when];
      if (isDue) await hostile.act(training);
      const drawn = draw(random, takes);
      const [x, y] = hostile.batch?.(training, ...drawn) ?? drawn;
      numbers.push(...[(await model.trainOnBatch(x, y)) as number | number[]].flat());
      if (step % 2 === 1) numbers.push(...numbersOf(model.predict(drawn[0], { batchSize: BATCH })));
      if (step % 4 === 3) numbers.push(...numbersOf(model.evaluate(drawn[0], drawn[1], { batchSize: BATCH })));
      const info = emb.stepInfo(model);
      // With a reason, predictions alone are.
      wasCaptured ||= info.captured && info.reason === null;
    }
  } catch (thrown) {
    error = (thrown as Error).message.replace(/\d+/g, 'N');
  }
  const { reason } = emb.stepInfo(model);
  for (const end of ends.reverse()) end();
  try {
    numbers.push(...numbersOf(model.getWeights()));
  } catch {
    numbers.push(NaN);
  }
  return { numbers, error, isCaptured: wasCaptured, reason };
}

function firstDifference(eager: Outcome, captured: Outcome): string | null {
  if (eager.error !== captured.error) return `ends with ${captured.error}, op by op with ${eager.error}`;
  if (eager.numbers.length !== captured.numbers.length) return 'gives more or fewer numbers';
  const at = eager.numbers.findIndex((number, i) => {
    const other = captured.numbers[i]!;
    return !Object.is(number, other) && !(Math.abs(number - other) <= TOLERANCE * Math.max(1, Math.abs(number)));
  });
  return at < 0 ? null : `number ${at} is ${captured.numbers[at]}, op by op ${eager.numbers[at]}`;
}

const plain = new Map<ModelName, readonly number[]>();

/** What a model gives op by op that nobody does anything to. */
async function plainNumbers(model: ModelName, seed: number): Promise<readonly number[]> {
  const known = plain.get(model);
  if (known !== undefined) return known;
  const nothing: HostileStep = { name: 'nothing', model, when: 'always', act: () => undefined };
  const { numbers, error } = await withRandom(seed, () => trainOnce(nothing, false, seed));
  if (error !== null) throw new Error(`The model ${model} cannot be trained: ${error}`);
  plain.set(model, numbers);
  return numbers;
}

/** Trains with the hostile step op by op, then captured where that is done, from the same weights on the same batches. */
export async function trainTwice(hostile: HostileStep, seed: number): Promise<Verdict> {
  const [eager, captured] = [
    await withRandom(seed, () => trainOnce(hostile, false, seed)),
    await withRandom(seed, () => trainOnce(hostile, true, seed)),
  ];
  const what = firstDifference(eager, captured);
  if (what !== null) return { kind: 'different', what };
  if (captured.isCaptured) {
    const plain = await plainNumbers(hostile.model, seed);
    const isIdle = eager.error === null && plain.every((number, i) => Object.is(number, eager.numbers[i]));
    return { kind: isIdle ? 'idle' : 'captured', what: '' };
  }
  return { kind: 'refused', what: captured.reason ?? captured.error ?? 'nothing was captured' };
}
