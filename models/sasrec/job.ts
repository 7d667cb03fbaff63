/**
 * SASRec: reads sequences, holds the last two items of each user back, trains on the others, keeps the epoch that is best
 * on the last but one, and ranks all items that a user has not had for the last one.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { startBackend } from '../backend.js';
import { InputError } from '../input_error.mjs';
import { raggedOf, readInteractions, writeRatings, type ItemsOfUsers } from '../interactions.js';
import { ProgressBar } from '../progress_bar.js';
import { makeUp, type MadeUp } from './made_up.js';
import { buildModel, paddedOf, type SasRec } from './model.js';
import type { Options } from './options.mjs';
import { trainerOf } from './training.js';

/** Epochs between two looks at the items held back, and how many looks without a gain end the training. */
const EVERY = 2;
const PATIENCE = 4;
const PREDICT_BATCH = 256;
const PROGRESS = 'epoch {epoch}/{epochs} [{bar}] loss {loss}{held}';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Data {
  readonly numItems: number;
  readonly sequences: ItemsOfUsers;
  readonly best: MadeUp['best'] | null;
}

function read({ data, seed, k, write }: Options): Data {
  if (data !== null) {
    const { parts, numItems } = readInteractions([data]);
    return { numItems, sequences: parts[0]!, best: null };
  }
  const made = makeUp(seed, k);
  if (write !== null) writeRatings(write, made.sequences);
  return made;
}

const NONE = new Int32Array(0);

/** All but the last `count` items of users who have three at least; of others all, and nothing to find. */
function heldBack(sequences: ItemsOfUsers, count: number): { had: ItemsOfUsers; wanted: ItemsOfUsers } {
  const isShort = (row: Int32Array): boolean => row.length < 3;
  return {
    had: sequences.map((row) => (isShort(row) ? row : row.subarray(0, -count))),
    wanted: sequences.map((row) => (isShort(row) ? NONE : row.slice(-count).subarray(0, 1))),
  };
}

interface Held {
  readonly had: ItemsOfUsers;
  readonly wanted: ItemsOfUsers;
}

type Vectors = emb.evaluate.ScoredVectors;

/** What users want next, by the items that they have had, and all items, which are the model's. */
function vectorsOf({ items, atTheEnd }: SasRec, had: ItemsOfUsers, { length }: Options): Vectors {
  const users = tf.tidy(() => atTheEnd.predict(paddedOf(had, length), { batchSize: PREDICT_BATCH }) as tf.Tensor2D);
  return { users, items: items.getWeights()[0] as tf.Tensor2D };
}

/** A ranking by how often items occur, which knows nothing of sequences. */
function popularityOf(had: ItemsOfUsers, numItems: number): Vectors {
  const counts = new Float32Array(numItems);
  for (const row of had) for (const item of row) counts[item]! += 1;
  return { users: tf.ones([had.length, 1]), items: tf.tensor2d(counts, [numItems, 1]) };
}

/** How well the item that was held back is ranked among all that a user has not had, or among drawn ones. */
async function judge(vectors: Vectors, { had, wanted }: Held, k: number, among: emb.RaggedTensor | null = null) {
  const rows = { train: raggedOf(had), test: raggedOf(wanted), sampledCandidates: among };
  const found = await emb.evaluate.ranking(vectors, { ...rows, k, metrics: ['hitRate', 'ndcg'] });
  vectors.users.dispose();
  return { hitRate: found.hitRate!, ndcg: found.ndcg!, users: found.users };
}

/** Items that users have not had, so many for each, to rank the one that was held back among. */
function drawnCandidates({ had, wanted }: Held, numItems: number, { candidates, seed }: Options): emb.RaggedTensor {
  const drawn = emb.sampling.negatives({
    ...{ numItems, perPositive: candidates, seed, seen: raggedOf(had) },
    positives: wanted.map(([item]) => item ?? 0),
  });
  const values = drawn.dataSync<'int32'>();
  drawn.dispose();
  return emb.RaggedTensor.fromRowLengths(values, new Int32Array(had.length).fill(candidates));
}

interface Trained {
  readonly epochs: number;
  readonly heldOutHitRate: number;
  readonly loss: number;
  readonly stepsPerSecond: number;
  readonly secondsPerEpoch: number;
  readonly cpuSecondsPerEpoch: number;
  readonly info: emb.StepInfo;
}

/** Trains until the items held back are found no better, and goes back to the weights of the best epoch. */
async function train(model: SasRec, { sequences, numItems }: Data, options: Options): Promise<Trained> {
  // The model sees nothing of the last two items; the first of them tells the epoch.
  const trained = heldBack(sequences, 2);
  const trainer = trainerOf(model, trained.had, numItems, options);
  const { epochs, k } = options;
  const bar = new ProgressBar(PROGRESS, epochs);
  let best = { epoch: 0, hitRate: -1, loss: NaN, weights: [] as tf.Tensor[] };
  let [steps, seconds, cpuSeconds, taken, held] = [0, 0, 0, 0, ''];
  try {
    for (let epoch = 1; epoch <= epochs && epoch <= best.epoch + PATIENCE * EVERY; epoch++) {
      const [from, cpu] = [performance.now(), process.cpuUsage()];
      const last = trainer.epoch();
      const { user, system } = process.cpuUsage(cpu);
      [seconds, cpuSeconds] = [seconds + (performance.now() - from) / 1000, cpuSeconds + (user + system) / 1e6];
      [steps, taken] = [steps + last.steps, epoch];
      if (epoch % EVERY === 0 || epoch === epochs) {
        const { hitRate } = await judge(vectorsOf(model, trained.had, options), trained, k);
        held = `, hitRate@${k} of items held back ${hitRate.toFixed(4)}`;
        if (hitRate > best.hitRate) {
          tf.dispose(best.weights);
          const weights = model.everywhere.getWeights().map((each) => each.clone());
          best = { epoch, hitRate, loss: last.loss, weights };
        }
      }
      bar.update(epoch, { epoch, epochs, loss: last.loss.toFixed(4), held });
      await tf.nextFrame();
    }
  } finally {
    bar.stop();
  }
  model.everywhere.setWeights(best.weights);
  tf.dispose(best.weights);
  const { info } = trainer;
  trainer.dispose();
  const { epoch, hitRate, loss } = best;
  const perEpoch = { secondsPerEpoch: seconds / taken, cpuSecondsPerEpoch: cpuSeconds / taken };
  return { epochs: epoch, heldOutHitRate: hitRate, loss, stepsPerSecond: steps / seconds, ...perEpoch, info };
}

/** A model that gives the best items, and their scores, for the last items of a user; those that it has among them. */
async function save(folder: string, { items, atTheEnd }: SasRec, numItems: number, k: number): Promise<void> {
  const [candidates] = items.getWeights() as [tf.Tensor2D];
  const best = emb.layers.bruteForceRetrieval({ name: 'best', candidates, k: Math.min(k, numItems) });
  const serving = tf.model({ inputs: atTheEnd.inputs, outputs: best.apply(atTheEnd.outputs[0]!) });
  await serving.save(`file://${folder}`);
  say(`saved to ${folder}`);
}

export async function run(options: Options): Promise<void> {
  const start = performance.now();
  const data = read(options);
  const { sequences, numItems } = data;
  const test = heldBack(sequences, 1);
  const judged = test.wanted.filter(({ length }) => length > 0).length;
  if (judged === 0) throw new InputError(`${options.data} holds no user with three items at least`);
  const places = sequences.reduce((sum, { length }) => sum + length, 0);
  say(`${sequences.length} sequences of ${numItems} items, ${places} in all`);
  const info = await startBackend(options.backend, null);
  const model = buildModel(numItems, options);
  const trained = await train(model, data, options);
  const { k, candidates } = options;
  say(`epoch ${trained.epochs} was best: hitRate@${k} ${trained.heldOutHitRate.toFixed(4)} of items held back`);
  const { captured, reason } = trained.info;
  if (reason !== null) say(`steps ran op by op: ${reason}`);

  const among = candidates === 0 ? null : drawnCandidates(test, numItems, options);
  const found = await judge(vectorsOf(model, test.had, options), test, k, among);
  const byCount = popularityOf(test.had, numItems);
  const popular = await judge(byCount, test, k, among);
  byCount.items.dispose();
  const best = data.best;
  const bestText =
    best === null || among !== null ? '' : ` (best possible ${best.hitRate.toFixed(4)}, ${best.ndcg.toFixed(4)})`;
  const of = among === null ? 'all items that a user has not had' : `${candidates} drawn ones`;
  say(`hitRate@${k} ${found.hitRate.toFixed(4)}, ndcg@${k} ${found.ndcg.toFixed(4)} among ${of}${bestText}`);
  say(`by how often items occur: hitRate@${k} ${popular.hitRate.toFixed(4)}, ndcg@${k} ${popular.ndcg.toFixed(4)}`);
  if (options.save !== null) await save(options.save, model, numItems, k);
  const result = {
    backend: info.backend,
    [`hitRate@${k}`]: found.hitRate,
    [`ndcg@${k}`]: found.ndcg,
    ...(bestText !== '' && { [`bestHitRate@${k}`]: best!.hitRate, [`bestNdcg@${k}`]: best!.ndcg }),
    [`popularHitRate@${k}`]: popular.hitRate,
    sequences: sequences.length,
    items: numItems,
    places,
    judgedUsers: found.users,
    captured,
    epochs: trained.epochs,
    heldOutHitRate: trained.heldOutHitRate,
    trainingLoss: trained.loss,
    stepsPerSecond: trained.stepsPerSecond,
    secondsPerEpoch: trained.secondsPerEpoch,
    cpuSecondsPerEpoch: trained.cpuSecondsPerEpoch,
    seconds: (performance.now() - start) / 1000,
    peakMemory: 1024 * process.resourceUsage().maxRSS,
    seed: options.seed,
  };
  if (options.json) say(JSON.stringify(result));
}
